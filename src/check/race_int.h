// race_int.h - the log of a block's accesses: a bit for each unit of storage.
#ifndef CHECK_RACE_INT_H
#define CHECK_RACE_INT_H

#include "check/order_int.h"

// Units from 64 * word on.
typedef struct {
    int64_t word, words;
    uint64_t *bit;
    int64_t room;
} Units;

void units_add(Units *u, int64_t first, int64_t n);
bool units_have(const Units *u, int64_t unit);
bool units_meet(const Units *a, const Units *b);

typedef enum { LOADS, STORES, UPDATES } Way;

typedef struct {
    int64_t unit;
    int lane;
} UnitLane;

enum { MOST_LANES = 1024 };

// What one instruction accesses at one moment.
typedef struct {
    int pc, root;
    Way way;
    bool spread;                // by warps that do not share out the elements
    bool unit;                  // the tensor memory unit reads it for one warp
    bool rows;                  // A of a product: each warp reads rows of its own
    Moment when;
    uint32_t step;              // of a warp in a part where no barrier stands
    Units units;
    UnitLane *lane;             // likewise: which had a unit, in order
    int lanes;
} Entry;

typedef struct {
    Entry *at;
    int len, room;
    OrderBy by;
} EntryList;

typedef struct RaceLog {
    EntryList *buffer;          // by root; the last: of the arena's bytes
    int buffers;
    int64_t bytes, most;        // of all entries; as many may be
    Units now;                  // of the access that is looked at
    int64_t unit[CODE_LANES];   // and by lane, of those that take part
    int lane[CODE_LANES], lanes;
} RaceLog;

// Who made an access, how and of which buffer, as one number of a note.
static inline int64_t race_side(const Entry *e)
{
    return (int64_t)e->root << 16 | (int64_t)e->way << 8 | (int64_t)e->when.by;
}

RaceLog *race_log(const Check *k, BlockOrder *o);
void race_log_reset(BlockOrder *o);     // a block begins
void race_log_release(BlockOrder *o);
// Adds the units that are looked at to the entry like this one.
Entry *race_log_add(BlockOrder *o, EntryList *l, const Entry *like);
void race_log_lane(RaceLog *r, Entry *e, int64_t unit, int lane);
int race_log_lane_of(const Entry *e, int64_t unit);     // the last; or -1
#endif
