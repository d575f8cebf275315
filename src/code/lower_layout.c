// lower_layout.c - annotate_layout on global tensors: their elements lie where
// the index map says, not row by row (tilelang_surface 4.10). On fragments it
// says which thread has an element, and lets that thread store there.
//
// The map is lowered like any integer expressions, with the indices of the
// access for its inputs. Its outputs' ranges over the whole tensor give the
// physical shape, which must not need more room than the tensor has.
#include "code/code_int.h"

#include <string.h>

bool has_layout(const IrBuffer *b)
{
    return b->scope == SCOPE_GLOBAL && b->layout && !b->layout->maker.len &&
           b->layout->out_rank > 0 && !b->alias_of;
}

static void bind_inputs(Lower *l, const IrIndexMap *m, const Form *index)
{
    for (int i = 0; i < m->in_rank; i++) {
        Form *f = new (l->arena, Form);

        *f = index[i];
        l->binding[m->in[i]->id] = (Binding){.kind = BIND_FORM, .form = f};
    }
}

// Slots that stand for every index of the tensor.
static bool index_ranges(Lower *l, const IrBuffer *b, Form *index)
{
    for (int d = 0; d < b->rank; d++) {
        int64_t n = l->code->buffer[b->id].shape[d];
        int slot = new_slot(l, false);

        if (n < 0) {
            unsupported(l, "the layout of '%.*s' needs a constant shape",
                        TEXT_ARG(b->name));
            return false;
        }
        l->fact.at[slot].range = range_of(0, n - 1);
        index[d] = form_slot(slot);
    }
    return true;
}

static bool physical_shape(Lower *l, const IrBuffer *b, int64_t *extent)
{
    const IrIndexMap *m = b->layout;
    Form index[IR_MAX_RANK], f;

    if (!index_ranges(l, b, index))
        return false;
    bind_inputs(l, m, index);
    for (int i = 0; i < m->out_rank; i++) {
        Range r;

        if (!form_of(l, m->out[i], &f))
            return false;
        r = form_range(l, &f);
        if (!r.known || r.low < 0) {
            unsupported(l, "the layout of '%.*s' is not understood",
                        TEXT_ARG(b->name));
            return false;
        }
        extent[i] = r.high + 1;
    }
    return true;
}

static int64_t elements(const CodeBuffer *c)
{
    int64_t n = 1;

    for (int d = 0; d < c->rank; d++)
        n = __builtin_mul_overflow(n, c->shape[d], &n) ? INT64_MAX : n;
    return n;
}

// Row-major strides of the physical shape.
static void set_layout(Lower *l, const IrBuffer *b)
{
    int64_t extent[IR_MAX_RANK + 2], n = 1;
    PhysicalLayout *p = &l->layout[b->id];

    l->at = b->at;
    if (b->layout->in_rank != b->rank) {
        unsupported(l, "the layout of '%.*s' has another rank",
                    TEXT_ARG(b->name));
        return;
    }
    if (!physical_shape(l, b, extent))
        return;
    for (int i = b->layout->out_rank - 1; i >= 0; i--) {
        p->stride[i] = n;
        if (__builtin_mul_overflow(n, extent[i], &n))
            n = INT64_MAX;
    }
    if (n > elements(&l->code->buffer[b->id]))
        unsupported(l,
                    "the layout of '%.*s' needs more room than the tensor "
                    "has",
                    TEXT_ARG(b->name));
    l->code->buffer[b->id].permuted = true;
}

// The instructions made on the way are thrown away.
void set_layouts(Lower *l)
{
    Emit *out = l->out, unused = {0};

    l->layout = new_array(l->arena, PhysicalLayout, (size_t)l->k->buffer_count);
    l->out = &unused;
    for (int i = 0; i < l->k->buffer_count && !l->failed; i++)
        if (has_layout(l->k->buffers[i]))
            set_layout(l, l->k->buffers[i]);
    l->out = out;
}

bool layout_place(Lower *l, const IrBuffer *b, const Form *index, Form *out)
{
    const IrIndexMap *m = b->layout;
    Form f;

    bind_inputs(l, m, index);
    *out = form_const(0);
    for (int i = 0; i < m->out_rank; i++)
        if (!form_of(l, m->out[i], &f) ||
            !form_add(l, out, &f, l->layout[b->id].stride[i]))
            return false;
    return true;
}

// ---- fragments whose threads are given -----------------------------------

bool has_owners(const IrBuffer *b)
{
    const IrIndexMap *m = b->layout;

    return b->scope == SCOPE_FRAGMENT && !b->alias_of && m && m->thread &&
           !m->maker.len && m->replicate <= 1 && m->in_rank == b->rank;
}

void check_owner(Lower *l, const IrBuffer *b, const Form *index)
{
    Form owner, self = {.col = 1, .lanes = {.reg = -1}}, kept[IR_MAX_RANK];
    Val v[2];

    for (int d = 0; d < b->rank; d++) {
        kept[d] = index[d];
        kept[d].lanes.temp = false; // the store needs it still
    }
    bind_inputs(l, b->layout, kept);
    if (!form_of(l, b->layout->thread, &owner))
        return;
    v[0] = form_value(l, &owner, DT_I32);
    v[1] = form_value(l, &self, DT_I32);
    v[0] = apply(l, LANE_OP_EQ, DT_I32, DT_BOOL, v, 2);
    if (l->failed)
        return;
    v[0] = promote(l, v[0], AT_LANES);
    emit(l, (Instr){.op = INSTR_VCHECK,
                    .a = v[0].reg,
                    .b = new_site(l, SITE_ASSERT, -1, false,
                                  text_format(l->arena, "the element of '%.*s' "
                                              "is another thread's by its "
                                              "layout", TEXT_ARG(b->name))),
                    .c = l->par->mask});
    release(l, v[0]);
}
