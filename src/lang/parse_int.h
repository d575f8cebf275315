// parse_int.h - what the files of the lexer and the parser share.
#ifndef LANG_PARSE_INT_H
#define LANG_PARSE_INT_H

#include "lang/parse.h"

// ---- token.c ----------------------------------------------------------------

typedef enum {
    TOKEN_LAYOUT,               // made by the lexer, not spelled
    TOKEN_VALUE,                // begins an operand
    TOKEN_WORD,                 // keyword
    TOKEN_STATEMENT,            // keyword that only begins a statement
    TOKEN_SYMBOL,
    TOKEN_AUGMENTED,            // "+=" and the like
} TokenClass;

typedef struct {
    const char *text;
    uint8_t len;
    TokenClass class;
    int prec;
    AstOp op;
} TokenInfo;

extern const TokenInfo token_info[TOK_COUNT];

// "name 'x'", "')'", "end of line": what a message says was found.
void token_describe(TextBuf *out, const Token *t);
bool token_is_keyword(TokenKind k);
// In double quotes; control characters and what is not UTF-8 as \xNN.
void token_put_text(TextBuf *out, Text t);

// ---- parse.c - the cursor, errors, lists ------------------------------------

// On the first error of a logical line the parser moves to its end and sets
// `panic`: whatever is still expected then fails in silence, up to the
// statement that is begun next.
typedef struct {
    Arena *arena;
    Diag *diag;
    const SourceSet *sources;
    const char *text;           // of the file
    const Token *at;            // the next token
    const Token *first;
    const Token *statement;     // where the statement begins
    const Token *line_end;      // NEWLINE of the logical line last looked at
    bool line_bad;              // it holds an ERROR token
    bool panic;
    bool failed;                // the statement before had an error
    bool reported;              // the last error was printed
    bool errors;                // there was an error, here or in the lexer
    int depth;
    bool too_deep;              // reported for the outermost statement
    struct {
        Ast **at;
        int len, room;
    } stack;                    // lists that are being read
} Parser;

enum { PARSE_MAX_DEPTH = 200 };

Ast *parse_node(Parser *p, AstKind kind, const Token *begin);
// Ends a node at the last token that was taken.
Ast *parse_finish(Parser *p, Ast *n);
Ast *parse_error_node(Parser *p);
void parse_push(Parser *p, Ast *n);
// Moves what was pushed since `base` into a list.
AstList parse_pop(Parser *p, int base);

bool parse_at(const Parser *p, TokenKind k);
const Token *parse_accept(Parser *p, TokenKind k);
// Takes `k` or reports; `open` is the bracket to be closed, or NULL.
const Token *parse_expect(Parser *p, TokenKind k, const Token *open);
// A NAME, or a report that says `what` is missing.
const Token *parse_expect_name(Parser *p, const char *what);
bool parse_at_word(const Parser *p, const char *soft_keyword);

// Reports "expected `what`, found ..." at the next token and panics.
void parse_expected(Parser *p, const char *what, const Token *open);
// Reports and panics: the rest of the line cannot be made sense of.
void parse_fail(Parser *p, Span at, const char *id, const char *format, ...)
    PRINTF_LIKE(4, 5);
// Reports and goes on. True if it was printed, so that notes can follow.
bool parse_report(Parser *p, Span at, const char *id, const char *format, ...)
    PRINTF_LIKE(4, 5);
void parse_skip_line(Parser *p);                // to NEWLINE or END
// Every recursion of the grammar passes here: brackets, fields of f-strings,
// prefix operators, '**', lambda, else, blocks. False: reported, unwind.
bool parse_enter(Parser *p);
void parse_leave(Parser *p);
Ast *parse_deeper(Parser *p, Ast *rule(Parser *p));     // rule(p), one deeper

// ---- parse_expr.c, parse_atom.c, parse_comp.c, parse_args.c -----------------

Ast *parse_expr(Parser *p);                     // expression
Ast *parse_named(Parser *p);                    // named_expression
Ast *parse_or_expr(Parser *p);                  // bitwise_or: no comparison
Ast *parse_disjunction(Parser *p);
Ast *parse_yield(Parser *p);
// star_expressions: a TUPLE where there is a comma.
Ast *parse_star_exprs(Parser *p);
Ast *parse_yield_or_exprs(Parser *p);
Ast *parse_targets(Parser *p);                  // not yet checked
Ast *parse_for_target(Parser *p);               // checked, and 'in'
// '*' bitwise_or, or named_expression (star_named_expression)
Ast *parse_star_named(Parser *p);
bool parse_at_expr(const Parser *p);            // can an expression begin?
Ast *parse_atom(Parser *p);
Ast *parse_strings(Parser *p);                  // adjacent string literals
Ast *parse_lambda(Parser *p);
bool parse_at_comp(const Parser *p);            // 'for' or 'async' 'for'
AstList parse_comp_clauses(Parser *p);
// Arguments up to and with ')' into call->x.
void parse_arguments(Parser *p, Ast *call, const Token *open);
Ast *parse_subscript(Parser *p, Ast *value, const Token *begin);
// Parameters up to `close` (')' or ':'), which is not taken.
Ast *parse_params(Parser *p, TokenKind close, const Token *open);
Ast *parse_type_params(Parser *p);              // or NULL

// ---- parse_target.c ---------------------------------------------------------

typedef enum {
    TARGET_ASSIGN, TARGET_AUGMENTED, TARGET_ANNOTATED, TARGET_DELETE,
    TARGET_FOR, TARGET_WITH, TARGET_NAMED,
} TargetUse;

// Reports what cannot be assigned to; false then.
bool parse_check_target(Parser *p, const Ast *target, TargetUse use);
bool parse_check_name(Parser *p, const Token *name);    // not __debug__
// "a call", "a literal": what a node is to a reader.
const char *parse_describe(const Ast *n);
// A starred expression that stands alone is an error.
void parse_check_unstarred(Parser *p, const Ast *n);

// ---- parse_stmt.c, parse_import.c, parse_block.c ----------------------------

void parse_simple_line(Parser *p);              // pushes its statements
Ast *parse_import(Parser *p);
Ast *parse_from_import(Parser *p);
// Statements up to DEDENT or END.
void parse_statements(Parser *p);

// ---- parse_scope.c ----------------------------------------------------------

// Fills the scope facts of the tree and reports what Python's compiler would
// (return outside a function, nonlocal without a binding, ...).
void parse_scopes(Parser *p, Ast *module);

// ---- unescape.c -------------------------------------------------------------

typedef struct {
    bool raw, bytes;
    bool braces;                // literal part of an f-string: "{{" is '{'
} Unescape;

// Appends the value of the literal text `raw`, which lies at `at`.
void parse_unescape(Parser *p, TextBuf *out, Text raw, Span at, Unescape how);

// ---- lex_number.c -----------------------------------------------------------

void number_decode(Arena *a, Text text, Ast *number);
#endif
