// layout_check.c - a layout of shared memory gives each element a place of its
// own: two in one place would overwrite each other.
//
// Evaluated for every element where the map is plain integer arithmetic on
// constant sizes; other maps, and large ones, are not looked at.
#include <stdlib.h>
#include <string.h>

#include "lang/trace_int.h"

enum { MOST_ELEMENTS = 1 << 18 };

typedef struct {
    const IrIndexMap *map;
    int64_t extent[IR_MAX_RANK], at[IR_MAX_RANK];
} Point;

static bool index_at(void *ctx, const IrVar *v, int64_t *out)
{
    const Point *p = ctx;

    for (int d = 0; d < p->map->in_rank; d++)
        if (p->map->in[d] == v)
            return *out = p->at[d], true;
    return false;
}

// ---- two elements in one place ---------------------------------------------

typedef struct {
    int64_t to[IR_MAX_RANK], from;
    int rank;
} Spot;

static int by_place(const void *a, const void *b)
{
    const Spot *x = a, *y = b;

    for (int d = 0; d < x->rank; d++)
        if (x->to[d] != y->to[d])
            return x->to[d] < y->to[d] ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void set_point(Point *p, int64_t i)
{
    for (int d = p->map->in_rank - 1; d >= 0; d--) {
        p->at[d] = i % p->extent[d];
        i /= p->extent[d];
    }
}

static bool all_places(Point *p, Spot *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        set_point(p, i);
        out[i].from = i;
        out[i].rank = p->map->out_rank;
        for (int d = 0; d < p->map->out_rank; d++)
            if (!ir_evaluate(p->map->out[d], index_at, p, &out[i].to[d]))
                return false;
    }
    return true;
}

static void put_index(TextBuf *b, const int64_t *at, int rank)
{
    buf_addc(b, '[');
    for (int d = 0; d < rank; d++)
        buf_printf(b, "%s%lld", d ? ", " : "", (long long)at[d]);
    buf_addc(b, ']');
}

_Noreturn static void shared_place(Lang *l, const IrBuffer *b, Point *p,
                                   const Spot *one, const Spot *other,
                                   Span at)
{
    TextBuf words = {0};

    set_point(p, one->from);
    put_index(&words, p->at, p->map->in_rank);
    buf_puts(&words, " and ");
    set_point(p, other->from);
    put_index(&words, p->at, p->map->in_rank);
    buf_puts(&words, " both map to physical coordinates ");
    put_index(&words, one->to, one->rank);
    Text t = text_copy(lang_arena(l), buf_view(&words));
    buf_release(&words);
    lang_raise(l, "ValueError", at, "the layout of shared buffer `%.*s` must "
               "be injective: %.*s", TEXT_ARG(b->name), TEXT_ARG(t));
}

static int64_t elements(Point *p)
{
    int64_t n = 1;

    for (int d = 0; d < p->map->in_rank; d++) {
        if (!ir_is_int(p->map->in_shape[d], &p->extent[d]) ||
            p->extent[d] < 1 || p->extent[d] > MOST_ELEMENTS / n)
            return 0;
        n *= p->extent[d];
    }
    return n;
}

void layout_check(Lang *l, const IrBuffer *b, Span at)
{
    Point p = {.map = b->layout};
    int64_t n, clash = 0;

    if ((b->scope != SCOPE_SHARED && b->scope != SCOPE_SHARED_STATIC) ||
        p.map->maker.len || p.map->out_rank < 1 || p.map->thread)
        return;
    n = elements(&p);
    Spot *places = n ? xcalloc((size_t)n, sizeof *places) : NULL;
    if (n && all_places(&p, places, n)) {
        qsort(places, (size_t)n, sizeof *places, by_place);
        for (int64_t i = 1; i < n && !clash; i++)
            if (memcmp(places[i].to, places[i - 1].to, sizeof places[i].to)
                == 0)
                clash = i;
    }
    Spot one = clash ? places[clash - 1] : (Spot){0};
    Spot other = clash ? places[clash] : (Spot){0};
    free(places);
    if (clash)
        shared_place(l, b, &p, &one, &other, at);
}
