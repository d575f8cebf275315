// verdict.h - is the kernel right? Three numbers per output, and why not.
//
// The usual rule (rtol, atol, 1 % mismatches) passes broken attention, so the
// verdict rests on two norms instead: `algorithm`, the program computed in f64
// against its reference in f64, which leaves no room for argument; and
// `rounding`, the program as written against that same reference.
#ifndef HOST_VERDICT_H
#define HOST_VERDICT_H

#include "host/host.h"

enum { VERDICT_MAX_OUTPUTS = 16 };

// Sums over the elements that two tensors are compared on.
typedef struct {
    int64_t compared;           // elements
    double diff2, ref2;         // sums of squares, over finite pairs
    double least;               // normal number of the rule's format
    int64_t nan_only;           // NaN here and not in the reference
    int64_t inf_only;           // infinite here or there, not the same
    int64_t over;               // beyond atol + rtol * |ref|
    double worst;               // largest |difference|
    int64_t worst_at;           // its flat index, -1: none
} CompareSums;

typedef struct {
    double rtol, atol;
    const uint8_t *written;     // elements to compare, or NULL: all
    DType format;               // that the output is kept in
} CompareRule;

// Of equal shape; `got` of any dtype, `ref` f64 or integers, both contiguous.
// [from, to) are flat indices. Deterministic and parallel.
CompareSums compare_range(const Tensor *got, const Tensor *ref, int64_t from,
                          int64_t to, const CompareRule *rule);
// ||d|| / ||ref||, or in units of the format's last place where that is less.
double compare_rel(const CompareSums *s);

typedef enum { JUDGED_OK, JUDGED_BAD, JUDGED_NOT } Judged;

// Where the mismatches are and what they look like.
typedef struct {
    int64_t count, total;
    int64_t first[TENSOR_MAX_RANK], last[TENSOR_MAX_RANK];  // bounding box
    int64_t first_flat;
    double expected, found;     // at first_flat
    int64_t block[3];           // that stored it; -1: not known
    bool never_stored;
    int64_t unwritten;          // elements that no store reached
    int64_t nan_count;
    char pattern[200];          // "" when there is no guess
} Mismatch;

typedef struct {
    int param;
    Text name;
    DType dtype;
    Tensor got, ref;            // contiguous; ref in f64
    Judged algorithm, rounding;
    double algorithm_rel, algorithm_limit;
    double rounding_rel, rounding_limit;
    int64_t bad_slice;          // outermost slice above the limit, or -1
    CompareSums sums;           // as written
    CompareSums file_sums;      // against the expected file
    bool upstream_passes;
    double upstream_percent;
    double worst_got, worst_ref;
    int64_t worst_index[TENSOR_MAX_RANK];
    double worst_ulps;
    int64_t written_once, written_never, written_more;      // elements
    bool wrong;
    Mismatch mismatch;          // when wrong
    // --expect: the file against us and against the reference
    bool has_expect, expect_wrong;
    double expect_got_rel, expect_ref_rel, expect_limit;
    bool against_file;          // the mismatch is with the file
    uint8_t *writes;            // by element, how often the run stored it
} OutputVerdict;

// How far Ctrl-C or a timeout let it come.
typedef enum { STOPPED_NOT, STOPPED_RUN, STOPPED_REFERENCE, STOPPED_F64 } Stop;

typedef struct {
    const char *no_algorithm;   // why there is no f64 run, or NULL
    Stop stopped;
    int64_t sampled, blocks;    // that the f64 run computed, of how many
    InterpResult run;           // as written
    int64_t run_sampled;        // blocks of the last launch that ran; 0: all
    double reference_seconds;
    int output_count;
    OutputVerdict outputs[VERDICT_MAX_OUTPUTS];
    bool has_reference;
    bool failed;                // did not get as far as numbers
    bool wrong;
} Verdict;

// The reference's result, kept while the cases of a sweep share their inputs.
typedef struct {
    TextBuf key;
    Tensor outs[VERDICT_MAX_OUTPUTS];
    int count;
} ReferenceCache;

typedef struct {
    int64_t sample_blocks;      // of the f64 run; 0: all
    double norm_tol;            // 0: by dtype
    double rtol, atol, ratio;
    const InterpPrint *prints;
    int print_count;
    int64_t block[3];           // --block: this one alone; block[0] < 0: all
    int64_t run_blocks;         // run only so many of the last launch; 0: all
    bool keep_writes;           // in OutputVerdict, whatever is compared
    // InterpOptions.event of the run as written, or NULL.
    void (*event)(void *ctx, int worker, int64_t block, int event,
                  const int64_t *values);
    void *event_ctx;
    const struct InterpObserver *observer;      // likewise
    // `what` is done: "blocks", "f64 blocks", or "reference" with total 0.
    void (*progress)(void *ctx, const char *what, int64_t done, int64_t total);
    void *progress_ctx;
    ReferenceCache *cache;      // or NULL
} VerdictOptions;

// One launch: a kernel with its tensors.
typedef struct {
    KernelObject *kernel;
    KernelArg *args;            // one per parameter; outputs zeroed
    bool *is_output;            // judged against the reference
    bool made_by_program;       // the inputs, by inputs() or a script
    Text *supply;               // words for the report, per parameter
    Tensor *expects;            // per parameter; rank -1: none
    // What the kernel writes and was not empty before: its first contents,
    // which verdict_run keeps. Rank -1: none.
    Tensor *before;
    NamedText *outs;            // --out
    int out_count;
} LaunchCase;

// `reference` is a callable or NONE. Its first parameters take the input
// tensors in order, the rest their values from the kernel's arguments by name.
// Everything is reported to the diag; `failed` then says to stop.
Verdict verdict_run(Host *h, LaunchCase *c, Value reference,
                    const VerdictOptions *options);
void verdict_release(Verdict *v);
// The outputs of a launch that ran, of which nothing is known yet.
void verdict_list(const LaunchCase *c, Verdict *v);
// Judges o->got, which may have come from elsewhere, against o->ref and the
// expected file.
void verdict_judge(Host *h, LaunchCase *c, Verdict *v, OutputVerdict *o,
                   const VerdictOptions *options);
double verdict_norm_tol(DType t);               // the limits of DESIGN 5
// Distance in units of the last place of `t` at `ref`.
double verdict_ulps(DType t, double got, double ref);

// reference.c
// Calls the reference in f64; its tensors, contiguous. *plain: it looks at
// bits, and was evaluated in its own dtypes. False after reporting.
bool reference_run(Host *h, LaunchCase *c, Value reference,
                   ReferenceCache *cache, Tensor *outs, int *count,
                   bool *plain);
void reference_forget(ReferenceCache *cache);
// The contents of a parameter before the launch.
const Tensor *launch_before(const LaunchCase *c, int param);
// A tensor as the f64 world sees it; another reference when it is the same.
bool tensor_in_f64(const Tensor *t, Tensor *out);
bool becomes_f64(DType t);

// mismatch.c: the output against its reference, or against its expected file.
void mismatch_find(Host *h, LaunchCase *c, OutputVerdict *o,
                   const uint8_t *writes);
void flat_to_index(const Tensor *t, int64_t flat, int64_t *index);
#endif
