// emulated_device.h - what CUDA's compiler knows without a header, for g++, and
// the instructions of prelude.c's kernels by what they are defined to do.
//
// Threads of a block are coroutines of emulated_cuda.c; instructions of a warp
// collect what all its lanes give first.
#include <math.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__

struct EmulatedDim {
    unsigned x, y, z;
};

extern "C" struct Emulator {
    EmulatedDim *thread, *block, *block_size, *grid;
    unsigned char **arena;
    void (*sync)();
    int (*sync_count)(int);
    void (*sync_some)(int id, int threads);
    // Slots of 64 bytes, one a lane.
    const unsigned char (*(*collect)(const void *mine, unsigned long n))[64];
    int (*lane)();
    int (*thread_number)();
    unsigned *block_number;         // of all blocks that ran
    void (*arrive_some)(int id, int threads);
    void (*sync_grid)();
    void (*pause)();                // others go on; what is polled may change
} emulator;

#define threadIdx (*emulator.thread)
#define blockIdx (*emulator.block)
#define blockDim (*emulator.block_size)
#define gridDim (*emulator.grid)
#define __syncthreads() emulator.sync()
#define __trap() __builtin_trap()
#define __threadfence()
#define DEVICE static inline

template <typename T> static inline T exp10_of(T x) { return pow((T)10, x); }
static inline float exp10f_(float x) { return powf(10, x); }
#define exp10f exp10f_
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

template <typename T> static inline T atomicAdd(T *p, T x)
{
    T old = *p;
    *p = old + x;
    return old;
}
template <typename T> static inline T atomicMax(T *p, T x)
{
    T old = *p;
    *p = old < x ? x : old;
    return old;
}
template <typename T> static inline T atomicMin(T *p, T x)
{
    T old = *p;
    *p = x < old ? x : old;
    return old;
}
template <typename T> static inline T atomicAnd(T *p, T x)
{
    T old = *p;
    *p = old & x;
    return old;
}
template <typename T> static inline T atomicOr(T *p, T x)
{
    T old = *p;
    *p = old | x;
    return old;
}
template <typename T> static inline T atomicCAS(T *p, T seen, T next)
{
    T old = *p;
    if (old == seen)
        *p = next;
    return old;
}
