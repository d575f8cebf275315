// exec_isa_args.c - kernel arguments from words:
//
//     x.npy                  a buffer that holds the file's data
//     x.npy:y.npy            the same, written to y.npy after the run
//     f32[64,128]            a buffer of zeros
//     f32[64,128]:y.npy      the same, written to y.npy after the run
//     1024   0.5   u32=7     numbers; without a type as wide as the argument
#include <stdlib.h>
#include <string.h>

#include "cli/exec_isa.h"

enum { SHAPE_MOST = 8 };

static _Noreturn void bad(const Cli *c, Text spec, const char *why)
{
    cli_usage(c, "argument '%.*s': %s", TEXT_ARG(spec), why);
}

// ---- buffers ----------------------------------------------------------------

static const char *npy_word(DType t)
{
    const DTypeInfo *info = dtype_info(t);
    switch (info->kind) {
    case KIND_BOOL: return "|b1";
    case KIND_INT:
        return info->bits == 8    ? "|i1"
               : info->bits == 16 ? "<i2"
               : info->bits == 32 ? "<i4" : "<i8";
    case KIND_UINT:
        return info->bits == 8    ? "|u1"
               : info->bits == 16 ? "<u2"
               : info->bits == 32 ? "<u4" : "<u8";
    default:
        return info->bits == 8    ? "|V1"
               : t == DT_BF16     ? "<V2"
               : info->bits == 16 ? "<f2"
               : info->bits == 32 ? "<f4" : "<f8";
    }
}

static Text next_part(Text *rest, char separator)
{
    const char *at = memchr(rest->at, separator, rest->len);
    size_t len = at ? (size_t)(at - rest->at) : rest->len;
    Text part = {rest->at, len};
    *rest = text_slice(*rest, at ? len + 1 : len, rest->len);
    return part;
}

// "f32" or "float32", of at least a byte.
static bool find_type(Text name, DType *out)
{
    for (int i = 0; i < DT_COUNT; i++) {
        const DTypeInfo *info = dtype_info((DType)i);
        *out = (DType)i;
        if (info->built && info->bits >= 8
            && (text_is(name, info->brief) || text_is(name, info->name)))
            return true;
    }
    return false;
}

// "f32[64,128]": zeros.
static void fresh_buffer(Cli *c, IsaArg *arg, Text name, Text shape)
{
    DType t;
    int64_t count = 1;
    if (!find_type(name, &t))
        bad(c, arg->spec, "expected a type of 8 to 64 bits before '['");
    ArrayView *v = &arg->view;
    while (shape.len) {
        int64_t n;
        if (!text_to_i64(text_trim(next_part(&shape, ',')), &n) || n < 1
            || n > 1ll << 40 || v->rank == SHAPE_MOST
            || count > (1ll << 40) / n)
            bad(c, arg->spec, "expected positive sizes in '[]'");
        v->shape[v->rank++] = n;
        count *= n;
    }
    v->dtype = text_of(npy_word(t));
    v->bytes = dtype_bytes(t, count);
    v->data = xcalloc(v->bytes + 1, 1);
    arg->is_buffer = true;
}

static void file_buffer(Cli *c, IsaArg *arg, Text path)
{
    const char *why;
    ArrayFile *f = array_open(c->arena, text_cstr(c->arena, path), &why);
    if (!f)
        fatal(EXIT_ENVIRONMENT, "cannot read '%.*s': %s", TEXT_ARG(path), why);
    if (array_count(f) != 1)
        fatal(EXIT_ENVIRONMENT, "'%.*s' holds %d arrays; expected one",
              TEXT_ARG(path), array_count(f));
    arg->view = *array_at(f, 0);
    arg->view.name = (Text){0};
    arg->view.dtype = text_copy(c->arena, arg->view.dtype);
    void *data = xmalloc(arg->view.bytes + 1);
    memcpy(data, arg->view.data, arg->view.bytes);
    arg->view.data = data;
    arg->is_buffer = true;
    array_close(f);
}

static bool is_fresh(Text first)
{
    return memchr(first.at, '[', first.len) && text_ends(first, "]");
}

// ---- numbers ----------------------------------------------------------------

static uint64_t number_bits(Cli *c, const IsaArg *arg, Text type, Text value,
                            int size)
{
    union {
        double f;
        uint64_t bits;
        uint8_t bytes[8];
    } u = {.bits = 0};
    int64_t whole;
    double real;
    DType t = DT_NONE;
    bool is_whole = text_to_i64(value, &whole);
    if (type.len && !find_type(type, &t))
        bad(c, arg->spec, "unknown type before '='");
    if (!is_whole && !text_to_f64(value, &real))
        bad(c, arg->spec, "is neither a number, nor a .npy file, nor a buffer "
                          "such as f32[64,128]");
    if (t == DT_NONE)
        t = is_whole ? DT_I64 : size == 8 ? DT_F64
            : size == 2 ? DT_F16 : DT_F32;
    else if (dtype_info(t)->bits > 8 * size)
        bad(c, arg->spec, "the kernel's argument is narrower");
    if (is_whole)
        num_put_i64(t, u.bytes, whole);
    else
        num_put_f64(t, u.bytes, real);
    return u.bits;
}

static void number(Cli *c, IsaArg *arg, int size)
{
    Text rest = arg->spec, first = next_part(&rest, '=');
    bool typed = first.len < arg->spec.len;
    arg->bits = number_bits(c, arg, typed ? first : (Text){0},
                            typed ? rest : first, size);
}

// ---- all of them ------------------------------------------------------------

static void read_arg(Cli *c, IsaArg *arg, const GfxArg *want)
{
    Text rest = arg->spec, first = next_part(&rest, ':');
    if (is_fresh(first)) {
        Text shape = text_slice(first, 0, first.len - 1);
        Text name = next_part(&shape, '[');
        fresh_buffer(c, arg, name, shape);
        arg->out = rest;
    } else if (text_ends(first, ".npy") || rest.len) {
        file_buffer(c, arg, first);
        arg->out = rest;
    } else {
        number(c, arg, want->size);
    }
    if (arg->is_buffer && want->size != 8)
        bad(c, arg->spec, "the kernel wants a number there");
    if (!arg->is_buffer && want->size > 8)
        bad(c, arg->spec, "the kernel wants a structure there, which is not "
                          "supported");
}

static void list_wanted(Cli *c, const GfxKernel *k, int have)
{
    TextBuf b = {0};
    int n = 0;
    for (int i = 0; i < k->arg_count; i++) {
        const GfxArg *a = &k->args[i];
        if (text_starts(a->kind, "hidden_"))
            continue;
        buf_printf(&b, "%s%.*s of %d bytes", n++ ? ", " : "",
                   TEXT_ARG(a->kind), a->size);
        if (a->name.len)
            buf_printf(&b, " (%.*s)", TEXT_ARG(a->name));
    }
    Text words = text_copy(c->arena, buf_view(&b));
    buf_release(&b);
    cli_usage(c, "'%s' has %d argument%s and %d %s given: %.*s", k->name, n,
              n == 1 ? "" : "s", have, have == 1 ? "was" : "were",
              TEXT_ARG(words));
}

IsaArg *exec_isa_args(Cli *c, const GfxKernel *k, int *count)
{
    TextList words = {0};
    int n = 0;
    for (int i = 0; i < c->values[OPT_ARGS].len; i++)
        vec_push(c->arena, &words, c->values[OPT_ARGS].at[i]);
    for (int i = 1; i < c->operands.len; i++)
        vec_push(c->arena, &words, c->operands.at[i]);
    for (int i = 0; i < k->arg_count; i++)
        n += !text_starts(k->args[i].kind, "hidden_");
    if (n != words.len)
        list_wanted(c, k, words.len);
    IsaArg *args = new_array(c->arena, IsaArg, n + 1);
    *count = n;
    n = 0;
    for (int i = 0; i < k->arg_count; i++) {
        if (text_starts(k->args[i].kind, "hidden_"))
            continue;
        args[n].spec = words.at[n];
        read_arg(c, &args[n], &k->args[i]);
        n++;
    }
    return args;
}
