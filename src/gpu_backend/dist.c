// dist.c - loops whose points the threads of a block share.
#include "gpu_backend/emit_int.h"

const PlanFragment *loop_layout(const Emit *e, const IrStmt *s)
{
    for (int i = 0; i < e->launch->loop_count; i++)
        if (e->launch->loops[i].stmt == s)
            return e->launch->loops[i].layout;
    return NULL;
}

static void split(const Dist *d, int64_t n, int64_t *point)
{
    for (int i = d->rank - 1; i >= 0; i--) {
        point[i] = n % d->extent[i];
        n /= d->extent[i];
    }
}

static FitTable table_of(Emit *e, const Dist *d, int32_t **value)
{
    FitTable t = {e->threads, d->layout->locals, NULL, NULL};
    size_t n = (size_t)t.threads * t.locals;
    bool *active = new_array(e->arena, bool, n + 1);

    *value = new_array(e->arena, int32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        active[i] = d->points[i] >= 0;
    t.value = *value;
    t.active = active;
    return t;
}

// ---- with a layout ---------------------------------------------------------

static Text index_text(Emit *e, const Dist *d, int dim)
{
    int32_t *value;
    FitTable t = table_of(e, d, &value);
    int64_t point[IR_MAX_RANK];

    for (int i = 0; i < t.threads * t.locals; i++) {
        if (d->points[i] < 0)
            continue;
        split(d, d->points[i], point);
        value[i] = (int32_t)point[dim];
    }
    return fit(e, &t, false);
}

// The number of the point, where single indices have no closed form.
static Text flat_text(Emit *e, const Dist *d)
{
    int32_t *value;
    FitTable t = table_of(e, d, &value);

    for (int i = 0; i < t.threads * t.locals; i++)
        value[i] = d->points[i] < 0 ? 0 : d->points[i];
    return fit(e, &t, true);
}

// Points that run on several threads: whether this is the first of them.
static Text mine_text(Emit *e, const Dist *d)
{
    int32_t *value;
    FitTable t = table_of(e, d, &value);
    bool *first = new_array(e->arena, bool, t.threads * t.locals + 1);

    if (d->layout->replicas == 1)
        return (Text){0};
    for (int i = 0; i < t.threads * t.locals; i++)
        first[i] = d->points[i] >= 0 &&
                   d->layout->thread[d->points[i]] == i / t.locals;
    t.active = first;
    return fit_active(e, &t);
}

static void name_index(Emit *e, Dist *d, int i)
{
    if (d->var[i])
        d->index[i] = e->var[d->var[i]->id];
    else
        d->index[i] = text_format(e->arena, "e%d", i);
}

static void set_ranges(Emit *e, const Dist *d)
{
    for (int i = 0; i < d->rank; i++)
        if (d->var[i])
            e->range[d->var[i]->id] =
                d->extent[i] > 0 ? (Range){true, 0, d->extent[i] - 1}
                                 : (Range){0};
}

static void give(Dist *d, Text name, Text text)
{
    d->given[d->given_count].name = name;
    d->given[d->given_count++].text = text;
}

static void define_by_division(Emit *e, Dist *d)
{
    int v = d->vector > 1 && !d->layout ? d->vector : 1;

    for (int i = 0; i < d->rank; i++) {
        int64_t inner = 1;
        for (int k = i + 1; k < d->rank; k++)
            inner *= d->extent[k] / (k == d->rank - 1 ? v : 1);
        bool last = i == d->rank - 1;
        Text x = TEXT("p");
        if (inner > 1)
            x = text_format(e->arena, "%.*s / %lld", TEXT_ARG(x),
                            (long long)inner);
        if (i)
            x = text_format(e->arena, "%.*s %% %lld", TEXT_ARG(x),
                            (long long)d->extent[i] / (last ? v : 1));
        if (last && v > 1)
            x = text_format(e->arena, "%.*s * %d", TEXT_ARG(x), v);
        give(d, d->index[i], x);
    }
}

// Points that are not there, where one index alone tells: the guard names it.
static bool guard_by_index(Emit *e, Dist *d, const Text *text)
{
    int64_t point[IR_MAX_RANK];
    int32_t *value;

    for (int dim = 0; dim < d->rank; dim++) {
        FitTable t = table_of(e, d, &value);
        bool all = true;
        for (int i = 0; i < t.threads * t.locals; i++) {
            all &= d->points[i] >= 0;
            if (d->points[i] < 0)
                continue;
            split(d, d->points[i], point);
            value[i] = (int32_t)point[dim];
        }
        if (all || !text[dim].len || !fit_below(&t, (int32_t)d->extent[dim]))
            continue;
        line(e, "const int %.*s = %.*s;", TEXT_ARG(d->index[dim]),
             TEXT_ARG(text[dim]));
        open_brace(e, "if (%.*s < %lld) {", TEXT_ARG(d->index[dim]),
                   (long long)d->extent[dim]);
        d->braces = 2;
        d->mine_index = d->index[dim];
        return true;
    }
    return false;
}

static void open_layout(Emit *e, Dist *d)
{
    int locals = d->layout->locals;
    Text text[IR_MAX_RANK];
    bool closed = true;
    int32_t *value;

    d->points = plan_points(e->arena, d->layout, e->threads);
    if (!d->points) {
        refuse(e, "this layout of a loop");
        return;
    }
    for (int i = 0; i < d->rank; i++) {
        text[i] = index_text(e, d, i);
        closed &= text[i].len > 0;
    }
    line(e, "#pragma unroll");
    if (d->vector > 1)
        open_brace(e, "for (int l = 0; l < %d; l += %d) {", locals, d->vector);
    else
        open_brace(e, "for (int l = 0; l < %d; l++) {", locals);
    d->mine = mine_text(e, d);
    d->braces = 1;
    if (!guard_by_index(e, d, text)) {
        FitTable t = table_of(e, d, &value);
        Text active = fit_active(e, &t);
        if (active.len) {
            open_brace(e, "if (%.*s) {", TEXT_ARG(active));
            d->braces = 2;
        }
    }
    if (!closed)
        give(d, TEXT("p"), flat_text(e, d));
    for (int i = 0; closed && i < d->rank; i++)
        if (!occurs(d->mine_index, d->index[i]))
            give(d, d->index[i], text[i]);
    if (!closed)
        define_by_division(e, d);
}

// ---- dealt out -------------------------------------------------------------

static bool is_fixed(const Dist *d, int64_t *points)
{
    *points = 1;
    for (int i = 0; i < d->rank; i++) {
        if (d->extent[i] < 0)
            return false;
        *points *= d->extent[i];
    }
    return *points <= INT32_MAX;
}

// Turns that go on by whole rows: the addresses of all of them have a part in
// common.
static bool define_by_rows(Emit *e, Dist *d)
{
    int64_t cols = d->rank == 2 ? d->extent[1] / (d->vector > 1 ? d->vector : 1)
                                : 0;

    if (cols < 1 || e->threads % cols)
        return false;
    give(d, d->index[0],
         text_format(e->arena, "tid / %lld + i0 * %lld", (long long)cols,
                     (long long)(e->threads / cols)));
    give(d, d->index[1],
         text_format(e->arena, "tid %% %lld * %lld", (long long)cols,
                     (long long)(d->extent[1] / cols)));
    return true;
}

// All turns of a thread one after the other, numbered i0.
static void open_turns(Emit *e, Dist *d, int64_t points)
{
    line(e, "#pragma unroll");
    open_brace(e, "for (int i0 = 0; i0 < %lld; i0++) {",
               (long long)(points + e->threads - 1) / e->threads);
    if (points % e->threads) {
        open_brace(e, "if (tid + i0 * %d < %lld) {", e->threads,
                   (long long)points);
        d->braces = 2;
    }
    if (define_by_rows(e, d))
        return;
    line(e, "const int p = tid + i0 * %d;", e->threads);
    define_by_division(e, d);
}

static void open_dealt(Emit *e, Dist *d)
{
    int64_t points;

    d->braces = 1;
    if (is_fixed(d, &points)) {
        if (d->vector > 1)
            points /= d->vector;
        if (d->unrolled) {
            open_turns(e, d, points);
            return;
        }
        open_brace(e, "for (int p = tid; p < %lld; p += %d) {",
                   (long long)points, e->threads);
        define_by_division(e, d);
        return;
    }
    Text all = TEXT("(i64)1");
    for (int i = 0; i < d->rank; i++)
        all = text_format(e->arena, "%.*s * (%.*s)", TEXT_ARG(all),
                          TEXT_ARG(d->size[i]));
    open_brace(e, "for (i64 p = tid, points = %.*s; p < points; p += %d) {",
               TEXT_ARG(all), e->threads);
    for (int i = d->rank - 1; i >= 0; i--) {
        Text under = TEXT("p");
        for (int k = i + 1; k < d->rank; k++)
            under = text_format(e->arena, "%.*s / (%.*s)", TEXT_ARG(under),
                                TEXT_ARG(d->size[k]));
        give(d, d->index[i],
             text_format(e->arena, "(int)(%.*s %% (%.*s))", TEXT_ARG(under),
                         TEXT_ARG(d->size[i])));
    }
}

static void open_each(Emit *e, Dist *d)
{
    for (int i = 0; i < d->rank; i++) {
        Text n = d->extent[i] < 0 ? d->size[i]
                                  : text_format(e->arena, "%lld",
                                                (long long)d->extent[i]);
        line(e, "#pragma unroll");
        open_brace(e, "for (int %.*s = 0; %.*s < %.*s; %.*s++) {",
                   TEXT_ARG(d->index[i]), TEXT_ARG(d->index[i]), TEXT_ARG(n),
                   TEXT_ARG(d->index[i]));
    }
    d->braces = d->rank;
}

void dist_open(Emit *e, Dist *d)
{
    d->before = e->dist;
    for (int i = 0; i < d->rank; i++)
        name_index(e, d, i);
    set_ranges(e, d);
    if (d->each)
        open_each(e, d);
    else if (d->layout)
        open_layout(e, d);
    else
        open_dealt(e, d);
    e->dist = d;
    d->out = e->out;
    e->out = &d->body;
}

void dist_close(Emit *e, Dist *d)
{
    bool needed[IR_MAX_RANK + 1] = {false};
    TextBuf seen = {0};

    e->out = d->out;
    buf_text(&seen, buf_view(&d->body));
    for (int i = d->given_count - 1; i >= 0; i--) {
        needed[i] = occurs(buf_view(&seen), d->given[i].name);
        if (needed[i])
            buf_text(&seen, d->given[i].text);
    }
    for (int i = 0; i < d->given_count; i++)
        if (needed[i])
            line(e, "const int %.*s = %.*s;", TEXT_ARG(d->given[i].name),
                 TEXT_ARG(d->given[i].text));
    buf_text(e->out, buf_view(&d->body));
    buf_release(&d->body);
    buf_release(&seen);
    for (int i = 0; i < d->braces; i++)
        close_brace(e);
    e->dist = d->before;
}

// ---- registers -------------------------------------------------------------

static int64_t element_at(Emit *e, const Spot *p, const int64_t *point)
{
    const Dist *d = e->dist;
    const IrBuffer *b = p->buffer;
    int64_t at = 0;

    for (int i = 0; i < d->rank; i++)
        if (d->var[i])
            e->point[d->var[i]->id] = point[i];
    for (int i = 0; i < b->rank; i++) {
        int64_t x = 0;
        if (p->expr && p->expr[i] && !eval_at(p->expr[i], e->point, &x))
            return -1;
        if (p->map && p->map[i] >= 0)
            x += point[p->map[i]];
        at = at * fixed_extent(b, i) + x;
    }
    return at;
}

// A tile of one element, outside of a loop: every holder has it under the same
// number, and thread 0, which stores what others see, has to be one.
static Text single_local(Emit *e, const Spot *p, const PlanFragment *f)
{
    int64_t at = 0, x;

    for (int i = 0; i < p->buffer->rank; i++) {
        x = 0;
        if (p->expr && p->expr[i] && !eval_at(p->expr[i], e->point, &x))
            x = -1;
        at = at * fixed_extent(p->buffer, i) + x;
    }
    if (at != 0 || f->elements != 1 || f->thread[0] != 0) {
        refuse(e, "an access to '%.*s' here", TEXT_ARG(p->buffer->name));
        return TEXT("0");
    }
    return text_format(e->arena, "%d", f->local[0]);
}

Text dist_local(Emit *e, const Spot *p)
{
    const Dist *d = e->dist;
    const PlanFragment *f = e->plan->fragments[p->buffer->id];
    int64_t point[IR_MAX_RANK] = {0};
    int32_t *value;

    if (!d)
        return single_local(e, p, f);
    if (!d->layout || !d->points) {
        refuse(e, "an access to '%.*s' here",
                    TEXT_ARG(p->buffer->name));
        return TEXT("0");
    }
    FitTable t = table_of(e, d, &value);
    for (int i = 0; i < t.threads * t.locals; i++) {
        if (d->points[i] < 0)
            continue;
        split(d, d->points[i], point);
        int64_t at = element_at(e, p, point);
        if (at < 0 || at >= f->elements) {
            refuse(e, "an access outside of '%.*s'",
                        TEXT_ARG(p->buffer->name));
            return TEXT("0");
        }
        value[i] = f->local[at];
    }
    return fit(e, &t, true);
}
