// format.c - format specifications: f-strings and format().
//
//   [[fill]align][sign][z][#][0][width][grouping][.precision][type]
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/eval_int.h"

enum {
    MOST_WIDTH = 1 << 20,
    MOST_DIGITS = 800,          // no double has more that are not 0
};

typedef struct {
    Text fill;                  // one code point
    bool fill_given;
    char align;                 // '<' '>' '^' '=' or 0
    char sign;                  // '+' '-' ' ' or 0
    bool alternate, zero;
    bool no_minus_zero;         // 'z'
    int width;
    char group;                 // ',' '_' or 0
    int precision;              // -1: none
    char type;                  // 0: none
} Spec;

// ---- reading a specification -----------------------------------------------

static bool is_align(char c)
{
    return c == '<' || c == '>' || c == '^' || c == '=';
}

static size_t read_align(Text t, Spec *s)
{
    int n;

    if (t.len == 0)
        return 0;
    str_point(t, 0, &n);
    if ((size_t)n < t.len && is_align(t.at[n])) {
        s->fill = text_slice(t, 0, (size_t)n);
        s->align = t.at[n];
        s->fill_given = true;
        return (size_t)n + 1;
    }
    if (!is_align(t.at[0]))
        return 0;
    s->align = t.at[0];
    return 1;
}

static size_t read_number(Lang *l, Text t, size_t i, int *out, Span at)
{
    int v = 0;

    for (; i < t.len && t.at[i] >= '0' && t.at[i] <= '9'; i++) {
        v = 10 * v + (t.at[i] - '0');
        if (v > MOST_WIDTH)
            lang_raise(l, "ValueError", at,
                       "Too many decimal digits in format string");
    }
    *out = v;
    return i;
}

static char char_at(Text t, size_t i)
{
    return i < t.len ? t.at[i] : 0;
}

_Noreturn static void bad_spec(Lang *l, Text t, Value v, Span at)
{
    lang_raise(l, "ValueError", at,
               "Invalid format specifier '%.*s' for object of type '%s'",
               TEXT_ARG(t), value_type_name(v));
}

static void check_group(Lang *l, const Spec *s, Value v, Span at)
{
    char type = s->type ? s->type : v.kind == VAL_STR ? 's' : 'd';

    if (s->group && !strchr("deEfFgG%", type) &&
        (s->group == ',' || !strchr("boxX", type)))
        lang_raise(l, "ValueError", at, "Cannot specify '%c' with '%c'.",
                   s->group, type);
}

static Spec read_spec(Lang *l, Text t, Value v, Span at)
{
    Spec s = {.fill = TEXT(" "), .precision = -1};
    size_t i = read_align(t, &s);
    char c = char_at(t, i);

    if (c == '+' || c == '-' || c == ' ')
        s.sign = c, i++;
    if (char_at(t, i) == 'z')
        s.no_minus_zero = true, i++;
    if (char_at(t, i) == '#')
        s.alternate = true, i++;
    if (char_at(t, i) == '0') {
        s.zero = true;
        i++;
        if (!s.fill_given)
            s.fill = TEXT("0");
        if (!s.align)
            s.align = v.kind == VAL_STR ? '<' : '=';
    }
    i = read_number(l, t, i, &s.width, at);
    c = char_at(t, i);
    if (c == ',' || c == '_')
        s.group = c, i++;
    if (char_at(t, i) == '.') {
        if (char_at(t, i + 1) < '0' || char_at(t, i + 1) > '9')
            lang_raise(l, "ValueError", at,
                       "Format specifier missing precision");
        i = read_number(l, t, i + 1, &s.precision, at);
    }
    if (i < t.len)
        s.type = t.at[i++];
    if (i < t.len)
        bad_spec(l, t, v, at);
    check_group(l, &s, v, at);
    return s;
}

_Noreturn static void bad_code(Lang *l, char code, Value v, Span at)
{
    lang_raise(l, "ValueError", at,
               "Unknown format code '%c' for object of type '%s'", code,
               value_type_name(v));
}

// ---- padding ---------------------------------------------------------------

static void put_fill(TextBuf *out, Text fill, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        buf_text(out, fill);
}

static void put_padded(TextBuf *out, const Spec *s, Text sign, Text body,
                       char usual)
{
    int64_t pad = s->width - str_len(sign) - str_len(body);
    char align = s->align ? s->align : usual;
    int64_t left = align == '>' ? pad : align == '^' ? pad / 2 : 0;

    put_fill(out, s->fill, left);
    buf_text(out, sign);
    if (align == '=')
        put_fill(out, s->fill, pad);
    buf_text(out, body);
    if (align != '=' && pad > left)
        put_fill(out, s->fill, pad - left);
}

static void format_text(Lang *l, TextBuf *out, Value v, Text t, const Spec *s,
                        Span at)
{
    if (s->type && s->type != 's')
        bad_code(l, s->type, v, at);
    if (s->sign)
        lang_raise(l, "ValueError", at,
                   "%s not allowed in string format specifier",
                   s->sign == ' ' ? "Space" : "Sign");
    if (s->alternate)
        lang_raise(l, "ValueError", at, "Alternate form (#) not allowed in "
                   "string format specifier");
    if (s->align == '=')
        lang_raise(l, "ValueError", at,
                   "'=' alignment not allowed in string format specifier");
    if (s->precision >= 0 && str_len(t) > s->precision)
        t = text_slice(t, 0, str_offset(t, s->precision));
    put_padded(out, s, TEXT(""), t, '<');
}

// ---- numbers ---------------------------------------------------------------

void int_digits(TextBuf *out, uint64_t v, int base, bool upper)
{
    char digits[64];
    int n = 0;

    do {
        digits[n++] = (upper ? "0123456789ABCDEF"
                             : "0123456789abcdef")[v % (unsigned)base];
        v /= (unsigned)base;
    } while (v);
    while (n)
        buf_addc(out, digits[--n]);
}

// Separators into the leading run of digits; with `0` padding the zeros are
// part of it.
static void put_grouped(TextBuf *out, Text body, char separator, int every,
                        int64_t least)
{
    size_t digits = 0;
    int64_t whole;

    while (digits < body.len && ((body.at[digits] >= '0' &&
                                  body.at[digits] <= '9') ||
                                 (every == 4 && body.at[digits] >= 'A')))
        digits++;
    whole = (int64_t)digits;
    least -= (int64_t)(body.len - digits);
    while (whole + (whole - 1) / every < least)
        whole++;
    for (int64_t i = whole; i > 0; i--) {
        buf_addc(out, i > (int64_t)digits ? '0'
                                          : body.at[digits - (size_t)i]);
        if (i > 1 && (i - 1) % every == 0)
            buf_addc(out, separator);
    }
    buf_text(out, text_slice(body, digits, body.len));
}

static void put_number(TextBuf *out, const Spec *s, const char *sign,
                       TextBuf *body, int every)
{
    TextBuf grouped = {0};
    bool zeros = s->align == '=' && text_is(s->fill, "0");

    if (s->group && body->len && body->at[0] != 'i' && body->at[0] != 'n') {
        put_grouped(&grouped, buf_view(body), s->group, every,
                    zeros ? s->width - (int64_t)strlen(sign) : 0);
        buf_release(body);
        *body = grouped;
    }
    put_padded(out, s, text_of(sign), buf_view(body), '>');
    buf_release(body);
}

static const char *sign_text(const Spec *s, bool negative)
{
    return negative ? "-" : s->sign == '+' ? "+" : s->sign == ' ' ? " " : "";
}

static int base_of(char type)
{
    return type == 'b' ? 2 : type == 'o' ? 8
           : type == 'x' || type == 'X' ? 16 : 10;
}

static void format_char(Lang *l, TextBuf *out, int64_t v, const Spec *s,
                        Span at)
{
    TextBuf body = {0};

    if (s->sign)
        lang_raise(l, "ValueError", at,
                   "Sign not allowed with integer format specifier 'c'");
    if (s->alternate)
        lang_raise(l, "ValueError", at, "Alternate form (#) not allowed with "
                   "integer format specifier 'c'");
    if (v < 0 || v > 0x10ffff)
        lang_raise(l, "OverflowError", at,
                   "%%c arg not in range(0x110000)");
    str_append_point(&body, (int32_t)v);
    put_padded(out, s, TEXT(""), buf_view(&body), '>');
    buf_release(&body);
}

static void format_int(Lang *l, TextBuf *out, Value v, int64_t i,
                       const Spec *s, Span at)
{
    uint64_t size = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    int base = base_of(s->type);
    char sign[4];
    TextBuf body = {0};

    if (s->type && !strchr("bcdoxXn", s->type))
        bad_code(l, s->type, v, at);
    if (s->precision >= 0)
        lang_raise(l, "ValueError", at,
                   "Precision not allowed in integer format specifier");
    if (s->type == 'c') {
        format_char(l, out, i, s, at);
        return;
    }
    snprintf(sign, sizeof sign, "%s", sign_text(s, i < 0));
    if (s->alternate && base != 10)
        snprintf(sign + strlen(sign), sizeof sign - strlen(sign), "0%c",
                 s->type);
    int_digits(&body, size, base, s->type == 'X');
    put_number(out, s, sign, &body, base == 10 ? 3 : 4);
}

// 1e+100 becomes 1.e+100.
static void put_with_point(TextBuf *out, double f)
{
    TextBuf b = {0};
    const char *e;

    float_repr(&b, f);
    e = strchr(b.at, 'e');
    if (!e || memchr(b.at, '.', b.len)) {
        buf_text(out, buf_view(&b));
    } else {
        buf_add(out, b.at, (size_t)(e - b.at));
        buf_printf(out, ".%s", e);
    }
    buf_release(&b);
}

// No type: the shortest text, or `precision` digits, with a ".0" if needed;
// zeros at the end stay with '#'.
static void put_general(TextBuf *out, double f, const Spec *s)
{
    char text[2 * MOST_DIGITS];
    int digits = s->precision < 1 ? 1 : s->precision, exponent;
    char *e, *end;
    size_t n;

    if (s->precision < 0) {
        (s->alternate ? put_with_point : float_repr)(out, f);
        return;
    }
    digits = digits > MOST_DIGITS ? MOST_DIGITS : digits;
    snprintf(text, sizeof text, s->alternate ? "%#.*e" : "%.*e", digits - 1,
             f);
    e = end = strchr(text, 'e');
    exponent = atoi(e + 1);
    if (exponent < -4 || exponent >= digits - 1) {
        while (!s->alternate && strchr(text, '.') && end[-1] == '0')
            end--;
        end -= !s->alternate && end[-1] == '.';
        buf_add(out, text, (size_t)(end - text));
        buf_puts(out, e);
        return;
    }
    n = out->len;
    buf_printf(out, s->alternate ? "%#.*g" : "%.*g", digits, f);
    if (!memchr(out->at + n, '.', out->len - n))
        buf_puts(out, ".0");
}

static void put_float(TextBuf *out, double f, const Spec *s)
{
    int precision = s->precision < 0 ? 6 : s->precision;
    char format[8] = "%.*f", type = s->type == '%' ? 'f' : s->type;

    if (!isfinite(f)) {
        const char *word = isnan(f) ? "nan" : "inf";

        buf_puts(out, type == 'F' || type == 'E' || type == 'G'
                          ? (isnan(f) ? "NAN" : "INF") : word);
    } else if (!type) {
        put_general(out, f, s);
    } else {
        snprintf(format, sizeof format, "%%%s.*%c", s->alternate ? "#" : "",
                 type == 'n' ? 'g' : type);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        buf_printf(out, format, precision, f);
#pragma GCC diagnostic pop
    }
}

static void format_float(Lang *l, TextBuf *out, Value v, double f,
                         const Spec *s, Span at)
{
    TextBuf body = {0};
    bool minus = signbit(f) && !isnan(f);

    if (s->type && !strchr("eEfFgGn%", s->type))
        bad_code(l, s->type, v, at);
    put_float(&body, fabs(s->type == '%' ? f * 100 : f), s);
    if (s->type == '%')
        buf_addc(&body, '%');
    if (s->no_minus_zero && !strpbrk(body.at, "123456789in"))
        minus = false;
    put_number(out, s, sign_text(s, minus), &body, 3);
}

// ---- any value -------------------------------------------------------------

static void format_number(Lang *l, TextBuf *out, Value v, const Spec *s,
                          Span at)
{
    int64_t i;

    if (!as_int(v, &i))
        format_float(l, out, v, v.f, s, at);
    else if (s->type && strchr("eEfFgG%", s->type))
        format_float(l, out, v, (double)i, s, at);
    else
        format_int(l, out, v, i, s, at);
}

// A tensor of one element formats as that.
static bool foreign_item(Lang *l, Value v, Value *out, Span at)
{
    Args none = {.at_span = at};

    return v.kind == VAL_FOREIGN && v.foreign->type->method &&
           v.foreign->type->method(l, v.foreign, TEXT("item"), &none, out);
}

static bool own_format(Lang *l, TextBuf *out, Value v, Text spec, Span at)
{
    Value arg = v_str(spec), r;

    if (!call_dunder(l, v, "__format__", &arg, 1, &r, at))
        return false;
    if (r.kind != VAL_STR)
        lang_raise(l, "TypeError", at, "__format__ must return a str, not %s",
                   value_type_name(r));
    buf_text(out, r.s);
    return true;
}

void format_value(Lang *l, TextBuf *out, Value v, Text spec, Span at)
{
    Value item;
    double number;
    Spec s;

    if (v.kind == VAL_INSTANCE && own_format(l, out, v, spec, at))
        return;
    if (spec.len == 0) {
        value_str(l, out, v);
        return;
    }
    if (v.kind == VAL_INSTANCE && v.instance->cls->mixin)
        map_value(&v.instance->attributes, TEXT("value"), &v);
    if (v.kind == VAL_DTYPE)
        v = v_cstr(dtype_info(v.dtype)->name);
    if (foreign_item(l, v, &item, at))
        v = item;
    if (v.kind != VAL_STR && !as_number(v, &number))
        lang_raise(l, "TypeError", at,
                   "unsupported format string passed to %s.__format__",
                   value_type_name(v));
    s = read_spec(l, spec, v, at);
    if (v.kind == VAL_STR)
        format_text(l, out, v, v.s, &s, at);
    else
        format_number(l, out, v, &s, at);
}

// ---- f-strings -------------------------------------------------------------

static Value converted(Lang *l, Value v, char conversion)
{
    TextBuf *b = text_begin(l);

    if (conversion == 's')
        value_str(l, b, v);
    else
        value_repr(l, b, v);
    return text_end(l);
}

static void put_field(Lang *l, Frame *f, TextBuf *out, const Ast *part)
{
    Value spec = v_str(TEXT("")), v = eval(l, f, part->a);
    int top = temps_top(l);
    char conversion = part->conversion;

    temp_push(l, v);
    if (part->b)
        spec = eval(l, f, part->b);
    buf_text(out, part->text);                  // "x=" of {x=}
    l->more->at = part->at;
    if (part->text.len && !conversion && !part->b)
        conversion = 'r';
    format_value(l, out, conversion ? converted(l, v, conversion) : v,
                 spec.s, part->at);
    temps_cut(l, top);
    temp_drop(l, v, V_NONE);
}

Value eval_fstring(Lang *l, Frame *f, const Ast *e)
{
    TextBuf *out = text_begin(l);

    for (int i = 0; i < e->x.len; i++) {
        const Ast *part = e->x.at[i];

        if (part->kind == AST_FORMATTED)
            put_field(l, f, out, part);
        else
            buf_text(out, part->text);
    }
    return text_end(l);
}
