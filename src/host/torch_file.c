// torch_file.c - safetensors.torch: load_file and save_file.
#include <stdlib.h>

#include "host/launch.h"
#include "host/torch_int.h"

static const char *path_of(Host *h, Value v, Span at)
{
    if (v.kind != VAL_STR)
        lang_raise(h->lang, "TypeError", at, "a file's name is a text, not %s",
                   value_type_name(v));
    return text_cstr(h->options.arena, v.s);
}

static Value load_file(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    TORCH_BIND("load_file", "filename", "device=");
    const char *path = path_of(h, v[0], at), *why = NULL;
    ArrayFile *file = array_open(h->options.arena, path, &why);
    Value out = v_dict(l);
    if (!file)
        lang_raise_exit(l, EXIT_ENVIRONMENT, "OSError", at,
                        "cannot read '%s': %s", path, why);
    for (int i = 0; i < array_count(file) && !why; i++) {
        Tensor t;
        if (tensor_from_array(h, array_at(file, i), &t, &why))
            dict_set(l, out.dict, v_str(array_at(file, i)->name),
                     tensor_value(h, t));
    }
    array_close(file);
    if (why)
        lang_raise_exit(l, EXIT_ENVIRONMENT, "OSError", at,
                        "cannot read '%s': %s", path, why);
    return out;
}

static Value save_file(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    TORCH_BIND("save_file", "tensors", "filename", "metadata=");
    const char *path = path_of(h, v[1], at), *why = NULL;
    if (v[0].kind != VAL_DICT)
        lang_raise(l, "TypeError", at, "save_file() takes a dict of tensors");
    const Dict *d = v[0].dict;
    ArrayView *views = new_array(lang_arena(l), ArrayView, d->len + 1);
    int n = 0;
    for (int i = 0; i < d->len; i++) {
        if (d->keys[i].kind == VAL_UNBOUND)
            continue;
        Tensor *t = torch_tensor(h, d->values[i], "an item", at), whole;
        if (d->keys[i].kind != VAL_STR)
            lang_raise(l, "TypeError", at, "the tensors' names are texts");
        if (!tensor_contiguous(&whole, t))
            torch_no_memory(h, at);
        tensor_value(h, whole);             // kept until the call is over
        if (!array_view(&whole, d->keys[i].s, false, &views[n++]))
            lang_raise(l, "ValueError", at, "safetensors has no word for %s",
                       dtype_info(t->dtype)->name);
    }
    if (!safetensors_write(path, views, n, &why))
        lang_raise_exit(l, EXIT_ENVIRONMENT, "OSError", at,
                        "cannot write '%s': %s", path, why);
    return V_NONE;
}

bool safetensors_import(Host *h, Text name, Value *out)
{
    Lang *l = h->lang;
    if (!text_is(name, "safetensors.torch"))
        return false;
    Module *m = lang_module(l, "safetensors.torch");
    module_set(l, m, "load_file", v_builtin(l, "load_file", load_file, h));
    module_set(l, m, "save_file", v_builtin(l, "save_file", save_file, h));
    *out = (Value){.kind = VAL_MODULE, .module = m};
    return true;
}
