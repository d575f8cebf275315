// parse.h - text to tokens to tree.
//
// Every syntax error is reported with a caret; the parser resynchronises at
// the end of the line or block and goes on, up to the Diag's limit.
#ifndef LANG_PARSE_H
#define LANG_PARSE_H

#include "lang/ast.h"

// token.def: one row per kind: id, spelling or class name.
typedef enum {
#define TOKEN(id, ...) TOK_##id,
#include "lang/token.def"
    TOK_COUNT
} TokenKind;

typedef struct {
    TokenKind kind;
    Span at;
    Text value;                 // NAME: itself; STRING/FSTRING: see lex.c
} Token;

typedef struct {
    Token *at;
    int len;
} TokenList;

// Lexes file `file` of `sources`: NEWLINE, INDENT, DEDENT as in Python, closed
// by END. Errors: unterminated string, bad character, tab/space mix, dedent to
// nowhere, NUL byte, bracket mismatch (notes where it was opened).
TokenList lex(Arena *a, Diag *d, const SourceSet *sources, uint32_t file);
void tokens_print(TextBuf *out, const SourceSet *sources, TokenList tokens);

// A MODULE; nodes that failed are AST_ERROR. Nesting is bounded (200 levels,
// an error beyond). `match` statements are refused with a clear message.
Ast *parse(Arena *a, Diag *d, const SourceSet *sources, TokenList tokens);
// Parses one expression of its own, as for -D values and f-string parts.
Ast *parse_expression(Arena *a, Diag *d, const SourceSet *sources,
                      TokenList tokens);
#endif
