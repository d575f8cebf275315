// lex_layout.c - lines, indentation, and brackets that are never closed.
#include "lang/lex_int.h"

enum {
    TAB = 8,
    UNCLOSED_LIMIT = 20,        // each may read the rest of the text again
};

static bool is_newline(const Lexer *l, uint32_t at)
{
    return at < l->len && (l->text[at] == '\n' || l->text[at] == '\r');
}

// Measures the blanks at *at and skips them. A line that consists of a
// backslash counts for the one that it continues.
static Indent measure(const Lexer *l, uint32_t *at)
{
    Indent i = {0}, continued = {-1, -1};

    for (; *at < l->len; ++*at) {
        char c = l->text[*at];

        if (c == ' ') {
            i.columns++;
            i.tabless++;
        } else if (c == '\t') {
            i.columns = (i.columns / TAB + 1) * TAB;
            i.tabless++;
        } else if (c == '\f') {
            i = (Indent){0};
        } else if (c == '\\' && is_newline(l, *at + 1)) {
            continued = continued.columns < 0 ? i : continued;
            i = (Indent){0};
            ++*at;
            *at += l->text[*at] == '\r' && is_newline(l, *at + 1) &&
                   l->text[*at + 1] == '\n';
        } else {
            break;
        }
    }
    return continued.columns < 0 ? i : continued;
}

static Indent *innermost(const Lexer *l)
{
    return &l->indents.at[l->indents.len - 1];
}

static void tab_error(Lexer *l, Span at)
{
    lex_error(l, at, "syntax-tabs", "tabs and blanks are mixed: the depth of "
              "this indentation depends on the width of a tab");
    lex_push(l, TOK_ERROR, at.begin, at.end);
}

// "0, 4 or 8": the levels before the line.
static void put_levels(TextBuf *b, const Lexer *l, int count)
{
    for (int i = 0; i < count; i++)
        buf_printf(b, "%s%d", !i ? "" : i + 1 < count ? ", " : " or ",
                   l->indents.at[i].columns);
}

static void dedent_error(Lexer *l, int levels, int found, Span at)
{
    TextBuf b = {0};

    put_levels(&b, l, levels);
    lex_error(l, at, "syntax-dedent", "this line ends a block but fits none "
              "around it: expected %.*s blanks, found %d",
              TEXT_ARG(buf_view(&b)), found);
    buf_release(&b);
    lex_push(l, TOK_ERROR, at.begin, at.end);
}

static void dedent(Lexer *l, Indent now, Span at)
{
    int levels = l->indents.len;

    while (innermost(l)->columns > now.columns) {
        l->indents.len--;
        lex_push(l, TOK_DEDENT, at.end, at.end);
    }
    if (innermost(l)->columns != now.columns)
        dedent_error(l, levels, now.columns, at);
    else if (innermost(l)->tabless != now.tabless)
        tab_error(l, at);
}

static void indent(Lexer *l, Indent now, Span at)
{
    bool mixed = now.tabless <= innermost(l)->tabless;

    vec_push(l->arena, &l->indents, now);
    lex_push(l, TOK_INDENT, at.begin, at.end);
    if (mixed)
        tab_error(l, at);
}

// The text ends in what measure() has skipped.
static void dangling_blanks(Lexer *l, uint32_t begin)
{
    uint32_t at = l->len;

    while (at > begin && is_newline(l, at - 1))
        at--;
    if (at < l->len && at > begin && l->text[at - 1] == '\\')
        lex_dangling(l, at - 1);
}

void lex_line_start(Lexer *l)
{
    uint32_t begin = l->at;
    Indent now = measure(l, &l->at);
    Span at = lex_span(l, begin, l->at);

    if (lex_peek(l, 0) == '#')
        while (l->at < l->len && !lex_at_newline(l))
            l->at++;
    if (l->at == l->len) {
        dangling_blanks(l, begin);
        return;
    }
    if (lex_at_newline(l)) {
        lex_skip_newline(l);
        return;
    }
    l->line_start = false;
    l->line_bad = false;
    l->line_indent = now;
    if (now.columns > innermost(l)->columns)
        indent(l, now, at);
    else if (now.columns < innermost(l)->columns)
        dedent(l, now, at);
    else if (now.tabless != innermost(l)->tabless)
        tab_error(l, at);
}

// The offset of the line that token `i` begins, or -1 if it begins none.
static int64_t line_begun(const Lexer *l, int i)
{
    uint32_t begin = l->out.at[i].at.begin;
    uint32_t limit = i ? l->out.at[i - 1].at.end : 0;

    for (; begin > limit; begin--) {
        char c = l->text[begin - 1];

        if (c == '\n' || c == '\r')
            return begin;
        if (c != ' ' && c != '\t' && c != '\f')
            return -1;
    }
    return begin ? -1 : 0;
}

// Does token `i` begin a line that is not indented more than the statement?
static bool begins_outer_line(const Lexer *l, int i, uint32_t *line)
{
    int64_t begin = line_begun(l, i);
    uint32_t at;

    if (begin < 0)
        return false;
    at = *line = (uint32_t)begin;
    return measure(l, &at).columns <= l->line_indent.columns;
}

bool lex_begins_statement(const Lexer *l)
{
    int last = l->out.len - 1;
    uint32_t line;

    return last >= 0 && l->out.at[last].at.end == l->at &&
           token_info[l->out.at[last].kind].class == TOKEN_STATEMENT &&
           begins_outer_line(l, last, &line);
}

// The first token behind the outermost open bracket that begins a line of its
// own, outside of closed f-strings, which may have lines that look like one.
static int resume_token(const Lexer *l, uint32_t *line)
{
    int strings = 0, next_open = 0;

    for (int i = l->open.at[0].token; i < l->out.len; i++) {
        TokenKind k = l->out.at[i].kind;
        bool open = false;

        if (!strings && i > l->open.at[0].token &&
            begins_outer_line(l, i, line))
            return i;
        for (; next_open < l->open.len && l->open.at[next_open].token == i;
             next_open++)
            open = true;
        strings += k == TOK_FSTRING_BEGIN && !open;
        strings -= k == TOK_FSTRING_END;
    }
    return -1;
}

static void report_unclosed(Lexer *l, const Open *o)
{
    Text open = {l->text + o->at.begin, o->at.end - o->at.begin};
    bool string = o->kind != OPEN_BRACKET;

    if (o->reported)
        return;
    l->line_bad = false;
    lex_error(l, o->at, string ? "syntax-fstring" : "syntax-bracket",
              "'%.*s' is never closed; expected '%.*s'", TEXT_ARG(open),
              o->triple ? 3 : 1, (char[]){o->close, o->close, o->close});
}

// The bracket to blame: the innermost of those that are opened before token
// `resume`, where the next statement seems to begin.
static const Open *culprit(const Lexer *l, int resume)
{
    int i = l->open.len - 1;

    while (i > 0 && resume >= 0 && l->open.at[i].token >= resume)
        i--;
    if (l->open.at[i].kind == OPEN_SPEC)
        i--;
    return &l->open.at[i];
}

void lex_unclosed(Lexer *l)
{
    uint32_t line = l->len;
    int i = l->open.at[l->open.len - 1].kind == OPEN_FSTRING
                ? -1
                : resume_token(l, &line);

    report_unclosed(l, culprit(l, i));
    l->open.len = 0;
    if (i >= 0)
        l->out.len = i;
    l->at = i >= 0 ? line : l->len;
    if (++l->unclosed > UNCLOSED_LIMIT)
        l->at = l->len;
    lex_push(l, TOK_ERROR, l->at, l->at);
    lex_push(l, TOK_NEWLINE, l->at, l->at);
    l->line_start = true;
}
