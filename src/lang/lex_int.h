// lex_int.h - what the files of the lexer share.
#ifndef LANG_LEX_INT_H
#define LANG_LEX_INT_H

#include "lang/parse_int.h"

// What is open around the next character. A '{' inside an f-string opens a
// FIELD, the ':' of that a SPEC; while an FSTRING or a SPEC is innermost the
// text is literal, otherwise it is made of tokens.
typedef enum {
    OPEN_BRACKET, OPEN_FSTRING, OPEN_FIELD, OPEN_SPEC,
} OpenKind;

typedef struct {
    OpenKind kind;
    char close;                 // the bracket or quote that ends it
    bool triple, raw;           // FSTRING
    bool reported;              // its line has an error: say no more
    Span at;                    // the opening text
    int token;                  // and its index
} Open;

// Width of the blanks before a line, tabs going to multiples of 8 and of 1:
// two lines compare only if both measures agree.
typedef struct {
    int columns, tabless;
} Indent;

typedef struct {
    Arena *arena;
    Diag *diag;
    uint32_t file;
    const char *text;
    uint32_t len, at;
    bool line_start;            // indentation is to be measured
    bool line_bad;              // the logical line has an error already
    Indent line_indent;         // of the logical line
    int unclosed;               // brackets that were never closed
    struct {
        Token *at;
        int len, room;
    } out;
    struct {
        Open *at;
        int len, room;
    } open;
    struct {
        Indent *at;
        int len, room;
    } indents;
    uint8_t first_row[128];     // first row of token.def with that character
} Lexer;

// The character `k` places on, or -1 past the end.
static inline int lex_peek(const Lexer *l, uint32_t k)
{
    return l->len - l->at > k ? (unsigned char)l->text[l->at + k] : -1;
}

// lex.c
Span lex_span(const Lexer *l, uint32_t begin, uint32_t end);
void lex_push(Lexer *l, TokenKind kind, uint32_t begin, uint32_t end);
// Reports, unless the logical line has an error already; the parser will stay
// silent about the line once an ERROR token is pushed. True if it was printed.
bool lex_error(Lexer *l, Span at, const char *id, const char *format, ...)
    PRINTF_LIKE(4, 5);
void lex_open(Lexer *l, OpenKind kind, char close, Span at);
bool lex_at_newline(const Lexer *l);
void lex_skip_newline(Lexer *l);                // "\n", "\r\n" or "\r"
// Reports a backslash at `begin` that continues on no line.
void lex_dangling(Lexer *l, uint32_t begin);

// lex_layout.c
// At the start of a line outside brackets: INDENT and DEDENT, or nothing for
// a line without tokens.
void lex_line_start(Lexer *l);
// The innermost bracket is not closed, seen at the end of the text or at a
// word that can only begin a statement. Goes on behind the statement.
void lex_unclosed(Lexer *l);
// Is the last token a statement's word at the start of a line that is not
// indented more than the statement whose brackets are open?
bool lex_begins_statement(const Lexer *l);

// lex_string.c
// Is a string literal ahead? Then its prefix length is in *prefix.
bool lex_at_string(const Lexer *l, uint32_t *prefix);
void lex_string(Lexer *l, uint32_t prefix);
void lex_fstring_text(Lexer *l);                // literal part of an f-string

// lex_number.c
void lex_number(Lexer *l);

// lex_name.c
bool lex_at_name(const Lexer *l);
void lex_name(Lexer *l);
// The length in bytes of a character that may go on in a name, or 0.
int lex_name_char(const Lexer *l, uint32_t at, bool first);
void lex_bad_character(Lexer *l);
void lex_check_encoding(Lexer *l);
#endif
