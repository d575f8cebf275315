// gfx_probe.c - what the shell tests ask of src/gfx942.
//
//     gfx_probe disassemble FILE      address, then the instruction, a line
//     gfx_probe words                 the same of hexadecimal words, a line each
//     gfx_probe covered               names of the instructions it executes
//     gfx_probe instructions FILE A B OUT [BYTES]
//                                     runs every kernel of FILE for 16
//                                     workgroups of a wave, over copies of A
//                                     and B, and appends what each leaves in
//                                     BYTES (4096) of a workgroup
#include "gfx942/gfx942.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *read_whole(const char *path, size_t *len)
{
    const char *why;
    char *at;
    if (!file_read(path, &at, len, &why))
        fatal(EXIT_ENVIRONMENT, "%s: %s", path, why);
    return at;
}

static GfxObject *read_object(Arena *a, const char *path)
{
    const char *why;
    size_t len;
    char *at = read_whole(path, &len);
    GfxObject *o = gfx_object_read(a, at, len, &why);
    if (!o)
        fatal(EXIT_ENVIRONMENT, "%s %s", path, why);
    return o;
}

static int disassemble(const char *path)
{
    Arena *a = arena_create();
    GfxObject *o = read_object(a, path);
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

static int covered(void)
{
    static const char *const segments[] = {"flat_", "scratch_", "global_"};
    for (int op = 1; op < OP_TOTAL; op++) {
        const IsaInfo *info = isa_info((IsaOp)op);
        if (!gfx_executes((IsaOp)op))
            continue;
        bool flat = info->encoding == ENC_FLAT;
        for (int i = 0; i < (flat ? 3 : 1); i++)
            if (!flat || isa_has_segment((IsaOp)op, i))
                printf("%s%s\n", flat ? segments[i] : "", info->name);
    }
    return 0;
}

enum { GROUPS = 16 };

static int report(const GfxObject *o, const GfxResult *r, const char *name)
{
    TextBuf b = {0};
    for (int i = 0; i < r->finding_count; i++) {
        const GfxFinding *f = &r->findings[i];
        buf_printf(&b, "%s: ", name);
        gfx_finding_put(&b, o, f);
        buf_puts(&b, ": ");
        isa_print(&b, &o->code[(f->pc - OBJECT_BASE) / 4]);
        buf_addc(&b, '\n');
    }
    buf_write(&b, stdout);
    buf_release(&b);
    return r->finding_count != 0;
}

static int instructions(char **paths, size_t bytes)
{
    Arena *a = arena_create();
    GfxObject *o = read_object(a, paths[0]);
    const char *why;
    size_t len[2];
    char *vector = read_whole(paths[1], &len[0]);
    char *scalar = read_whole(paths[2], &len[1]);
    FILE *out = fopen(paths[3], "wb");
    void *result = xcalloc(GROUPS, bytes);
    int bad = 0;
    for (int i = 0; i < o->kernel_count; i++) {
        GfxBuffer buffers[] = {
            {.at = vector, .bytes = len[0]}, {.at = scalar, .bytes = len[1]},
            {.at = result, .bytes = GROUPS * bytes,
             .writable = true},
        };
        uint64_t kernarg[4] = {0};
        GfxLaunch l = {
            .object = o, .kernel = &o->kernels[i], .grid = {GROUPS, 1, 1},
            .block = {64, 1, 1}, .kernarg = (uint8_t *)kernarg,
            .buffers = buffers, .buffer_count = 3,
        };
        GfxResult r;
        ArenaMark mark = arena_mark(a);
        memset(result, 0, GROUPS * bytes);
        gfx_place(buffers, 3);
        for (int k = 0; k < 3; k++)
            kernarg[k] = buffers[k].address;
        if (!gfx_run(a, &l, &r, &why))
            fatal(EXIT_ENVIRONMENT, "%s", why);
        bad |= report(o, &r, o->kernels[i].name);
        fwrite(result, GROUPS, bytes, out);
        arena_release(a, mark);
    }
    fclose(out);
    return bad;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "disassemble"))
        return disassemble(argv[2]);
    if (argc == 2 && !strcmp(argv[1], "words"))
        return words();
    if (argc == 2 && !strcmp(argv[1], "covered"))
        return covered();
    if ((argc == 6 || argc == 7) && !strcmp(argv[1], "instructions"))
        return instructions(argv + 2, argc == 7 ? atoi(argv[6]) : 4096);
    return 2;
}
