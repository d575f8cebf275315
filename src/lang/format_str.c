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

// Digits or '*', copied into the specification.
static void copy_number(Percent *p, TextBuf *spec)
{
    if (p->i < p->t.len && p->t.at[p->i] == '*') {
        int64_t n = value_to_int(p->l, take(p), "a width", p->span);

        if (n < 0)
            buf_addc(spec, '<');
        buf_printf(spec, "%lld", (long long)(n < 0 ? -n : n));
        p->i++;
        return;
    }
    while (p->i < p->t.len && p->t.at[p->i] >= '0' && p->t.at[p->i] <= '9')
        buf_addc(spec, p->t.at[p->i++]);
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
        return v.kind == VAL_STR ? v : v_str(text_of(""));
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

// "%05.1f" is what "{:05.1f}" is, but for alignment and '.' of integers.
static void put_percent(Percent *p, TextBuf *out)
{
    TextBuf spec = {0};
    Text made;
    Flags f;
    bool text;
    char code;
    TextBuf width = {0}, precision = {0};

    if (p->i < p->t.len && p->t.at[p->i] == '(')
        read_key(p);
    f = read_flags(p);
    copy_number(p, &width);
    if (p->i < p->t.len && p->t.at[p->i] == '.') {
        p->i++;
        buf_addc(&precision, '.');
        copy_number(p, &precision);
        if (precision.len == 1)
            buf_addc(&precision, '0');
    }
    if (p->i >= p->t.len)
        lang_raise(p->l, "ValueError", p->span, "incomplete format");
    code = p->t.at[p->i++];
    if (code == '%') {
        buf_addc(out, '%');
        return;
    }
    if (!strchr("diuoxXeEfFgGcrsa", code))
        lang_raise(p->l, "ValueError", p->span,
                   "unsupported format character '%c' (0x%x) at index %zu",
                   code, (unsigned)code, p->i - 1);
    text = strchr("rsac", code) != NULL;
    if (f.left || (text && !(width.len && width.at[0] == '<')))
        buf_puts(&spec, f.left ? "<" : ">");
    if (!text && (f.plus || f.blank))
        buf_addc(&spec, f.plus ? '+' : ' ');
    if (!text && f.alternate)
        buf_addc(&spec, '#');
    if (!text && f.zero && !f.left)
        buf_addc(&spec, '0');
    buf_text(&spec, buf_view(&width));
    if (!strchr("diuoxXc", code))
        buf_text(&spec, buf_view(&precision));
    if (!text)
        buf_addc(&spec, code == 'i' || code == 'u' ? 'd' : code);
    made = v_buf(p->l, &spec).s;
    buf_release(&width);
    buf_release(&precision);
    format_value(p->l, out, percent_operand(p, code), made, p->span);
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
