// feed.h - private to gpu_backend: what both sides of a feed share.
#ifndef GPU_BACKEND_FEED_H
#define GPU_BACKEND_FEED_H

#include "gpu_backend/emit_int.h"

const PlanFeedCopy *fed_copy(const Emit *e, const IrStmt *s);   // or NULL
Text feed_tile(const Emit *e, const PlanFeedCopy *c);
int64_t feed_offset(const Emit *e, const IrBuffer *b);
// The barriers of a ring's slot, which a variable names.
Text feed_full(Emit *e, const PlanFeedCopy *c, const char *slot);
Text feed_empty(Emit *e, const PlanFeedCopy *c, const char *slot);
// tma.c - loads that an mbarrier counts.
void tma_load(Emit *e, const PlanFeedCopy *c, Text bar);
// The loop's head, and what follows its body; `keep`: as `before`, too.
void feed_range(Emit *e, const IrStmt *s);
void feed_head(Emit *e, const IrStmt *s);
void feed_next_slot(Emit *e, bool keep);
// Around the loop, of the block's warps.
void feed_enter(Emit *e, const IrStmt *s);
void feed_leave(Emit *e);
#endif
