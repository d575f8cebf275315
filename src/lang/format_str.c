// format_str.c - "{}".format(...) and "%d" % value.
#include <string.h>

#include "lang/eval_int.h"

// ---- str.format ------------------------------------------------------------

typedef struct {
    Lang *l;
    const Args *args;
    const Dict *mapping;        // of format_map, else NULL
    int next;                   // automatic numbering
    bool by_hand;
    Span at;
} Fields;

static Value positional(Fields *f, int i)
{
    if (i >= f->args->count)
        lang_raise(f->l, "IndexError", f->at,
                   "Replacement index %d out of range for positional args "
                   "tuple", i);
    return f->args->at[i];
}

static void check_numbering(const Fields *f, bool mixed)
{
    if (mixed)
        lang_raise(f->l, "ValueError", f->at,
                   "cannot switch from %s",
                   f->by_hand ? "manual field specification to automatic "
                                "field numbering"
                              : "automatic field numbering to manual field "
                                "specification");
}

static Value field_root(Fields *f, Text name)
{
    int64_t i;
    Value v;

    if (name.len == 0) {
        check_numbering(f, f->by_hand);
        return positional(f, f->next++);
    }
    if (text_to_i64(name, &i) && i >= 0 && i < INT32_MAX) {
        check_numbering(f, f->next > 0);
        f->by_hand = true;
        return positional(f, (int)i);
    }
    for (int k = 0; k < f->args->keyword_count; k++)
        if (text_eq(f->args->names[k], name))
            return f->args->values[k];
    if (f->mapping && dict_get(f->l, f->mapping, v_str(name), &v))
        return v;
    v = v_str(name);
    exception_raise(f->l, exception_new(f->l, f->l->more->exceptions[EXC_KEY],
                                        &v, 1), f->at);
}

// The end of the name or index that begins at i.
static size_t field_part(Text t, size_t i, const char *stops)
{
    while (i < t.len && !strchr(stops, t.at[i]))
        i++;
    return i;
}

// name[.attribute | [index]]...
static Value field_value(Fields *f, Text t)
{
    size_t i = field_part(t, 0, ".[");
    Value v = field_root(f, text_slice(t, 0, i));

    while (i < t.len) {
        bool item = t.at[i] == '[';
        size_t end = field_part(t, i + 1, item ? "]" : ".[");
        Text name = text_slice(t, i + 1, end);
        int64_t n;

        if (!item)
            v = getattr_or_raise(f->l, v, name, f->at, f->at);
        else
            v = getitem(f->l, v, text_to_i64(name, &n) ? v_int(n)
                                                       : v_str(name), f->at);
        i = item ? end + 1 : end;
    }
    return v;
}

static void put_format(Fields *f, TextBuf *out, Text t, int depth);

static Text inner_text(Fields *f, Text t, int depth)
{
    if (!t.len || !memchr(t.at, '{', t.len))
        return t;
    put_format(f, text_begin(f->l), t, depth + 1);
    return text_end(f->l).s;
}

// The text between '{' and its '}'.
static void put_replacement(Fields *f, TextBuf *out, Text t, int depth)
{
    size_t name_end = field_part(t, 0, "!:");
    size_t spec = name_end;
    char conversion = 0;
    Value v = field_value(f, text_slice(t, 0, name_end));
    Text text;

    if (spec < t.len && t.at[spec] == '!') {
        conversion = spec + 1 < t.len ? t.at[spec + 1] : '?';
        spec += 2;
    }
    if (conversion && !strchr("rsa", conversion))
        lang_raise(f->l, "ValueError", f->at,
                   "Unknown conversion specifier '%c'", conversion);
    if (conversion) {
        TextBuf *b = text_begin(f->l);

        if (conversion == 's')
            value_str(f->l, b, v);
        else
            value_repr(f->l, b, v);
        v = text_end(f->l);
    }
    text = spec < t.len ? text_slice(t, spec + 1, t.len) : TEXT("");
    format_value(f->l, out, v, inner_text(f, text, depth), f->at);
}

static size_t closing(Fields *f, Text t, size_t i)
{
    int open = 1;

    for (; i < t.len; i++) {
        open += t.at[i] == '{' ? 1 : t.at[i] == '}' ? -1 : 0;
        if (open == 0)
            return i;
    }
    lang_raise(f->l, "ValueError", f->at, "expected '}' before end of string");
}

static void put_format(Fields *f, TextBuf *out, Text t, int depth)
{
    if (depth > 2)
        lang_raise(f->l, "ValueError", f->at, "Max string recursion exceeded");
    for (size_t i = 0; i < t.len; i++) {
        char c = t.at[i];
        bool twice = i + 1 < t.len && t.at[i + 1] == c;

        if (c != '{' && c != '}') {
            buf_addc(out, c);
        } else if (twice) {
            buf_addc(out, c);
            i++;
        } else if (c == '}') {
            lang_raise(f->l, "ValueError", f->at,
                       "Single '}' encountered in format string");
        } else {
            size_t end;

            if (i + 1 == t.len)
                lang_raise(f->l, "ValueError", f->at,
                           "Single '{' encountered in format string");
            end = closing(f, t, i + 1);
            put_replacement(f, out, text_slice(t, i + 1, end), depth);
            i = end;
        }
    }
}

Value format_method(Lang *l, Value self, const Args *args)
{
    Fields f = {.l = l, .args = args, .at = args->at_span};

    put_format(&f, text_begin(l), self.s, 0);
    return text_end(l);
}

Value format_map_method(Lang *l, Value self, const Args *args)
{
    Args none = {.at_span = args->at_span};
    Fields f = {.l = l, .args = &none, .at = args->at_span};

    args_count(l, "format_map", args, 1, 1);
    if (args->at[0].kind != VAL_DICT)
        lang_raise(l, "TypeError", args->at_span, "format_map needs a dict");
    f.mapping = args->at[0].dict;
    put_format(&f, text_begin(l), self.s, 0);
    return text_end(l);
}

// ---- % formatting ----------------------------------------------------------

typedef struct {
    Lang *l;
    Text t;
    size_t i;
    const Value *at;            // the operands
    int count, next;
    bool by_name;
    Value named;                // operand of %(name)s
    Span span;
} Percent;

static Value take(Percent *p)
{
    if (p->by_name)
        return p->named;
    if (p->next >= p->count)
        lang_raise(p->l, "TypeError", p->span,
                   "not enough arguments for format string");
    return p->at[p->next++];
}

static void read_key(Percent *p)
{
    size_t end = p->i + 1;

    if (p->count != 1 || p->at[0].kind != VAL_DICT)
        lang_raise(p->l, "TypeError", p->span, "format requires a mapping");
    while (end < p->t.len && p->t.at[end] != ')')
        end++;
    if (end == p->t.len)
        lang_raise(p->l, "ValueError", p->span, "incomplete format key");
    p->named = dict_index(p->l, p->at[0],
                          v_str(text_slice(p->t, p->i + 1, end)), p->span);
    p->by_name = true;
    p->next = 1;
    p->i = end + 1;
}

typedef struct {
    bool left, plus, blank, alternate, zero;
} Flags;

static Flags read_flags(Percent *p)
{
    Flags f = {0};

    for (; p->i < p->t.len && strchr("-+ #0", p->t.at[p->i]); p->i++) {
        char c = p->t.at[p->i];

        f.left |= c == '-';
        f.plus |= c == '+';
        f.blank |= c == ' ';
        f.alternate |= c == '#';
        f.zero |= c == '0';
    }
    return f;
}

static Value character(Percent *p, Value v)
{
    TextBuf b = {0};
    int64_t i;

    if (v.kind == VAL_STR && str_len(v.s) == 1)
        return v;
    if (!as_int(v, &i))
        lang_raise(p->l, "TypeError", p->span, "%%c requires int or char");
    if (i < 0 || i > 0x10ffff)
        lang_raise(p->l, "OverflowError", p->span,
                   "%%c arg not in range(0x110000)");
    str_append_point(&b, (int32_t)i);
    return v_buf(p->l, &b);
}

static Value percent_operand(Percent *p, char code)
{
    Value v = take(p);
    double f;
    int64_t i;

    if (code == 's' || code == 'r' || code == 'a') {
        TextBuf *b = text_begin(p->l);

        if (code == 's')
            value_str(p->l, b, v);
        else
            value_repr(p->l, b, v);
        return text_end(p->l);
    }
    if (code == 'c')
        return character(p, v);
    if (!as_number(v, &f))
        lang_raise(p->l, "TypeError", p->span,
                   "%%%c format: %s is required, not %s", code,
                   strchr("xXo", code) ? "an integer" : "a real number",
                   value_type_name(v));
    if (strchr("diu", code))
        return as_int(v, &i) ? v_int(i)
                             : v_int(float_to_int(p->l, v.f, p->span));
    if (strchr("xXo", code)) {
        if (!as_int(v, &i))
            lang_raise(p->l, "TypeError", p->span,
                       "%%%c format: an integer is required, not %s", code,
                       value_type_name(v));
        return v_int(i);
    }
    return v_float(f);
}

typedef struct {
    Flags flags;
    int64_t width, precision;   // -1: none
    char code;
} Directive;

// Digits, or '*': the next operand.
static int64_t read_number(Percent *p)
{
    int64_t n = 0;

    if (p->i < p->t.len && p->t.at[p->i] == '*') {
        p->i++;
        return need_int(p->l, take(p), p->span);
    }
    for (; p->i < p->t.len && p->t.at[p->i] >= '0' && p->t.at[p->i] <= '9';
         p->i++)
        if (n <= MOST_TEXT)
            n = 10 * n + (p->t.at[p->i] - '0');
    return n;
}

static Directive read_directive(Percent *p)
{
    Directive d = {.precision = -1};

    if (p->i < p->t.len && p->t.at[p->i] == '(')
        read_key(p);
    d.flags = read_flags(p);
    d.width = read_number(p);
    if (d.width < 0) {
        d.flags.left = true;
        d.width = d.width < -MOST_TEXT ? MOST_TEXT + 1 : -d.width;
    }
    if (p->i < p->t.len && p->t.at[p->i] == '.') {
        p->i++;
        d.precision = read_number(p);
        d.precision = d.precision < 0 ? 0 : d.precision;
    }
    if (p->i >= p->t.len)
        lang_raise(p->l, "ValueError", p->span, "incomplete format");
    if (d.width > MOST_TEXT || d.precision > MOST_TEXT)
        lang_raise(p->l, "ValueError", p->span, "width or precision too big");
    d.code = p->t.at[p->i++];
    return d;
}

static void put_times(TextBuf *out, char c, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        buf_addc(out, c);
}

// sign, then zeros up to the width with the flag 0, then the rest.
static void put_field(TextBuf *out, const Directive *d, Text sign, Text body,
                      bool number)
{
    int64_t pad = d->width - str_len(sign) - str_len(body);
    bool zeros = number && d->flags.zero && !d->flags.left;

    if (!zeros && !d->flags.left)
        put_times(out, ' ', pad);
    buf_text(out, sign);
    if (zeros)
        put_times(out, '0', pad);
    buf_text(out, body);
    if (d->flags.left)
        put_times(out, ' ', pad);
}

static const char *sign_of(const Directive *d, bool minus)
{
    return minus ? "-" : d->flags.plus ? "+" : d->flags.blank ? " " : "";
}

static void put_int(TextBuf *out, const Directive *d, int64_t v)
{
    uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    int base = d->code == 'o' ? 8 : (d->code | 0x20) == 'x' ? 16 : 10;
    TextBuf digits = {0}, body = {0};
    char sign[4];

    snprintf(sign, sizeof sign, "%s", sign_of(d, v < 0));
    if (d->flags.alternate && base != 10)
        snprintf(sign + strlen(sign), sizeof sign - strlen(sign), "0%c",
                 d->code);
    int_digits(&digits, size, base, d->code == 'X');
    put_times(&body, '0', d->precision - (int64_t)digits.len);
    buf_text(&body, buf_view(&digits));
    put_field(out, d, text_of(sign), buf_view(&body), true);
    buf_release(&digits);
    buf_release(&body);
}

static void put_float(Percent *p, TextBuf *out, const Directive *d, Value v)
{
    char spec[32];
    TextBuf *b;
    bool minus;

    snprintf(spec, sizeof spec, "%s.%d%c", d->flags.alternate ? "#" : "",
             d->precision < 0 ? 6 : (int)d->precision, d->code);
    b = text_begin(p->l);
    format_value(p->l, b, v, text_of(spec), p->span);
    minus = b->len && b->at[0] == '-';
    put_field(out, d, text_of(sign_of(d, minus)),
              text_slice(buf_view(b), minus, b->len), true);
    p->l->more->texts.depth--;
}

static void put_text(TextBuf *out, const Directive *d, Text t)
{
    if (d->precision >= 0 && d->code != 'c' && str_len(t) > d->precision)
        t = text_slice(t, 0, str_offset(t, d->precision));
    put_field(out, d, TEXT(""), t, false);
}

static void put_percent(Percent *p, TextBuf *out)
{
    Directive d = read_directive(p);
    Value v;

    if (d.code == '%') {
        buf_addc(out, '%');
        return;
    }
    if (!strchr("diuoxXeEfFgGcrsa", d.code))
        lang_raise(p->l, "ValueError", p->span,
                   "unsupported format character '%c' (0x%x) at index %zu",
                   d.code, (unsigned)d.code, p->i - 1);
    v = percent_operand(p, d.code);
    if (v.kind == VAL_STR)
        put_text(out, &d, v.s);
    else if (v.kind == VAL_INT)
        put_int(out, &d, v.i);
    else
        put_float(p, out, &d, v);
}

Value format_percent(Lang *l, Text format, Value v, Span at)
{
    Percent p = {.l = l, .t = format, .at = &v, .count = 1, .span = at};
    TextBuf *out = text_begin(l);

    if (v.kind == VAL_TUPLE) {
        p.at = v.list->at;
        p.count = v.list->len;
    }
    while (p.i < format.len) {
        if (format.at[p.i] != '%') {
            buf_addc(out, format.at[p.i++]);
            continue;
        }
        p.i++;
        p.by_name = false;
        put_percent(&p, out);
    }
    if (p.next < p.count && !(v.kind == VAL_DICT))
        lang_raise(l, "TypeError", at,
                   "not all arguments converted during string formatting");
    return text_end(l);
}
