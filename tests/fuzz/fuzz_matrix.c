// fuzz_matrix.c - any bytes as a file of captured matrix instructions, packed
// or not; a record that is sound comes out the same by both paths.
#include <stdlib.h>
#include <string.h>

#include "device/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const Capture *c)
{
    char *scalar = xmalloc(c->c_bytes), *vector = xmalloc(c->c_bytes);
    for (int64_t tile = 0; tile < c->tiles; tile++) {
        capture_run(c, MMA_PATH_SCALAR, tile, scalar);
        capture_run(c, MMA_PATH_VECTOR, tile, vector);
        if (memcmp(scalar, vector, c->c_bytes))
            __builtin_trap();
    }
    free(scalar);
    free(vector);
}

// A few bytes of A and B can stand for many products: leave those out.
static bool is_small(const Capture *c)
{
    return (double)c->m * c->n * c->k * (double)c->tiles * c->repeats < 1e6;
}

static void read_all(Text file)
{
    for (size_t at = 0; at < file.len;) {
        Capture c;
        const char *why = NULL;
        size_t before = at;
        if (!capture_next(file, &at, &c, &why)) {
            if (!why)
                __builtin_trap();
            return;
        }
        if (at <= before)
            __builtin_trap();
        if (is_small(&c))
            run(&c);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TextBuf unpacked = {0};
    const char *why;
    read_all((Text){(const char *)data, size});
    if (size < 4096 && gunzip((const char *)data, size, &unpacked, &why) &&
        unpacked.len < 1 << 20)
        read_all(buf_view(&unpacked));
    buf_release(&unpacked);
    return 0;
}
