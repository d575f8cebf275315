// kernel_case.c - kernels of tests/data/interp with random tensors.
#include "kernel_case.h"

#include <math.h>
#include <string.h>

#include "unit.h"

// ---- text ----------------------------------------------------------------

static Text replace(Arena *a, Text text, const Case *c)
{
    TextBuf out = {0};
    Text copy;

    for (size_t i = 0; i < text.len; i++) {
        int n = i + 1 < text.len ? text.at[i + 1] - 'A' : -1;

        if (text.at[i] == '%' && n >= 0 && n < 9 && c->sub[n]) {
            buf_puts(&out, c->sub[n]);
            i++;
        } else {
            buf_addc(&out, text.at[i]);
        }
    }
    copy = text_copy(a, buf_view(&out));
    buf_release(&out);
    return copy;
}

Program read_program(const Case *c)
{
    Program p = {.arena = arena_create(), .sources = sources_create()};
    const char *path, *why, *name;
    char *text;
    size_t len;
    uint32_t file;

    p.diag = diag_create(p.sources, stderr, false);
    name = text_format(p.arena, "tests/data/interp/%s.ir", c->file).at;
    path = unit_path(p.arena, name);
    ck_assert_msg(file_read(path, &text, &len, &why), "%s: %s", path, why);
    file = sources_add(p.sources, name, replace(p.arena, (Text){text, len}, c));
    free(text);
    p.kernel =
        ir_read(p.arena, op_table_create(p.arena), p.diag, p.sources, file);
    ck_assert_msg(p.kernel != NULL, "%s does not read", path);
    return p;
}

void close_program(Program *p)
{
    diag_destroy(p->diag);
    sources_destroy(p->sources);
    arena_destroy(p->arena);
}

// ---- tensors -------------------------------------------------------------

static uint64_t next_u64(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// Mostly small numbers with few bits, now and then one that rounds.
static double random_value(uint64_t *state, bool whole)
{
    uint64_t r = next_u64(state);
    double x = (double)(int64_t)(r % 41) - 20;

    if (whole)
        return x < 0 ? -x : x;
    return r >> 32 & 1 ? x / 8 : ldexp((double)(r >> 40), -22) - 2;
}

static void fill_tensor(InterpArg *a, int64_t n, uint64_t *state)
{
    size_t size = dtype_bytes(a->dtype, 1);

    for (int64_t i = 0; i < n; i++) {
        double v = random_value(state, !dtype_is_float(a->dtype));
        char *at = (char *)a->data + (size_t)i * size;

        if (dtype_is_float(a->dtype))
            num_put_f64(a->dtype, at, v);
        else
            num_put_i64(a->dtype, at, (int64_t)v);
    }
}

static int64_t size_of(const Case *c, const IrExpr *e)
{
    int64_t n;

    return ir_is_int(e, &n) ? n : c->symbol;
}

Tensors make_tensors(const Case *c, const IrKernel *k)
{
    Tensors t = {.count = k->param_count};
    uint64_t state = 88172645463325252u;

    ck_assert_int_le(k->param_count, MOST_PARAMS);
    for (int i = 0; i < k->param_count; i++) {
        InterpArg *a = &t.arg[i];
        const IrBuffer *b = k->params[i].buffer;
        int64_t n = 1;

        a->is_scalar = k->params[i].is_scalar;
        a->dtype = a->is_scalar ? k->params[i].var->dtype : b->dtype;
        a->i64 = 3;
        a->f64 = 0.7;
        for (int d = a->is_scalar ? -1 : b->rank - 1; d >= 0; d--) {
            a->shape[d] = size_of(c, b->shape[d]);
            a->strides[d] = n;
            n *= a->shape[d];
        }
        a->rank = a->is_scalar ? 0 : b->rank;
        t.bytes[i] = dtype_bytes(a->dtype, n);
        a->data = malloc(t.bytes[i] + 1);
        if (!a->is_scalar)
            fill_tensor(a, n, &state);
        else if (dtype_is_float(a->dtype))
            num_put_f64(a->dtype, a->data, a->f64);
        else
            num_put_i64(a->dtype, a->data, a->i64);
    }
    return t;
}

void free_tensors(Tensors *t)
{
    for (int i = 0; i < t->count; i++)
        free(t->arg[i].data);
}

// ---- comparison ----------------------------------------------------------

static bool same_nan(DType t, const char *a, const char *b)
{
    return dtype_is_float(t) && isnan(num_get_f64(t, a)) &&
           isnan(num_get_f64(t, b));
}

void compare_tensors(const Case *c, const char *how, const IrKernel *k,
                     const Tensors *want, const Tensors *got)
{
    for (int i = 0; i < want->count; i++) {
        DType t = want->arg[i].dtype;
        size_t size = dtype_bytes(t, 1);

        for (size_t at = 0; at < want->bytes[i]; at += size) {
            const char *x = (char *)want->arg[i].data + at;
            const char *y = (char *)got->arg[i].data + at;

            if (!memcmp(x, y, size) || same_nan(t, x, y))
                continue;
            ck_abort_msg(
                "%s(%lld, %s) %s: %.*s element %zu is %.17g, not %.17g",
                c->file, (long long)c->symbol, c->sub[0], how,
                TEXT_ARG(k->params[i].name), at / size, num_get_f64(t, y),
                num_get_f64(t, x));
        }
    }
}
