// observe.h - what a checker sees of a run: every instruction, before it runs.
//
// The hooks are called from all workers, a block's from one worker and in the
// order of its instructions; blocks that wait for each other take turns on one.
// They change nothing of the run. Without an observer a run pays one test a
// list of instructions.
#ifndef INTERP_OBSERVE_H
#define INTERP_OBSERVE_H

#include "code/instr.h"
#include "interp/interp.h"

// Where an instruction runs. Lanes of a T.Parallel: (row0 + r, col0 + c) is
// the iteration of lane r * cols + c; of per-thread code: lane j is thread
// thread0 + j.
typedef struct {
    const void *state;          // interp's own
    int worker, launch;
    int64_t block;              // linear, x fastest
    int64_t blocks;             // of the launch, when it begins
    const Instr *instr;
    int pc;                     // its place in the launch's body
    const Slot *slot;           // values
    void *const *v;
    int rows, cols, n;          // the chunk
    int64_t row0, col0;
    int warp;                   // whose vector registers these are, or -1
    int slot_warp;              // whose slots; differs in collective parts
    int thread0;
} InterpStep;

typedef struct InterpObserver {
    void *ctx;
    void (*launch)(void *ctx, const InterpStep *s);     // alone, before blocks
    void (*begin)(void *ctx, const InterpStep *s);      // of a block
    void (*before)(void *ctx, const InterpStep *s);
    void (*after)(void *ctx, const InterpStep *s);      // or NULL
    void (*end)(void *ctx, const InterpStep *s);        // of a block, or NULL
} InterpObserver;

// The elements that an access touches: those at + r * sr + c * sc, or one for
// each lane with a flag that it is there. Offsets are in elements of `buffer`
// from its first; private arrays are CODE_LANES apart. Valid until the next
// touch of the same worker.
typedef struct {
    int buffer;
    int rows, cols;
    int64_t at, sr, sc;
    const int64_t *offset;      // NULL: the box, all of it in range
    const int32_t *inside;
} InterpTouch;

// Of a vector access. by_row: one lane for each row.
void interp_touch(const InterpStep *s, const Access *a, bool by_row,
                  InterpTouch *out);
// Of a scalar access; false: out of range.
bool interp_touch_one(const InterpStep *s, const Access *a, int64_t *at);
// A matrix; false: it leaves its buffer.
typedef struct {
    int buffer;
    int64_t at, rows, cols, row_step, col_step;
} InterpMatrix;
bool interp_touch_matrix(const InterpStep *s, const Matrix *m, int64_t rows,
                         int64_t cols, InterpMatrix *out);
// A memory barrier as it is now; false: there is none at the index.
typedef struct {
    int64_t element;            // of its buffer
    int64_t count, pending;     // arrivals of a phase, and still to come
    int64_t phase, bytes;       // completed ones; bytes still to come
} InterpBarrier;
bool interp_barrier(const InterpStep *s, int buffer, int64_t element,
                    InterpBarrier *out);
// The index of a lane in dimension d of an access, as the program wrote it; of
// a row when by_row.
int64_t interp_index(const InterpStep *s, const Access *a, bool by_row, int d,
                     int lane);
// The extent of dimension d of a buffer.
int64_t interp_extent(const InterpStep *s, int buffer, int d);
// A global or scratch buffer as this worker has it: where its first element is
// and how many there are from there to the last.
char *interp_memory_of(const InterpStep *s, int buffer, int64_t *elements);
// Reads n elements at `at` as lanes; those of scratch, while the block runs.
void interp_read(const InterpStep *s, int buffer, int64_t at, int64_t n,
                 void *lanes);
#endif
