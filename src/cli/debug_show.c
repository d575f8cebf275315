// debug_show.c - tiles as text: figures, corners, shades, owners.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli/debug_show.h"
#include "interp/interp.h"

enum { ROWS = 10, COLUMNS = 8, HEAT_ROWS = 32, HEAT_COLUMNS = 64 };

static const char SHADES[] = " .:-=+*#%@";

typedef struct {
    const Tensor *t;
    double *at;
    int64_t count, rows, cols;      // rows and cols of the last two dimensions
} Elements;

static bool read_elements(Elements *e, const Tensor *t)
{
    *e = (Elements){.t = t, .count = tensor_count(t), .rows = 1, .cols = 1};
    if (t->rank > 0)
        e->cols = t->shape[t->rank - 1];
    if (t->rank > 1)
        e->rows = t->shape[t->rank - 2];
    e->at = xmalloc((size_t)(e->count + 1) * sizeof *e->at);
    tensor_read(t, DT_F64, e->at, CAST_TORCH);
    return e->count > 0;
}

static void put_index(TextBuf *out, const Tensor *t, int64_t flat)
{
    int64_t index[TENSOR_MAX_RANK];

    for (int d = t->rank - 1; d >= 0; d--) {
        index[d] = flat % t->shape[d];
        flat /= t->shape[d];
    }
    buf_addc(out, '[');
    for (int d = 0; d < t->rank; d++)
        buf_printf(out, "%s%" PRId64, d ? "," : "", index[d]);
    buf_addc(out, ']');
}

static void put_shape(TextBuf *out, const Tensor *t)
{
    buf_addc(out, '[');
    for (int d = 0; d < t->rank; d++)
        buf_printf(out, "%s%" PRId64, d ? "," : "", t->shape[d]);
    buf_addc(out, ']');
}

// ---- figures ----------------------------------------------------------------

typedef struct {
    int64_t low, high;              // where; -1: no number at all
    int64_t numbers, nan, infinite, undefined;
    double sum, squares;
} Figures;

static Figures figures_of(const Elements *e)
{
    Figures f = {.low = -1, .high = -1};

    for (int64_t i = 0; i < e->count; i++) {
        double v = e->at[i];

        if (interp_is_undefined(v))
            f.undefined++;
        else if (isnan(v))
            f.nan++;
        else if (isinf(v))
            f.infinite++;
        if (!isfinite(v))
            continue;
        f.numbers++;
        f.sum += v;
        f.squares += v * v;
        if (f.low < 0 || v < e->at[f.low])
            f.low = i;
        if (f.high < 0 || v > e->at[f.high])
            f.high = i;
    }
    return f;
}

static void put_count(TextBuf *out, int64_t n, const char *what)
{
    if (n)
        buf_printf(out, "  %" PRId64 " %s", n, what);
}

static void put_figures(TextBuf *out, const Elements *e)
{
    Figures f = figures_of(e);

    put_shape(out, e->t);
    if (f.numbers) {
        double n = (double)f.numbers;

        buf_printf(out, "  min %.5g at ", e->at[f.low]);
        put_index(out, e->t, f.low);
        buf_printf(out, "  max %.5g at ", e->at[f.high]);
        put_index(out, e->t, f.high);
        buf_printf(out, "  mean %.4g  rms %.4g", f.sum / n,
                   sqrt(f.squares / n));
    }
    put_count(out, f.nan, "NaN");
    put_count(out, f.infinite, "infinite");
    put_count(out, f.undefined, "undefined");
    buf_addc(out, '\n');
}

// ---- corners ----------------------------------------------------------------

static void put_number(TextBuf *out, double v)
{
    if (interp_is_undefined(v))
        buf_printf(out, " %10s", "undefined");
    else if (isnan(v))
        buf_printf(out, " %10s", "nan");
    else
        buf_printf(out, " %10.4g", v);
}

// The i-th of `shown` places, when of n only the ends are shown; -1: the gap.
static int64_t place(int64_t i, int64_t n, int64_t room)
{
    if (n <= room)
        return i;
    if (i == room / 2)
        return -1;
    return i < room / 2 ? i : n - room + i;
}

static void put_row(TextBuf *out, const Elements *e, int64_t row)
{
    int64_t shown = e->cols < COLUMNS + 1 ? e->cols : COLUMNS + 1;

    for (int64_t j = 0; j < shown; j++) {
        int64_t col = place(j, e->cols, COLUMNS + 1);

        if (col < 0)
            buf_puts(out, "  ...");
        else
            put_number(out, e->at[row * e->cols + col]);
    }
    buf_addc(out, '\n');
}

static void put_slice_note(TextBuf *out, const Elements *e)
{
    if (e->t->rank < 3)
        return;
    buf_puts(out, "  of [");
    for (int d = 0; d < e->t->rank - 2; d++)
        buf_puts(out, "0,");
    buf_puts(out, ":,:]\n");
}

void debug_show_tensor(TextBuf *out, const Tensor *t)
{
    Elements e;

    if (!read_elements(&e, t)) {
        put_shape(out, t);
        buf_puts(out, "  no elements\n");
        free(e.at);
        return;
    }
    if (t->rank == 0) {
        buf_printf(out, "%.9g\n", e.at[0]);
        free(e.at);
        return;
    }
    put_figures(out, &e);
    put_slice_note(out, &e);
    for (int64_t i = 0; i < e.rows && i < ROWS + 1; i++) {
        int64_t row = place(i, e.rows, ROWS + 1);

        if (row < 0)
            buf_printf(out, "  %6s\n", "...");
        else if (e.rows > 1)
            buf_printf(out, "  %6" PRId64, row), put_row(out, &e, row);
        else
            buf_printf(out, "  %6s", ""), put_row(out, &e, row);
    }
    free(e.at);
}

// ---- shades -----------------------------------------------------------------

static char shade(double v, double most)
{
    int n = (int)sizeof SHADES - 2;

    if (most <= 0)
        return SHADES[0];
    return SHADES[(int)ceil(v / most * n)];
}

// The largest magnitude of a cell, or what is no number there.
static char cell_mark(const Elements *e, int64_t r0, int64_t r1, int64_t c0,
                      int64_t c1, double *most)
{
    char mark = 0;

    *most = 0;
    for (int64_t r = r0; r < r1; r++)
        for (int64_t c = c0; c < c1; c++) {
            double v = e->at[r * e->cols + c];

            if (interp_is_undefined(v))
                mark = mark ? mark : '?';
            else if (isnan(v))
                mark = 'N';
            else if (isinf(v))
                mark = mark == 'N' ? mark : 'I';
            else if (fabs(v) > *most)
                *most = fabs(v);
        }
    return mark;
}

static int64_t cell_size(int64_t n, int64_t room)
{
    return (n + room - 1) / room;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void debug_show_heat(TextBuf *out, const Tensor *t)
{
    Elements e;
    double most = 0, v;
    bool any = read_elements(&e, t);
    int64_t h = any ? cell_size(e.rows, HEAT_ROWS) : 1;
    int64_t w = any ? cell_size(e.cols, HEAT_COLUMNS) : 1;

    for (int64_t i = 0; any && i < e.rows * e.cols; i++)
        if (isfinite(e.at[i]) && fabs(e.at[i]) > most)
            most = fabs(e.at[i]);
    put_shape(out, t);
    buf_printf(out, "  a cell is the largest magnitude of %" PRId64 " x %"
               PRId64 ";  '@' is %.4g, ' ' is 0;  N nan, I infinite, ? "
               "undefined\n", h, w, most);
    put_slice_note(out, &e);
    for (int64_t r = 0; any && r < e.rows; r += h) {
        buf_printf(out, "  %6" PRId64 " |", r);
        for (int64_t c = 0; c < e.cols; c += w) {
            char mark = cell_mark(&e, r, least(r + h, e.rows), c,
                                  least(c + w, e.cols), &v);

            buf_addc(out, mark ? mark : shade(v, most));
        }
        buf_puts(out, "|\n");
    }
    free(e.at);
}

// ---- owners -----------------------------------------------------------------

static void put_threads(TextBuf *out, const PlanFragment *f, int64_t e,
                        const Device *d)
{
    int lanes = (int)d->warp_lanes;

    for (int r = 0; r < f->replicas; r++) {
        int t = f->thread[(int64_t)r * f->elements + e];

        if (r == 4 && f->replicas > 5) {
            buf_printf(out, ", and %d more", f->replicas - r);
            break;
        }
        buf_printf(out, "%sthread %d (%s %d, lane %d)", r ? ", " : "", t,
                   lanes == 64 ? "wave" : "warp", t / lanes, t % lanes);
    }
    buf_printf(out, ": register %d of its %d\n", f->local[e], f->locals);
}

static const PlanBuffer *find_shared(const PlanLaunch *l, const IrBuffer *b)
{
    for (int i = 0; i < l->buffer_count; i++)
        if (l->buffers[i].ir == b)
            return &l->buffers[i];
    return NULL;
}

static void put_bytes(TextBuf *out, const Plan *p, const PlanBuffer *s,
                      const IrBuffer *b, const int64_t *shape, int64_t e)
{
    const PlanShared *layout = &p->shared[b->id];
    int64_t tile = b->rank ? shape[b->rank - 1] : 1;
    int bits = dtype_info(b->dtype)->bits;

    if (b->rank > 1)
        tile *= shape[b->rank - 2];
    if (layout->address)
        e = e / tile * layout->size + layout->address[e % tile];
    int64_t byte = s->offset + e * bits / 8;
    buf_printf(out, "byte %" PRId64 " of the arena, bank %" PRId64, byte,
               byte / 4 % p->device->banks);
    if (s->copies > 1)
        buf_printf(out, "; %d copies, %" PRId64 " bytes apart", s->copies,
                   s->bytes / s->copies);
    buf_addc(out, '\n');
}

void debug_show_owner(TextBuf *out, const Plan *p, int launch,
                      const IrBuffer *b, const int64_t *shape,
                      const int64_t *index)
{
    const PlanFragment *f = p->fragments[b->id];
    const PlanBuffer *s = find_shared(&p->launches[launch], b);
    int64_t e = 0;

    for (int d = 0; d < b->rank; d++)
        e = e * shape[d] + index[d];
    if (f)
        put_threads(out, f, e, p->device);
    else if (s)
        put_bytes(out, p, s, b, shape, e);
    else
        buf_printf(out, "the plan gives it no place: it is %s\n",
                   b->scope == SCOPE_GLOBAL ? "a tensor in global memory"
                                            : "a thread's own");
}
