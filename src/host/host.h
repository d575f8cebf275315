// host.h - what surrounds a kernel: tensors, launches, references, verdicts.
//
// A Host is one run of one program file: its Lang, the objects that scripts
// see (torch, tilelang, argparse), and the options of the command line.
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "code/code.h"
#include "device/device.h"
#include "host/tensor.h"
#include "interp/interp.h"
#include "ir/ir.h"
#include "lang/lang.h"
#include "plan/plan.h"

typedef struct Host Host;
typedef struct KernelObject KernelObject;

// What a kernel takes for a parameter.
typedef struct {
    bool is_scalar;
    Tensor tensor;
    int64_t i64;
    double f64;
} KernelArg;

typedef enum {
    SUPPLY_AUTO, SUPPLY_INTEGER, SUPPLY_UNIFORM, SUPPLY_NORMAL, SUPPLY_RANDN,
    SUPPLY_ZERO, SUPPLY_ONE, SUPPLY_COUNT
} SupplyKind;

// What a script asserts about a kernel.
typedef struct {
    KernelObject *kernel;
    Value reference;            // callable
    SupplyKind supply;
    const List *inputs;         // tensors given by the script, or NULL
    double rtol, atol, ratio;
    Span at;
} Assertion;

// How T.gemm is computed: by fused multiply-adds; to the bit as the matrix cores
// of the target do it, or not at all; so where that is known.
typedef enum { NUMERICS_IEEE, NUMERICS_EXACT, NUMERICS_KNOWN } Numerics;

// extern.c: libraries whose C functions kernels call. NULL after reporting one
// that cannot be opened.
typedef struct Natives Natives;
Natives *natives_open(Diag *d, Arena *a, const Text *paths, int count);
void natives_close(Natives *n);
InterpNatives natives_table(const Natives *n);

typedef struct {
    Arena *arena;
    Diag *diag;
    SourceSet *sources;
    const OpTable *ops;
    const Device *device;
    Numerics numerics;
    FILE *out;                  // the script's stdout
    uint64_t seed;
    int64_t tune_config;        // of autotune's configurations, from 1; 0: the
                                // first, and only where a script calls
    int64_t memory_limit;       // bytes of tensors and scratch; 0: of the machine
    const Natives *natives;     // libraries of T.call_extern, or NULL
    const Text *script_args;
    int script_arg_count;
    // The script calls a kernel, which has not run yet. May be NULL.
    void (*launching)(void *ctx, KernelObject *k, KernelArg *args);
    // It runs now: what may be set in `run`. given[i]: the script's tensor, not
    // one made for the output. May be NULL.
    void (*watching)(void *ctx, KernelObject *k, const KernelArg *args,
                     const bool *given, InterpOptions *run);
    // A kernel was launched by the script, or by a profiler: for the report.
    // May be NULL.
    void (*launched)(void *ctx, const KernelObject *k, const InterpResult *r);
    // profiler.assert_allclose(reference): judges the kernel against it and
    // returns what upstream's rule says. NULL: the assertion is not evaluated
    // (a command that does not run kernels).
    bool (*asserted)(void *ctx, const Assertion *a);
    void *ctx;
    // Calls of kernels run nothing and give zeros: for commands that only want
    // to know which kernels a script makes.
    bool record_only;
} HostOptions;

struct Host {
    HostOptions options;
    Lang *lang;
    TensorHeap heap;
    bool f64;                   // a reference is being evaluated in f64
    bool f64_refused;           // it looked at bits, which f64 has others of
    DType default_float;        // torch.set_default_dtype; DT_BOOL: f32
    uint32_t random_streams;    // random tensors made so far
    bool grad_used;             // a tensor needs a gradient, or did
    int no_grad;                // > 0: nothing is recorded for gradients
    int64_t nodes;              // recorded so far
    struct {                    // whose data_ptr() the program knows
        Tensor *at;
        int len, room;
    } pointed;
    Module *module;             // of the file
    Map preludes;               // name -> Module*: see prelude.c
    int64_t refusals;           // of upstream's compiler, that a test expects
    int64_t assertions;         // of profilers, that held
    bool helped;                // the script printed its help and ended
    struct {                    // kernels made so far, in order
        KernelObject **at;
        int len, room;
    } kernels;
    Value kept;                 // the same as a Python list: keeps them alive
};

Host *host_create(const HostOptions *options);
void host_destroy(Host *h);
int64_t host_memory_left(const Host *h);        // 0: as much as you like

// ---- kernel.c: callable kernels ---------------------------------------------

// What @tilelang.jit, tilelang.compile or calling a factory gives.
struct KernelObject {
    Foreign foreign;
    Host *host;
    IrKernel *ir;
    Text factory;               // name of the factory or eager function
    Code *code[CODE_CONTROL + 1];   // by CodeMode, lowered when first needed
    bool failed[CODE_CONTROL + 1];
    const PlanMatrices *matrices;   // how it computes T.gemm; NULL: IEEE
    bool no_matrices;           // that was asked for, and reported impossible
    Text source;                // on a GPU: see kernel_source
    bool source_tried;
    const Dict *arguments;      // Python arguments it was made with, by name
    int const_count;            // the last of them are T.const sizes
    const Dict *config;         // of @autotune, where one was used
};

extern const ForeignType kernel_type;
// kernel.name(...): get_profiler, compile and the like; in profiler.c.
bool kernel_method(Lang *l, Foreign *self, Text name, const Args *args,
                   Value *out);
bool kernel_getattr(Lang *l, Foreign *self, Text name, Value *out, Span at);
// The address of t's elements, which a kernel may follow from now on.
int64_t host_address(Host *h, const Tensor *t);
KernelObject *kernel_of(Value v);               // NULL: something else
Value kernel_new(Host *h, IrKernel *ir, Text factory, const Dict *arguments);
Code *kernel_code(KernelObject *k, CodeMode mode);  // NULL after reporting
// From now on T.gemm is computed as in plan p, where `numerics` ask for it.
// False after reporting what is not known. The plan is p.
bool kernel_follow(KernelObject *k, const Plan *p);
bool kernel_is_output(const KernelObject *k, int param);
// Python value of an argument the kernel was made with ("is_causal").
bool kernel_argument(const KernelObject *k, Text name, Value *out);

// Sizes bound to T.dynamic symbols by name (-D), for shapes of inputs.
typedef struct {
    Text name;
    int64_t value;
} SymbolSize;
// The shape of parameter `param` with symbols replaced; false after reporting
// a symbol without a value (exit 2, naming them all).
bool kernel_shape(KernelObject *k, int param, const SymbolSize *sizes,
                  int size_count, int64_t *shape);

// One argument per parameter. `writes` (may be NULL): one shadow per parameter or
// NULL, see InterpArg.
// Checks ranks, shapes and dtypes (exit 2, naming parameter, expected, found),
// then runs. In CODE_F64 float tensors must be f64.
InterpResult kernel_run(KernelObject *k, CodeMode mode, const KernelArg *args,
                        uint8_t *const *writes, const InterpOptions *options);

// NAME=VALUE of the command line.
typedef struct {
    Text name, value;
} NamedText;

// ---- jit.c: what @tilelang.jit and @tilelang.autotune make --------------------

typedef struct {
    Foreign foreign;
    Host *host;
    Value function;             // lazy factory or eager function
    bool eager;
    bool plain;                 // no decorator: a function that makes a kernel
    Value out_idx, pass_configs, compile_flags, configs;    // NONE or value
    Map made;                   // text of the arguments -> KernelObject*
} JitObject;

extern const ForeignType jit_type;
JitObject *jit_of(Value v);
Value jit_new(Host *h, Value function);
// Makes (or finds) the kernel for arguments by name; parameters that are left
// out take their defaults, then the first autotune configuration's values. For
// an eager function names that are no parameters are T.const sizes. Raises.
KernelObject *jit_make(JitObject *j, const Dict *arguments, Span at);
// A tensor argument of an eager kernel, known by its shape alone.
Value jit_spec(Host *h, DType t, int rank, const int64_t *shape, Span at);
// The configurations of @autotune, or NULL.
List *jit_configs(Host *h, Value v);
// The configuration of --tune-config, or the first; V_NONE where there is none.
// Raises, exit 2, where a list is shorter; `name` is the function's.
Value autotune_choose(Host *h, Text name, const List *all, Span at);
// A prim_func with output indices becomes a kernel.
KernelObject *kernel_from_ir(Host *h, IrKernel *ir, Value out_idx, Span at);

// ---- supply.c: generated inputs ----------------------------------------------

// Philox4x32-10, key (seed, param), counter = element: the same bits on every
// machine and for any number of threads. Rules: tilelang_surface 7.2.
void philox4x32(const uint32_t counter[4], const uint32_t key[2],
                uint32_t out[4]);
void supply_fill(Tensor *t, SupplyKind kind, uint64_t seed, uint32_t param);
// "U(-1,1)", "{-2..2}": for the report.
const char *supply_words(SupplyKind kind, DType t);

// ---- modules that scripts import ----------------------------------------------
// Each returns false when `name` is not one of its modules.
bool torch_import(Host *h, Text name, Value *out);      // torch, einops
bool tilelang_import(Host *h, Text name, Value *out);   // tilelang and below
bool script_import(Host *h, Text name, Value *out);     // argparse

// prelude.c: modules that are Python text (torch.autograd, packaging.version).
bool prelude_import(Host *h, Text name, Value *out);
// A lookup of modules: what a package has and this one has not.
bool torch_lookup_missing(Lang *l, Module *m, Text name, Value *out);

// pytest.c: runs the functions of a module whose names start with prefix, as
// pytest would; prints each failure and the counts. False: one failed.
bool host_run_tests(Host *h, const Module *m, const char *prefix);

// tape.c: the module _tape, what prelude/autograd.py is built on.
Value tape_helpers(Host *h);

// torch.c: tensors as Python values.
extern const ForeignType tensor_type;
Value tensor_value(Host *h, Tensor t);          // takes the reference over
Tensor *tensor_of(Value v);                     // NULL: not a tensor

#endif
