// launch.h - from a program file and -D values to a kernel with its tensors.
#ifndef HOST_LAUNCH_H
#define HOST_LAUNCH_H

#include "host/verdict.h"

// What of a file can be launched: jit functions, prim_funcs, kernel objects.
typedef struct {
    Text name;
    Value value;
} Candidate;

// In order of definition; returns how many there are (at most `room` filled).
int launch_candidates(Module *m, Candidate *out, int room);
// The one named, or the only one. False after reporting: unknown name, none,
// or several (exit 2 with the list).
bool launch_choose(Host *h, Module *m, Text name, Candidate *out);
// What the command line says of one launch. A name is empty where it is only a
// FILE.safetensors, which binds by its own names.
typedef struct {
    const NamedText *defines, *in, *out, *expect;
    int define_count, in_count, out_count, expect_count;
    SupplyKind supply;
    const List *inputs;         // tensors from a script, or NULL
    bool zero_floats;           // nobody reads them: generate none
} CaseOptions;

// The kernel for -D values: those that name a parameter or a T.const size are
// bound (sizes of an eager kernel also by the shapes of --in); the rest must be
// T.dynamic sizes or scalar parameters, which launch_case takes. NULL after
// reporting.
KernelObject *launch_make(Host *h, const Candidate *c,
                          const CaseOptions *options);

// Tensors for one launch: given files, the program's inputs(**arguments), or
// generated. False after reporting.
bool launch_case(Host *h, KernelObject *k, const CaseOptions *options,
                 LaunchCase *out);
void launch_case_release(LaunchCase *c);
// A launch with tensors that a script gives; they stay the script's, and the
// case is not released.
void launch_case_of(Host *h, KernelObject *k, KernelArg *args, LaunchCase *out);
// --out: writes parameters' tensors; several into one .safetensors. False
// after reporting.
bool launch_save(Host *h, const LaunchCase *c);
// The reference of a file by name; false: there is none (reported when `named`
// says that the user asked for it).
bool launch_reference(Host *h, Module *m, Text name, bool named, Value *out);

// arrays.c
// Can `name` be written to `file`? NULL, or why not.
const char *array_refuses(const LaunchCase *c, Text name, Text file);
// t, which is contiguous, as a file holds it; false: it has no word for the
// dtype.
bool array_view(const Tensor *t, Text name, bool npy, ArrayView *v);
bool tensor_from_array(Host *h, const ArrayView *a, Tensor *out,
                       const char **why);
bool array_dtype(Text name, DType *out);
#endif
