// text_int.h - what the printer and the reader of the text form share.
#ifndef IR_TEXT_INT_H
#define IR_TEXT_INT_H

#include "ir/ir_int.h"

// ---- each.c: everything in a kernel, in the order of the text ---------------
// Null callbacks are skipped. Variables come where they are met, often.
typedef struct {
    void *ctx;
    void (*span)(void *ctx, Span *at);
    void (*var)(void *ctx, IrVar *v);
} Each;
void each_in_kernel(const IrKernel *k, const Each *e);
// The variables of a kernel, by id.
typedef struct {
    IrVar **at;
    int len, room;
} VarList;
VarList vars_of(Arena *a, const IrKernel *k);

// ---- names.c: how things are spelled ----------------------------------------
// A name that no other thing has and that is no word of the text stands for
// itself; else ".id" follows for variables, ".bid" for buffers.
typedef struct {
    Arena *arena;
    Map uses;                   // name -> int *
} Names;
void names_init(Names *n, Arena *a, const IrKernel *k, const VarList *vars);
void spell_var(TextBuf *out, const Names *n, const IrVar *v);
void spell_buffer(TextBuf *out, const Names *n, const IrBuffer *b);
void print_string(TextBuf *out, Text t);        // quoted, escaped

// Operators as the text has them. Precedence: larger binds tighter.
enum { PRECEDENCE_UNARY = 11, PRECEDENCE_PRIMARY = 13 };
int infix_precedence(Op op);                    // 0: not an infix operator
const char *op_spelling(Op op);                 // "+", "T.exp2"
const char *var_kind_name(IrVarKind kind);      // "loop"

// ---- print_expr.c -----------------------------------------------------------
typedef struct {
    TextBuf *out;
    const Names *names;         // NULL: names as they are
} Printer;
void print_expr(const Printer *p, const IrExpr *e);
void print_exprs(const Printer *p, IrExpr *const *e, int n);    // a, b, c
void print_region(const Printer *p, const IrRegion *r);
void print_attr_value(const Printer *p, const IrAttrValue *v);
void print_index_map(const Printer *p, const IrIndexMap *m);

// ---- spans.c ----------------------------------------------------------------
void spans_print(TextBuf *out, const SourceSet *sources, const IrKernel *k);

// ---- read.c, read_expr.c, read_stmt.c, lex of the text form -----------------
typedef enum {
    WORD_END, WORD_NAME, WORD_INT, WORD_FLOAT, WORD_STRING, WORD_SIGN,
} WordKind;

typedef struct {
    WordKind kind;
    Span at;
    Text text;                  // NAME with its dots, SIGN, decoded STRING
    DType suffix;               // of a number: DT_NONE when there is none
    uint64_t magnitude;         // INT
    double real;                // FLOAT
} Word;

typedef struct {
    IrKernel *k;
    Arena *arena;
    Diag *diag;
    SourceSet *sources;
    uint32_t file;
    Text text;
    size_t pos;                 // behind `word`
    Word word;                  // the one ahead
    int depth;                  // of recursion
    bool failed;
    Map names;                  // spelled -> Entity *
    struct { uint32_t *at; int len, room; } files;  // of this kernel's spans
} Reader;

typedef struct {
    IrVar *var;
    IrBuffer *buffer;
} Entity;

void reader_next(Reader *r);
bool reader_is(const Reader *r, const char *text);  // a NAME or SIGN ahead
bool reader_take(Reader *r, const char *text);      // and moves on
bool reader_need(Reader *r, const char *text);
// Reports once, at the word ahead, and ends reading. Returns NULL.
void *reader_fail(Reader *r, const char *format, ...) PRINTF_LIKE(2, 3);
bool reader_enter(Reader *r);                       // bounded recursion
void reader_leave(Reader *r);
const Entity *reader_entity(const Reader *r);       // of the NAME ahead
bool reader_op(Reader *r, Text word, Op *out);      // "T.copy"
Text reader_name(Reader *r);                        // any NAME
Text reader_string(Reader *r);
bool reader_int(Reader *r, int64_t min, int64_t max, int64_t *out);
IrBuffer *reader_buffer(Reader *r);
IrVar *reader_var(Reader *r);
IrExpr *read_expr(Reader *r);
bool read_exprs(Reader *r, const char *close, IrExpr **out, int room, int *n);
IrRegion *read_region(Reader *r);
bool read_attr_value(Reader *r, IrAttrValue *out);
IrIndexMap *read_index_map(Reader *r);
IrStmt *read_block(Reader *r);                      // from "{"
void number_statements(IrKernel *k);                // those without an id
bool read_spans(Reader *r);
bool read_source(Reader *r, Map *files);
#endif
