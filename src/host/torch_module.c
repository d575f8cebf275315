// torch_module.c - torch and its submodules as scripts import them.
#include <math.h>

#include "host/torch_int.h"

static const TorchRow *const tables[] = {
    torch_math_rows, torch_reduce_rows, torch_shape_rows, torch_make_rows,
    torch_cast_rows,
};

TorchFn *torch_find(Text name, bool method)
{
    for (size_t i = 0; i < countof(tables); i++)
        for (const TorchRow *r = tables[i]; r->name; r++)
            if (text_is(name, r->name) && (method ? r->method : r->function))
                return r->call;
    return NULL;
}

static Value module_value(Module *m)
{
    return (Value){.kind = VAL_MODULE, .module = m};
}

// ---- functions ------------------------------------------------------------------

typedef struct {
    Host *h;
    TorchFn *call;
} Bridge;

static Value call_bridge(Lang *l, void *ctx, const Args *args)
{
    const Bridge *b = ctx;
    (void)l;
    return b->call(b->h, args);
}

static void add_functions(Host *h, Module *m)
{
    for (size_t i = 0; i < countof(tables); i++)
        for (const TorchRow *r = tables[i]; r->name; r++) {
            if (!r->function)
                continue;
            Bridge *b = new (h->options.arena, Bridge);
            *b = (Bridge){h, r->call};
            module_set(h->lang, m, r->name,
                       v_builtin(h->lang, r->name, call_bridge, b));
        }
}

static void add_dtypes(Host *h, Module *m)
{
    static const struct {
        const char *name;
        DType t;
    } aliases[] = {
        {"half", DT_F16}, {"float", DT_F32}, {"double", DT_F64},
        {"short", DT_I16}, {"int", DT_I32}, {"long", DT_I64},
    };
    for (DType t = 0; t < DT_COUNT; t++)
        module_set(h->lang, m, dtype_info(t)->name, v_dtype(t));
    for (size_t i = 0; i < countof(aliases); i++)
        module_set(h->lang, m, aliases[i].name, v_dtype(aliases[i].t));
}

// ---- torch.testing ------------------------------------------------------------------

static double number(Lang *l, Value v, double fallback, Span at)
{
    return v.kind == VAL_UNBOUND || v.kind == VAL_NONE
               ? fallback : value_to_float(l, v, "a tolerance", at);
}

// torch's own defaults, by dtype.
static void default_tolerance(DType t, double *rtol, double *atol)
{
    *atol = t == DT_F64 ? 1e-7 : 1e-5;
    *rtol = t == DT_F64 ? 1e-7 : t == DT_F32 ? 1.3e-6
            : t == DT_F16 ? 1e-3 : t == DT_BF16 ? 1.6e-2 : 0;
    if (!dtype_is_float(t))
        *atol = *rtol = 0;
}

typedef struct {
    int64_t bad, total;
    double worst;
} Closeness;

static bool close_enough(double a, double b, double rtol, double atol,
                         bool equal_nan)
{
    if (isnan(a) || isnan(b))
        return equal_nan && isnan(a) && isnan(b);
    if (isinf(a) || isinf(b))
        return a == b;
    return fabs(a - b) <= atol + rtol * fabs(b);
}

static Closeness compare(Host *h, const Tensor *a, const Tensor *b, double rtol,
                         double atol, bool equal_nan, Span at)
{
    Tensor x, y;
    Closeness c = {.total = tensor_count(a)};
    if (!tensor_cast(&x, a, DT_F64, false) || !tensor_cast(&y, b, DT_F64, false))
        torch_no_memory(h, at);
    const double *p = tensor_data(&x), *q = tensor_data(&y);
    for (int64_t i = 0; i < c.total; i++) {
        if (close_enough(p[i], q[i], rtol, atol, equal_nan))
            continue;
        c.bad++;
        c.worst = fmax(c.worst, fabs(p[i] - q[i]));
    }
    tensor_release(&x);
    tensor_release(&y);
    return c;
}

static bool same_shape(const Tensor *a, const Tensor *b)
{
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++)
        same = a->shape[d] == b->shape[d];
    return same;
}

static Value assert_close(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {
        "actual", "expected", "rtol=", "atol=", "*", "equal_nan=", "msg=",
        "check_dtype=", "check_device=", "check_stride=", "allow_subclasses=",
    };
    Host *h = ctx;
    Value v[10];
    Span at = args->at_span;
    double rtol, atol;
    args_bind(l, "assert_close", args, names, countof(names), v);
    Tensor *a = torch_tensor(h, v[0], "actual", at);
    Tensor *b = torch_tensor(h, v[1], "expected", at);
    bool check_dtype = v[6].kind == VAL_UNBOUND || value_truth(l, v[6], at);
    if (!same_shape(a, b))
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "the tensors have different shapes");
    if (check_dtype && a->dtype != b->dtype)
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "the tensors are %s and %s",
                        dtype_info(a->dtype)->name, dtype_info(b->dtype)->name);
    default_tolerance(a->dtype, &rtol, &atol);
    bool equal_nan = v[4].kind != VAL_UNBOUND && value_truth(l, v[4], at);
    rtol = number(l, v[2], rtol, at);
    atol = number(l, v[3], atol, at);
    Closeness c = compare(h, a, b, rtol, atol, equal_nan, at);
    if (c.bad)
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "%lld of %lld elements differ by more than rtol %g, "
                        "atol %g; the largest difference is %g",
                        (long long)c.bad, (long long)c.total, rtol, atol,
                        c.worst);
    return V_NONE;
}

static Value allclose(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"input", "other", "rtol=", "atol=",
                                        "equal_nan="};
    Host *h = ctx;
    Value v[5];
    Span at = args->at_span;
    args_bind(l, "allclose", args, names, countof(names), v);
    Tensor *a = torch_tensor(h, v[0], "input", at);
    Tensor *b = torch_tensor(h, v[1], "other", at);
    bool nan = v[4].kind != VAL_UNBOUND && value_truth(l, v[4], at);
    if (!same_shape(a, b))
        lang_raise(l, "RuntimeError", at, "the tensors have different shapes");
    return v_bool(compare(h, a, b, number(l, v[2], 1e-5, at),
                          number(l, v[3], 1e-8, at), nan, at).bad == 0);
}

// ---- the device, as the target has it ----------------------------------------------------

static Value yes(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)ctx, (void)args;
    return v_bool(true);
}

static Value nothing(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)ctx, (void)args;
    return V_NONE;
}

static Value first_argument(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)ctx;
    return args->count ? args->at[0] : v_str(TEXT("cuda"));
}

static Value capability(Lang *l, void *ctx, const Args *args)
{
    const Host *h = ctx;
    (void)args;
    bool a100 = h->options.device->arch == ARCH_SM80;
    Value pair[2] = {v_int(a100 ? 8 : 9), v_int(0)};
    if (h->options.device->arch == ARCH_GFX942
        || h->options.device->arch == ARCH_GFX950) {
        pair[0] = v_int(9);
        pair[1] = v_int(h->options.device->arch == ARCH_GFX942 ? 4 : 5);
    }
    return v_tuple(l, pair, 2);
}

static Value device_name(Lang *l, void *ctx, const Args *args)
{
    const Host *h = ctx;
    (void)l, (void)args;
    return v_str(text_of(h->options.device->title));
}

static Value one(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)ctx, (void)args;
    return v_int(1);
}

static Value zero(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)ctx, (void)args;
    return v_int(0);
}

static Value seed(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    if (args->count != 1)
        lang_raise(l, "TypeError", args->at_span, "manual_seed() takes a number");
    h->options.seed = (uint64_t)value_to_int(l, args->at[0], "seed",
                                             args->at_span);
    h->random_streams = 0;
    return V_NONE;
}

typedef struct {
    const char *name;
    Value (*call)(Lang *, void *, const Args *);
} Plain;

static void add_plain(Host *h, Module *m, const Plain *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        module_set(h->lang, m, rows[i].name,
                   v_builtin(h->lang, rows[i].name, rows[i].call, h));
}

static Module *cuda_module(Host *h)
{
    static const Plain rows[] = {
        {"is_available", yes}, {"synchronize", nothing},
        {"get_device_capability", capability},
        {"get_device_name", device_name}, {"device_count", one},
        {"current_device", zero}, {"empty_cache", nothing},
        {"manual_seed", seed}, {"manual_seed_all", seed},
        {"set_device", nothing},
    };
    Module *m = lang_module(h->lang, "torch.cuda");
    add_plain(h, m, rows, countof(rows));
    return m;
}

static Module *testing_module(Host *h)
{
    static const Plain rows[] = {{"assert_close", assert_close}};
    Module *m = lang_module(h->lang, "torch.testing");
    add_plain(h, m, rows, countof(rows));
    return m;
}

static Module *functional_module(Host *h)
{
    Module *m = lang_module(h->lang, "torch.nn.functional");
    add_functions(h, m);
    return m;
}

static Module *version_module(Host *h)
{
    Lang *l = h->lang;
    Module *m = lang_module(l, "torch.version");
    bool amd = h->options.device->vendor == VENDOR_AMD;
    module_set(l, m, "hip", amd ? v_str(TEXT("6.4")) : V_NONE);
    module_set(l, m, "cuda", amd ? V_NONE : v_str(TEXT("13.0")));
    return m;
}

// `with torch.no_grad():` and the like.
typedef struct {
    Foreign foreign;
} Guard;

static Value guard_enter(Lang *l, Foreign *self, Span at)
{
    (void)l, (void)self, (void)at;
    return V_NONE;
}

static void guard_exit(Lang *l, Foreign *self, Span at)
{
    (void)l, (void)self, (void)at;
}

// Used as a decorator it gives the function back.
static Value guard_call(Lang *l, Foreign *self, const Args *args)
{
    (void)l, (void)self;
    return args->count ? args->at[0] : V_NONE;
}

static const ForeignType guard_type = {
    .name = "no_grad", .enter = guard_enter, .exit = guard_exit,
    .call = guard_call,
};

static Value guard(Lang *l, void *ctx, const Args *args)
{
    (void)ctx, (void)args;
    Guard *g = xcalloc(1, sizeof *g);
    return lang_adopt(l, &g->foreign, &guard_type, sizeof *g);
}

static Module *torch_root(Host *h)
{
    static const Plain rows[] = {
        {"allclose", allclose}, {"manual_seed", seed}, {"no_grad", guard},
        {"inference_mode", guard}, {"device", first_argument},
        {"set_default_device", nothing}, {"set_printoptions", nothing},
        {"set_grad_enabled", guard},
    };
    Lang *l = h->lang;
    Module *m = lang_module(l, "torch"), *nn = lang_module(l, "torch.nn");
    add_functions(h, m);
    add_dtypes(h, m);
    add_plain(h, m, rows, countof(rows));
    module_set(l, nn, "functional", module_value(functional_module(h)));
    module_set(l, m, "nn", module_value(nn));
    module_set(l, m, "cuda", module_value(cuda_module(h)));
    module_set(l, m, "testing", module_value(testing_module(h)));
    module_set(l, m, "version", module_value(version_module(h)));
    module_set(l, m, "inf", v_float(INFINITY));
    module_set(l, m, "nan", v_float(NAN));
    module_set(l, m, "pi", v_float(M_PI));
    module_set(l, m, "Tensor", v_str(TEXT("torch.Tensor")));
    module_set(l, m, "__version__", v_str(TEXT("2.8.0")));
    return m;
}

bool torch_import(Host *h, Text name, Value *out)
{
    static const struct {
        const char *name;
        Module *(*make)(Host *h);
    } modules[] = {
        {"torch", torch_root}, {"torch.nn.functional", functional_module},
        {"torch.testing", testing_module}, {"torch.cuda", cuda_module},
        {"torch.version", version_module},
    };
    for (size_t i = 0; i < countof(modules); i++)
        if (text_is(name, modules[i].name)) {
            *out = module_value(modules[i].make(h));
            return true;
        }
    if (!text_is(name, "torch.nn"))
        return false;
    Module *nn = lang_module(h->lang, "torch.nn");
    module_set(h->lang, nn, "functional", module_value(functional_module(h)));
    *out = module_value(nn);
    return true;
}
