// torch_probe.c - runs a Python file with torch as a reference sees it.
//
//     torch_probe [--f64] [--limit BYTES] FILE [ARGUMENT...]
//
// With --f64 as a reference is evaluated for the verdict: floats of 16 bits
// and more are f64. Messages go to stderr; the exit code is that of
// `tilesim run`.
#include <stdlib.h>
#include <string.h>

#include "host/host.h"

typedef struct {
    HostOptions host;
    bool f64;
    const char *file;
} Probe;

static int run(Probe *p)
{
    const char *why;
    uint32_t file = sources_read(p->host.sources, p->file, &why);
    Host *h;
    int code;

    if (!file) {
        fprintf(stderr, "%s: %s\n", p->file, why);
        return EXIT_ENVIRONMENT;
    }
    h = host_create(&p->host);
    h->f64 = p->f64;
    lang_run_file(h->lang, file, TEXT("__main__"), NULL);
    code = diag_errors(p->host.diag) ? (int)diag_exit(p->host.diag)
                                     : lang_exit_code(h->lang);
    fflush(stdout);
    host_destroy(h);
    return code;
}

static void read_options(Probe *p, int argc, char **argv)
{
    int i = 1;
    Text *texts;

    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--f64") == 0)
            p->f64 = true;
        else if (strcmp(argv[i], "--limit") == 0 && i + 1 < argc)
            p->host.memory_limit = strtoll(argv[++i], NULL, 10);
    }
    if (i == argc) {
        fprintf(stderr, "usage: torch_probe [--f64] [--limit N] FILE ...\n");
        exit(EXIT_USAGE);
    }
    p->file = argv[i++];
    texts = new_array(p->host.arena, Text, (size_t)(argc - i) + 1);
    p->host.script_args = texts;
    for (; i < argc; i++)
        texts[p->host.script_arg_count++] = text_of(argv[i]);
}

int main(int argc, char **argv)
{
    SourceSet *sources = sources_create();
    Diag *d = diag_create(sources, stderr, false);
    Arena *a = arena_create();
    Probe p = {.host = {
        .arena = a, .diag = d, .sources = sources, .out = stdout,
        .ops = op_table_create(a), .device = device_find(TEXT("h100")),
    }};
    int code;

    read_options(&p, argc, argv);
    code = run(&p);
    arena_destroy(a);
    diag_destroy(d);
    sources_destroy(sources);
    return code;
}
