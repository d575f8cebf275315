// gpu_runtime.h - compiles generated source and runs it on a device.
//
// build.c       source to machine code: NVRTC, else nvcc, or clang; what they
//               made is kept in a cache that processes share
// gpu.c         a device, found through the driver or AMD's runtime
// gpu_memory.c  device memory between guard zones
// gpu_launch.c  launches under a watchdog, and what their kernels need
// gpu_clock.c   how fast the device runs, and what holds it back
//
// Nothing here needs CUDA or ROCm to be installed where tilesim is built: the driver
// and the compiler are looked for when they are needed.
#ifndef GPU_BACKEND_GPU_RUNTIME_H
#define GPU_BACKEND_GPU_RUNTIME_H

#include "support/support.h"

// ---- build.c ----------------------------------------------------------------

typedef enum { GPU_CUBIN, GPU_PTX, GPU_HSACO } GpuForm;

typedef struct {
    Text source;
    const char *name;               // "fa.cu", as the compiler names it
    const char *arch;               // "sm_90a", "gfx942"
    const char *const *options;     // more of the compiler's
    int option_count;
    GpuForm form;
    // The program, for messages: source lines say "// fa.tile:31".
    const SourceSet *sources;
    uint32_t file;                  // 0: none
} GpuSource;

// AMD: what the code object says of a kernel, and instructions in its code.
typedef struct {
    int vgprs, agprs, sgprs;        // vgprs: agprs and those before them
    int vgpr_spills, sgpr_spills;   // registers
    int64_t scratch;                // bytes of a lane
    int mfma, valu, salu, lds, vmem, smem;
    int narrowest_read;             // bytes of a lane, of shared memory; or 0
} GpuIsa;

// What the assembler tells of one kernel.
typedef struct {
    Text symbol;
    int registers;
    int64_t spills;                 // bytes stored and loaded
    int64_t static_shared;
    const GpuIsa *isa;              // NULL: NVIDIA
} GpuUsage;

typedef struct {
    Text image;                     // followed by a NUL
    Text log;                       // what the compiler printed
    Text toolchain;                 // "NVRTC 13.0"
    bool cached;
    double seconds;
    GpuUsage *usage;                // of a cubin, in order
    int usage_count;
} GpuBuilt;

// False after reporting: no compiler (exit 6, naming what was looked for), or
// what it does not accept, at the program's line. `out` lives in `a`.
bool gpu_build(Arena *a, Diag *d, const GpuSource *s, GpuBuilt *out);

// ---- gpu.c ------------------------------------------------------------------

typedef struct Gpu Gpu;

typedef struct {
    char name[96];                  // "NVIDIA H200"
    char bus[32];                   // "0000:17:00.0"
    int major, minor;               // compute capability; AMD: gfx9.4
    int sms, clock;                 // MHz, the highest
    int64_t memory, l2, shared;     // bytes; shared: of a block at most
    int driver;                     // 13000: 13.0; HIP: 60342133: 6.3
    const char *arch;               // "gfx942"; NULL: NVIDIA, by capability
    const char *executor;           // what runs kernels, if no card does
} GpuInfo;

// Begins to start NVIDIA's driver, beside what the caller does next. Lives in
// `a`.
Gpu *gpu_start(Arena *a, Diag *d);
// Waits until its first device is known. False after reporting: no driver (exit
// 6, naming what was looked for), no device (exit 77).
bool gpu_open(Gpu *g);
// Waits until it can be used, by this thread. False after reporting.
bool gpu_enter(Gpu *g);
bool gpu_starting(const Gpu *g);        // gpu_close would wait
// The first gfx942 of AMD's runtime. NULL: there is none, and `*why` says why,
// for an executor to take its place; or, `*why` being "", after reporting.
Gpu *gpu_open_amd(Arena *a, Diag *d, const char **why);
void gpu_close(Gpu *g);

// What runs kernels where there is no card. Memory of its device is memory of
// this process.
typedef struct GpuBuffer GpuBuffer;
typedef struct GpuCall GpuCall;
typedef struct GpuNeeds GpuNeeds;
typedef struct {
    GpuInfo info;
    void *ctx;
    bool (*alloc)(void *ctx, size_t bytes, Text what, GpuBuffer *out);
    void (*release)(void *ctx, GpuBuffer *b);
    void *(*here)(void *ctx, const GpuBuffer *b);       // its bytes
    // Each reports why it cannot.
    bool (*load)(void *ctx, Text image);
    bool (*prepare)(void *ctx, GpuCall *c);
    void (*needs)(void *ctx, const GpuCall *c, GpuNeeds *out);
    bool (*run)(void *ctx, const GpuCall *list, int count);
} GpuExecutor;
Gpu *gpu_open_executor(Arena *a, Diag *d, const GpuExecutor *e);
const GpuInfo *gpu_info(const Gpu *g);
// A kernel does not end: the process has to, without closing anything.
bool gpu_hangs(const Gpu *g);
// After a kernel's fault the driver refuses everything: a new start, which
// loses all memory and modules. False after reporting.
bool gpu_restart(Gpu *g);
bool gpu_faulted(const Gpu *g);
// A launch that takes longer is stopped, exit 4.
void gpu_set_watchdog(Gpu *g, double seconds);

// ---- gpu_memory.c -----------------------------------------------------------

enum { GPU_GUARD = 1 << 20 };       // bytes before and after a buffer

struct GpuBuffer {
    unsigned long long at;          // its address
    size_t bytes;
};

// `what` names it when there is no memory (exit 4). False after reporting.
bool gpu_alloc(Gpu *g, size_t bytes, Text what, GpuBuffer *out);
void gpu_free(Gpu *g, GpuBuffer *b);
bool gpu_fill(Gpu *g, const GpuBuffer *b, uint8_t value);
bool gpu_put(Gpu *g, const GpuBuffer *to, const void *from);
bool gpu_get(Gpu *g, void *to, const GpuBuffer *from);
bool gpu_copy(Gpu *g, const GpuBuffer *to, const GpuBuffer *from);
// Did anything write beside the buffer? `*at`: the byte, negative or beyond
// the end, of the nearest such write. False after reporting.
bool gpu_guards(Gpu *g, const GpuBuffer *b, bool *intact, int64_t *at);

// ---- gpu_launch.c -----------------------------------------------------------

typedef struct {
    void *module;
} GpuModule;

struct GpuCall {
    void *function;
    unsigned grid[3], threads[3];
    bool cooperative;               // all blocks at a time, or none
    size_t shared;                  // dynamic, bytes
    void **parameters;              // addresses of the values
    const char *symbol;
    Span at;                        // the program's, for messages
};

struct GpuNeeds {
    int registers, blocks;          // blocks: of an SM at a time
    int64_t local, static_shared;   // bytes; local: of a thread
};

bool gpu_load(Gpu *g, const GpuBuilt *built, GpuModule *out);
void gpu_unload(Gpu *g, GpuModule *m);
// Finds the kernel and opts in to its shared memory. False after reporting.
bool gpu_prepare(Gpu *g, const GpuModule *m, GpuCall *l);
bool gpu_needs(Gpu *g, const GpuCall *l, GpuNeeds *out);
// Runs them one after the other and waits. A fault is a finding (exit 1), a
// launch that the device has no room for does not fit (exit 5), one that does
// not end meets a limit (exit 4). False after reporting.
bool gpu_run(Gpu *g, const GpuCall *list, int count);
typedef struct {
    int runs;
    // Sets parameters before each run; may be NULL.
    void (*next)(void *ctx, int run);
    void *ctx;
    double *ms;                     // out: of each run, milliseconds
    int clock;                      // out: MHz half way; 0: unknown
    const char *slowed;             // out: why it is not higher, or NULL
} GpuTiming;

// The same, `runs` times one after the other, each timed on the device.
bool gpu_time(Gpu *g, const GpuCall *list, int count, GpuTiming *t);

// ---- gpu_clock.c ------------------------------------------------------------

// What the management library says now; 0 and NULL where there is none.
int gpu_clock(Gpu *g, const char **slowed);
// Per cent of the last second that anything ran; -1: unknown.
int gpu_busy(Gpu *g);

// A box of a tensor, as the copy engine wants it: 128 bytes at `map`.
typedef struct {
    int type, rank;                 // the driver's number of the type
    unsigned long long at;
    uint64_t sizes[5], strides[5];  // innermost first; strides in bytes
    uint32_t box[5], steps[5];
    int swizzle, interleave, promotion, fill;
} GpuTensorBox;
bool gpu_tensor_map(Gpu *g, const GpuTensorBox *box, void *map);
#endif
