// torch_numpy.c - tensors to NumPy arrays and back. An array is an object of
// prelude/numpy.py that holds a tensor, so that both share the memory.
#include "host/torch_int.h"

Value torch_array(Host *h, Value v)
{
    Value held = {.kind = VAL_UNBOUND};

    if (v.kind == VAL_INSTANCE
        && lang_getattr(h->lang, v, TEXT("_tensor"), &held, (Span){0})
        && tensor_of(held))
        return held;
    return (Value){.kind = VAL_UNBOUND};
}

static Value fn_numpy(Host *h, const Args *args)
{
    TORCH_BIND("numpy", "input", "*", "force=");
    Tensor *t = torch_tensor(h, v[0], "the argument", at);
    Value module, make;

    if (dtype_is_fp8(t->dtype) || t->dtype == DT_BF16)
        lang_raise(h->lang, "TypeError", at,
                   "numpy(): NumPy has no dtype for %s",
                   dtype_info(t->dtype)->name);
    if (tape_tracks(v[0]) && !torch_flag(h, v[1], false, at))
        lang_raise(h->lang, "RuntimeError", at, "numpy() of a tensor that "
                   "requires grad: use tensor.detach().numpy()");
    if (!prelude_import(h, TEXT("numpy"), &module)
        || !lang_getattr(h->lang, module, TEXT("ndarray"), &make, at))
        BUG("the prelude has no numpy.ndarray");
    Value view = torch_view(h, t, *t);
    Args one = {.at = &view, .count = 1, .at_span = at};
    return lang_call(h->lang, make, &one);
}

static Value fn_from_numpy(Host *h, const Args *args)
{
    TORCH_BIND("from_numpy", "ndarray");
    Value held = torch_array(h, v[0]);

    if (held.kind == VAL_UNBOUND)
        lang_raise(h->lang, "TypeError", at,
                   "from_numpy() takes an array, not %s",
                   value_type_name(v[0]));
    return held;
}

const TorchRow torch_numpy_rows[] = {
    TORCH_ROW(numpy, METHOD), TORCH_ROW(from_numpy, IN_TORCH), TORCH_END,
};
