// run_lang.c - runs a Python file with the stage evaluator, for tests.
//
//     run_lang FILE [ARGUMENT...]
//
// Prints what the program prints; messages go to stderr, and the exit code is
// that of `tilesim run`.
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"

static Text *texts_of(Arena *a, char **at, int n)
{
    Text *out = new_array(a, Text, (size_t)n + 1);

    for (int i = 0; i < n; i++)
        out[i] = text_of(at[i]);
    return out;
}

static int run(Arena *a, SourceSet *sources, Diag *d, char **argv, int argc)
{
    LangOptions options = {
        .arena = a, .diag = d, .sources = sources, .out = stdout,
        .ops = op_table_create(a), .device = device_find(TEXT("h100")),
        .argv = texts_of(a, argv + 1, argc - 1), .argc = argc - 1,
    };
    const char *why;
    uint32_t file = sources_read(sources, argv[0], &why);
    Lang *l;
    int code;

    if (!file) {
        fprintf(stderr, "%s: %s\n", argv[0], why);
        return EXIT_ENVIRONMENT;
    }
    if (getenv("MAX_STEPS"))
        options.max_steps = strtoull(getenv("MAX_STEPS"), NULL, 10);
    l = lang_create(&options);
    lang_run_file(l, file, TEXT("__main__"), NULL);
    code = diag_errors(d) ? (int)diag_exit(d) : lang_exit_code(l);
    fflush(stdout);
    lang_destroy(l);
    return code;
}

int main(int argc, char **argv)
{
    SourceSet *sources = sources_create();
    Diag *d = diag_create(sources, stderr, false);
    Arena *a = arena_create();
    int code;

    if (argc < 2) {
        fprintf(stderr, "usage: run_lang FILE [ARGUMENT...]\n");
        return EXIT_USAGE;
    }
    code = run(a, sources, d, argv + 1, argc - 1);
    arena_destroy(a);
    diag_destroy(d);
    sources_destroy(sources);
    return code;
}
