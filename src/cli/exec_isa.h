// exec_isa.h - the arguments of a kernel in machine code, as words.
#ifndef CLI_EXEC_ISA_H
#define CLI_EXEC_ISA_H

#include "cli/cli.h"
#include "gfx942/gfx942.h"

// One argument as it was given.
typedef struct {
    bool is_buffer;
    Text spec;
    Text out;                                   // file to write; empty: none
    ArrayView view;                             // of the buffer; data is ours
    uint64_t bits;                              // of a scalar
} IsaArg;

// Reads --args and the operands after FILE for the kernel's own arguments, in
// their order. Exits 2 or 6 with a sentence when one does not fit.
IsaArg *exec_isa_args(Cli *c, const GfxKernel *k, int *count);
#endif
