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
    CODE_STEPPED,   // as written, with a step before each statement
    CODE_COUNTED,   // as written, with an event before each use of tiles
    // Scalars, control flow and the same events; tiles are left out, and so
    // are the stores of T.Parallel. A kernel whose control or addresses come
    // from tiles is lowered as CODE_COUNTED (CodeFacts.tile_dependent).
    CODE_CONTROL,
} CodeMode;

enum { CODE_EVENT_VARS = 16 };

// What the interpreter tells whenever a statement on tiles begins: a tile
// operation, a T.Parallel, a store of an element.
typedef struct {
    int stmt;               // its id in the IR
    Span at;
    int var_count;          // what its addresses, extents and masks need:
    const int *var;         // ids of variables; -1 - id of an alloc_var
    const int *slot;        // where interp finds the values
    bool masked_by_data;    // a mask or address inside also reads elements
} CodeEvent;

// A name of the program, where a step is.
typedef struct {
    Text name;
    DType dtype;
    int buffer;             // a tile or tensor; -1: a scalar
    int slot;               // where interp finds a scalar
} CodeName;

// A statement that a debugger can stop before; T.Parallel is one as a whole.
typedef struct {
    int stmt;               // its id in the IR; -1: the end of the block
    Span at;
    int depth;              // statements around it
    const CodeName *name;   // in scope; the innermost of a name is last
    int name_count;
} CodeStep;

// NULL after reporting what cannot be lowered (exit 4 with the line).
Code *code_lower(Arena *a, Diag *d, const IrKernel *k, CodeMode mode);

// Facts that callers decide by.
typedef struct {
    int launches;
    bool atomics_on_global;     // blocks add to the same elements
    bool reads_written_global;  // a launch reads a tensor that it also writes
    bool reinterprets;          // bit tricks: f64 mode would be meaningless
    bool calls_natives;         // T.call_extern: likewise
    bool tile_dependent;        // CODE_CONTROL was not possible
} CodeFacts;
CodeFacts code_facts(const Code *c);
const CodeEvent *code_events(const Code *c, int *count);
const CodeStep *code_steps(const Code *c, int *count);

// `dump --stage=code`: one instruction a line, stable.
void code_print(TextBuf *out, const SourceSet *sources, const Code *c);
#endif
