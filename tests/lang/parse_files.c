// parse_files.c - parses the files named on standard input.
//
// For each: its tree (with "check" as argument: its messages), then a line
// "= CODE" with the exit code. One process for thousands of files, for
// parse_vs_python.py.
#include <stdlib.h>
#include <string.h>

#include "lang/parse.h"

static ExitCode parse_file(SourceSet *sources, const char *path, bool check)
{
    const char *why;
    uint32_t file = sources_read(sources, path, &why);
    Diag *d = diag_create(sources, stdout, false);
    Arena *a = arena_create();
    TextBuf out = {0};
    ExitCode code;
    Ast *module;

    if (!file)
        fatal(EXIT_ENVIRONMENT, "%s %s", path, why);
    diag_quiet(d, !check);
    module = parse(a, d, sources, lex(a, d, sources, file));
    code = diag_exit(d);
    if (!check && code == EXIT_CLEAN)
        ast_print(&out, sources, module);
    fwrite(out.at, 1, out.len, stdout);
    buf_release(&out);
    arena_destroy(a);
    diag_destroy(d);
    return code;
}

int main(int argc, char **argv)
{
    bool check = argc > 1 && !strcmp(argv[1], "check");
    char *path = NULL;
    size_t room = 0;
    ssize_t n;

    while ((n = getline(&path, &room, stdin)) > 0) {
        SourceSet *sources = sources_create();

        path[n - 1] = 0;
        printf("= %d\n", parse_file(sources, path, check));
        fflush(stdout);
        sources_destroy(sources);
    }
    free(path);
    return 0;
}
