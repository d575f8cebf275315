// feed_int.h - private to plan: what a producer warp can bring.
#ifndef PLAN_FEED_INT_H
#define PLAN_FEED_INT_H

#include "plan/plan_int.h"

typedef struct {
    PlanState *p;
    IrStmt *launch;
    bool *known;                    // variables the producer has, by id
    bool *stored;                   // global buffers the launch writes, by id
    const bool *repeated;           // by buffer id: T.alloc_var that producers
                                    // set as well, or NULL
    bool ok;                        // of the walk under way
    bool by_threads;                // copies need not be TMA's
} FeedFind;

// feed.c
bool feed_can_produce(FeedFind *f, const IrExpr *x);
void feed_learn(FeedFind *f, IrStmt *s);            // of a let
void feed_note_store(void *ctx, IrBuffer *b, bool is_store);
bool feed_has_view(const PlanState *p, const IrBuffer *b);
// A parameter that TMA can describe, with rows one after the other.
bool feed_is_plain(const FeedFind *f, const IrBuffer *g);
// The box of a copy of all of a tile; false where there is none.
bool feed_box(PlanFeedCopy *c);
// Boxes by the layout of the tile, of `stages` slots.
bool feed_cut(PlanState *p, PlanFeedCopy *c, int stages);
// What a block does first with a tile is the copy.
bool feed_copied_first(FeedFind *f, IrStmt *block, const PlanFeedCopy *c,
                       bool *done);
#endif
