// arrays.c - tensors to and from .npy and .safetensors.
#include <stdlib.h>
#include <string.h>

#include "host/launch_int.h"

// NumPy's and safetensors' words for our dtypes.
static const struct {
    const char *word, *other;
    DType dtype;
} words[] = {
    {"|b1", "BOOL", DT_BOOL}, {"|i1", "I8", DT_I8}, {"<i2", "I16", DT_I16},
    {"<i4", "I32", DT_I32}, {"<i8", "I64", DT_I64}, {"|u1", "U8", DT_U8},
    {"<u2", "U16", DT_U16}, {"<u4", "U32", DT_U32}, {"<u8", "U64", DT_U64},
    {"<f2", "F16", DT_F16}, {"<f4", "F32", DT_F32}, {"<f8", "F64", DT_F64},
    {NULL, "BF16", DT_BF16}, {NULL, "F8_E4M3", DT_E4M3FN},
    {NULL, "F8_E5M2", DT_E5M2}, {NULL, "F8_E4M3FNUZ", DT_E4M3FNUZ},
    {NULL, "F8_E5M2FNUZ", DT_E5M2FNUZ},
};

bool array_dtype(Text name, DType *out)
{
    for (size_t i = 0; i < countof(words); i++)
        if ((words[i].word && text_is(name, words[i].word))
            || text_is(name, words[i].other)) {
            *out = words[i].dtype;
            return true;
        }
    return false;
}

static const char *word_of(DType t, bool npy)
{
    for (size_t i = 0; i < countof(words); i++)
        if (words[i].dtype == t)
            return npy ? words[i].word : words[i].other;
    return NULL;
}

bool tensor_from_array(Host *h, const ArrayView *a, Tensor *out,
                       const char **why)
{
    DType t;
    if (!array_dtype(a->dtype, &t)) {
        Text text = text_format(h->options.arena, "dtype %.*s is not known",
                                TEXT_ARG(a->dtype));
        *why = text_cstr(h->options.arena, text);
        return false;
    }
    if (a->rank > TENSOR_MAX_RANK) {
        *why = "it has too many dimensions";
        return false;
    }
    if (!tensor_new(&h->heap, out, t, a->rank, a->shape)) {
        *why = "it does not fit into memory";
        return false;
    }
    num_convert(t, tensor_data(out), t, a->data, tensor_count(out));
    return true;
}

bool array_bad_file(Host *h, Text name, Text file, const char *why)
{
    diag_error(h->options.diag, EXIT_ENVIRONMENT, (Span){0}, "bad-file",
               "cannot read '%.*s' from '%.*s': %s", TEXT_ARG(name),
               TEXT_ARG(file), why);
    return false;
}

const ArrayView *array_named(const ArrayFile *file, Text name)
{
    return array_count(file) == 1 && !array_at(file, 0)->name.len
               ? array_at(file, 0) : array_find(file, name);
}

bool array_view(const Tensor *t, Text name, bool npy, ArrayView *v)
{
    const char *dtype = word_of(t->dtype, npy);
    if (!dtype)
        return false;
    *v = (ArrayView){.name = name, .dtype = text_of(dtype), .rank = t->rank};
    for (int d = 0; d < t->rank; d++)
        v->shape[d] = t->shape[d];
    v->data = tensor_data(t);
    v->bytes = dtype_bytes(t->dtype, tensor_count(t));
    return true;
}

static int param_named(const LaunchCase *c, Text name)
{
    for (int i = 0; i < c->kernel->ir->param_count; i++)
        if (text_eq(c->kernel->ir->params[i].name, name)
            && !c->args[i].is_scalar)
            return i;
    return -1;
}

const char *array_refuses(const LaunchCase *c, Text name, Text file)
{
    int p = param_named(c, name);
    bool safe = text_ends(file, ".safetensors"), npy = text_ends(file, ".npy");
    if (p < 0)
        return "the kernel has no such tensor";
    if (!safe && !npy)
        return "the name should end in .npy or .safetensors";
    if (!word_of(c->args[p].tensor.dtype, npy))
        return npy ? ".npy has no word for its dtype; use .safetensors"
                   : ".safetensors has no word for its dtype; use .npy";
    return NULL;
}

static bool save_group(Host *h, const LaunchCase *c, int first)
{
    Text file = c->outs[first].value;
    bool safe = text_ends(file, ".safetensors");
    ArrayView *views = xcalloc(c->out_count, sizeof *views);
    const char *why = NULL, *path = text_cstr(h->options.arena, file);
    int n = 0;
    for (int i = first; i < c->out_count; i++) {
        if (!text_eq(c->outs[i].value, file) || (i > first && !safe))
            continue;
        const Tensor *t = &c->args[param_named(c, c->outs[i].name)].tensor;
        array_view(t, c->outs[i].name, !safe, &views[n++]);
    }
    bool ok = safe ? safetensors_write(path, views, n, &why)
                   : npy_write(path, views, &why);
    free(views);
    if (!ok)
        diag_error(h->options.diag, EXIT_ENVIRONMENT, (Span){0}, "out-file",
                   "cannot write '%.*s' to '%s': %s",
                   TEXT_ARG(c->outs[first].name), path, why);
    return ok;
}

bool launch_save(Host *h, const LaunchCase *c)
{
    for (int i = 0; i < c->out_count; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++)
            seen = seen || (text_eq(c->outs[j].value, c->outs[i].value)
                            && text_ends(c->outs[i].value, ".safetensors"));
        if (!seen && !save_group(h, c, i))
            return false;
    }
    return true;
}
