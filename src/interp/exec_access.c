// exec_access.c - lanes from and to buffers.
//
// A chunk is a box of rows x cols lanes whose elements lie at + r*sr + c*sc.
// In range as a whole it is moved in one piece or row by row; otherwise each
// row has one interval of columns that are in range in every dimension. Only
// indices that are vector registers need an offset per lane.
#include "interp/interp_int.h"

#include <string.h>

enum { SANE_BITS = 60, ROWS_AHEAD = 8 };

// ---- elements in a line --------------------------------------------------

void note_store(Worker *w, const Tensor *t, int64_t at, int64_t n)
{
    if (t->global)
        w->stored = true;
    for (int64_t i = 0; t->writes && i < n; i++)
        t->writes[at + i] += t->writes[at + i] < 255;
}

void load_elements(const Worker *w, const Tensor *t, void *dst, int64_t at,
                   int64_t n)
{
    const char *from = t->at + at * t->element;

    (void)w;
    if (t->load)
        t->load(dst, from, NULL, NULL, n);
    else if (dst != from)
        memcpy(dst, from, (size_t)(n * t->lane));
}

void store_elements(Worker *w, const Tensor *t, int64_t at, const void *src,
                    int64_t n)
{
    char *to = t->at + at * t->element;

    if (t->store)
        t->store(to, src, NULL, NULL, n);
    else if (to != src)
        memcpy(to, src, (size_t)(n * t->lane));
    note_store(w, t, at, n);
}

void load_one(const Worker *w, const Tensor *t, Slot *dst, int64_t at)
{
    Slot lane = {0};

    load_elements(w, t, &lane, at, 1);
    fix_slot(&lane, t->type);
    *dst = lane;
}

void safe_value(const Worker *w, int buffer, Slot *out)
{
    int slot = w->code->buffer[buffer].safe_slot;

    *out = slot < 0 ? (Slot){0} : w->slot[slot];
}

// Sixteen bytes at a time, whatever the compiler would make of a loop.
typedef uint64_t Pair __attribute__((vector_size(16), aligned(4), may_alias));

static void fill_pairs(char *dst, int64_t bytes, uint64_t v)
{
    Pair two = {v, v};
    int64_t i = 0;

    for (; i + 64 <= bytes; i += 64) {
        *(Pair *)(dst + i) = two;
        *(Pair *)(dst + i + 16) = two;
        *(Pair *)(dst + i + 32) = two;
        *(Pair *)(dst + i + 48) = two;
    }
    for (; i < bytes; i += 4)
        memcpy(dst + i, (char *)&v + i % 8, 4);
}

void fill_lanes(void *dst, int lane, int64_t n, const void *value)
{
    uint32_t four;
    uint64_t eight;

    if (lane == 4) {
        memcpy(&four, value, 4);
        eight = (uint64_t)four << 32 | four;
    } else {
        memcpy(&eight, value, 8);
    }
    fill_pairs(dst, n * lane, eight);
}

// ---- boxes ---------------------------------------------------------------

static void turn_rows(Box *b, const Worker *w)
{
    b->rows = 1;
    b->cols = w->rows;
    for (int d = 0; d < b->a->rank; d++) {
        b->col[d] = b->row[d];
        b->row[d] = 0;
    }
}

// The index of lane (0, 0) in each dimension and how it moves.
static void set_indices(Worker *w, Box *b, bool by_row)
{
    for (int d = 0; d < b->a->rank; d++) {
        const AccessDim *dim = &b->a->dim[d];

        b->first[d] =
            (int64_t)((uint64_t)w->slot[dim->slot].i +
                      (uint64_t)(dim->row * w->row0 + dim->col * w->col0));
        b->row[d] = dim->row;
        b->col[d] = dim->col;
        b->huge |=
            b->first[d] >> SANE_BITS != 0 && b->first[d] >> SANE_BITS != -1;
    }
    if (by_row)
        turn_rows(b, w);
}

static bool all_inside(const Box *b)
{
    for (int d = 0; d < b->a->rank; d++) {
        int64_t r = b->row[d] * (b->rows - 1), c = b->col[d] * (b->cols - 1);
        int64_t low = b->first[d] + (r < 0 ? r : 0) + (c < 0 ? c : 0);
        int64_t high = b->first[d] + (r > 0 ? r : 0) + (c > 0 ? c : 0);

        if (low < 0 || high >= b->t->shape[d])
            return false;
    }
    return !b->huge;
}

// A per-lane array keeps its elements CODE_LANES apart, one for each lane.
static void spread_private(const Worker *w, Box *b)
{
    b->at = b->at * CODE_LANES + w->lane0;
    b->sr = b->cols;
    b->sc = 1;
}

static void place_flat(Box *b)
{
    b->at = b->first[0];
    b->sr = b->row[0];
    b->sc = b->col[0];
    b->inside = true;
}

static void place_indexed(Box *b)
{
    b->inside = b->a->kind == ACCESS_DIMS && all_inside(b);
    for (int d = 0; d < b->a->rank; d++) {
        b->at = (int64_t)((uint64_t)b->at +
                          (uint64_t)b->first[d] * (uint64_t)b->t->stride[d]);
        b->sr += b->row[d] * b->t->stride[d];
        b->sc += b->col[d] * b->t->stride[d];
    }
}

void set_box(Worker *w, Box *b, const Access *a, bool by_row)
{
    b->t = &w->buffer[a->buffer];
    b->a = a;
    b->rows = w->rows;
    b->cols = w->cols;
    b->at = b->sr = b->sc = 0;
    b->huge = false;
    b->by_row = by_row;
    set_indices(w, b, by_row);
    if (a->kind == ACCESS_FLAT)
        place_flat(b);
    else
        place_indexed(b);
    w->ragged |= !b->inside && b->t->global;
    if (w->code->buffer[a->buffer].place == BUFFER_PRIVATE)
        spread_private(w, b);
}

bool box_is_dense(const Box *b)
{
    return b->sc == 1 && (b->rows == 1 || b->sr == b->cols);
}

// ---- partly in range -----------------------------------------------------

static int64_t div_up(int64_t a, int64_t b) // b > 0
{
    return a / b + (a % b > 0);
}

static int64_t div_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

// Columns c with 0 <= i + c * step < size, cut to [*low, *high).
static void cut_columns(int64_t i, int64_t step, int64_t size, int64_t *low,
                        int64_t *high)
{
    int64_t from = 0, to = *high;

    if (step > 0) {
        from = div_up(-i, step);
        to = div_up(size - i, step);
    } else if (step < 0) {
        from = div_down(i - size, -step) + 1;
        to = div_down(i, -step) + 1;
    } else if (i < 0 || i >= size) {
        to = 0;
    }
    if (from > *low)
        *low = from;
    if (to < *high)
        *high = to;
}

static void row_span(const Box *b, int r, int *low, int *high)
{
    int64_t from = 0, to = b->huge ? 0 : b->cols;

    for (int d = 0; d < b->a->rank && from < to && !b->inside; d++)
        cut_columns(b->first[d] + r * b->row[d], b->col[d], b->t->shape[d],
                    &from, &to);
    *low = (int)from;
    *high = (int)(to > from ? to : from);
    if (*low > b->cols)
        *low = *high = b->cols;
}

static bool is_active(const int32_t *mask, int lane)
{
    return !mask || mask[lane];
}

// Reports lane (r, c) if it is active and leaves a dimension that matters.
static void report_lane(Worker *w, const Box *b, int r, int c,
                        const int32_t *mask)
{
    if (!is_active(mask, r * b->cols + c))
        return;
    for (int d = 0; d < b->a->rank; d++) {
        int64_t i = b->first[d] + r * b->row[d] + c * b->col[d];

        if (i >= 0 && i < b->t->shape[d] && !b->huge)
            continue;
        if (!(b->a->quiet >> d & 1))
            report(w, b->a->site, 1, d, i, b->t->shape[d]);
        return;
    }
}

static void report_outside(Worker *w, const Box *b, int r, int low, int high,
                           const int32_t *mask)
{
    if (b->a->site < 0)
        return;
    for (int c = 0; c < low; c++)
        report_lane(w, b, r, c, mask);
    for (int c = high; c < b->cols; c++)
        report_lane(w, b, r, c, mask);
}

// ---- loads ---------------------------------------------------------------

static void load_strided(Worker *w, const Tensor *t, char *dst, int64_t at,
                         int64_t step, int n)
{
    char *to = t->load ? w->raw : dst;
    const char *from = t->at + at * t->element;

    for (int i = 0; i < n; i++, from += step * t->element)
        memcpy(to + i * t->element, from, (size_t)t->element);
    if (t->load)
        t->load(dst, to, NULL, NULL, n);
}

static void load_row(Worker *w, const Box *b, char *dst, int64_t at, int n)
{
    const Tensor *t = b->t;
    Slot one;

    if (b->sc == 1) {
        load_elements(w, t, dst, at, n);
    } else if (b->sc == 0) {
        load_elements(w, t, &one, at, 1);
        fill_lanes(dst, t->lane, n, &one);
    } else {
        load_strided(w, t, dst, at, b->sc, n);
    }
}

static void fetch(const Tensor *t, int64_t at, int64_t n)
{
    for (int64_t i = 0; i < n * t->element; i += 64)
        __builtin_prefetch(t->at + at * t->element + i);
}

// Tiles of a large tensor are short runs far apart, which the processor does
// not foresee. Tells how far a tile is from the one that the same access
// loaded before: the next is likely to be as far again.
static int64_t tile_step(Worker *w, const Box *b)
{
    Stride *s = &w->stride[b->a - w->code->access];

    if (!w->row0 && !w->col0) {
        s->step = b->at - s->last;
        s->last = b->at;
    }
    return s->step;
}

static void load_rows(Worker *w, const Box *b, char *to)
{
    int64_t step = tile_step(w, b), pitch = (int64_t)b->cols * b->t->lane;

    for (int r = 0; r < b->rows; r++, to += pitch) {
        int64_t at = b->at + r * b->sr;

        if (r + ROWS_AHEAD < b->rows)
            fetch(b->t, at + ROWS_AHEAD * b->sr, b->cols);
        fetch(b->t, at + step, b->cols);
        load_elements(w, b->t, to, at, b->cols);
    }
}

void load_box(Worker *w, const Box *b, void *dst, const int32_t *mask)
{
    int lane = b->t->lane, low, high;
    char *to = dst;
    Slot safe;

    if (b->inside && box_is_dense(b)) {
        load_elements(w, b->t, dst, b->at, (int64_t)b->rows * b->cols);
        return;
    }
    if (b->inside && b->sc == 1 && b->t->global) {
        load_rows(w, b, dst);
        return;
    }
    safe_value(w, b->a->buffer, &safe);
    for (int r = 0; r < b->rows; r++, to += b->cols * lane) {
        row_span(b, r, &low, &high);
        if (low > 0)
            fill_lanes(to, lane, low, &safe);
        if (high > low)
            load_row(w, b, to + low * lane, b->at + r * b->sr + low * b->sc,
                     high - low);
        if (high < b->cols)
            fill_lanes(to + high * lane, lane, b->cols - high, &safe);
        if (high - low < b->cols)
            report_outside(w, b, r, low, high, mask);
    }
}

// ---- stores --------------------------------------------------------------

static void store_strided(Worker *w, const Tensor *t, int64_t at, int64_t step,
                          const char *src, int n)
{
    const char *from = src;

    if (t->store) {
        t->store(w->raw, src, NULL, NULL, n);
        from = w->raw;
    }
    for (int i = 0; i < n; i++) {
        int64_t to = at + i * step;

        memcpy(t->at + to * t->element, from + i * t->element,
               (size_t)t->element);
        note_store(w, t, to, 1);
    }
}

static void store_run(Worker *w, const Box *b, int64_t at, const char *src,
                      int n)
{
    if (b->sc == 1)
        store_elements(w, b->t, at, src, n);
    else
        store_strided(w, b->t, at, b->sc, src, n);
}

// Runs of active lanes one by one: others' memory is not touched.
static void store_masked(Worker *w, const Box *b, int64_t at, const char *src,
                         const int32_t *mask, int n)
{
    int i = 0, from;

    while (i < n) {
        while (i < n && !mask[i])
            i++;
        from = i;
        while (i < n && mask[i])
            i++;
        if (i > from)
            store_run(w, b, at + from * b->sc, src + from * b->t->lane,
                      i - from);
    }
}

static void store_part(Worker *w, const Box *b, int64_t at, const char *src,
                       const int32_t *mask, int n)
{
    const Tensor *t = b->t;
    char *to = t->at + at * t->element;

    if (!mask)
        store_run(w, b, at, src, n);
    else if (b->sc == 1 && !t->store && !t->global)
        w->lanes->op[LANE_OP_SELECT][t->type](to, mask, src, to, n);
    else
        store_masked(w, b, at, src, mask, n);
}

void store_box(Worker *w, const Box *b, const void *src, const int32_t *mask)
{
    int lane = b->t->lane, low, high;
    const char *from = src;

    if (b->inside && box_is_dense(b)) {
        store_part(w, b, b->at, from, mask, b->rows * b->cols);
        return;
    }
    for (int r = 0; r < b->rows; r++, from += b->cols * lane) {
        row_span(b, r, &low, &high);
        if (high > low)
            store_part(w, b, b->at + r * b->sr + low * b->sc, from + low * lane,
                       mask ? mask + r * b->cols + low : NULL, high - low);
        if (high - low < b->cols)
            report_outside(w, b, r, low, high, mask);
    }
}

// ---- an offset per lane --------------------------------------------------

static int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void add_dimension(Worker *w, const Box *b, int d, const int32_t *mask)
{
    int reg = b->a->dim[d].lanes, n = b->rows * b->cols;
    const int64_t *lanes = reg < 0 ? NULL : w->v[reg];
    int64_t size = b->t->shape[d], stride = b->t->stride[d];

    for (int i = 0; i < n; i++) {
        int64_t at = wrap_add(
            b->first[d], i / b->cols * b->row[d] + i % b->cols * b->col[d]);

        if (lanes)
            at = wrap_add(at, lanes[i]);
        if (at >= 0 && at < size) {
            w->offset[i] = wrap_add(w->offset[i], at * stride);
            continue;
        }
        if (w->inside[i] && is_active(mask, i) && !(b->a->quiet >> d & 1))
            report(w, b->a->site, 1, d, at, size);
        w->inside[i] = 0;
    }
}

// A layout's offset of each lane in place of the row-major one.
static void permute(Worker *w, const Box *b)
{
    const AccessDim *p = &b->a->place;
    const int64_t *lanes = p->lanes < 0 ? NULL : w->v[p->lanes];
    int n = b->rows * b->cols;

    for (int i = 0; i < n; i++) {
        int64_t r = b->by_row ? i : i / b->cols;
        int64_t c = b->by_row ? 0 : i % b->cols;

        w->offset[i] = w->slot[p->slot].i + (w->row0 + r) * p->row +
                       (w->col0 + c) * p->col + (lanes ? lanes[i] : 0);
    }
}

void lane_offsets(Worker *w, const Box *b, const int32_t *mask)
{
    bool private = w->code->buffer[b->a->buffer].place == BUFFER_PRIVATE;
    int n = b->rows * b->cols;

    for (int i = 0; i < n; i++) {
        w->offset[i] = 0;
        w->inside[i] = 1;
    }
    if (b->a->kind == ACCESS_FLAT)
        for (int i = 0; i < n; i++)
            w->offset[i] = b->at + i / b->cols * b->sr + i % b->cols * b->sc;
    else
        for (int d = 0; d < b->a->rank; d++)
            add_dimension(w, b, d, mask);
    if (b->a->permuted)
        permute(w, b);
    if (private && b->a->kind != ACCESS_FLAT)
        for (int i = 0; i < n; i++)
            w->offset[i] = w->offset[i] * CODE_LANES + w->lane0 + i;
}

void gather(Worker *w, const Box *b, void *dst, const int32_t *mask)
{
    const Tensor *t = b->t;
    int n = b->rows * b->cols;
    char *raw = t->load ? w->raw : dst;
    Slot safe;

    lane_offsets(w, b, mask);
    safe_value(w, b->a->buffer, &safe);
    for (int i = 0; i < n; i++)
        memcpy(raw + i * t->element,
               w->inside[i] ? t->at + w->offset[i] * t->element : (char *)&safe,
               (size_t)t->element);
    if (!t->load)
        return;
    t->load(dst, raw, NULL, NULL, n);
    for (int i = 0; i < n; i++)
        if (!w->inside[i])
            memcpy((char *)dst + i * t->lane, &safe, (size_t)t->lane);
}

void scatter(Worker *w, const Box *b, const void *src, const int32_t *mask)
{
    const Tensor *t = b->t;
    int n = b->rows * b->cols;
    const char *raw = src;

    lane_offsets(w, b, mask);
    if (t->store) {
        t->store(w->raw, src, NULL, NULL, n);
        raw = w->raw;
    }
    for (int i = 0; i < n; i++) {
        if (!w->inside[i] || !is_active(mask, i))
            continue;
        memcpy(t->at + w->offset[i] * t->element, raw + i * t->element,
               (size_t)t->element);
        note_store(w, t, w->offset[i], 1);
    }
}
