// emulated_cuda.c - runs kernels on the CPU: fake_cuda.c is the driver, the
// module is a library that emulated_nvrtc.c makes of the kernel's text.
//
// Threads of a block are coroutines that switch at barriers and where a warp's
// lanes meet. $EMULATED_ORDER: "up" (0 first), "down" or "mixed": who runs
// first between two barriers; a barrier that is missing shows in one of them.
#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "gpu_backend/cuda_api.h"

enum { MAX_THREADS = 1024, STACK = 1 << 19, SHARED = 1 << 18 };

typedef struct {
    unsigned x, y, z;
} Dim;

typedef enum { READY, AT_BLOCK, AT_WARP, AT_NAMED, AT_POLL, DONE } State;

typedef struct {
    jmp_buf at;
    ucontext_t start;
    char *stack;
    bool started;
    State state;
    int barrier;
    Dim index;
    unsigned turn;
} Thread;

typedef struct {
    unsigned char slot[2][32][64];
} Warp;

static struct {
    Thread thread[MAX_THREADS];
    Warp warp[MAX_THREADS / 32];
    int threads, current, votes[2], turn, named[16], arrived[16];
    jmp_buf scheduler;
    void (*call)(void **);
    void **parameters;
    unsigned char *arena;
    Dim block, block_size, grid;
    unsigned blocks;
} run;

static Dim current_index;

static void wait_as(State s)
{
    Thread *t = &run.thread[run.current];

    t->state = s;
    if (!_setjmp(t->at))
        _longjmp(run.scheduler, 1);
}

static void sync_block(void)
{
    wait_as(AT_BLOCK);
}

static int sync_count(int yes)
{
    int turn = run.turn;

    run.votes[turn & 1] += yes != 0;
    wait_as(AT_BLOCK);
    return run.votes[turn & 1];
}

static void sync_some(int id, int threads)
{
    run.thread[run.current].barrier = id;
    run.named[id & 15] = threads;
    wait_as(AT_NAMED);
}

static void arrive_some(int id, int threads)
{
    run.named[id & 15] = threads;
    run.arrived[id & 15]++;
}

static const unsigned char (*collect(const void *mine, unsigned long n))[64]
{
    Thread *t = &run.thread[run.current];
    Warp *w = &run.warp[run.current / 32];
    int which = t->turn++ & 1;

    memcpy(w->slot[which][run.current % 32], mine, n);
    wait_as(AT_WARP);
    return (const unsigned char (*)[64])w->slot[which];
}

static int thread_number(void)
{
    return run.current;
}

// Blocks run one after the other here: a grid of one is all that can meet.
static void sync_grid(void)
{
    while (run.grid.x * run.grid.y * run.grid.z > 1)
        wait_as(AT_POLL);
    wait_as(AT_BLOCK);
}

static void pause_thread(void)
{
    wait_as(AT_POLL);
}

static int lane(void)
{
    return run.current % 32;
}

typedef struct {
    Dim *thread, *block, *block_size, *grid;
    unsigned char **arena;
    void (*sync)(void);
    int (*sync_count)(int);
    void (*sync_some)(int, int);
    const unsigned char (*(*collect)(const void *, unsigned long))[64];
    int (*lane)(void);
    int (*thread_number)(void);
    unsigned *block_number;
    void (*arrive_some)(int, int);
    void (*sync_grid)(void);
    void (*pause)(void);
} Emulator;

static void begin(void)
{
    run.call(run.parameters);
    run.thread[run.current].state = DONE;
    _longjmp(run.scheduler, 1);
}

static void resume(int i)
{
    Thread *t = &run.thread[i];

    run.current = i;
    current_index = t->index;
    if (_setjmp(run.scheduler))
        return;
    if (t->started)
        _longjmp(t->at, 1);
    t->started = true;
    setcontext(&t->start);
}

static bool all_in(int from, int to, State s)
{
    bool any = false;

    for (int i = from; i < to; i++) {
        if (run.thread[i].state != s && run.thread[i].state != DONE)
            return false;
        any |= run.thread[i].state == s;
    }
    return any;
}

static void release(int from, int to)
{
    for (int i = from; i < to; i++)
        if (run.thread[i].state != DONE)
            run.thread[i].state = READY;
}

static bool open_barriers(void)
{
    bool opened = false;

    for (int w = 0; w < run.threads; w += 32) {
        int end = w + 32 < run.threads ? w + 32 : run.threads;
        if (all_in(w, end, AT_WARP)) {
            release(w, end);
            opened = true;
        }
    }
    for (int id = 0; id < 16; id++) {
        int n = run.arrived[id];
        for (int i = 0; i < run.threads; i++)
            n += run.thread[i].state == AT_NAMED &&
                 run.thread[i].barrier == id;
        if (n && n == run.named[id])
            run.arrived[id] = 0;
        for (int i = 0; n && n == run.named[id] && i < run.threads; i++)
            if (run.thread[i].state == AT_NAMED && run.thread[i].barrier == id)
                run.thread[i].state = READY, opened = true;
    }
    if (opened)
        return true;
    if (all_in(0, run.threads, AT_BLOCK)) {
        release(0, run.threads);
        run.turn++;
        run.votes[run.turn & 1] = 0;
        return true;
    }
    return false;
}

static int nth(const char *order, int i)
{
    if (!strcmp(order, "down"))
        return run.threads - 1 - i;
    if (!strcmp(order, "mixed"))
        return (int)((i * 37u + run.turn * 11u) % (unsigned)run.threads);
    return i;
}

static void set_up(int i)
{
    Thread *t = &run.thread[i];

    if (!t->stack)
        t->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    getcontext(&t->start);
    t->start.uc_stack.ss_sp = t->stack;
    t->start.uc_stack.ss_size = STACK;
    t->start.uc_link = NULL;
    makecontext(&t->start, begin, 0);
    t->started = false;
    t->state = READY;
    t->turn = 0;
    t->index.x = (unsigned)i % run.block_size.x;
    t->index.y = (unsigned)i / run.block_size.x % run.block_size.y;
    t->index.z = (unsigned)i / (run.block_size.x * run.block_size.y);
}

// False: some wait for what never comes.
static bool run_block(void)
{
    const char *order = getenv("EMULATED_ORDER");

    for (int i = 0; i < run.threads; i++)
        set_up(i);
    memset(run.arena, 0xff, SHARED);
    memset(run.arrived, 0, sizeof run.arrived);
    run.votes[0] = run.votes[1] = 0;
    run.blocks++;
    for (int idle = 0;;) {
        bool ran = false;
        for (int i = 0; i < run.threads; i++) {
            int t = nth(order ? order : "up", i);
            State s = run.thread[t].state;
            if (s == READY || s == AT_POLL) {
                resume(t);
                ran |= run.thread[t].state != AT_POLL;
                idle = ran ? 0 : idle;
            }
        }
        if (all_in(0, run.threads, DONE))
            return true;
        // What polls twice after all others have stopped, polls for ever.
        if (!ran && !open_barriers() && ++idle > 2)
            return false;
    }
}

#define EXPORT __attribute__((visibility("default"))) CudaResult

EXPORT cuModuleLoadData(void **module, const void *image)
{
    const char *text = image;
    size_t bytes = strtoull(text, NULL, 10);
    char path[] = "/tmp/emulated-XXXXXX";
    int file = mkstemp(path);
    ssize_t n = write(file, text + 32, bytes);

    close(file);
    *module = n == (ssize_t)bytes ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(path);
    if (!*module) {
        fprintf(stderr, "emulated: %s\n", dlerror());
        return CUDA_INVALID_IMAGE;
    }
    Emulator *e = dlsym(*module, "emulator");
    if (!run.arena) {
        run.arena = mmap(NULL, SHARED, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    *e = (Emulator){&current_index, &run.block, &run.block_size, &run.grid,
                    &run.arena, sync_block, sync_count, sync_some, collect,
                    lane, thread_number, &run.blocks, arrive_some,
                    sync_grid, pause_thread};
    return CUDA_OK;
}

// What the driver's documentation demands; swizzle n is of 16 << n bytes.
static bool is_map(unsigned log, unsigned rank, const void *at,
                   const uint64_t *sizes, const uint64_t *strides,
                   const uint32_t *box, int swizzle)
{
    uint32_t row = rank ? box[0] << log : 0;

    if (rank < 1 || rank > 5 || (uintptr_t)at % 16 || row % 16 ||
        (swizzle && row > 16u << swizzle))
        return false;
    for (unsigned d = 0; d < rank; d++)
        if (!sizes[d] || sizes[d] > 1ull << 32 || !box[d] || box[d] > 256 ||
            (d && (strides[d - 1] % 16 || strides[d - 1] >> 40)))
            return false;
    return true;
}

// What emulated_instructions.h reads: the address, rank, log2 of an element's
// bytes and swizzle, sizes, strides, and the box in 12 bits a dimension.
EXPORT cuTensorMapEncodeTiled(CudaTensorMap *map, int type, unsigned rank,
                              void *at, const uint64_t *sizes,
                              const uint64_t *strides, const uint32_t *box,
                              const uint32_t *steps, int interleave,
                              int swizzle, int promotion, int fill)
{
    uint64_t *w = map->opaque;
    unsigned log = type == 0 ? 0 : type == 1 ? 1 : type == 2 ? 2 : 3;

    (void)steps, (void)interleave, (void)promotion, (void)fill;
    memset(map, 0, sizeof *map);
    if (!is_map(log, rank, at, sizes, strides, box, swizzle))
        return CUDA_INVALID_VALUE;
    w[0] = (uint64_t)(uintptr_t)at;
    w[1] = rank | log << 8 | (unsigned)swizzle << 16;
    for (unsigned d = 0; d < rank; d++) {
        w[2 + d] = sizes[d];
        if (d)
            w[6 + d] = strides[d - 1];
        w[11] |= (uint64_t)box[d] << 12 * d;
    }
    return CUDA_OK;
}

EXPORT cuModuleUnload(void *module)
{
    dlclose(module);
    return CUDA_OK;
}

EXPORT cuModuleGetFunction(void **function, void *module, const char *name)
{
    char symbol[512];

    snprintf(symbol, sizeof symbol, "%s_call", name);
    *function = dlsym(module, symbol);
    return *function ? CUDA_OK : CUDA_INVALID_IMAGE;
}

EXPORT cuLaunchKernelEx(const CudaLaunch *l, void *function, void **parameters,
                        void **extra)
{
    (void)extra;
    run.call = (void (*)(void **))function;
    run.parameters = parameters;
    run.block_size = (Dim){l->block[0], l->block[1], l->block[2]};
    run.grid = (Dim){l->grid[0], l->grid[1], l->grid[2]};
    run.threads = (int)(l->block[0] * l->block[1] * l->block[2]);
    if (l->shared > SHARED)
        return CUDA_LAUNCH_RESOURCES;
    for (unsigned z = 0; z < l->grid[2]; z++)
        for (unsigned y = 0; y < l->grid[1]; y++)
            for (unsigned x = 0; x < l->grid[0]; x++) {
                run.block = (Dim){x, y, z};
                if (!run_block())
                    return CUDA_LAUNCH_FAILED;
            }
    return CUDA_OK;
}
