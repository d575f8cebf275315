// fuzz_stage.c - source text through the lexer, the parser and the stage
// evaluator, with a limit on steps: no crash, no hang, no leak.
#include "tokens.h"
#include "lang/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_create();
    SourceSet *sources = sources_create();
    FILE *out = fopen("/dev/null", "w");
    Diag *d = diag_create(sources, out, false);
    LangOptions options = {
        .arena = a, .diag = d, .sources = sources, .out = out,
        .ops = op_table_create(a), .device = device_find(TEXT("h100")),
        .max_steps = 20000, .max_bytes = (size_t)256 << 20,
    };
    Lang *l = lang_create(&options);
    uint32_t file = sources_add(sources, "fuzz.py",
                                (Text){(const char *)data, size});

    diag_quiet(d, true);
    lang_run_file(l, file, TEXT("__main__"), NULL);
    lang_destroy(l);
    diag_destroy(d);
    fclose(out);
    sources_destroy(sources);
    arena_destroy(a);
    return 0;
}
