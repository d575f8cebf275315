// supply_probe.c - generated inputs as bytes, and Philox's raw words.
//
//     supply_probe philox C0 C1 C2 C3 K0 K1      (hexadecimal)
//     supply_probe KIND DTYPE SEED PARAM COUNT   (KIND: a number)
#include <stdlib.h>
#include <string.h>

#include "host/host.h"

static int words(char **argv)
{
    uint32_t in[6], out[4];

    for (int i = 0; i < 6; i++)
        in[i] = (uint32_t)strtoul(argv[i], NULL, 16);
    philox4x32(in, in + 4, out);
    printf("%08x %08x %08x %08x\n", out[0], out[1], out[2], out[3]);
    return 0;
}

static int fill(char **argv)
{
    TensorHeap heap = {0};
    Tensor t;
    DType type;
    int64_t n = strtoll(argv[4], NULL, 10);

    if (!dtype_find(text_of(argv[1]), &type)
        || !tensor_new(&heap, &t, type, 1, &n))
        return 1;
    supply_fill(&t, (SupplyKind)atoi(argv[0]), strtoull(argv[2], NULL, 10),
                (uint32_t)strtoul(argv[3], NULL, 10));
    fwrite(tensor_data(&t), 1, dtype_bytes(type, n), stdout);
    tensor_release(&t);
    tensor_heap_release(&heap);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 8 && strcmp(argv[1], "philox") == 0)
        return words(argv + 2);
    if (argc == 6)
        return fill(argv + 1);
    fprintf(stderr, "usage: supply_probe KIND DTYPE SEED PARAM COUNT\n");
    return 2;
}
