// npy.c - NumPy's .npy: magic, version, a Python dict in text, the data.
//
// The dict is a fixed subset of Python: three known keys whose values are a
// string, a bool and a tuple of integers. A cursor walks it once.
#include "support/support.h"

#include <string.h>

#include "support/support_int.h"

typedef struct {
    ArrayFile *file;
    Text text;
    size_t at;
} Cursor;

static void skip_blanks(Cursor *c)
{
    while (c->at < c->text.len && memchr(" \t\n\r", c->text.at[c->at], 4))
        c->at++;
}

static char peek(Cursor *c)
{
    skip_blanks(c);
    return c->at < c->text.len ? c->text.at[c->at] : 0;
}

static bool accept(Cursor *c, char want)
{
    if (peek(c) != want)
        return false;
    c->at++;
    return true;
}

static bool malformed(Cursor *c, const char *expected)
{
    return array_refuse(c->file, "malformed .npy header: expected %s at byte "
                                 "%zu of it", expected, c->at);
}

static bool read_string(Cursor *c, Text *out)
{
    char quote = peek(c);
    const char *from = c->text.at + c->at + 1, *end;

    if (quote != '\'' && quote != '"')
        return malformed(c, "a string");
    end = memchr(from, quote, c->text.len - c->at - 1);
    if (!end)
        return malformed(c, "a closing quote");
    *out = (Text){from, (size_t)(end - from)};
    c->at += out->len + 2;
    return true;
}

static bool read_bool(Cursor *c, bool *out)
{
    Text rest;

    skip_blanks(c);
    rest = text_slice(c->text, c->at, c->text.len);
    *out = text_starts(rest, "True");
    if (!*out && !text_starts(rest, "False"))
        return malformed(c, "True or False");
    c->at += *out ? 4 : 5;
    return true;
}

static bool read_size(Cursor *c, int64_t *out)
{
    size_t from;

    skip_blanks(c);
    from = c->at;
    while (c->at < c->text.len && memchr("-0123456789", c->text.at[c->at], 11))
        c->at++;
    if (!text_to_i64(text_slice(c->text, from, c->at), out))
        return malformed(c, "an integer");
    accept(c, 'L');                             // Python 2 wrote 3L
    if (*out < 0)
        return array_refuse(c->file, "shape has a negative size (%lld)",
                            (long long)*out);
    return true;
}

static bool read_shape(Cursor *c, ArrayView *v)
{
    int most = (int)countof(v->shape);

    if (!accept(c, '('))
        return malformed(c, "a tuple");
    while (!accept(c, ')')) {
        if (v->rank == most)
            return array_refuse(c->file, "has more than %d dimensions", most);
        if (!read_size(c, &v->shape[v->rank++]))
            return false;
        if (!accept(c, ',') && peek(c) != ')')
            return malformed(c, "',' or ')'");
    }
    return true;
}

typedef struct {
    bool descr, order, shape;                   // seen
    bool fortran;
} Keys;

static bool read_item(Cursor *c, ArrayView *v, Keys *seen)
{
    Text key;
    bool *flag;

    if (!read_string(c, &key))
        return false;
    if (!accept(c, ':'))
        return malformed(c, "':'");
    flag = text_is(key, "descr") ? &seen->descr
         : text_is(key, "fortran_order") ? &seen->order
         : text_is(key, "shape") ? &seen->shape : NULL;
    if (!flag || *flag)
        return array_refuse(c->file, "malformed .npy header: %s key '%.*s'",
                            flag ? "repeated" : "unknown", TEXT_ARG(key));
    *flag = true;
    if (flag == &seen->order)
        return read_bool(c, &seen->fortran);
    if (flag == &seen->shape)
        return read_shape(c, v);
    if (peek(c) == '[')
        return array_refuse(c->file, "is a structured array; a plain numeric "
                                     "one is needed");
    return read_string(c, &v->dtype);
}

static bool read_dict(Cursor *c, ArrayView *v, Keys *seen)
{
    if (!accept(c, '{'))
        return malformed(c, "'{'");
    while (!accept(c, '}')) {
        if (!read_item(c, v, seen))
            return false;
        if (!accept(c, ',') && peek(c) != '}')
            return malformed(c, "',' or '}'");
    }
    if (peek(c))
        return malformed(c, "nothing after '}'");
    if (!seen->descr || !seen->order || !seen->shape)
        return array_refuse(c->file, "malformed .npy header: no '%s'",
                            !seen->descr ? "descr"
                            : !seen->order ? "fortran_order" : "shape");
    return true;
}

// Bytes of one element of a dtype such as "<f4", or 0. "V1" and "V2" are what
// NumPy writes for types it does not know (bfloat16, fp8).
static int item_size(Text dtype)
{
    static const char *const known[] = {
        "b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8",
        "f1", "f2", "f4", "f8", "V1", "V2",
    };

    for (size_t i = 0; dtype.len == 3 && i < countof(known); i++)
        if (text_is(text_slice(dtype, 1, 3), known[i]))
            return known[i][1] - '0';
    return 0;
}

static bool check_dtype(ArrayFile *f, Text dtype, int *size)
{
    *size = item_size(dtype);
    if (text_starts(dtype, "|O"))
        return array_refuse(f, "holds pickled Python objects; a numeric array "
                               "is needed");
    if (*size == 0 || !memchr("<>|=", dtype.at[0], 4))
        return array_refuse(f, "dtype '%.*s' is not supported",
                            TEXT_ARG(dtype));
    if (*size > 1 && dtype.at[0] == '>')
        return array_refuse(f, "is big-endian ('%.*s'); save it with "
                               "little-endian dtype '<%.*s'", TEXT_ARG(dtype),
                            (int)dtype.len - 1, dtype.at + 1);
    return true;
}

// Column-major is the same as row-major up to one dimension longer than 1.
static bool order_matters(const ArrayView *v)
{
    int longer = 0;

    for (int i = 0; i < v->rank; i++)
        longer += v->shape[i] != 1;
    return longer > 1;
}

static bool check_length(ArrayFile *f, int64_t want, size_t have)
{
    TextBuf b = {0};

    if ((uint64_t)want == have)
        return true;
    buf_puts(&b, (uint64_t)want > have ? "truncated: " : "overlong: ");
    buf_puts(&b, "header promises ");
    buf_grouped(&b, want);
    buf_puts(&b, " bytes, ");
    buf_grouped(&b, (int64_t)have);
    buf_puts(&b, " are there");
    array_refuse(f, "%.*s", TEXT_ARG(buf_view(&b)));
    buf_release(&b);
    return false;
}

// The text of the header; `*data` is where it ends. Its length is two bytes in
// version 1, four later.
static bool find_header(ArrayFile *f, Text *header, size_t *data)
{
    size_t start, len = 0;

    if (f->len < 8)
        return array_refuse(f, "truncated in the .npy header");
    if (f->at[6] < 1 || f->at[6] > 3 || f->at[7] != 0)
        return array_refuse(f, ".npy version %d.%d is not supported",
                            f->at[6], f->at[7]);
    start = f->at[6] == 1 ? 10 : 12;
    for (size_t i = start; i-- > 8 && start <= f->len;)
        len = len << 8 | f->at[i];
    if (start > f->len || len > f->len - start)
        return array_refuse(f, "truncated in the .npy header");
    *header = (Text){(const char *)f->at + start, len};
    *data = start + len;
    return true;
}

bool npy_read(ArrayFile *f)
{
    ArrayView *v = new (f->arena, ArrayView);
    Cursor c = {.file = f};
    Keys keys = {0};
    size_t data = 0;
    int size;
    int64_t bytes;

    if (!find_header(f, &c.text, &data) || !read_dict(&c, v, &keys) ||
        !check_dtype(f, v->dtype, &size))
        return false;
    if (keys.fortran && order_matters(v))
        return array_refuse(f, "is in Fortran (column-major) order; save "
                               "numpy.ascontiguousarray of it");
    if (!array_size(v, size, &bytes))
        return array_refuse(f, "shape has more elements than memory can hold");
    if (!check_length(f, bytes, f->len - data))
        return false;
    v->dtype = text_copy(f->arena, v->dtype);
    v->name = TEXT("");
    v->data = f->at + data;
    v->bytes = (size_t)bytes;
    f->views = v;
    f->count = 1;
    return true;
}

static void put_header(TextBuf *b, const ArrayView *v)
{
    size_t len;

    buf_add(b, "\x93NUMPY\1\0\0\0", 10);
    buf_printf(b, "{'descr': '%.*s', 'fortran_order': False, 'shape': (",
               TEXT_ARG(v->dtype));
    for (int i = 0; i < v->rank; i++)
        buf_printf(b, "%s%lld", i ? ", " : "", (long long)v->shape[i]);
    buf_puts(b, v->rank == 1 ? ",), }" : "), }");
    while ((b->len + 1) % 64)                   // the data lies aligned
        buf_addc(b, ' ');
    buf_addc(b, '\n');
    len = b->len - 10;
    b->at[8] = (char)(len & 0xff);
    b->at[9] = (char)(len >> 8);
}

bool npy_write(const char *path, const ArrayView *view, const char **why)
{
    TextBuf header = {0};
    FilePiece pieces[2];
    int64_t bytes;
    bool ok;

    if (!array_size(view, item_size(view->dtype), &bytes) ||
        (uint64_t)bytes != view->bytes || view->dtype.at[0] == '>')
        BUG("npy_write: dtype '%.*s' and %zu bytes", TEXT_ARG(view->dtype),
            view->bytes);
    put_header(&header, view);
    pieces[0] = (FilePiece){header.at, header.len};
    pieces[1] = (FilePiece){view->data, view->bytes};
    ok = file_write_pieces(path, pieces, 2, why);
    buf_release(&header);
    return ok;
}
