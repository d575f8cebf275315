// json.c - writes JSON as it goes.
#include "support/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support_int.h"

Json json_start(TextBuf *out, bool indent)
{
    return (Json){.out = out, .indent = indent};
}

static void new_line(Json *j)
{
    if (!j->indent)
        return;
    buf_addc(j->out, '\n');
    for (int i = 0; i < j->depth; i++)
        buf_puts(j->out, "  ");
}

// What stands between the one before and the next member.
static void separate(Json *j)
{
    if (j->depth == 0)
        return;
    if (j->open[j->depth - 1].any)
        buf_addc(j->out, ',');
    j->open[j->depth - 1].any = true;
    new_line(j);
}

static void before_value(Json *j)
{
    bool in_object = j->depth && j->open[j->depth - 1].close == '}';

    if (in_object != j->after_key)
        BUG("json: a member of an object needs one key");
    if (!in_object)
        separate(j);
    j->after_key = false;
}

static void begin(Json *j, char open, char close)
{
    before_value(j);
    if (j->depth == (int)countof(j->open))
        BUG("json: nested too deeply");
    buf_addc(j->out, open);
    j->open[j->depth].close = close;
    j->open[j->depth].any = false;
    j->depth++;
}

static void end(Json *j, char close)
{
    bool any;

    if (!j->depth || j->open[j->depth - 1].close != close || j->after_key)
        BUG("json: unexpected '%c'", close);
    any = j->open[--j->depth].any;
    if (any)
        new_line(j);
    buf_addc(j->out, close);
}

void json_begin_object(Json *j)
{
    begin(j, '{', '}');
}

void json_end_object(Json *j)
{
    end(j, '}');
}

void json_begin_array(Json *j)
{
    begin(j, '[', ']');
}

void json_end_array(Json *j)
{
    end(j, ']');
}

static void put_escaped(TextBuf *b, char c)
{
    static const char from[] = "\"\\\n\t\r\b\f", to[] = "\"\\ntrbf";
    const char *short_form = c ? strchr(from, c) : NULL;

    if (short_form)
        buf_printf(b, "\\%c", to[short_form - from]);
    else if ((unsigned char)c < 0x20 || c == 0x7f)
        buf_printf(b, "\\u%04x", c);
    else
        buf_addc(b, c);
}

static void put_quoted(TextBuf *b, Text t)
{
    int32_t point;

    buf_addc(b, '"');
    for (size_t i = 0; i < t.len;) {
        size_t n = (size_t)utf8_decode(t, i, &point);

        if (point < 0)
            buf_puts(b, "\xef\xbf\xbd");
        else if (n == 1)
            put_escaped(b, t.at[i]);
        else
            buf_add(b, t.at + i, n);
        i += n;
    }
    buf_addc(b, '"');
}

void json_key(Json *j, Text key)
{
    if (!j->depth || j->open[j->depth - 1].close != '}' || j->after_key)
        BUG("json: unexpected key '%.*s'", TEXT_ARG(key));
    separate(j);
    put_quoted(j->out, key);
    buf_puts(j->out, j->indent ? ": " : ":");
    j->after_key = true;
}

void json_text(Json *j, Text value)
{
    before_value(j);
    put_quoted(j->out, value);
}

void json_string(Json *j, const char *value)
{
    if (value)
        json_text(j, text_of(value));
    else
        json_null(j);
}

static void put_plain(Json *j, const char *word)
{
    before_value(j);
    buf_puts(j->out, word);
}

void json_int(Json *j, int64_t value)
{
    before_value(j);
    buf_printf(j->out, "%lld", (long long)value);
}

void json_uint(Json *j, uint64_t value)
{
    before_value(j);
    buf_printf(j->out, "%llu", (unsigned long long)value);
}

void json_number(Json *j, double value)
{
    char digits[32];
    int precision = 14;

    if (!isfinite(value)) {
        json_string(j, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    do
        snprintf(digits, sizeof digits, "%.*g", ++precision, value);
    while (precision < 17 && strtod(digits, NULL) != value);
    put_plain(j, digits);
}

void json_bool(Json *j, bool value)
{
    put_plain(j, value ? "true" : "false");
}

void json_null(Json *j)
{
    put_plain(j, "null");
}
