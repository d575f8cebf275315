// code.h - bytecode: what the interpreter runs. IrKernel in, Code out.
//
// The unit of work is a tile operation; T.Parallel bodies are vector programs
// over many elements under a mask (code_int.h is for this folder, the shared
// instruction format that interp reads is code/instr.h). Nothing here or in
// instr.h shows the IR, so interp cannot see it.
#ifndef CODE_CODE_H
#define CODE_CODE_H

#include "num/num.h"
#include "support/support.h"

typedef struct IrKernel IrKernel;
typedef struct Code Code;

typedef enum {
    CODE_AS_WRITTEN,
    // Every f16, bf16, tf32, f32 value, buffer and constant becomes f64 and no
    // step rounds; 8-bit floats, integers and bool stay exactly as they are.
    // Literals keep the digits of the source. Tensors of those dtypes are then
    // passed as f64 arrays.
    CODE_F64,
} CodeMode;

// NULL after reporting what cannot be lowered (exit 4 with the line).
Code *code_lower(Arena *a, Diag *d, const IrKernel *k, CodeMode mode);

// Facts that callers decide by.
typedef struct {
    int launches;
    bool atomics_on_global;     // blocks add to the same elements
    bool reads_written_global;  // a launch reads a tensor that it also writes
    bool reinterprets;          // bit tricks: f64 mode would be meaningless
} CodeFacts;
CodeFacts code_facts(const Code *c);

// `dump --stage=code`: one instruction a line, stable.
void code_print(TextBuf *out, const SourceSet *sources, const Code *c);
#endif
