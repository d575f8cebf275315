// lds_order.c - the order of blocks, and what those at a time read of L2.
#include "cli/lds_report.h"
#include "cli/json_keys.h"
#include "cli/report.h"

enum { COL_TILES = 44, COL_FIRST = 60, WIDTH = 14 };

static void put_right(TextBuf *b, size_t line, int column, Text t)
{
    report_column(b, line, column - (int)t.len);
    buf_text(b, t);
}

static void put_bytes(TextBuf *b, size_t line, int column, double n)
{
    TextBuf t = {0};

    buf_grouped(&t, (int64_t)n);
    put_right(b, line, column, buf_view(&t));
    buf_release(&t);
}

static void put_head(TextBuf *b, const LdsReport *r, const LdsLaunch *l,
                     const Order *o)
{
    size_t line = b->len;
    Text tiles = text_format(r->cli->arena, "tiles %.*s x %.*s",
                             TEXT_ARG(l->stmt->vars[0]->name),
                             TEXT_ARG(l->stmt->vars[1]->name));

    buf_puts(b, "  bytes that they read (estimate)");
    put_right(b, line, COL_TILES, tiles);
    for (int i = 0; i < o->tensor_count; i++)
        put_right(b, line, COL_FIRST + i * WIDTH, o->tensor[i]->name);
    put_right(b, line, COL_FIRST + o->tensor_count * WIDTH, TEXT("together"));
    buf_addc(b, '\n');
}

// `than` is what the bytes are held against, or NULL.
static void put_wave(TextBuf *b, const LdsReport *r, const Order *o, Text name,
                     const OrderWave *w, const OrderWave *than)
{
    size_t line = b->len;

    buf_printf(b, "  %.*s", TEXT_ARG(name));
    put_right(b, line, COL_TILES,
              text_format(r->cli->arena, "%lld x %lld", (long long)w->tiles[0],
                          (long long)w->tiles[1]));
    for (int i = 0; i < o->tensor_count; i++)
        put_bytes(b, line, COL_FIRST + i * WIDTH, w->tensor[i]);
    put_bytes(b, line, COL_FIRST + o->tensor_count * WIDTH, w->bytes);
    if (than && than->bytes > 0)
        buf_printf(b, "  x %.2f", w->bytes / than->bytes);
    buf_addc(b, '\n');
}

static Text name_of(const LdsReport *r, const PlanPanels *p)
{
    Text order = p->by_columns ? TEXT(", order=\"column\"") : TEXT("");
    int line = lds_line(r->cli, p->at);
    Arena *a = r->cli->arena;

    if (line)
        return text_format(a, "T.use_swizzle(%lld%.*s) :%d",
                           (long long)p->size, TEXT_ARG(order), line);
    return text_format(a, "T.use_swizzle(%lld%.*s)", (long long)p->size,
                       TEXT_ARG(order));
}

static void put_target(TextBuf *b, const LdsReport *r, const LdsLaunch *l,
                       int t)
{
    const Order *o = &l->target[t].order;
    const Device *d = r->devices[t];

    if (!o->panels.size && (o->none || !o->best.size))
        return;
    buf_printf(b, "\norder of blocks on %s: ", d->name);
    if (o->none) {
        buf_printf(b, "%.*s: %s\n",
                   TEXT_ARG(name_of(r, &o->panels)), o->none);
        return;
    }
    buf_printf(b, "%lld at a time", (long long)o->wave);
    if (d->dies > 1)
        buf_printf(b, ", every %lldth with the same L2", (long long)d->dies);
    buf_printf(b, ", of %.1f MiB\n",
               (double)d->l2 / (double)d->dies / (1 << 20));
    put_head(b, r, l, o);
    put_wave(b, r, o, TEXT("as the grid has them"), &o->plain, NULL);
    if (o->panels.size)
        put_wave(b, r, o, name_of(r, &o->panels), &o->walked, &o->plain);
    if (o->best.size)
        put_wave(b, r, o,
                 text_format(r->cli->arena, "%.*s would",
                             TEXT_ARG(name_of(r, &o->best))),
                 &o->best_wave, &o->plain);
}

void lds_order_text(TextBuf *b, const LdsReport *r, const LdsLaunch *l)
{
    for (int t = 0; t < r->device_count; t++)
        put_target(b, r, l, t);
}

// ---- for machines ----------------------------------------------------------

static void json_wave(Json *j, const char *key, const Order *o,
                      const PlanPanels *p, const OrderWave *w)
{
    json_key(j, text_of(key));
    json_begin_object(j);
    if (p) {
        key_int(j, "panel_size", p->size);
        key_string(j, "order", p->by_columns ? "column" : "row");
    }
    json_key(j, TEXT("tiles"));
    json_begin_array(j);
    json_int(j, w->tiles[0]);
    json_int(j, w->tiles[1]);
    json_end_array(j);
    json_key(j, TEXT("tensors"));
    json_begin_object(j);
    for (int i = 0; i < o->tensor_count; i++) {
        json_key(j, o->tensor[i]->name);
        json_number(j, w->tensor[i]);
    }
    json_end_object(j);
    key_number(j, "bytes", w->bytes);
    json_end_object(j);
}

void lds_order_json(Json *j, const LdsTarget *t)
{
    const Order *o = &t->order;

    if (o->none)
        return;
    json_key(j, TEXT("block_order"));
    json_begin_object(j);
    key_int(j, "blocks_at_a_time", o->wave);
    key_int(j, "blocks_of_one_l2", o->share);
    json_wave(j, "plain", o, NULL, &o->plain);
    if (o->panels.size)
        json_wave(j, "swizzled", o, &o->panels, &o->walked);
    if (o->best.size)
        json_wave(j, "best", o, &o->best, &o->best_wave);
    key_string(j, "basis", basis_name(BASIS_ESTIMATE));
    json_end_object(j);
}
