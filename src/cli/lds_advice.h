// lds_advice.h - changes of a program with which it fits.
#ifndef CLI_LDS_ADVICE_H
#define CLI_LDS_ADVICE_H

#include "cli/lds_report.h"

enum { ADVICE_CHANGES = 3, ADVICE_SHOWN = 4, LAYOUTS_SHOWN = 8 };

// One change: an argument's other value, or another word in the source, at one
// place or wherever it stands.
typedef enum { CHANGE_ARGUMENT, CHANGE_WORD, CHANGE_WORDS } LdsChangeKind;

typedef struct {
    LdsChangeKind kind;
    Text name;                          // argument, or buffer
    Text from, to;                      // values, or words
    uint32_t at;                        // WORD: its first byte
    int line;
} LdsChange;

// Changes that were staged and planned again, and fit on every target. Where it
// fitted before, they may take more registers than a thread has.
typedef struct LdsAdvice {
    LdsChange change[ADVICE_CHANGES];
    int count;
    int64_t bytes[DEVICE_COUNT];        // of the launch that takes the most
    int registers[DEVICE_COUNT];        // of fragments, a thread
    int blocks[DEVICE_COUNT];           // resident on an SM or CU
} LdsAdvice;

// The smallest changes that fit, at most `room` of them; 0: none found, or
// nothing to advise.
int lds_advise(Session *s, const LdsReport *r, LdsAdvice *out, int room);
// What a report says of it.
void lds_advice_text(TextBuf *out, const LdsReport *r);
void lds_advice_json(Json *out, const LdsReport *r);
// "block_N=32, Q_shared in a fragment (:64)"
void lds_advice_line(TextBuf *out, const LdsAdvice *a);

// lds_layouts.c: what the shared memory of all launches costs on a target.
typedef struct {
    int64_t conflicts, cycles;
    int64_t bytes;                      // of the launch that takes the most
    double us;                          // one pipe after the other: estimate
    int unknown;                        // accesses that are not counted
} LdsLayoutCost;

// Another layout of a shared buffer, on top of those before it in a list.
typedef struct LdsLayout {
    IrBuffer *buffer;
    IrIndexMap *map;
    int64_t pitch;                      // of padded rows; 0: a named swizzle
    LdsLayoutCost before[DEVICE_COUNT], after[DEVICE_COUNT];
} LdsLayout;

// Layouts with fewer bank conflicts, at most `room` <= LAYOUTS_SHOWN; and with
// `counts` what all of them together make of each access.
int lds_advise_layouts(LdsReport *r, LdsLayout *out, int room, bool counts);
void lds_layouts_text(TextBuf *out, const LdsReport *r);
void lds_layouts_json(Json *out, const LdsReport *r);
// "T.annotate_layout({S: T.Layout(...)})", and what stands behind the colon.
void lds_layout_line(TextBuf *out, const LdsLayout *l);
void lds_layout_value(TextBuf *out, const LdsLayout *l);

// lds_patch.c: the source with an advice's changes. Arguments change wherever
// the file says NAME=OLD.
Text lds_patched(Arena *a, Text source, const LdsAdvice *advice);
// With layouts: in place of the ones that buffers have, or in a line behind
// that which allocates the buffer.
Text lds_patched_layouts(Arena *a, Text source, const LdsLayout *l, int count);
// A unified diff of two texts, of which the second has the lines of the first,
// changed, and others between them.
void lds_diff(TextBuf *out, const char *path, Text from, Text to);
#endif
