// access.cu - single warp instructions on memory, one kernel launch each, to be
// run under hardware counters.
//
//     access FILE      lines: op, mask (hex), 32 byte offsets of shared memory,
//                      32 byte offsets of global memory
//
// A launch is one warp that executes the instruction once. Offsets come from
// the kernel's parameters, so that no other load or store is counted.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { GLOBAL_BYTES = 1 << 22, SHARED_BYTES = 64 << 10 };

struct Lanes {
    uint32_t shared[32], global[32], mask;
};

#define CHECK(call)                                                           \
    do {                                                                      \
        cudaError_t e = (call);                                               \
        if (e != cudaSuccess) {                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));        \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

// One kernel an operation: `s` is the lane's shared address, `g` its global
// one. A value that is loaded is used only where that cannot be true.
#define OP(name, text, ...)                                                   \
    __global__ void name(Lanes l, char *base, int never)                      \
    {                                                                         \
        extern __shared__ __align__(1024) char smem[];                        \
        uint32_t lane = threadIdx.x;                                          \
        uint32_t s = (uint32_t)__cvta_generic_to_shared(smem) +               \
                     l.shared[lane];                                          \
        char *g = base + l.global[lane];                                      \
        uint32_t a = lane, b = lane + 1, c = 2, d = 3;                        \
        uint64_t w = lane, x = 1;                                             \
        if (l.mask >> lane & 1)                                               \
            asm volatile(text __VA_ARGS__);                                   \
        if (never == (int)(a + b + c + d + w + x))                            \
            base[0] = 1;                                                      \
    }

OP(ldg8, "ld.global.u8 %0, [%1];", : "=r"(a) : "l"(g) : "memory")
OP(ldg16, "{.reg .u16 t; ld.global.u16 t, [%1]; cvt.u32.u16 %0, t;}",
   : "=r"(a) : "l"(g) : "memory")
OP(ldg32, "ld.global.u32 %0, [%1];", : "=r"(a) : "l"(g) : "memory")
OP(ldg64, "ld.global.v2.u32 {%0, %1}, [%2];",
   : "=r"(a), "=r"(b) : "l"(g) : "memory")
OP(ldg128, "ld.global.v4.u32 {%0, %1, %2, %3}, [%4];",
   : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(g) : "memory")
OP(stg8, "st.global.u8 [%0], %1;", : : "l"(g), "r"(a) : "memory")
OP(stg16, "{.reg .u16 t; cvt.u16.u32 t, %1; st.global.u16 [%0], t;}",
   : : "l"(g), "r"(a) : "memory")
OP(stg32, "st.global.u32 [%0], %1;", : : "l"(g), "r"(a) : "memory")
OP(stg64, "st.global.v2.u32 [%0], {%1, %2};",
   : : "l"(g), "r"(a), "r"(b) : "memory")
OP(stg128, "st.global.v4.u32 [%0], {%1, %2, %3, %4};",
   : : "l"(g), "r"(a), "r"(b), "r"(c), "r"(d) : "memory")

#define WAIT " cp.async.wait_all;"
OP(cpa4, "cp.async.ca.shared.global [%0], [%1], 4;" WAIT,
   : : "r"(s), "l"(g) : "memory")
OP(cpa8, "cp.async.ca.shared.global [%0], [%1], 8;" WAIT,
   : : "r"(s), "l"(g) : "memory")
OP(cpa16, "cp.async.ca.shared.global [%0], [%1], 16;" WAIT,
   : : "r"(s), "l"(g) : "memory")
OP(cpg16, "cp.async.cg.shared.global [%0], [%1], 16;" WAIT,
   : : "r"(s), "l"(g) : "memory")

OP(atoms_add32, "atom.shared.add.u32 %0, [%1], %2;",
   : "=r"(a) : "r"(s), "r"(b) : "memory")
OP(reds_max32, "red.shared.max.u32 [%0], %1;", : : "r"(s), "r"(b) : "memory")
OP(atoms_exch32, "atom.shared.exch.b32 %0, [%1], %2;",
   : "=r"(a) : "r"(s), "r"(b) : "memory")
OP(atoms_cas32, "atom.shared.cas.b32 %0, [%1], %2, %3;",
   : "=r"(a) : "r"(s), "r"(b), "r"(c) : "memory")
OP(atoms_exch64, "atom.shared.exch.b64 %0, [%1], %2;",
   : "=l"(w) : "r"(s), "l"(x) : "memory")
OP(atoms_cas64, "atom.shared.cas.b64 %0, [%1], %2, %2;",
   : "=l"(w) : "r"(s), "l"(x) : "memory")
OP(reds_add64, "red.shared.add.u64 [%0], %1;", : : "r"(s), "l"(x) : "memory")

OP(redg_add32, "red.global.add.u32 [%0], %1;", : : "l"(g), "r"(b) : "memory")
OP(redg_addf32, "red.global.add.f32 [%0], %1;",
   : : "l"(g), "f"(1.0f) : "memory")
OP(redg_add64, "red.global.add.u64 [%0], %1;", : : "l"(g), "l"(x) : "memory")
OP(redg_addf16x2, "red.global.add.noftz.f16x2 [%0], %1;",
   : : "l"(g), "r"(b) : "memory")
OP(redg_addv2f32, "red.global.add.v2.f32 [%0], {%1, %1};",
   : : "l"(g), "f"(1.0f) : "memory")
OP(redg_addv4f32, "red.global.add.v4.f32 [%0], {%1, %1, %1, %1};",
   : : "l"(g), "f"(1.0f) : "memory")
OP(atomg_add32, "atom.global.add.u32 %0, [%1], %2;",
   : "=r"(a) : "l"(g), "r"(b) : "memory")

// For comparison with what is known: the same rows go through these too.
OP(lds32, "ld.shared.u32 %0, [%1];", : "=r"(a) : "r"(s) : "memory")
OP(sts128, "st.shared.v4.u32 [%0], {%1, %2, %3, %4};",
   : : "r"(s), "r"(a), "r"(b), "r"(c), "r"(d) : "memory")

typedef void Kernel(Lanes, char *, int);
static const struct {
    const char *name;
    Kernel *kernel;
} ops[] = {
#define ROW(name) {#name, name}
    ROW(ldg8), ROW(ldg16), ROW(ldg32), ROW(ldg64), ROW(ldg128), ROW(stg8),
    ROW(stg16), ROW(stg32), ROW(stg64), ROW(stg128), ROW(cpa4), ROW(cpa8),
    ROW(cpa16), ROW(cpg16), ROW(atoms_add32), ROW(reds_max32),
    ROW(atoms_exch32), ROW(atoms_cas32), ROW(atoms_exch64), ROW(atoms_cas64),
    ROW(reds_add64), ROW(redg_add32), ROW(redg_addf32), ROW(redg_add64),
    ROW(redg_addf16x2), ROW(redg_addv2f32), ROW(redg_addv4f32),
    ROW(atomg_add32), ROW(lds32), ROW(sts128),
};

static Kernel *find(const char *name)
{
    for (auto &op : ops)
        if (!strcmp(op.name, name))
            return op.kernel;
    fprintf(stderr, "unknown op %s\n", name);
    exit(1);
}

static bool read_lanes(FILE *f, char *name, Lanes *l)
{
    if (fscanf(f, "%31s %x", name, &l->mask) != 2)
        return false;
    for (uint32_t *list : {l->shared, l->global})
        for (int i = 0; i < 32; i++)
            if (fscanf(f, "%u", &list[i]) != 1)
                exit(1);
    return true;
}

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "r") : stdin;
    char name[32], *base;
    Lanes l;

    CHECK(cudaMalloc(&base, GLOBAL_BYTES));
    CHECK(cudaMemset(base, 0, GLOBAL_BYTES));
    for (auto &op : ops)
        CHECK(cudaFuncSetAttribute(
            op.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
            SHARED_BYTES));
    while (f && read_lanes(f, name, &l)) {
        find(name)<<<1, 32, SHARED_BYTES>>>(l, base, -1);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    return 0;
}
