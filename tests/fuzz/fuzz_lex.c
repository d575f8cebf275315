// fuzz_lex.c - any bytes as a program's text: tokens in order, blocks closed.
#include "tokens.h"
#include "lang/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool what)
{
    if (!what)
        __builtin_trap();
}

static void check_tokens(TokenList tokens, size_t size)
{
    int depth = 0;
    uint32_t end = 0;

    for (int i = 0; i < tokens.len; i++) {
        const Token *t = &tokens.at[i];

        require(t->at.begin <= t->at.end && t->at.end <= size);
        require(t->kind == TOK_ERROR || t->kind == TOK_FSTRING_END ||
                t->at.begin >= end);
        end = t->at.end;
        depth += (t->kind == TOK_INDENT) - (t->kind == TOK_DEDENT);
        require(depth >= 0);
        require((t->kind == TOK_END) == (i == tokens.len - 1));
    }
    require(depth == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Text text = {(const char *)data, size};
    SourceSet *sources = sources_create();
    uint32_t file = sources_add(sources, "fuzz.tile", text);
    FILE *out = fopen("/dev/null", "w");
    Diag *d = diag_create(sources, out, false);
    Arena *a = arena_create();
    TokenList tokens = lex(a, d, sources, file);
    TextBuf printed = {0};
    bool error = false;

    check_tokens(tokens, size);
    for (int i = 0; i < tokens.len; i++)
        error |= tokens.at[i].kind == TOK_ERROR;
    require(!error || diag_errors(d));
    tokens_print(&printed, sources, tokens);
    buf_release(&printed);
    arena_destroy(a);
    diag_destroy(d);
    sources_destroy(sources);
    fclose(out);
    return 0;
}
