// token.c - the table of token.def, and tokens in print.
#include "lang/parse_int.h"

const TokenInfo token_info[TOK_COUNT] = {
#define TOKEN(id, text, class, prec, op)                                      \
    [TOK_##id] = {text, sizeof text - 1, TOKEN_##class, prec, AST_OP_##op},
#include "lang/token.def"
};

bool token_is_keyword(TokenKind k)
{
    return token_info[k].class == TOKEN_WORD ||
           token_info[k].class == TOKEN_STATEMENT;
}

// Long or many-lined text is cut: a message is one line.
static void put_quoted(TextBuf *out, Text t)
{
    enum { LONGEST = 40 };
    size_t n = 0;
    int32_t point;

    while (n < t.len && n < LONGEST && t.at[n] != '\n' && t.at[n] != '\r')
        n += (size_t)utf8_decode(t, n, &point);
    buf_addc(out, '\'');
    buf_add(out, t.at, n);
    buf_puts(out, n < t.len ? "...'" : "'");
}

void token_describe(TextBuf *out, const Token *t)
{
    const TokenInfo *info = &token_info[t->kind];

    if (t->kind == TOK_STRING || t->kind == TOK_FSTRING_BEGIN) {
        buf_puts(out, "a string");
    } else if (info->class == TOKEN_VALUE) {
        buf_printf(out, "%s ", info->text);
        put_quoted(out, t->value);
    } else if (info->class == TOKEN_LAYOUT) {
        buf_puts(out, info->text);
    } else {
        buf_puts(out, token_is_keyword(t->kind) ? "keyword " : "");
        put_quoted(out, text_of(info->text));
    }
}

static const char *const kind_names[TOK_COUNT] = {
#define TOKEN(id, ...) [TOK_##id] = #id,
#include "lang/token.def"
};

void token_put_text(TextBuf *out, Text t)
{
    int32_t point;
    size_t n;

    buf_addc(out, '"');
    for (size_t i = 0; i < t.len; i += n) {
        n = (size_t)utf8_decode(t, i, &point);
        if (point == '\\' || point == '"')
            buf_addc(out, '\\');
        if (point < 0x20 || point == 0x7f)
            buf_printf(out, "\\x%02x", (unsigned char)t.at[i]);
        else
            buf_add(out, t.at + i, n);
    }
    buf_addc(out, '"');
}

// 3:5-3:9  NAME "copy"
void tokens_print(TextBuf *out, const SourceSet *sources, TokenList tokens)
{
    for (int i = 0; i < tokens.len; i++) {
        const Token *t = &tokens.at[i];
        Place b = sources_place(sources, t->at.file, t->at.begin);
        Place e = sources_place(sources, t->at.file, t->at.end);

        buf_printf(out, "%d:%d-%d:%d  %s", b.line, b.column, e.line, e.column,
                   kind_names[t->kind]);
        if (t->value.len) {
            buf_addc(out, ' ');
            token_put_text(out, t->value);
        }
        buf_addc(out, '\n');
    }
}
