// language.c - the module tilelang.language: every row of the op table.
#include "lang/eval_int.h"
#include "lang/trace_int.h"

// A class of a module that the host has.
static bool of_host(Lang *l, const char *module, Text name, Value *out)
{
    Module *m = lang_find_module(l, text_of(module), l->more->at);

    return m && lang_module_get(m, name, out);
}

static bool lookup(Lang *l, Module *m, Text name, Value *out)
{
    Op op;
    DType t;
    (void)m;
    if (!op_find(l->options.ops, name, &op))
        return vectype_find(name, out);
    if (op == OP_PERSISTENT_TILE_SCHEDULER)
        return of_host(l, "tilelang.language.tile_schedule", name, out);
    const OpInfo *info = op_info(l->options.ops, op);
    if (info->class == OPCLASS_DTYPE && info->status == OPSTATUS_BUILT
        && dtype_find(text_of(info->surface + 2), &t))
        *out = v_dtype(t);
    else
        *out = (Value){.kind = VAL_PRIM, .prim = op};
    return true;
}

Module *language_module(Lang *l)
{
    if (!l->language) {
        l->language = lang_module(l, "tilelang.language");
        l->language->lookup = lookup;
    }
    return l->language;
}

Module *lang_language_module(Lang *l)
{
    return language_module(l);
}

// What upstream's IR shows of a function.
static bool looks_inside(Text name)
{
    static const char *const names[] = {
        "script", "show", "body", "attrs", "with_attr", "with_attrs",
        "without_attr", "buffer_map", "params", "span", "ret_type",
    };

    for (size_t i = 0; i < countof(names); i++)
        if (text_is(name, names[i]))
            return true;
    return false;
}

bool trace_getattr(Lang *l, Value v, Text name, Value *out, Span at)
{
    if (v.kind == VAL_PRIM && v.prim == OP_GEMM_WARP_POLICY) {
        static const char *const names[] = {"Square", "FullRow", "FullCol"};
        for (size_t i = 0; i < countof(names); i++)
            if (text_is(name, names[i])) {
                *out = (Value){.kind = VAL_POLICY, .s = text_of(names[i])};
                return true;
            }
        lang_raise(l, "AttributeError", at,
                   "T.GemmWarpPolicy has Square, FullRow and FullCol; found "
                   "'%.*s'", TEXT_ARG(name));
    }
    if (v.kind == VAL_POLICY)
        return policy_getattr(l, v, name, out);
    if (v.kind == VAL_TENSORSPEC && text_is(name, "dtype")) {
        *out = v_dtype(v.spec->dtype);
        return true;
    }
    if (v.kind == VAL_TENSORSPEC && text_is(name, "shape")) {
        *out = v_tuple(l, v.spec->shape->at, v.spec->shape->len);
        return true;
    }
    if (v.kind == VAL_KERNEL && text_is(name, "__name__")) {
        *out = v_str(v.kernel->name);
        return true;
    }
    if (v.kind == VAL_PRIM && text_is(name, "__name__")) {
        Text surface = text_of(op_info(l->options.ops, v.prim)->surface);
        *out = v_str(text_starts(surface, "T.")
                         ? text_slice(surface, 2, surface.len) : surface);
        return true;
    }
    if (v.kind == VAL_KERNEL && looks_inside(name)) {
        *out = v_unseen(l);
        return true;
    }
    return false;
}

void language_unknown(Lang *l, Text name, Span at)
{
    Text near = op_suggest(l->options.ops, name);

    if (near.len)
        near = text_format(lang_arena(l), "T.%.*s", TEXT_ARG(near));
    lang_raise_near(l, "AttributeError", at, near,
                    "unknown primitive 'T.%.*s'", TEXT_ARG(name));
}
