// shade.c - shadow memory: a byte for each unit of storage.
//
// A unit is the smallest element of the buffer and its views. Scratch counts
// its units that are not 0, so that a tile which was written once costs nothing
// more; global memory belongs to all workers and keeps a flag instead.
#include "check/check_int.h"

#include <string.h>

int root_of_buffer(const Code *c, int buffer)
{
    return c->buffer[buffer].root;
}

Shade *shade_of(Check *k, const InterpStep *s, int buffer)
{
    int root = k->code->buffer[buffer].root;

    if (k->global[root].at)
        return &k->global[root];
    return &worker_of_step(k, s)->scratch[root];
}

bool shade_is_clean(const Shade *m)
{
    return !m->at || (m->global ? !m->watched : !m->bad);
}

int shade_width(const Check *k, int buffer)
{
    int unit = k->unit[k->code->buffer[buffer].root];

    return unit ? k->code->buffer[buffer].element / unit : 1;
}

// Buffers beyond the last origin share it, and are not told apart.
uint8_t never_written(int root)
{
    int origin = root + 1 < SHADE_ORIGIN ? root + 1 : SHADE_ORIGIN;

    return (uint8_t)(SHADE_NEVER | origin);
}

void shade_fill(Shade *m, uint8_t v)
{
    if (!m->at)
        return;
    memset(m->at, v, (size_t)m->count);
    m->bad = v ? m->count : 0;
    m->watched |= v != 0;
}

// ---- ranges of elements --------------------------------------------------

static bool in_range(const Shade *m, int64_t at, int64_t n)
{
    return at >= 0 && n <= m->count && at <= m->count - n;
}

static int64_t count_bad(const uint8_t *at, int64_t n)
{
    int64_t bad = 0;

    for (int64_t i = 0; i < n; i++)
        bad += at[i] != 0;
    return bad;
}

static void set_units(Shade *m, int64_t at, int64_t n, uint8_t v)
{
    if (!in_range(m, at, n))
        return;
    if (!m->global)
        m->bad += (v ? n : 0) - count_bad(m->at + at, n);
    else if (v)
        m->watched = true;
    memset(m->at + at, v, (size_t)n);
}

static uint8_t get_units(const Shade *m, int64_t at, int n)
{
    if (!in_range(m, at, n))
        return 0;
    for (int i = 0; i < n; i++)
        if (m->at[at + i])
            return m->at[at + i];
    return 0;
}

uint8_t shade_get(Check *k, const InterpStep *s, int buffer, int64_t at)
{
    const Shade *m = shade_of(k, s, buffer);
    int width = shade_width(k, buffer);

    return shade_is_clean(m) ? 0 : get_units(m, at * width, width);
}

void shade_put(Check *k, const InterpStep *s, int buffer, int64_t at,
               uint8_t v)
{
    Shade *m = shade_of(k, s, buffer);
    int width = shade_width(k, buffer);

    if (m->at && (v || !shade_is_clean(m)))
        set_units(m, at * width, width, v);
}

// ---- what an access touches ----------------------------------------------

static bool is_active(const int32_t *mask, int lane)
{
    return !mask || mask[lane];
}

static int64_t place_of(const InterpTouch *t, int lane)
{
    if (t->offset)
        return t->offset[lane];
    return t->at + lane / t->cols * t->sr + lane % t->cols * t->sc;
}

static bool touches(const InterpTouch *t, const int32_t *mask, int lane)
{
    return is_active(mask, lane) && (!t->offset || t->inside[lane]);
}

static bool is_line(const InterpTouch *t, const int32_t *mask)
{
    return !t->offset && !mask && t->sc == 1;
}

bool shade_read(Check *k, const InterpStep *s, const InterpTouch *t,
                const int32_t *mask, uint8_t *lanes)
{
    const Shade *m = shade_of(k, s, t->buffer);
    int width = shade_width(k, t->buffer), n = t->rows * t->cols;
    uint8_t any = 0;

    if (shade_is_clean(m))
        return false;
    for (int r = 0; is_line(t, mask) && r < t->rows; r++) {
        int64_t at = (t->at + r * t->sr) * width;

        if (in_range(m, at, (int64_t)t->cols * width))
            any |= count_bad(m->at + at, (int64_t)t->cols * width) != 0;
    }
    if (is_line(t, mask) && !any)
        return false;
    any = 0;
    for (int i = 0; i < n; i++) {
        lanes[i] = touches(t, mask, i)
                       ? get_units(m, place_of(t, i) * width, width)
                       : 0;
        any |= lanes[i];
    }
    return any != 0;
}

void shade_write(Check *k, const InterpStep *s, const InterpTouch *t,
                 const int32_t *mask, const uint8_t *lanes)
{
    Shade *m = shade_of(k, s, t->buffer);
    int width = shade_width(k, t->buffer), n = t->rows * t->cols;

    if (!m->at || (!lanes && shade_is_clean(m)))
        return;
    if (!lanes && is_line(t, mask)) {
        for (int r = 0; r < t->rows; r++)
            set_units(m, (t->at + r * t->sr) * width,
                      (int64_t)t->cols * width, 0);
        return;
    }
    for (int i = 0; i < n; i++)
        if (touches(t, mask, i))
            set_units(m, place_of(t, i) * width, width, lanes ? lanes[i] : 0);
}
