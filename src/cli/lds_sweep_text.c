// lds_sweep_text.c - a sweep as one table, and as JSON.
//
// Names that change nothing in the table are left out, and their points share
// a line.
#include "cli/lds_sweep.h"
#include "cli/report.h"

enum { AXES = 32, COLUMN = 28 };

// ---- which names matter ----------------------------------------------------

typedef struct {
    const LdsSweep *w;
    Text name[AXES];
    bool shown[AXES], varies[AXES];
    int count;
    struct {
        LdsPoint **at;                  // the first of each line
        int len, room;
    } lines;
    int *per_line;                      // points that share it
} Table;

static Text value_of(const LdsPoint *p, Text name)
{
    for (int i = 0; i < p->own_count; i++)
        if (text_eq(p->own[i].name, name))
            return p->own[i].value;
    return (Text){0};
}

static void find_names(Table *t)
{
    for (int i = 0; i < t->w->count; i++) {
        const LdsPoint *p = t->w->points[i];

        for (int j = 0; j < p->own_count; j++) {
            int n = 0;

            while (n < t->count && !text_eq(t->name[n], p->own[j].name))
                n++;
            if (n == t->count && n < AXES) {
                t->shown[n] = true;
                t->name[t->count++] = p->own[j].name;
            }
            if (n < AXES && !text_eq(p->own[j].value,
                                     value_of(t->w->points[0], t->name[n])))
                t->varies[n] = true;
        }
    }
}

static void put_shown(const Table *t, const LdsPoint *p, TextBuf *b)
{
    buf_clear(b);
    for (int i = 0; i < t->count; i++)
        if (t->shown[i])
            buf_printf(b, "%.*s,", TEXT_ARG(value_of(p, t->name[i])));
}

static bool same_cost(const LdsCost *a, const LdsCost *b)
{
    return a->known == b->known && a->partial == b->partial &&
           a->floor_us == b->floor_us && a->conflicts == b->conflicts;
}

static bool same_figures(const Table *t, const LdsPoint *a, const LdsPoint *b)
{
    for (int d = 0; d < t->w->device_count; d++) {
        const LdsTarget *x = &a->at[d], *y = &b->at[d];

        if (a->planned[d] != b->planned[d] || x->bytes != y->bytes ||
            x->fits != y->fits || !same_cost(&a->cost[d], &b->cost[d]) ||
            x->registers != y->registers ||
            x->occupancy.blocks != y->occupancy.blocks ||
            x->occupancy.warps != y->occupancy.warps ||
            x->occupancy.binding != y->occupancy.binding)
            return false;
    }
    return text_eq(a->why, b->why);
}

// Are all points with the same shown values alike?
static bool is_enough(const Table *t)
{
    Arena *a = arena_create();
    TextBuf key = {0};
    Map first = {0};
    bool alike = true;

    for (int i = 0; i < t->w->count && alike; i++) {
        LdsPoint *p = t->w->points[i];
        const LdsPoint *before;

        put_shown(t, p, &key);
        before = map_get(&first, buf_view(&key));
        if (before)
            alike = same_figures(t, before, p);
        else
            map_set(a, &first, text_copy(a, buf_view(&key)), p);
    }
    buf_release(&key);
    arena_destroy(a);
    return alike;
}

static void find_lines(Table *t)
{
    Arena *a = t->w->s->cli->arena;
    TextBuf key = {0};
    Map seen = {0};

    t->per_line = new_array(a, int, t->w->count + 1);
    for (int i = 0; i < t->w->count; i++) {
        LdsPoint *p = t->w->points[i];
        int *count;

        put_shown(t, p, &key);
        count = map_get(&seen, buf_view(&key));
        if (!count) {
            count = &t->per_line[t->lines.len];
            map_set(a, &seen, text_copy(a, buf_view(&key)), count);
            vec_push(a, &t->lines, p);
        }
        (*count)++;
    }
    buf_release(&key);
}

static Table make_table(const LdsSweep *w)
{
    Table t = {.w = w};

    find_names(&t);
    for (int i = t.count - 1; i >= 0 && !w->s->cli->verbose; i--) {
        t.shown[i] = false;
        if (!is_enough(&t))
            t.shown[i] = true;
    }
    find_lines(&t);
    return t;
}

// ---- text ------------------------------------------------------------------

static int width_of(const Table *t, int axis)
{
    int width = text_width(t->name[axis]);

    for (int i = 0; i < t->lines.len; i++) {
        int n = text_width(value_of(t->lines.at[i], t->name[axis]));
        width = n > width ? n : width;
    }
    return width;
}

static void put_right(TextBuf *b, Text text, int width)
{
    for (int n = text_width(text); n < width; n++)
        buf_addc(b, ' ');
    buf_text(b, text);
}

static void put_heads(TextBuf *b, const Table *t)
{
    for (int i = 0; i < t->count; i++)
        if (t->shown[i]) {
            buf_puts(b, "  ");
            put_right(b, t->name[i], width_of(t, i));
        }
    for (int d = 0; d < t->w->device_count; d++)
        buf_printf(b, "%13s  blocks    conflicts  estimate",
                   t->w->devices[d]->name);
    buf_addc(b, '\n');
}

static void put_cost(TextBuf *b, const LdsCost *c)
{
    TextBuf n = {0}, us = {0};

    if (c->known) {
        buf_puts(&n, c->partial ? "> " : "");
        buf_grouped(&n, c->conflicts);
        lds_put_us(&us, c->floor_us);
    } else {
        buf_addc(&n, '-');
        buf_addc(&us, '-');
    }
    buf_printf(b, "%13.*s%10.*s", TEXT_ARG(buf_view(&n)),
               TEXT_ARG(buf_view(&us)));
    buf_release(&n);
    buf_release(&us);
}

static void put_target(TextBuf *b, const LdsPoint *p, int d)
{
    TextBuf bytes = {0};

    buf_grouped(&bytes, p->at[d].bytes);
    if (!p->planned[d])
        buf_printf(b, "%13s  %6s", "-", "-");
    else if (p->at[d].fits)
        buf_printf(b, "%13.*s  %6d", TEXT_ARG(buf_view(&bytes)),
                   p->at[d].occupancy.blocks);
    else
        buf_printf(b, "%13.*s    OVER", TEXT_ARG(buf_view(&bytes)));
    buf_release(&bytes);
    put_cost(b, &p->cost[d]);
}

static void put_line(TextBuf *b, const Table *t, const LdsPoint *p)
{
    for (int i = 0; i < t->count; i++)
        if (t->shown[i]) {
            buf_puts(b, "  ");
            put_right(b, value_of(p, t->name[i]), width_of(t, i));
        }
    for (int d = 0; d < t->w->device_count; d++)
        put_target(b, p, d);
    if (p->why.len)
        buf_printf(b, "  %.*s", TEXT_ARG(p->why));
    buf_addc(b, '\n');
}

static void put_hidden(TextBuf *b, const Table *t)
{
    bool any = false;

    for (int i = 0; i < t->count; i++)
        if (!t->shown[i] && t->varies[i]) {
            buf_printf(b, "%s%.*s", any ? ", " : "no difference   ",
                       TEXT_ARG(t->name[i]));
            any = true;
        }
    if (any)
        buf_puts(b, "  (-v: every point)\n");
}

static void put_sums(TextBuf *b, const LdsSweep *w)
{
    int refused = 0;

    for (int d = 0; d < w->device_count; d++) {
        int fit = 0;

        for (int i = 0; i < w->count; i++)
            fit += w->points[i]->planned[d] && w->points[i]->at[d].fits;
        buf_printf(b, "%s%s: %d of %d fit", d ? "   " : "\n",
                   w->devices[d]->name, fit, w->count);
    }
    for (int i = 0; i < w->count; i++)
        refused += w->points[i]->why.len > 0;
    if (refused)
        buf_printf(b, "   refused: %d", refused);
    buf_addc(b, '\n');
}

static void put_order(TextBuf *b, const LdsSweep *w)
{
    bool any = false, fits = false;

    for (int i = 0; i < w->count; i++)
        for (int d = 0; d < w->device_count; d++) {
            const LdsPoint *p = w->points[i];

            any |= p->cost[d].known;
            fits |= p->planned[d] && p->at[d].fits;
        }
    if (any)
        buf_printf(b, "estimate: the least time of all launches, if all pipes "
                   "overlap; the order is that of %s%s\n",
                   w->devices[0]->name,
                   w->device_count > 1 ? ", what fits fewer targets last" : "");
    else if (fits)
        buf_puts(b, "no estimate: not counted without sizes (-D NAME=VALUE) or "
                 "a full run\n");
}

static const KernelObject *any_kernel(const LdsSweep *w)
{
    for (int i = 0; i < w->count; i++)
        if (w->points[i]->kernel)
            return w->points[i]->kernel;
    return NULL;
}

static void put_head(TextBuf *b, const LdsSweep *w)
{
    const Cli *c = w->s->cli;
    const KernelObject *k = any_kernel(w);

    if (k)
        report_name(b, c, k->ir);
    for (int i = 0; i < w->s->define_count; i++)
        buf_printf(b, "  %.*s %.*s", TEXT_ARG(w->s->defines[i].name),
                   TEXT_ARG(w->s->defines[i].value));
    buf_addc(b, '\n');
    lds_report_rules(b, session_rules(c, PLAN_TILELANG));
}

void lds_sweep_text(TextBuf *b, const LdsSweep *w)
{
    Table t = make_table(w);

    put_head(b, w);
    buf_printf(b, "points          %d, in %d lines\n", w->count, t.lines.len);
    put_hidden(b, &t);
    buf_addc(b, '\n');
    put_heads(b, &t);
    for (int i = 0; i < t.lines.len; i++)
        put_line(b, &t, t.lines.at[i]);
    put_sums(b, w);
    put_order(b, w);
}

// ---- JSON ------------------------------------------------------------------

static void json_cost(Json *j, const LdsCost *c)
{
    if (!c->known)
        return;
    json_key(j, TEXT("cost"));
    json_begin_object(j);
    json_key(j, TEXT("conflicts"));
    json_int(j, c->conflicts);
    json_key(j, TEXT("floor_us"));
    json_number(j, c->floor_us);
    json_key(j, TEXT("serial_us"));
    json_number(j, c->serial_us);
    json_key(j, TEXT("complete"));
    json_bool(j, !c->partial);
    json_key(j, TEXT("basis"));
    json_string(j, basis_name(BASIS_ESTIMATE));
    json_end_object(j);
}

static void json_point(Json *j, const LdsSweep *w, const LdsPoint *p)
{
    json_begin_object(j);
    json_key(j, TEXT("arguments"));
    json_begin_object(j);
    for (int i = 0; i < p->own_count; i++) {
        json_key(j, p->own[i].name);
        json_text(j, p->own[i].value);
    }
    json_end_object(j);
    if (p->why.len) {
        json_key(j, TEXT("refused"));
        json_text(j, p->why);
    }
    json_key(j, TEXT("targets"));
    json_begin_array(j);
    for (int d = 0; d < w->device_count; d++)
        if (p->planned[d]) {
            json_begin_object(j);
            lds_target_json(j, &p->at[d], w->devices[d]);
            json_cost(j, &p->cost[d]);
            json_end_object(j);
        }
    json_end_array(j);
    json_end_object(j);
}

void lds_sweep_json(Json *j, const LdsSweep *w)
{
    for (int i = 0; i < w->count; i++)
        json_point(j, w, w->points[i]);
}
