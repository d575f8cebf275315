// lds_compare_text.c - what differs between two reports, for people and
// machines.
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "cli/lds_compare.h"
#include "cli/report.h"

// ---- for people ------------------------------------------------------------

enum { COL_BEFORE = 50, COL_ARROW = 52 };

static bool is_whole(double x)
{
    return fabs(x) <= 0x1p53 && x == trunc(x);
}

static void put_value(TextBuf *b, const LdsDifference *d, LdsValue v)
{
    if (v.kind == LDS_WORD)
        buf_puts(b, v.word);
    else if (v.kind == LDS_BOOL)
        buf_puts(b, v.number ? "yes" : "no");
    else if (v.kind == LDS_NONE)
        buf_puts(b, "-");
    else if (strcmp(d->key, "floor_us") && is_whole(v.number))
        buf_grouped(b, (int64_t)v.number);
    else
        buf_printf(b, v.number < 10 ? "%.3g" : "%.1f", v.number);
}

static void put_access(TextBuf *b, const cJSON *a)
{
    buf_printf(b, "%s %s", lds_string(a, "buffer"), lds_string(a, "way"));
    if (lds_access_line(a))
        buf_printf(b, " :%d", lds_access_line(a));
}

static void put_difference(TextBuf *b, const LdsDifference *d)
{
    size_t line = b->len;
    TextBuf before = {0};

    buf_puts(b, d->access ? "      " : "    ");
    buf_puts(b, d->label);
    put_value(&before, d, d->before);
    report_column(b, line, COL_BEFORE - (int)before.len);
    buf_text(b, buf_view(&before));
    buf_release(&before);
    report_column(b, line, COL_ARROW - 1);
    buf_puts(b, "-> ");
    put_value(b, d, d->after);
    buf_addc(b, '\n');
}

// Does only one of the two have it?
static bool is_alone(const LdsDifference *d)
{
    return !d->label;
}

static void end_head(TextBuf *b, const LdsDifference *d, bool alone)
{
    if (alone)
        buf_puts(b, d->after.number ? " appears" : " is gone");
    buf_addc(b, '\n');
}

static void put_launch(TextBuf *b, const LdsDifference *d)
{
    const char *file = lds_string(d->kernel, "file");

    buf_printf(b, "%s%s%s", file, *file ? " " : "",
               lds_string(d->kernel, "kernel"));
    if (d->launch_count > 1)
        buf_printf(b, ", launch %d", d->launch + 1);
    end_head(b, d, !d->target);
}

// What stands above a difference and not above the one before it.
static void put_heads(TextBuf *b, const LdsDifference *last,
                      const LdsDifference *d)
{
    bool launch = !last || last->kernel != d->kernel ||
                  last->launch != d->launch;
    bool target = d->target && (launch || !last->target ||
                                strcmp(last->target, d->target));

    if (launch)
        put_launch(b, d);
    if (target) {
        buf_printf(b, "  %s", d->target);
        end_head(b, d, is_alone(d) && !d->access);
    }
    if (d->access && (target || last->access != d->access)) {
        buf_puts(b, "    ");
        put_access(b, d->access);
        end_head(b, d, is_alone(d));
    }
}

void lds_compare_text(TextBuf *b, const LdsComparison *c)
{
    if (!c->count)
        buf_puts(b, "no difference\n");
    for (int i = 0; i < c->count; i++) {
        const LdsDifference *d = &c->at[i];

        put_heads(b, i ? d - 1 : NULL, d);
        if (!is_alone(d))
            put_difference(b, d);
    }
}

// ---- for machines ----------------------------------------------------------

static void json_value(Json *j, const char *key, LdsValue v)
{
    json_key(j, text_of(key));
    if (v.kind == LDS_NONE)
        json_null(j);
    else if (v.kind == LDS_WORD)
        json_string(j, v.word);
    else if (v.kind == LDS_BOOL)
        json_bool(j, v.number != 0);
    else
        json_number(j, v.number);
}

static void json_access(Json *j, const cJSON *a)
{
    static const char *const keys[] = {"buffer", "space", "way"};

    for (size_t i = 0; i < countof(keys); i++) {
        json_key(j, text_of(keys[i]));
        json_string(j, lds_string(a, keys[i]));
    }
    if (lds_access_line(a)) {
        json_key(j, TEXT("line"));
        json_int(j, lds_access_line(a));
    }
}

static void json_difference(Json *j, const LdsDifference *d)
{
    json_begin_object(j);
    if (*lds_string(d->kernel, "file")) {
        json_key(j, TEXT("file"));
        json_string(j, lds_string(d->kernel, "file"));
    }
    json_key(j, TEXT("kernel"));
    json_string(j, lds_string(d->kernel, "kernel"));
    json_key(j, TEXT("launch"));
    json_int(j, d->launch);
    if (d->target) {
        json_key(j, TEXT("target"));
        json_string(j, d->target);
    }
    if (d->access)
        json_access(j, d->access);
    json_key(j, TEXT("what"));
    json_string(j, d->key);
    json_value(j, "before", d->before);
    json_value(j, "after", d->after);
    json_end_object(j);
}

void lds_compare_json(Json *j, const LdsComparison *c)
{
    json_key(j, TEXT("compared_with"));
    json_string(j, c->path);
    json_key(j, TEXT("differences"));
    json_begin_array(j);
    for (int i = 0; i < c->count; i++)
        json_difference(j, &c->at[i]);
    json_end_array(j);
}
