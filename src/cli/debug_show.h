// debug_show.h - tiles as text, for who looks at one.
#ifndef CLI_DEBUG_SHOW_H
#define CLI_DEBUG_SHOW_H

#include "host/tensor.h"
#include "plan/plan.h"

// Extremes and where they are, moments, what is no number, and the elements; of
// a large one the corners of its last two dimensions.
void debug_show_tensor(TextBuf *out, const Tensor *t);
// Magnitudes of the last two dimensions as shades.
void debug_show_heat(TextBuf *out, const Tensor *t);
// Which thread holds an element, or which byte and bank; `shape` is b's.
void debug_show_owner(TextBuf *out, const Plan *p, int launch,
                      const IrBuffer *b, const int64_t *shape,
                      const int64_t *index);
#endif
