// prelude.c - small parts of libraries, most of them in Python: classes that
// programs derive from, and the like.
//
// A torch.nn.Module calls its forward and holds no parameters.
#include "host/tilelang_int.h"

// ---- inspect ----------------------------------------------------------------------

// The parameters of a Python function by name; of anything else none are known.
static Value signature(Lang *l, void *ctx, const Args *args)
{
    static const char *const fields[] = {"parameters"};
    static const char *const each[] = {"name", "default"};
    Value all = v_dict(l), fn = args->count ? args->at[0] : V_NONE;

    (void)ctx;
    for (int i = 0; fn.kind == VAL_FUNCTION
                    && i < function_param_count(fn.function); i++) {
        Value parts[2];
        bool has;

        parts[0] = v_str(function_param(fn.function, i, &parts[1], &has));
        if (!has)
            parts[1] = V_NONE;
        dict_set(l, all.dict, parts[0],
                 v_named_tuple(l, "Parameter", each, parts, 2));
    }
    return v_named_tuple(l, "Signature", fields, &all, 1);
}

static Value inspect_module(Lang *l)
{
    Module *m = lang_module(l, "inspect");

    module_set(l, m, "signature", v_builtin(l, "signature", signature, NULL));
    return (Value){.kind = VAL_MODULE, .module = m};
}

// ---- modules -----------------------------------------------------------------------

// The lines of prelude/*.py, as make writes them into *.inc.
static const char *const autograd[] = {
#include "host/prelude/autograd.inc"
    NULL
};
static const char *const uniform[] = {
#include "host/prelude/uniform.inc"
    NULL
};
static const char *const modules[] = {
#include "host/prelude/modules.inc"
    NULL
};
static const char *const numpy[] = {
#include "host/prelude/numpy.inc"
    NULL
};
static const char *const numpy_testing[] = {
#include "host/prelude/numpy_testing.inc"
    NULL
};
static const char *const numpy_random[] = {
    "def seed(seed=None):\n    pass\n",
    NULL
};
static const char *const pathlib[] = {
#include "host/prelude/pathlib.inc"
    NULL
};
static const char *const pooling[] = {
#include "host/prelude/pooling.inc"
    NULL
};
static const char *const profiler[] = {
#include "host/prelude/profiler.inc"
    NULL
};
static const char *const pytest[] = {
#include "host/prelude/pytest.inc"
    NULL
};
static const char *const emitters[] = {
#include "host/prelude/emitters.inc"
    NULL
};
static const char *const kernel[] = {
#include "host/prelude/kernel.inc"
    NULL
};
static const char *const eager_ast[] = {
#include "host/prelude/eager_ast.inc"
    NULL
};
static const char *const dtypes[] = {
#include "host/prelude/dtypes.inc"
    NULL
};
static const char *const sparse_layout[] = {
#include "host/prelude/sparse_layout.inc"
    NULL
};
static const char *const streams[] = {
#include "host/prelude/streams.inc"
    NULL
};
static const char *const testing[] = {
#include "host/prelude/testing.inc"
    NULL
};
static const char *const gc[] = {
    "def disable():\n    pass\n",
    "def enable():\n    pass\n",
    "def collect(generation=2):\n    return 0\n",
    NULL
};
static const char *const tile_schedule[] = {
#include "host/prelude/tile_schedule.inc"
    NULL
};
static const char *const tvm_error[] = {
#include "host/prelude/tvm_error.inc"
    NULL
};
static const char *const version[] = {
#include "host/prelude/version.inc"
    NULL
};

static const struct {
    const char *name;
    const char *const *lines;
} preludes[] = {
    {"torch.autograd", autograd},
    {"torch.distributions.uniform", uniform},
    {"torch.nn.modules", modules},
    {"torch.nn.pooling", pooling},
    {"torch.profiler", profiler},
    {"torch.cuda.streams", streams},
    {"numpy", numpy},
    {"numpy.testing", numpy_testing},
    {"numpy.random", numpy_random},
    {"pytest", pytest},
    {"tilelang.testing", testing},
    {"tilelang.cuda.intrinsics.sparse_layout", sparse_layout},
    {"_emitters", emitters},
    {"tilelang.language.dtypes", dtypes},
    {"tilelang.language.kernel", kernel},
    {"tilelang.language.eager.ast", eager_ast},
    {"tilelang.language.tile_schedule", tile_schedule},
    {"tilelang.tvm.error", tvm_error},
    {"packaging.version", version},
    {"pathlib", pathlib},
    {"gc", gc},
};

static Text joined(Arena *a, const char *const *lines)
{
    TextBuf b = {0};

    for (; *lines; lines++)
        buf_puts(&b, *lines);
    Text t = text_copy(a, buf_view(&b));
    buf_release(&b);
    return t;
}

// Run once: other imports get the same module.
static bool run_prelude(Host *h, Text name, const char *const *lines,
                        Value *out)
{
    Module *m = map_get(&h->preludes, name);

    if (!m) {
        uint32_t file = sources_add(h->options.sources, text_cstr(
                                        h->options.arena, name),
                                    joined(h->options.arena, lines));
        if (!lang_run_file(h->lang, file, name, &m))
            return false;
        if (text_is(name, "numpy"))
            m->lookup = torch_lookup_missing;
        map_set(h->options.arena, &h->preludes,
                text_copy(h->options.arena, name), m);
    }
    *out = (Value){.kind = VAL_MODULE, .module = m};
    return true;
}

bool prelude_import(Host *h, Text name, Value *out)
{
    if (text_is(name, "inspect")) {
        *out = inspect_module(h->lang);
        return true;
    }
    if (text_is(name, "packaging")) {
        *out = (Value){.kind = VAL_MODULE,
                       .module = lang_module(h->lang, "packaging")};
        return true;
    }
    if (text_is(name, "_tape")) {
        *out = tape_helpers(h);
        return true;
    }
    if (text_is(name, "_pytest")) {
        *out = pytest_helpers(h);
        return true;
    }
    for (size_t i = 0; i < countof(preludes); i++)
        if (text_is(name, preludes[i].name))
            return run_prelude(h, name, preludes[i].lines, out);
    return false;
}
