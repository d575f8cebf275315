// fuzz_gfx942.c - any bytes as a code object, or as the code of a kernel.
//
// The first byte chooses: even, what follows is a file; odd, it is the code,
// and its bits say how large the launch is.
#include "gfx942/gfx942.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUFFER = 4096, STEPS = 2000, KERNARG = 64 };

static void print_all(const GfxObject *o, const GfxResult *r)
{
    TextBuf b = {0};
    for (int i = 0; i < r->finding_count; i++) {
        gfx_finding_put(&b, o, &r->findings[i]);
        isa_print(&b, &o->code[(r->findings[i].pc - OBJECT_BASE) / 4]);
    }
    buf_release(&b);
}

static void run_kernel(Arena *a, const GfxObject *o, const GfxKernel *k,
                       uint32_t threads, uint64_t seed)
{
    uint8_t memory[BUFFER] = {0};
    GfxBuffer buffer = {.at = memory, .bytes = BUFFER, .writable = true};
    uint8_t *kernarg = new_array(a, uint8_t, k->kernarg_size + KERNARG);
    GfxLaunch l = {
        .object = o, .kernel = k, .grid = {2, 1, 1}, .block = {threads, 1, 1},
        .kernarg = kernarg, .buffers = &buffer, .buffer_count = 1,
        .seed = seed, .most_steps = STEPS,
    };
    GfxResult r;
    const char *why;
    Text unknown;
    gfx_place(&buffer, 1);
    for (int at = 0; at + 8 <= k->kernarg_size; at += 8)
        memcpy(kernarg + at, &buffer.address, 8);
    gfx_fill_hidden(&l, kernarg, &unknown);
    if (gfx_run(a, &l, &r, &why))
        print_all(o, &r);
}

static void run_file(Arena *a, const uint8_t *data, size_t size)
{
    const char *why;
    GfxObject *o = gfx_object_read(a, data, size, &why);
    if (!o != (why != NULL))
        __builtin_trap();
    for (int i = 0; o && i < o->kernel_count && i < 4; i++)
        run_kernel(a, o, &o->kernels[i], 64, 0);
}

// The words as they are; four dwords of kernarg address come first.
static void run_code(Arena *a, const uint8_t *data, size_t size)
{
    uint8_t shape = data[0] >> 1;
    size_t words = (size - 1) / 4;
    uint32_t *code = new_array(a, uint32_t, words + 1);
    GfxObject o = {.image = (uint8_t *)code, .image_bytes = 4 * words,
                   .words = words};
    GfxKernel k = {
        .name = "fuzz", .entry = OBJECT_BASE, .end = OBJECT_BASE + 4 * words,
        .rsrc1 = 0xf0 << 12, .rsrc2 = 2 << 1 | 1 << 7, .properties = 8,
        .kernarg_size = KERNARG, .lds_bytes = 1024, .scratch_bytes = 64,
        .max_threads = 1024,
    };
    if (!words)
        return;
    memcpy(code, data + 1, 4 * words);
    o.code = new_array(a, IsaInstr, words);
    for (size_t i = 0; i < words; i++)
        isa_decode(code + i, words - i, &o.code[i]);
    o.kernels = &k;
    o.kernel_count = 1;
    run_kernel(a, &o, &k, 1 + shape % 4 * 63, shape >> 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    Arena *a = arena_create();
    if (data[0] & 1)
        run_code(a, data, size);
    else
        run_file(a, data + 1, size - 1);
    arena_destroy(a);
    return 0;
}
