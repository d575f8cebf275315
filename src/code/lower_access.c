// lower_access.c - elements and rows of buffers.
//
// An access whose place in scratch is proved in range becomes one flat offset
// that moves by a constant per row and column. Others keep an index per
// dimension and are held against the shape when they run.
#include "code/code_int.h"

enum { STEP_LIMIT = 1 << 30 };

bool is_global(const IrBuffer *b)
{
    return b->scope == SCOPE_GLOBAL;
}

bool is_slot_var(const Lower *l, const IrBuffer *b)
{
    return b->scope == SCOPE_VAR && !l->var_in_memory[b->id];
}

bool buffer_usable(Lower *l, const IrBuffer *b)
{
    const CodeBuffer *root = &l->code->buffer[root_of(l, b->id)];

    if (!is_global(b) && root->offset < 0)
        bad_program(l, "code-unallocated",
                    "'%.*s' is used before it is "
                    "allocated",
                    TEXT_ARG(b->name));
    return !l->failed;
}

static void refuse_private(Lower *l, const IrBuffer *b)
{
    unsupported(l,
                "'%.*s' has a value per iteration of a T.Parallel; using "
                "it elsewhere too is not supported yet",
                TEXT_ARG(b->name));
}

// ---- indices -------------------------------------------------------------

static bool is_number(const Form *f)
{
    return !f->count && !f->row && !f->col && f->lanes.reg < 0;
}

static Form extent_form(const Lower *l, const IrBuffer *b, int dim)
{
    const CodeBuffer *c = &l->code->buffer[b->id];

    return c->shape[dim] >= 0 ? form_const(c->shape[dim])
                              : form_slot(c->shape_slot[dim]);
}

// A provably negative index counts from the end (4.3).
bool fix_index(Lower *l, const IrBuffer *b, int dim, Form *f)
{
    int64_t shape = l->code->buffer[b->id].shape[dim];
    Range r = form_range(l, f);
    Form extent = extent_form(l, b, dim);

    if (r.known && r.high < 0 && !form_add(l, f, &extent, 1))
        return false;
    if (is_number(f) && (f->base < 0 || (shape >= 0 && f->base >= shape))) {
        bad_program(l, "code-out-of-range",
                    "index %lld is outside dimension %d of '%.*s', "
                    "which has %lld elements",
                    (long long)f->base, dim, TEXT_ARG(b->name),
                    (long long)shape);
        return false;
    }
    return true;
}

bool index_forms(Lower *l, const IrBuffer *b, IrExpr *const *index, int n,
                 Form *out)
{
    if (n != b->rank) {
        bad_program(l, "code-rank", "'%.*s' has %d dimensions, not %d",
                    TEXT_ARG(b->name), b->rank, n);
        return false;
    }
    for (int d = 0; d < n; d++)
        if (!form_of(l, index[d], &out[d]) || !fix_index(l, b, d, &out[d]))
            return false;
    return true;
}

static Level form_level(const Form *f)
{
    if (f->col || (f->lanes.reg >= 0 && f->lanes.level == AT_LANES))
        return AT_LANES;
    return f->row || f->lanes.reg >= 0 ? AT_ROW : AT_SLOT;
}

static Level index_level(const Form *index, int n)
{
    Level level = AT_SLOT;

    for (int d = 0; d < n; d++)
        if (form_level(&index[d]) > level)
            level = form_level(&index[d]);
    return level;
}

static bool in_range(Lower *l, const IrBuffer *b, const Form *index)
{
    const CodeBuffer *c = &l->code->buffer[b->id];

    for (int d = 0; d < b->rank; d++) {
        Range r = form_range(l, &index[d]);

        if (!r.known || r.low < 0 || c->shape[d] < 0 || r.high >= c->shape[d])
            return false;
    }
    return true;
}

static bool is_large(int64_t step)
{
    return step > STEP_LIMIT || step < -STEP_LIMIT;
}

// Steps that could overflow, and per-lane arrays indexed by a coordinate,
// are left to vector arithmetic.
static void steps_to_lanes(Lower *l, Form *f, bool private)
{
    Form all = *f;
    Val v;

    if (!(f->row || f->col) ||
        !(private || is_large(f->row) || is_large(f->col)))
        return;
    v = form_value(l, &all, DT_I64);
    *f = form_const(0);
    f->lanes = v;
}

static AccessDim access_dim(Lower *l, Form *f, Spot *spot)
{
    AccessDim dim = {.row = f->row, .col = f->col, .lanes = -1};
    Val v = f->lanes;

    if (v.reg >= 0) {
        v = promote(l, v, spot->level);
        spot->lanes[spot->lane_count++] = v;
        dim.lanes = v.reg;
    }
    dim.slot = form_base_slot(l, f);
    return dim;
}

static bool flat_form(Lower *l, const IrBuffer *b, const Form *index, Form *out)
{
    *out = form_const(0);
    for (int d = 0; d < b->rank; d++)
        if (!form_add(l, out, &index[d], l->code->buffer[b->id].stride[d]))
            return false;
    return true;
}

static uint8_t index_taint(const Lower *l, const Form *index, int n)
{
    uint8_t taint = 0;

    for (int d = 0; d < n; d++)
        taint |= form_taint(l, &index[d]);
    return taint;
}

static uint8_t loaded_taint(const Lower *l, const IrBuffer *b,
                            const Form *index)
{
    return TAINT_DATA |
           (is_global(b) ? index_taint(l, index, b->rank) : TAINT_BLOCKS);
}

// A number that was loaded, and at most a constant more.
static bool is_loaded(const Lower *l, const Form *f)
{
    bool some = f->lanes.reg >= 0;

    if (f->row || f->col || (some && !(taint_of(l, &f->lanes, 1) & TAINT_DATA)))
        return false;
    for (int i = 0; i < f->count; i++) {
        if (!(l->fact.at[f->term[i].slot].taint & TAINT_DATA))
            return false;
        some = true;
    }
    return some;
}

static bool has_lanes(const Form *index, int n)
{
    for (int d = 0; d < n; d++)
        if (index[d].lanes.reg >= 0)
            return true;
    return false;
}

static bool same_access(const Access *a, const Access *b)
{
    if (a->kind != b->kind || a->kind == ACCESS_LANES || a->rank != b->rank ||
        (a->buffer != b->buffer && a->kind != ACCESS_FLAT))
        return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dim[d].slot != b->dim[d].slot ||
            a->dim[d].row != b->dim[d].row || a->dim[d].col != b->dim[d].col)
            return false;
    return true;
}

Spot spot_of(Lower *l, const IrBuffer *b, const Form *given, bool store,
             unsigned quiet, Level level)
{
    const CodeBuffer *c = &l->code->buffer[b->id];
    bool private = c->place == BUFFER_PRIVATE;
    Access a = {.buffer = storage_of(l, b),
                .store = store,
                .rank = b->rank,
                .site = -1};
    Form index[IR_MAX_RANK], place;
    Spot spot = {.access = -1, .level = level};
    unsigned all = (1u << b->rank) - 1;

    if (!buffer_usable(l, b))
        return spot;
    if (private && (!l->par || (l->thread && !in_thread_code(l) &&
                                !l->par->written[root_of(l, b->id)]))) {
        refuse_private(l, b);
        return spot;
    }
    for (int d = 0; d < b->rank; d++) {
        index[d] = given[d];
        steps_to_lanes(l, &index[d], private);
    }
    if (index_level(index, b->rank) > spot.level)
        spot.level = index_level(index, b->rank);
    if (has_layout(b)) {
        if (!layout_place(l, b, index, &place))
            return spot;
        a.permuted = true;
        if (form_level(&place) > spot.level)
            spot.level = form_level(&place);
    }
    a.quiet = is_global(b) ? all : quiet & all;
    a.clipped = quiet & all;
    for (int d = 0; d < b->rank; d++)
        a.loaded |= (unsigned)is_loaded(l, &given[d]) << d,
            a.wide |= (unsigned)given[d].wide << d;
    a.kind = a.permuted || has_lanes(index, b->rank)  ? ACCESS_LANES
             : !is_global(b) && in_range(l, b, index) ? ACCESS_FLAT
                                                      : ACCESS_DIMS;
    if (a.kind == ACCESS_FLAT) {
        Form flat;

        if (!flat_form(l, b, index, &flat))
            return spot;
        index[0] = flat;
        a.rank = 1;
    }
    for (int d = 0; d < a.rank; d++)
        a.dim[d] = access_dim(l, &index[d], &spot);
    if (a.permuted)
        a.place = access_dim(l, &place, &spot);
    if (a.kind != ACCESS_FLAT && a.quiet != all)
        a.site = new_site(l, SITE_BOUNDS, b->id, store, TEXT(""));
    if (l->failed)
        return spot;
    vec_push(l->arena, &l->access, a);
    spot.access = l->access.len - 1;
    return spot;
}

void spot_release(Lower *l, Spot *s)
{
    for (int i = 0; i < s->lane_count; i++)
        release(l, s->lanes[i]);
}

// ---- variables -----------------------------------------------------------

static int private_reg(Lower *l, const IrBuffer *b)
{
    if (!l->par || !l->par->private_reg)
        return -1;
    return l->par->private_reg[b->id];
}

static Val load_var(Lower *l, const IrBuffer *b)
{
    DType t = map_dtype(l, b->dtype);
    int reg = private_reg(l, b);

    if (reg >= 0)
        return (Val){AT_LANES, reg, t, false, 7};
    if (l->collective && l->thread->private_reg[b->id] >= 0)
        return agreed_value(l, (Val){AT_LANES, l->thread->private_reg[b->id], t,
                                     false, 7});
    if (l->var_private[b->id])
        refuse_private(l, b);
    else if (l->var_slot[b->id] < 0)
        bad_program(l, "code-unallocated",
                    "'%.*s' is used before it is "
                    "allocated",
                    TEXT_ARG(b->name));
    else
        return slot_value(l->var_slot[b->id], t);
    return slot_value(int_slot(l, DT_I32, 0), t);
}

static void store_private(Lower *l, int reg, Val v)
{
    LaneType type = lane_type_of(v.dtype);
    Val lanes = promote(l, v, AT_LANES);

    if (l->par->mask >= 0)
        emit(l, (Instr){.op = INSTR_VOP,
                        .lane = LANE_OP_SELECT,
                        .type = (uint8_t)type,
                        .d = reg,
                        .a = l->par->mask,
                        .b = lanes.reg,
                        .c = reg});
    else
        emit(l, (Instr){.op = INSTR_VMOV,
                        .type = (uint8_t)type,
                        .d = reg,
                        .a = lanes.reg});
    release(l, lanes);
}

static void store_var(Lower *l, const IrBuffer *b, Val v)
{
    int reg = private_reg(l, b), slot = l->var_slot[b->id];

    if (reg >= 0) {
        store_private(l, reg, v);
        return;
    }
    if (slot < 0)
        bad_program(l, "code-unallocated",
                    "'%.*s' is used before it is "
                    "allocated",
                    TEXT_ARG(b->name));
    else if (v.level != AT_SLOT)
        refuse_private(l, b);
    if (l->failed)
        return;
    emit(l, (Instr){.op = INSTR_MOV, .d = slot, .a = v.reg});
    l->fact.at[slot].taint |= l->fact.at[v.reg].taint | l->control;
}

// ---- loads ---------------------------------------------------------------

static bool load_is_invariant(Lower *l, const IrBuffer *b, const Form *index)
{
    if (!l->par)
        return true;
    if (l->par->mask >= 0 || l->par->depth > 0 ||
        l->par->written[root_of(l, b->id)] ||
        !(is_global(b) || in_range(l, b, index)))
        return false; // it may fault, and the loop may not run
    for (int d = 0; d < b->rank; d++)
        for (int i = 0; i < index[d].count; i++)
            if (in_body(l, index[d].term[i].slot))
                return false;
    return true;
}

static Val load_scalar(Lower *l, const IrBuffer *b, const Form *index,
                       unsigned quiet)
{
    DType t = map_dtype(l, b->dtype);
    bool invariant = load_is_invariant(l, b, index);
    Spot s = spot_of(l, b, index, false, quiet, AT_SLOT);
    Val v = slot_value(int_slot(l, DT_I32, 0), t);

    if (s.access < 0)
        return v;
    v.reg = scalar_instr(
        l, (Instr){.op = INSTR_LOAD, .dtype = (uint8_t)t, .a = s.access},
        invariant);
    l->fact.at[v.reg].taint = loaded_taint(l, b, index);
    return v;
}

// An element of each thread's own array, read by what they do together.
static Val agreed_element(Lower *l, const IrBuffer *b, const Form *index)
{
    DType t = map_dtype(l, b->dtype);
    Val v = slot_value(int_slot(l, DT_I32, 0), t);
    Access a = {.buffer = b->id, .kind = ACCESS_DIMS, .rank = b->rank};

    if (!buffer_usable(l, b))
        return v;
    if (index_level(index, b->rank) != AT_SLOT) {
        refuse_private(l, b);
        return v;
    }
    a.site = new_site(l, SITE_BOUNDS, b->id, false, TEXT(""));
    for (int d = 0; d < b->rank; d++) {
        Form f = index[d];

        a.dim[d] = (AccessDim){.slot = form_base_slot(l, &f), .lanes = -1};
    }
    vec_push(l->arena, &l->access, a);
    v.reg = scalar_instr(
        l,
        (Instr){.op = INSTR_AGREEMEM,
                .type = (uint8_t)lane_type_of(t),
                .dtype = (uint8_t)t,
                .a = l->access.len - 1,
                .b = new_site(l, SITE_AGREE, -1, false, TEXT(""))},
        false);
    l->fact.at[v.reg].taint = TAINT_BLOCKS | TAINT_DATA;
    return v;
}

Val load_of(Lower *l, const IrBuffer *b, const Form *index, unsigned quiet)
{
    DType t = map_dtype(l, b->dtype);
    Level level = index_level(index, b->rank);
    Val v = {AT_LANES, 0, t, true, 7};
    Spot s;

    if (b->scope == SCOPE_BARRIER) {
        unsupported(l, "the barrier '%.*s' is no value: T.barrier_wait "
                       "and others take it",
                    TEXT_ARG(b->name));
        return slot_value(int_slot(l, DT_I32, 0), t);
    }
    if (is_slot_var(l, b))
        return load_var(l, b);
    if (l->collective && l->code->buffer[b->id].place == BUFFER_PRIVATE &&
        !(l->par && l->par->written[root_of(l, b->id)]))
        return agreed_element(l, b, index);
    if (l->launch < 0) {
        unsupported(l, "reading '%.*s' outside of a T.Kernel",
                    TEXT_ARG(b->name));
        return slot_value(int_slot(l, DT_I32, 0), t);
    }
    note_read(l, b);
    if (l->par && (l->code->buffer[b->id].place == BUFFER_PRIVATE ||
                   (l->par->mask >= 0 && !in_range(l, b, index))))
        level = AT_LANES;
    if (level == AT_SLOT)
        return load_scalar(l, b, index, quiet);
    s = spot_of(l, b, index, false, quiet, level);
    if (s.access < 0)
        return slot_value(int_slot(l, DT_I32, 0), t);
    v.level = s.level;
    v.taint = loaded_taint(l, b, index);
    v.reg = new_reg(l, true);
    emit(l, (Instr){.op = INSTR_VLOAD,
                    .flags = v.level == AT_ROW ? INSTR_ROW : 0,
                    .d = v.reg,
                    .a = s.access,
                    .b = v.level == AT_LANES ? l->par->mask : -1});
    vec_push(l->arena, &l->par->loads, s.access);
    spot_release(l, &s);
    return v;
}

// ---- stores --------------------------------------------------------------

static bool writes_register(const Instr *i, int reg)
{
    switch (i->op) {
    case INSTR_VOP:
    case INSTR_VROUND:
    case INSTR_VCAST:
    case INSTR_VLOAD:
    case INSTR_VEXPAND:
    case INSTR_VFILL:
    case INSTR_VAFFINE:
        return i->d == reg;
    default:
        return false;
    }
}

// Whether no element that the statement read is written at another place.
static bool reads_are_same(Lower *l, const Access *store)
{
    int root = root_of(l, store->buffer);

    for (int i = 0; i < l->par->loads.len; i++) {
        const Access *a = &l->access.at[l->par->loads.at[i]];

        if (root_of(l, a->buffer) == root && !same_access(a, store))
            return false;
    }
    return true;
}

static bool can_aim(Lower *l, const Access *a, Val v, int last)
{
    const CodeBuffer *c = &l->code->buffer[a->buffer];

    return l->par->mask < 0 && v.temp && last >= 0 && a->kind != ACCESS_LANES &&
           c->place != BUFFER_PRIVATE &&
           (c->lanes || lane_dtype(lane_type_of(c->dtype)) == c->dtype) &&
           writes_register(&l->out->at[last].i, v.reg) && reads_are_same(l, a);
}

// A view that instruction i does not read: it is set before i runs.
static int view_besides(Lower *l, const Instr *i)
{
    int taken[3], n = 0, reg = new_reg(l, true);

    while ((reg == i->a || reg == i->b || reg == i->c) && n < 3) {
        taken[n++] = reg;
        reg = new_reg(l, true);
    }
    while (n)
        release_reg(l, taken[--n]);
    return reg;
}

// Lets the instruction at `last`, which makes v, write into the buffer itself.
static Val aim(Lower *l, int access, Val v, int last)
{
    EmitItem item = l->out->at[last];
    Val view = v;

    for (int i = last; i + 1 < l->out->len; i++)
        l->out->at[i] = l->out->at[i + 1];
    l->out->len--;
    view.reg = view_besides(l, &item.i);
    emit(l, (Instr){.op = INSTR_VAIM,
                    .flags = item.i.flags & INSTR_ROW,
                    .d = view.reg,
                    .a = access});
    item.i.d = view.reg;
    if (item.i.op == INSTR_VLOAD)
        item.i.flags |= INSTR_COPY;
    vec_push(l->arena, l->out, item);
    release(l, v);
    return view;
}

// A view of the buffer itself, elsewhere than the store goes, is copied first:
// the two may overlap.
static Val apart(Lower *l, const Access *store, Val v)
{
    Val r = v;

    if (!(v.reg & 1) || reads_are_same(l, store))
        return v;
    r.reg = new_reg(l, false);
    r.temp = true;
    emit(l, (Instr){.op = INSTR_VMOV,
                    .flags = v.level == AT_ROW ? INSTR_ROW : 0,
                    .type = (uint8_t)lane_type_of(v.dtype),
                    .d = r.reg,
                    .a = v.reg});
    release(l, v);
    return r;
}

static void store_vector(Lower *l, const IrBuffer *b, const Form *index, Val v,
                         unsigned quiet, Level level)
{
    uint8_t flags = 0;
    int last;
    Spot s;

    v = promote(l, v, level);
    last = l->out->len - 1;
    s = spot_of(l, b, index, true, quiet, level);
    if (s.access < 0)
        return;
    if (s.level > v.level) {
        v = promote(l, v, s.level);
    } else if (can_aim(l, &l->access.at[s.access], v, last)) {
        v = aim(l, s.access, v, last);
        flags = INSTR_AIMED;
    } else {
        v = apart(l, &l->access.at[s.access], v);
    }
    flags |= s.level == AT_ROW ? INSTR_ROW : 0;
    emit(l, (Instr){.op = INSTR_VSTORE,
                    .flags = flags,
                    .a = s.access,
                    .b = v.reg,
                    .c = l->par->mask});
    release(l, v);
    spot_release(l, &s);
}

void store_to(Lower *l, const IrBuffer *b, const Form *index, Val v,
              unsigned quiet)
{
    Level level;
    Spot s;

    if (is_slot_var(l, b)) {
        store_var(l, b, v);
        return;
    }
    note_write(l, b, index);
    level = index_level(index, b->rank);
    if (v.level > level)
        level = v.level;
    if (l->par &&
        (l->par->mask >= 0 || l->code->buffer[b->id].place == BUFFER_PRIVATE))
        level = AT_LANES;
    if (level != AT_SLOT) {
        store_vector(l, b, index, v, quiet, level);
        return;
    }
    s = spot_of(l, b, index, true, quiet, AT_SLOT);
    if (s.access >= 0)
        emit(l, (Instr){.op = INSTR_STORE, .a = s.access, .b = v.reg});
}

// ---- atomics -------------------------------------------------------------

// Outside of a T.Parallel one thread of the block does it.
static void atomic_scalar(Lower *l, const IrBuffer *b, const Form *index,
                          LaneOp op, Val v, unsigned quiet, Val *old)
{
    DType t = map_dtype(l, b->dtype);
    int first = l->access.len;
    Val args[2] = {load_of(l, b, index, quiet), v};

    if (old)
        *old = args[0];
    store_to(l, b, index, apply(l, op, t, t, args, 2), quiet);
    for (int i = first; i < l->access.len; i++)
        l->access.at[i].atomic = true;
}

void atomic_on(Lower *l, const IrBuffer *b, const Form *index, LaneOp op, Val v,
               unsigned quiet, Val *old)
{
    DType t = map_dtype(l, b->dtype);
    Val lanes, prev = {AT_LANES, -1, t, true, 7};
    Spot s;

    note_atomic(l, b);
    if (!l->par) {
        atomic_scalar(l, b, index, op, v, quiet, old);
        return;
    }
    lanes = promote(l, v, AT_LANES);
    s = spot_of(l, b, index, true, quiet, AT_LANES);
    if (s.access < 0)
        return;
    if (old) {
        prev.reg = new_reg(l, false);
        *old = prev;
    }
    emit(l, (Instr){.op = INSTR_VATOMIC,
                    .lane = (uint8_t)op,
                    .type = (uint8_t)lane_type_of(t),
                    .d = prev.reg,
                    .a = s.access,
                    .b = lanes.reg,
                    .c = l->par->mask});
    release(l, lanes);
    spot_release(l, &s);
}
