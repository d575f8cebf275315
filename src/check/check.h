// check.h - finds mistakes while a kernel runs, and names the line.
//
// A Check watches one interp_run through its observer. What it finds is exact
// for the configuration that ran: no finding is a guess. docs/checks.md says
// what each one means and how the shadows work.
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "code/code.h"
#include "device/device.h"
#include "interp/interp.h"

typedef enum {
    CHECK_BOUNDS, CHECK_UNINIT, CHECK_RACES, CHECK_BARRIERS, CHECK_PIPELINES,
    CHECK_VALUES, CHECK_OUTPUTS, CHECK_TARGETS,
    CHECK_GROUP_COUNT
} CheckGroup;

enum { CHECK_ALL = (1 << CHECK_GROUP_COUNT) - 1 };

typedef enum { CHECK_OFF, CHECK_WARNING, CHECK_ERROR } CheckLevel;

typedef enum {
#define FINDING(id, ...) FINDING_##id,
#include "check/finding.def"
    FINDING_COUNT
} FindingId;

typedef struct {
    const char *slug;           // "uninit-read"
    CheckGroup group;
    CheckLevel level;           // unless the user says otherwise
    const char *title, *text;
} FindingInfo;

const FindingInfo *finding_info(FindingId id);
bool finding_find(Text slug, FindingId *out);
const char *check_group_name(CheckGroup g);
bool check_group_exists(CheckGroup g);          // something can be found

// Another place, or a line of facts where `at` has no file.
typedef struct {
    Span at;
    Text text;
} CheckNote;

// What a finding is about, for the search of causes.
enum {
    FACT_FIRST = 1,             // the earlier of two accesses
    FACT_SECOND = 2,
    FACT_READ = 4,              // of elements that have no value
    FACT_INDEX = 8,             // a value at fault is its index or mask
    FACT_SKIPPED = 16,          // a store that the guard leaves out
    FACT_STORES = 32,           // a store to the output that lacks elements
    FACT_MISSING = 64,          // elements of the buffer have no value
    FACT_PLAIN = 128,           // any other access
    FACT_ANY = FACT_FIRST | FACT_SECOND | FACT_SKIPPED | FACT_PLAIN,
};

typedef struct {
    int buffer;
    Span at;
    unsigned how;               // FACT_...
} CheckFact;

// The finding that others follow from.
typedef struct {
    FindingId id;
    Span at;
} CheckCause;

typedef struct {
    FindingId id;
    Span at;
    Text message;
    CheckNote *notes;
    int note_count;
    Text fix;                   // what to do, or ""
    int64_t count;              // elements, or times
    int launch;
    int64_t block;              // of the first time; -1: none
    int param;                  // that it is about, or -1
    Text tile;                  // whose values are missing, or ""
    uint64_t missing;           // which elements of an output are
    struct {
        CheckFact *at;
        int len, room;
    } facts;
    bool also;                  // it follows from another:
    CheckCause cause;           // ... or is that itself
} CheckFinding;

typedef struct {
    CheckFinding *at;
    int len, room;
} CheckFindings;

// A block that stored what is no number.
typedef struct {
    int launch;
    int64_t block;
} CheckTarget;

// The bytes of a shared buffer in its launch's arena; none: not known.
typedef struct {
    int64_t offset, bytes;
} SharedPlace;

typedef struct {
    const CheckTarget *trace;   // follow values of this block alone; or NULL
    unsigned groups;            // 1 << CHECK_..., what is wanted
    const bool *empty;          // by parameter: comes without contents
    bool some_blocks;           // not all blocks will run
    const SharedPlace *place;   // by launch and buffer; or NULL
    bool tails;                 // tell indices past the end of tensors
    bool unguarded;             // the compiler puts no guard around accesses
} CheckOptions;

// Whether the program alone orders accesses, so that the bytes that buffers
// share matter.
bool check_wants_places(const Code *c);

typedef struct Check Check;

Check *check_create(const Code *c, const CheckOptions *options);
// For InterpOptions.observer.
const struct InterpObserver *check_observer(const Check *k);
// After the run, whose own findings are among them. In order of place.
void check_findings(Check *k, Arena *a, const InterpResult *r,
                    CheckFindings *out);
// Was a launch too large to be checked in full? Which, and for what limit.
bool check_limit(const Check *k, Arena *a, Span *at, Text *words);
// Brings findings of one cause together, the cause first.
void check_causes(Arena *a, CheckFindings *all);
// Is a result NaN or infinite? Then the run is to be done once more, on the
// same inputs, with a Check that traces the block: it finds where that began.
bool check_target(const Check *k, const InterpResult *r, CheckTarget *out);
bool check_stores_to(const Check *k, int param);
bool check_loads_from(const Check *k, int param);
void check_destroy(Check *k);

// What the devices cannot do as the code asks for it; nothing runs. Unless they
// are named by the user the kind of 8-bit floats says which are meant.
void check_targets(const Code *c, const Device *const *devices, int count,
                   bool named, Arena *a, CheckFindings *out);
#endif
