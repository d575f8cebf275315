// fuzz_parse.c - any bytes as a program, and as one expression.
#include "tokens.h"
#include "lang/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Of a printed tree: "  slot: Error @1:8", not a string that has such a text.
static bool has_hole(const char *line)
{
    for (; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n ");
        line += strcspn(line, ": \n");
        if (!strncmp(line, ": Error @", 9))
            return true;
    }
    return false;
}

// A tree with a hole means that an error was reported.
static void check_tree(const SourceSet *sources, const Diag *d, const Ast *n)
{
    TextBuf printed = {0};

    ast_print(&printed, sources, n);
    buf_addc(&printed, 0);
    if (has_hole(printed.at) && !diag_errors(d))
        __builtin_trap();
    buf_release(&printed);
}

static void parse_as(Ast *entry(Arena *, Diag *, const SourceSet *, TokenList),
                     const SourceSet *sources, uint32_t file, FILE *out)
{
    Diag *d = diag_create(sources, out, false);
    Arena *a = arena_create();

    check_tree(sources, d, entry(a, d, sources, lex(a, d, sources, file)));
    arena_destroy(a);
    diag_destroy(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Text text = {(const char *)data, size};
    SourceSet *sources = sources_create();
    uint32_t file = sources_add(sources, "fuzz.tile", text);
    FILE *out = fopen("/dev/null", "w");

    parse_as(parse, sources, file, out);
    parse_as(parse_expression, sources, file, out);
    sources_destroy(sources);
    fclose(out);
    return 0;
}
