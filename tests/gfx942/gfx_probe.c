// gfx_probe.c - what the shell tests ask of src/gfx942.
//
//     gfx_probe disassemble FILE      address, then the instruction, a line
//     gfx_probe words                 the same of hexadecimal words, a line each
#include "gfx942/object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int disassemble(const char *path)
{
    Arena *a = arena_create();
    const char *why;
    char *at;
    size_t len;
    if (!file_read(path, &at, &len, &why))
        fatal(EXIT_ENVIRONMENT, "%s: %s", path, why);
    GfxObject *o = gfx_object_read(a, at, len, &why);
    if (!o)
        fatal(EXIT_ENVIRONMENT, "%s %s", path, why);
    TextBuf b = {0};
    for (int i = 0; i < o->kernel_count; i++) {
        uint64_t from = (o->kernels[i].entry - OBJECT_BASE) / 4;
        uint64_t to = (o->kernels[i].end - OBJECT_BASE) / 4;
        while (from < to) {
            buf_printf(&b, "%012" PRIX64 "\t", 4 * from);
            isa_print(&b, &o->code[from]);
            buf_addc(&b, '\n');
            from += o->code[from].words ? o->code[from].words : 1;
        }
    }
    buf_write(&b, stdout);
    return 0;
}

static int words(void)
{
    unsigned w[3] = {0};
    TextBuf b = {0};
    while (scanf("%x %x", &w[0], &w[1]) == 2) {
        IsaInstr in;
        if (!isa_decode(w, 2, &in))
            in.op = OP_UNKNOWN;
        isa_print(&b, &in);
        buf_addc(&b, '\n');
    }
    buf_write(&b, stdout);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "disassemble"))
        return disassemble(argv[2]);
    if (argc == 2 && !strcmp(argv[1], "words"))
        return words();
    return 2;
}
