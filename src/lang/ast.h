// ast.h - the tree that the parser makes and the stage evaluator walks.
#ifndef LANG_AST_H
#define LANG_AST_H

#include "support/support.h"

typedef enum {
#define AST(id, ...) AST_##id,
#include "lang/ast.def"
    AST_COUNT
} AstKind;

// Operators of UNARY, BINARY, AUGASSIGN (binary), BOOLOP, COMPARE (one per
// comparator), and the three constants.
typedef enum {
    AST_OP_NONE,
    AST_OP_ADD, AST_OP_SUB, AST_OP_MUL, AST_OP_DIV, AST_OP_FLOORDIV,
    AST_OP_MOD, AST_OP_POW, AST_OP_MATMUL, AST_OP_SHL, AST_OP_SHR,
    AST_OP_AND, AST_OP_OR, AST_OP_XOR,
    AST_OP_NEG, AST_OP_POS, AST_OP_INVERT, AST_OP_NOT,
    AST_OP_BOOL_AND, AST_OP_BOOL_OR,
    AST_OP_EQ, AST_OP_NE, AST_OP_LT, AST_OP_LE, AST_OP_GT, AST_OP_GE,
    AST_OP_IS, AST_OP_IS_NOT, AST_OP_IN, AST_OP_NOT_IN,
} AstOp;

typedef enum { AST_NONE, AST_TRUE, AST_FALSE, AST_ELLIPSIS } AstConstant;

typedef enum {
    PARAM_POSITIONAL_ONLY, PARAM_PLAIN, PARAM_STAR, PARAM_KEYWORD_ONLY,
    PARAM_DOUBLE_STAR,
} ParamKind;

typedef struct Ast Ast;

typedef struct {
    Ast **at;
    int len;
} AstList;

struct Ast {
    AstKind kind;
    Span at;                    // the whole construct
    Span name_at;               // the defining name, operator or attribute
    Ast *a, *b, *c;             // see ast.def
    AstList x, y;
    Text text;
    AstOp op;                   // UNARY BINARY AUGASSIGN BOOLOP
    AstOp *ops;                 // COMPARE: x.len of them
    union {
        AstConstant constant;   // CONSTANT
        ParamKind param;        // PARAM TYPEPARAM
        int level;              // IMPORTFROM: leading dots
        char conversion;        // FORMATTED: 'r', 's', 'a' or 0
        bool is_async;          // FUNCTION FOR WITH COMPFOR
        bool is_float;          // NUMBER: has_i64/has_f64 below
        bool except_star;       // TRY
    };
    // NUMBER: value decoded by the lexer. An integer literal beyond int64 has
    // `big` set (an error when evaluated); imaginary literals are `imaginary`.
    int64_t i64;
    double f64;
    bool big, imaginary;
    Text as;                    // ALIAS: "as" name, else empty
    bool has_else;              // TRY: a/b present as BLOCK nodes
    // Scope facts for FUNCTION, LAMBDA, CLASS and comprehensions, filled by the
    // parser's last pass: names bound here (locals), and those declared
    // nonlocal or global.
    Map *locals;                // name -> non-NULL
    Map *globals, *nonlocals;
    bool is_generator;          // contains yield
    bool grouped;               // written in parentheses of its own
};

const char *ast_name(AstKind k);
const char *ast_op_text(AstOp op);              // "+", "not in", "//"
// Indented, one node a line: slot, kind, operator, text, place. Stable output.
// Uses no recursion, whatever the depth of the tree.
void ast_print(TextBuf *out, const SourceSet *sources, const Ast *ast);
#endif
