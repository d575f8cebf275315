// torch_module.c - torch and its submodules as scripts import them.
#include <float.h>
#include <math.h>

#include "host/torch_int.h"

static const TorchRow *const tables[] = {
    torch_math_rows, torch_linalg_rows, torch_nn_rows, torch_loss_rows,
    torch_reduce_rows, torch_rows_rows, torch_shape_rows, torch_join_rows,
    torch_scatter_rows, torch_make_rows, torch_random_rows, torch_cast_rows,
    torch_test_rows, torch_numpy_rows,
};

TorchFn *torch_find(Text name, int where)
{
    for (size_t i = 0; i < countof(tables); i++)
        for (const TorchRow *r = tables[i]; r->name; r++)
            if ((r->where & where) && text_is(name, r->name))
                return r->call;
    return NULL;
}

TorchFn *torch_find_inplace(Text name)
{
    static const TorchRow *const inplace[] = {
        torch_math_rows, torch_linalg_rows, torch_nn_rows, torch_rows_rows,
        torch_shape_rows, torch_scatter_rows,
    };
    for (size_t i = 0; i < countof(inplace); i++)
        for (const TorchRow *r = inplace[i]; r->name; r++)
            if ((r->where & METHOD) && text_is(name, r->name))
                return r->call;
    return NULL;
}

// The rows of all tables, in order; NULL after the last.
static const TorchRow *torch_row(size_t i)
{
    for (size_t t = 0; t < countof(tables); t++)
        for (const TorchRow *r = tables[t]; r->name; r++)
            if (i-- == 0)
                return r;
    return NULL;
}

static Value module_value(Module *m)
{
    return (Value){.kind = VAL_MODULE, .module = m};
}

// What is Python text, read when asked for.
static bool in_python(Lang *l, Module *m, Text name, Value *out)
{
    static const struct {
        const char *module, *name, *text;
    } rows[] = {
        {"torch", "max_pool2d", "torch.nn.pooling"},
        {"torch.nn.functional", "max_pool2d", "torch.nn.pooling"},
        {"torch.nn", "Module", "torch.nn.modules"},
        {"torch.nn", "Parameter", "torch.nn.modules"},
        {"torch.nn", "SiLU", "torch.nn.modules"},
        {"torch.nn", "Linear", "torch.nn.modules"},
        {"torch.nn", "ModuleList", "torch.nn.modules"},
        {"torch.cuda", "Stream", "torch.cuda.streams"},
        {"torch.cuda", "Event", "torch.cuda.streams"},
        {"torch.cuda", "stream", "torch.cuda.streams"},
        {"torch.cuda", "default_stream", "torch.cuda.streams"},
        {"torch.cuda", "current_stream", "torch.cuda.streams"},
    };
    Value text;
    for (size_t i = 0; i < countof(rows); i++)
        if (text_is(m->name, rows[i].module) && text_is(name, rows[i].name)
            && prelude_import(lang_options(l)->ctx, text_of(rows[i].text),
                              &text)
            && lang_getattr(l, text, name, out, (Span){0})) {
            module_set(l, m, rows[i].name, *out);
            return true;
        }
    return false;
}

// A module of its own (torch.autograd), or what torch has and this one has
// not: using it is the error.
bool torch_lookup_missing(Lang *l, Module *m, Text name, Value *out)
{
    Text full = text_format(lang_arena(l), "%.*s.%.*s", TEXT_ARG(m->name),
                            TEXT_ARG(name));
    if (text_starts(name, "__"))
        return false;
    if (in_python(l, m, name, out))
        return true;
    if (torch_import(lang_options(l)->ctx, full, out))
        return true;
    Module *part = lang_module(l, text_cstr(lang_arena(l), full));
    part->opaque = true;
    *out = module_value(part);
    return true;
}

static Module *new_module(Host *h, const char *name)
{
    Module *m = lang_module(h->lang, name);
    m->lookup = torch_lookup_missing;
    return m;
}

// ---- functions --------------------------------------------------------------

typedef struct {
    Host *h;
    const TorchRow *row;
} Bridge;

static Value call_bridge(Lang *l, void *ctx, const Args *args)
{
    const Bridge *b = ctx;
    Value out = tape_call(b->h, text_of(b->row->name), b->row->call, args);
    for (int i = 0; tensor_of(out) && i < args->keyword_count; i++)
        if (text_is(args->names[i], "requires_grad")
            && value_truth(l, args->values[i], args->at_span))
            tape_require((TensorObject *)out.foreign, true, args->at_span);
    return out;
}

static void add_functions(Host *h, Module *m, int where)
{
    const TorchRow *r;
    for (size_t i = 0; (r = torch_row(i)); i++) {
        if (!(r->where & where))
            continue;
        Bridge *b = new (h->options.arena, Bridge);
        *b = (Bridge){h, r};
        module_set(h->lang, m, r->name,
                   v_builtin(h->lang, r->name, call_bridge, b));
    }
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

// ---- dtypes -----------------------------------------------------------------

static void add_dtypes(Host *h, Module *m)
{
    static const struct {
        const char *name;
        DType t;
    } aliases[] = {
        {"half", DT_F16}, {"float", DT_F32}, {"double", DT_F64},
        {"short", DT_I16}, {"int", DT_I32}, {"long", DT_I64},
        {"float4_e2m1fn_x2", DT_U8},    // two of them: bytes to be moved
    };
    for (DType t = 0; t < DT_COUNT; t++)
        module_set(h->lang, m, dtype_info(t)->name, v_dtype(t));
    for (size_t i = 0; i < countof(aliases); i++)
        module_set(h->lang, m, aliases[i].name, v_dtype(aliases[i].t));
}

// torch.finfo(dtype), torch.iinfo(dtype)
typedef struct {
    Foreign foreign;
    DType t;
} Limits;

static Value limit(DType t, bool low)
{
    const DTypeInfo *info = dtype_info(t);
    if (info->kind == KIND_FLOAT)
        return v_float(low ? -info->max_finite : info->max_finite);
    if (info->kind == KIND_INT)
        return v_int(low ? -1 - (INT64_MAX >> (64 - info->bits))
                         : INT64_MAX >> (64 - info->bits));
    return v_int(low ? 0 : (int64_t)(UINT64_MAX >> (64 - info->bits)));
}

static bool limits_getattr(Lang *l, Foreign *self, Text name, Value *out,
                           Span at)
{
    const DTypeInfo *info = dtype_info(((Limits *)self)->t);
    bool f = info->kind == KIND_FLOAT;
    (void)l, (void)at;
    if (text_is(name, "max") || text_is(name, "min"))
        *out = limit(((Limits *)self)->t, text_is(name, "min"));
    else if (text_is(name, "bits"))
        *out = v_int(info->bits);
    else if (f && text_is(name, "eps"))
        *out = v_float(ldexp(1, -info->mantissa_bits));
    else if (f && (text_is(name, "tiny") || text_is(name, "smallest_normal")))
        *out = v_float(info->min_normal);
    else
        return false;
    return true;
}

static const ForeignType limits_type = {
    .name = "finfo", .getattr = limits_getattr,
};

static Value limits(Lang *l, const Args *args, bool floats)
{
    const char *name = floats ? "finfo" : "iinfo";
    DType t = DT_F32;
    if (args->count > 1 || (!floats && args->count != 1))
        lang_raise(l, "TypeError", args->at_span, "%s() takes a dtype", name);
    if (args->count)
        t = value_to_dtype(l, args->at[0], args->at_span);
    if (dtype_is_float(t) != floats)
        lang_raise(l, "TypeError", args->at_span, "%s() of %s", name,
                   dtype_info(t)->name);
    Limits *o = xcalloc(1, sizeof *o);
    o->t = t;
    return lang_adopt(l, &o->foreign, &limits_type, sizeof *o);
}

static Value finfo(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return limits(l, args, true);
}

static Value iinfo(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return limits(l, args, false);
}

static Value result_type(Lang *l, void *ctx, const Args *args)
{
    if (args->count != 2)
        lang_raise(l, "TypeError", args->at_span,
                   "result_type() takes two tensors or numbers");
    return v_dtype(torch_promote(ctx, args->at[0], args->at[1]));
}

static Value promote_types(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    if (args->count != 2)
        lang_raise(l, "TypeError", args->at_span,
                   "promote_types() takes two dtypes");
    return v_dtype(torch_promote_types(
        value_to_dtype(l, args->at[0], args->at_span),
        value_to_dtype(l, args->at[1], args->at_span)));
}

// ---- types, for isinstance and annotations ----------------------------------

typedef struct {
    Foreign foreign;
    Host *host;
    ValueKind kind;             // FOREIGN: a tensor
    DType t;                    // of the elements; NONE: any
    const char *name;
} TypeObject;

static bool type_method(Lang *l, Foreign *self, Text name, const Args *args,
                        Value *out)
{
    const TypeObject *o = (TypeObject *)self;
    (void)l;
    if (!text_is(name, "__instancecheck__") || args->count != 1)
        return false;
    Tensor *t = tensor_of(args->at[0]);
    *out = v_bool(o->kind != VAL_FOREIGN ? args->at[0].kind == o->kind
                  : t && (o->t == DT_NONE || t->dtype == o->t));
    return true;
}

// torch.Tensor([1, 2]): f32.
static Value type_call(Lang *l, Foreign *self, const Args *args)
{
    const TypeObject *o = (TypeObject *)self;
    if (o->kind != VAL_FOREIGN)
        return args->count ? args->at[0] : v_tuple(l, NULL, 0);
    if (args->count != 1 || !torch_is_list(args->at[0]))
        lang_unsupported(l, args->at_span, "Tensor() but of a list: use "
                         "torch.tensor() or torch.empty()");
    DType t = o->t == DT_NONE ? torch_float(o->host)
                              : torch_dtype(o->host, o->t);
    return torch_from_list(o->host, args->at[0], v_dtype(t), args->at_span);
}

static void type_repr(Lang *l, Foreign *self, TextBuf *out)
{
    (void)l;
    buf_printf(out, "<class 'torch.%s'>", ((TypeObject *)self)->name);
}

static const ForeignType type_type = {
    .name = "type", .method = type_method, .call = type_call,
    .repr = type_repr,
};

static void add_type(Host *h, Module *m, const char *name, ValueKind kind,
                     DType t)
{
    TypeObject *o = xcalloc(1, sizeof *o);
    *o = (TypeObject){.host = h, .kind = kind, .t = t, .name = name};
    Value v = lang_adopt(h->lang, &o->foreign, &type_type, sizeof *o);
    module_set(h->lang, m, name, v);
}

static Value is_tensor(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    if (args->count != 1)
        lang_raise(l, "TypeError", args->at_span,
                   "is_tensor() takes one value");
    return v_bool(tensor_of(args->at[0]) != NULL);
}

// ---- the device, as the target has it ---------------------------------------

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

static Value properties(Lang *l, void *ctx, const Args *args)
{
    static const char *const fields[] = {
        "name", "major", "minor", "multi_processor_count", "total_memory",
        "warp_size", "gcnArchName",
    };
    const Host *h = ctx;
    const Device *d = h->options.device;
    List *arch = capability(l, ctx, args).list;
    Value values[] = {
        v_str(text_of(d->title)), arch->at[0], arch->at[1], v_int(d->sms),
        v_int(d->memory * 1000000000), v_int(d->warp_lanes),
        v_str(text_of(device_arch_name(d))),
    };
    return v_named_tuple(l, "_CudaDeviceProperties", fields, values,
                         countof(fields));
}

// with torch.cuda.device(0): there is one device.
static Value device_enter(Lang *l, Foreign *self, Span at)
{
    (void)l, (void)self, (void)at;
    return V_NONE;
}

static void device_exit(Lang *l, Foreign *self, Span at)
{
    (void)l, (void)self, (void)at;
}

static const ForeignType device_scope_type = {
    .name = "device", .enter = device_enter, .exit = device_exit,
};

static Value device_scope(Lang *l, void *ctx, const Args *args)
{
    (void)ctx, (void)args;
    return lang_adopt(l, xcalloc(1, sizeof(Foreign)), &device_scope_type,
                      sizeof(Foreign));
}

static Value one(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)ctx, (void)args;
    return v_int(1);
}

// torch.compile: @torch.compile, or @torch.compile(...).
static Value same(Lang *l, void *ctx, const Args *args)
{
    if (args->count)
        return args->at[0];
    return v_builtin(l, "compile", same, ctx);
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
        lang_raise(l, "TypeError", args->at_span,
                   "manual_seed() takes a number");
    h->options.seed = (uint64_t)value_to_int(l, args->at[0], "seed",
                                             args->at_span);
    h->random_streams = 0;
    return V_NONE;
}

// (free, total) of the memory that stands for the device's: this machine's.
static Value memory_info(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    Value v[] = {v_int(host_memory_left(h)), v_int(h->options.memory_limit)};

    (void)args;
    return v_tuple(l, v, countof(v));
}

static Module *cuda_module(Host *h)
{
    static const Plain rows[] = {
        {"is_available", yes}, {"synchronize", nothing},
        {"device", device_scope},
        {"get_device_capability", capability},
        {"get_device_name", device_name}, {"device_count", one},
        {"current_device", zero}, {"empty_cache", nothing},
        {"manual_seed", seed}, {"manual_seed_all", seed},
        {"set_device", nothing}, {"is_bf16_supported", yes},
        {"init", nothing}, {"get_device_properties", properties},
        {"mem_get_info", memory_info},
    };
    Module *m = new_module(h, "torch.cuda");
    add_plain(h, m, rows, countof(rows));
    return m;
}

static Module *testing_module(Host *h)
{
    Module *m = new_module(h, "torch.testing");
    torch_testing_fill(h, m);
    return m;
}

static Module *functional_module(Host *h)
{
    Module *m = new_module(h, "torch.nn.functional");
    add_functions(h, m, IN_NN);
    return m;
}

static Module *nn_module(Host *h)
{
    Module *m = new_module(h, "torch.nn");
    module_set(h->lang, m, "functional", module_value(functional_module(h)));
    return m;
}

// with torch.random.fork_rng(): the numbers after it are as if without it.
typedef struct {
    Foreign foreign;
    Host *host;
    uint64_t seed;
    uint32_t streams;
} Fork;

static Value fork_enter(Lang *l, Foreign *self, Span at)
{
    Fork *f = (Fork *)self;
    (void)l, (void)at;
    f->seed = f->host->options.seed;
    f->streams = f->host->random_streams;
    return V_NONE;
}

static void fork_exit(Lang *l, Foreign *self, Span at)
{
    const Fork *f = (Fork *)self;
    (void)l, (void)at;
    f->host->options.seed = f->seed;
    f->host->random_streams = f->streams;
}

static const ForeignType fork_type = {
    .name = "fork_rng", .enter = fork_enter, .exit = fork_exit,
};

static Value fork_rng(Lang *l, void *ctx, const Args *args)
{
    Fork *f = xcalloc(1, sizeof *f);
    (void)args;
    f->host = ctx;
    return lang_adopt(l, &f->foreign, &fork_type, sizeof *f);
}

static Module *random_module(Host *h)
{
    static const Plain rows[] = {
        {"manual_seed", seed}, {"seed", nothing}, {"fork_rng", fork_rng},
    };
    Module *m = new_module(h, "torch.random");
    add_plain(h, m, rows, countof(rows));
    return m;
}

static Module *distributions_module(Host *h)
{
    return new_module(h, "torch.distributions");
}

static Module *version_module(Host *h)
{
    Lang *l = h->lang;
    Module *m = new_module(h, "torch.version");
    bool amd = h->options.device->vendor == VENDOR_AMD;
    module_set(l, m, "hip", amd ? v_str(TEXT("6.4")) : V_NONE);
    module_set(l, m, "cuda", amd ? V_NONE : v_str(TEXT("13.0")));
    return m;
}

// ---- `with torch.no_grad():` and the like -----------------------------------

typedef struct {
    Foreign foreign;
    Host *host;
    bool off;                   // no gradients inside; else there are
    bool set;                   // by a call, before `with`
    int before;
} Guard;

static Value guard_enter(Lang *l, Foreign *self, Span at)
{
    Guard *g = (Guard *)self;
    (void)l, (void)at;
    if (!g->set)
        g->before = g->host->no_grad;
    g->host->no_grad = g->off;
    return V_NONE;
}

static void guard_exit(Lang *l, Foreign *self, Span at)
{
    const Guard *g = (Guard *)self;
    (void)l, (void)at;
    g->host->no_grad = g->before;
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

static Value guard(Lang *l, Host *h, bool off)
{
    Guard *g = xcalloc(1, sizeof *g);
    g->host = h;
    g->off = off;
    return lang_adopt(l, &g->foreign, &guard_type, sizeof *g);
}

static Value no_grad(Lang *l, void *ctx, const Args *args)
{
    (void)args;
    return guard(l, ctx, true);
}

// torch.Generator(): numbers come from one place here, so that its seed is
// that of all.
static bool generator_method(Lang *l, Foreign *self, Text name,
                             const Args *args, Value *out)
{
    if (!text_is(name, "manual_seed"))
        return false;
    seed(l, ((Guard *)self)->host, args);
    *out = v_foreign(self);
    return true;
}

static const ForeignType generator_type = {
    .name = "Generator", .method = generator_method,
};

static Value generator(Lang *l, void *ctx, const Args *args)
{
    Guard *g = xcalloc(1, sizeof *g);
    (void)args;
    g->host = ctx;
    return lang_adopt(l, &g->foreign, &generator_type, sizeof *g);
}

static Value enable_grad(Lang *l, void *ctx, const Args *args)
{
    (void)args;
    return guard(l, ctx, false);
}

// As a function it changes what is so from here on.
static Value set_grad_enabled(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    TORCH_BIND("set_grad_enabled", "mode");
    bool on = value_truth(l, v[0], at);
    Value g = guard(l, h, !on);
    ((Guard *)g.foreign)->set = true;
    ((Guard *)g.foreign)->before = h->no_grad;
    h->no_grad = !on;
    return g;
}

// ---- the package ------------------------------------------------------------

static Value default_dtype(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)args;
    return v_dtype(torch_float(ctx));
}

static Value set_default_dtype(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    TORCH_BIND("set_default_dtype", "d");
    DType t = value_to_dtype(l, v[0], at);
    if (!dtype_is_float(t) || dtype_is_fp8(t) || !dtype_info(t)->built)
        lang_raise(l, "TypeError", at, "set_default_dtype() takes float16, "
                   "bfloat16, float32 or float64, not %s", dtype_info(t)->name);
    h->default_float = t;
    return V_NONE;
}

static void add_types(Host *h, Module *m)
{
    static const struct {
        const char *name;
        DType t;
    } tensors[] = {
        {"Tensor", DT_NONE}, {"FloatTensor", DT_F32}, {"DoubleTensor", DT_F64},
        {"HalfTensor", DT_F16}, {"BFloat16Tensor", DT_BF16},
        {"LongTensor", DT_I64}, {"IntTensor", DT_I32}, {"ShortTensor", DT_I16},
        {"CharTensor", DT_I8}, {"ByteTensor", DT_U8}, {"BoolTensor", DT_BOOL},
    };
    for (size_t i = 0; i < countof(tensors); i++)
        add_type(h, m, tensors[i].name, VAL_FOREIGN, tensors[i].t);
    add_type(h, m, "dtype", VAL_DTYPE, DT_NONE);
    add_type(h, m, "Size", VAL_TUPLE, DT_NONE);
}

static Module *torch_root(Host *h)
{
    static const Plain rows[] = {
        {"manual_seed", seed}, {"no_grad", no_grad},
        {"enable_grad", enable_grad}, {"inference_mode", no_grad},
        {"device", first_argument},
        {"set_default_device", nothing}, {"set_printoptions", nothing},
        {"set_grad_enabled", set_grad_enabled}, {"is_tensor", is_tensor},
        {"finfo", finfo}, {"iinfo", iinfo}, {"result_type", result_type},
        {"promote_types", promote_types}, {"get_default_dtype", default_dtype},
        {"set_default_dtype", set_default_dtype}, {"Generator", generator},
        {"set_num_threads", nothing},
        {"compile", same},
    };
    Lang *l = h->lang;
    Module *m = new_module(h, "torch");
    add_functions(h, m, IN_TORCH);
    add_dtypes(h, m);
    add_plain(h, m, rows, countof(rows));
    add_types(h, m);
    module_set(l, m, "torch", module_value(m));
    module_set(l, m, "nn", module_value(nn_module(h)));
    module_set(l, m, "cuda", module_value(cuda_module(h)));
    module_set(l, m, "testing", module_value(testing_module(h)));
    module_set(l, m, "version", module_value(version_module(h)));
    module_set(l, m, "inf", v_float(INFINITY));
    module_set(l, m, "nan", v_float(NAN));
    module_set(l, m, "pi", v_float(M_PI));
    module_set(l, m, "e", v_float(M_E));
    module_set(l, m, "newaxis", V_NONE);
    module_set(l, m, "strided", v_str(TEXT("torch.strided")));
    module_set(l, m, "contiguous_format", V_NONE);
    module_set(l, m, "__version__", v_str(TEXT("2.8.0")));
    return m;
}

bool torch_import(Host *h, Text name, Value *out)
{
    static const struct {
        const char *name;
        Module *(*make)(Host *h);
    } modules[] = {
        {"torch", torch_root}, {"torch.nn", nn_module},
        {"torch.nn.functional", functional_module},
        {"torch.testing", testing_module}, {"torch.cuda", cuda_module},
        {"torch.version", version_module}, {"torch.random", random_module},
        {"torch.distributions", distributions_module},
    };
    if (einops_import(h, name, out) || safetensors_import(h, name, out)
        || prelude_import(h, name, out))
        return true;
    for (size_t i = 0; i < countof(modules); i++)
        if (text_is(name, modules[i].name)) {
            *out = module_value(modules[i].make(h));
            return true;
        }
    return false;
}
