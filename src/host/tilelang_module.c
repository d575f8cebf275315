// tilelang_module.c - the package tilelang and its parts, as scripts import
// them. What upstream has and this has not is an unknown thing: using it is
// the error.
#include <math.h>
#include <string.h>

#include "host/tilelang_int.h"
#include "host/verdict.h"

static Value module_value(Module *m)
{
    return (Value){.kind = VAL_MODULE, .module = m};
}

static Value nothing(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)ctx, (void)args;
    return V_NONE;
}

// A decorator without effect: @decorator, or @decorator(...).
static Value same(Lang *l, void *ctx, const Args *args)
{
    ValueKind kind = args->count == 1 ? args->at[0].kind : VAL_NONE;

    if (kind == VAL_FUNCTION || kind == VAL_KERNEL)
        return args->at[0];
    return v_builtin(l, "decorator", same, ctx);
}

// A simplified function has no parameters that it does not use.
static Value simplified(Lang *l, void *ctx, const Args *args)
{
    if (args->count && args->at[0].kind == VAL_KERNEL)
        ir_drop_unused_params(args->at[0].kernel);
    return same(l, ctx, args);
}

// ---- `with` without effect ---------------------------------------------------------

typedef struct {
    Foreign foreign;
} Quiet;

static Value quiet_enter(Lang *l, Foreign *self, Span at)
{
    (void)l, (void)self, (void)at;
    return V_NONE;
}

static void quiet_exit(Lang *l, Foreign *self, Span at)
{
    (void)l, (void)self, (void)at;
}

static const ForeignType quiet_type = {
    .name = "context", .enter = quiet_enter, .exit = quiet_exit,
};

static Value quiet(Lang *l, void *ctx, const Args *args)
{
    Quiet *q = xcalloc(1, sizeof *q);

    (void)ctx, (void)args;
    return lang_adopt(l, &q->foreign, &quiet_type, sizeof *q);
}

// ---- numbers -----------------------------------------------------------------------

static Value cdiv(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"a", "b"};
    Value v[2];

    (void)ctx;
    args_bind(l, "cdiv", args, names, 2, v);
    if (v_is_device(v[0]) || v_is_device(v[1])) {   // inside a kernel
        Args both = {.at = v, .count = 2, .at_span = args->at_span};
        Value ceildiv;
        lang_getattr(l, module_value(lang_language_module(l)),
                     TEXT("ceildiv"), &ceildiv, args->at_span);
        return lang_call(l, ceildiv, &both);
    }
    int64_t a = value_to_int(l, v[0], "a", args->at_span);
    int64_t b = value_to_int(l, v[1], "b", args->at_span);
    if (b <= 0 || a > INT64_MAX - b)
        lang_raise(l, "ValueError", args->at_span, "cdiv(%lld, %lld)",
                   (long long)a, (long long)b);
    int64_t up = a + b - 1;
    return v_int(up / b - (up % b < 0));
}

static Value next_power_of_2(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"n"};
    Value v;

    (void)ctx;
    args_bind(l, "next_power_of_2", args, names, 1, &v);
    int64_t n = value_to_int(l, v, "n", args->at_span), p = 1;
    if (n > INT64_C(1) << 62)
        lang_raise(l, "OverflowError", args->at_span, "%lld is too large",
                   (long long)n);
    while (p < n)
        p *= 2;
    return v_int(p);
}

static Value num_sms(Lang *l, void *ctx, const Args *args)
{
    const Host *h = ctx;

    (void)l, (void)args;
    return v_int(h->options.device->sms);
}

static Value check_hip(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)args;
    return v_bool(((Host *)ctx)->options.device->vendor == VENDOR_AMD);
}

static Value is_gfx950(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)args;
    return v_bool(strcmp(device_arch_name(((Host *)ctx)->options.device),
                         "gfx950") == 0);
}

// "9.0"
static Value compute_version(Lang *l, void *ctx, const Args *args)
{
    const Device *d = ((Host *)ctx)->options.device;
    Text arch = text_of(device_arch_name(d));

    (void)args;
    if (!text_starts(arch, "sm_") || arch.len < 5)
        return v_str(arch);
    return v_text(l, "%c.%c", arch.at[3], arch.at[4]);
}

// The 8-bit float of the target's matrix cores.
static Value fp8_type(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"fp8_format="};
    const Device *d = ((Host *)ctx)->options.device;
    Value v;

    args_bind(l, "determine_fp8_type", args, names, 1, &v);
    Text format = v.kind == VAL_UNBOUND ? TEXT("e4m3") : v.s;
    bool e5m2 = v.kind == VAL_STR && text_is(format, "e5m2");
    if (v.kind != VAL_UNBOUND
        && (v.kind != VAL_STR || (!e5m2 && !text_is(format, "e4m3"))))
        lang_raise(l, "ValueError", args->at_span,
                   "fp8_format is 'e4m3' or 'e5m2'");
    if (d->fp8 == FP8_FNUZ)
        return v_dtype(e5m2 ? DT_E5M2FNUZ : DT_E4M3FNUZ);
    return v_dtype(e5m2 ? DT_E5M2 : DT_E4M3FN);
}

// tilelang.par_compile([func, ...], **options of compile)
static Value par_compile(Lang *l, void *ctx, const Args *args)
{
    Value out = v_list(l, NULL, 0);
    Args one = *args;

    if (args->count != 1)
        lang_raise(l, "TypeError", args->at_span,
                   "par_compile() takes a list of functions");
    List *funcs = value_to_list(l, args->at[0], args->at_span);
    for (int i = 0; i < funcs->len; i++) {
        one.at = &funcs->at[i];
        list_append(l, out.list, tilelang_compile(l, ctx, &one));
    }
    return out;
}

// ---- tvm -------------------------------------------------------------------------

// tvm.DataType(dtype), for its .bits
static Value data_type(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"dtype"};
    Value v;

    (void)ctx;
    args_bind(l, "DataType", args, names, 1, &v);
    return v_dtype(value_to_dtype(l, v, args->at_span));
}

// tvm.tirx.const(value, dtype)
static Value constant(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"value", "dtype="};
    Value v[2];

    (void)ctx;
    args_bind(l, "const", args, names, 2, v);
    if (v[1].kind == VAL_UNBOUND)
        return v[0];
    Args one = {.at = v, .count = 1, .at_span = args->at_span};
    return lang_call(l, v_dtype(value_to_dtype(l, v[1], args->at_span)), &one);
}

// ---- comparing and timing --------------------------------------------------------------

static double number_or(Lang *l, Value v, double fallback, Span at)
{
    return v.kind == VAL_UNBOUND ? fallback
                                 : value_to_float(l, v, "a tolerance", at);
}

static const Tensor *compared(Lang *l, Value v, Span at)
{
    const Tensor *t = tensor_of(v);

    if (!t)
        lang_raise(l, "TypeError", at,
                   "torch_assert_close compares tensors; found %s",
                   value_type_name(v));
    return t;
}

// How many elements of a are not within tolerance of b's.
static int64_t mismatches(Lang *l, const Tensor *a, const Tensor *b,
                          double rtol, double atol, Span at)
{
    Tensor x = {0}, y = {0};
    CompareRule rule = {.rtol = rtol, .atol = atol};

    if (!tensor_cast(&x, a, DT_F64, true) || !tensor_cast(&y, b, DT_F64, true)) {
        tensor_release(&x);
        lang_unsupported(l, at, "a comparison beyond the memory limit");
    }
    CompareSums s = compare_range(&x, &y, 0, tensor_count(a), &rule);
    tensor_release(&x);
    tensor_release(&y);
    return s.over;
}

static Value torch_assert_close(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {
        "tensor_a", "tensor_b", "rtol=", "atol=", "max_mismatched_ratio=",
        "verbose=", "equal_nan=", "check_device=", "check_dtype=",
        "check_layout=", "check_stride=", "base_name=", "ref_name=",
    };
    const Host *h = ctx;
    Span at = args->at_span;
    Value v[countof(names)];

    args_bind(l, "torch_assert_close", args, names, countof(names), v);
    const Tensor *a = compared(l, v[0], at), *b = compared(l, v[1], at);
    if (!tensor_same_shape(a, b))
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "the tensors have different shapes");
    bool same_dtype = v[8].kind == VAL_UNBOUND || value_truth(l, v[8], at);
    if (same_dtype && a->dtype != b->dtype)
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "the tensors are %s and %s", dtype_info(a->dtype)->name,
                        dtype_info(b->dtype)->name);
    if (h->options.record_only)
        return V_NONE;
    double rtol = number_or(l, v[2], 1e-2, at);
    double atol = number_or(l, v[3], 1e-3, at);
    double ratio = number_or(l, v[4], 1e-3, at);
    int64_t n = tensor_count(a), bad = mismatches(l, a, b, rtol, atol, at);
    if ((double)bad > floor(ratio * (double)n))
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "%lld of %lld elements differ by more than rtol %g, "
                        "atol %g; at most %g %% may", (long long)bad,
                        (long long)n, rtol, atol, 100 * ratio);
    lang_checked(l);
    return v_bool(true);
}

// The time of a CPU says nothing about a GPU: NaN, and why. What only records
// kernels calls the function, which may make some.
static Value do_bench(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    Value quantiles = keyword(args, "quantiles");
    Args none = {.at_span = args->at_span};

    if (args->count < 1 && keyword(args, "fn").kind == VAL_UNBOUND)
        lang_raise(l, "TypeError", args->at_span,
                   "do_bench() is missing argument 'fn'");
    if (h->options.record_only)
        lang_call(l, args->count ? args->at[0] : keyword(args, "fn"), &none);
    else
        diag_warning(h->options.diag, args->at_span, "no-gpu-time",
                     "do_bench gives nan: no GPU ran this");
    if (quantiles.kind != VAL_LIST && quantiles.kind != VAL_TUPLE)
        return v_float(NAN);
    Value *all = new_array(lang_arena(l), Value, quantiles.list->len + 1);
    for (int i = 0; i < quantiles.list->len; i++)
        all[i] = v_float(NAN);
    return v_list(l, all, quantiles.list->len);
}

// What a supply gives is asked for by a profiler; nobody calls it here.
static Value call_supply(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    lang_unsupported(l, args->at_span, "calling a tensor supply");
}

static Value get_tensor_supply(Lang *l, void *ctx, const Args *args)
{
    (void)args;
    return v_builtin(l, "tensor_supply", call_supply, ctx);
}

static Value set_random_seed(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"seed="};
    Host *h = ctx;
    Value v;

    args_bind(l, "set_random_seed", args, names, 1, &v);
    h->options.seed = v.kind == VAL_UNBOUND
                          ? 42 : (uint64_t)value_to_int(l, v, "seed",
                                                        args->at_span);
    h->random_streams = 0;
    return V_NONE;
}

// ---- tilelang.tools.cuda.iket: marks in a profile ----------------------------------------

static Value same_value(Lang *l, void *ctx, const Args *args)
{
    (void)l, (void)ctx;
    return args->count ? args->at[0] : V_NONE;
}

// ---- the tables ----------------------------------------------------------------------

typedef struct {
    const char *module;         // without "tilelang."; "" for the package
    const char *name;
    TilelangFn *call;
} Row;

static const Row rows[] = {
    {"", "jit", tilelang_jit},
    {"", "lazy_jit", tilelang_jit},
    {"", "autotune", tilelang_autotune},
    {"", "compile", tilelang_compile},
    {"", "JITKernel", tilelang_compile},
    {"", "par_compile", par_compile},
    {"", "cdiv", cdiv},
    {"", "next_power_of_2", next_power_of_2},
    {"", "disable_cache", nothing},
    {"", "enable_cache", nothing},
    {"", "clear_cache", nothing},
    {"", "set_log_level", nothing},
    {"jit", "jit", tilelang_jit},
    {"jit", "lazy_jit", tilelang_jit},
    {"jit", "compile", tilelang_compile},
    {"jit", "par_compile", par_compile},
    {"autotuner", "autotune", tilelang_autotune},
    {"autotuner", "set_autotune_inputs", quiet},
    {"math", "cdiv", cdiv},
    {"math", "next_power_of_2", next_power_of_2},
    {"profiler", "do_bench", do_bench},
    {"carver.arch.driver", "get_num_sms", num_sms},
    {"utils.tensor", "torch_assert_close", torch_assert_close},
    {"utils.tensor", "get_tensor_supply", get_tensor_supply},
    {"testing", "torch_assert_close", torch_assert_close},
    {"testing", "set_random_seed", set_random_seed},
    {"language.fp8", "determine_fp8_type", fp8_type},
    {"language.fp8", "determine_torch_fp8_type", fp8_type},
    {"contrib.nvcc", "get_target_compute_version", compute_version},
    {"rocm.target", "check_hip_availability", check_hip},
    {"rocm.target", "target_is_gfx950", is_gfx950},
    {"transform", "simplify_prim_func", same},
    {"engine.callback", "register_cuda_postproc_callback", same},
    {"transform.simplify", "apply_simplify", simplified},
    {"transform.simplify", "simplify_prim_func", same},
    {"engine.callback", "register_hip_postproc_callback", same},
    {"tools.cuda.iket", "range", quiet},
    {"tools.cuda.iket", "session", quiet},
    {"tools.cuda.iket", "mark", nothing},
    {"tools.cuda.iket", "payload", same_value},
    {"tools.cuda.iket", "event_table", nothing},
    {"tools.cuda.iket", "output_dir", nothing},
    {"tools.cuda.iket", "runtime_payloads_enabled", nothing},
    {"", "DataType", data_type},
    {"tvm", "DataType", data_type},
    {"tvm.testing", "requires_package", same},
    {"tvm.tirx", "const", constant},
};

// The modules below the package.
static const char *const parts[] = {
    "jit", "autotuner", "math", "profiler", "carver", "carver.arch",
    "carver.arch.driver", "utils", "utils.tensor", "utils.target", "testing",
    "language.fp8", "contrib", "contrib.nvcc", "engine", "engine.callback",
    "tools", "tools.cuda", "tools.cuda.iket", "transform",
    "transform.simplify", "tileop",
    "tileop.base", "tvm", "tvm.tirx", "tvm.testing", "intrinsics", "cuda",
    "cuda.intrinsics",
    "rocm", "rocm.intrinsics", "rocm.intrinsics.mfma_macro_generator",
    "rocm.target",
    "cuda.intrinsics.layout", "cuda.intrinsics.layout.mma_layout",
    "cuda.intrinsics.macro", "cuda.intrinsics.macro.mma_macro_generator",
    "language.tir", "language.tir.ir",
    "cuda.language", "cuda.language.intrinsics", "rocm.language",
    "rocm.language.intrinsics",
};

// PassConfigKey.TL_ENABLE_FAST_MATH is "tl.enable_fast_math".
static bool config_key(Lang *l, Module *m, Text name, Value *out)
{
    TextBuf b = {0};
    bool prefix = true;

    (void)m;
    if (!text_starts(name, "TL_") && !text_starts(name, "TIR_")
        && !text_starts(name, "CUDA_"))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];

        buf_addc(&b, prefix && c == '_' ? '.' : c >= 'A' && c <= 'Z'
                         ? (char)(c - 'A' + 'a') : c);
        prefix = prefix && c != '_';
    }
    *out = v_str(text_copy(lang_arena(l), buf_view(&b)));
    buf_release(&b);
    return true;
}

static Value supply_types(Lang *l)
{
    static const char *const names[] = {
        [SUPPLY_AUTO] = "Auto", [SUPPLY_INTEGER] = "Integer",
        [SUPPLY_UNIFORM] = "Uniform", [SUPPLY_NORMAL] = "Normal",
        [SUPPLY_RANDN] = "Randn", [SUPPLY_ZERO] = "Zero",
        [SUPPLY_ONE] = "One",
    };
    Module *m = lang_module(l, "TensorSupplyType");

    for (int i = 0; i < SUPPLY_COUNT; i++)
        module_set(l, m, names[i], v_int(i));
    return module_value(m);
}

static Value config_keys(Lang *l)
{
    Module *m = lang_module(l, "PassConfigKey");

    m->lookup = config_key;
    return module_value(m);
}

static bool known_part(Host *h, Text name, Value *out);
static Module *make_part(Host *h, Text part);
static bool lookup(Lang *l, Module *m, Text name, Value *out);

// __all__ of what has the primitives.
static Value primitive_names(Lang *l)
{
    Value out = v_list(l, NULL, 0);

    for (int i = 0; i < OP_COUNT; i++) {
        const char *surface = op_info(lang_options(l)->ops, (Op)i)->surface;

        if (surface && text_starts(text_of(surface), "T."))
            list_append(l, out.list, v_str(text_of(surface + strlen("T."))));
    }
    return out;
}

// Things that are no functions, by the part they stand in.
static void add_values(Host *h, Module *m, Text part)
{
    Lang *l = h->lang;
    Value policy, errors;
    bool root = part.len == 0;

    if (root || text_is(part, "transform"))
        module_set(l, m, "PassConfigKey", config_keys(l));
    if (root || text_is(part, "utils.tensor") || text_is(part, "utils"))
        module_set(l, m, "TensorSupplyType", supply_types(l));
    if (text_is(part, "tvm")
        && known_part(h, TEXT("tilelang.tvm.error"), &errors)
        && lang_getattr(l, errors, TEXT("TVMError"), &errors, (Span){0}))
        module_set(l, m, "TVMError", errors);
    if (text_is(part, "language.tir.ir"))
        module_set(l, m, "__all__", primitive_names(l));
    if (text_is(part, "autotuner"))
        module_set(l, m, "AutoTuner", autotuner_class(h));
    if (text_is(part, "tileop.base")
        && lang_getattr(l, module_value(lang_language_module(l)),
                        TEXT("GemmWarpPolicy"), &policy, (Span){0}))
        module_set(l, m, "GemmWarpPolicy", policy);
    if (!root)
        return;
    module_set(l, m, "language", module_value(lang_language_module(l)));
    module_set(l, m, "layout", module_value(lang_layout_module(l)));
    module_set(l, m, "__kernels__", h->kept);
    module_set(l, m, "__version__", v_str(TEXT("0.1.13")));
    module_set(l, m, "__file__", v_str(TEXT("tilelang/__init__.py")));
}


// What is of upstream's compiler: its IR, its passes, the text they make.
static bool of_compiler(Text full)
{
    static const char *const names[] = {
        "tilelang.tvm.", "tilelang.transform.", "tilelang.engine.",
        "tilelang.ir.", "tilelang.cuda.pipeline.", "tilelang.lower", "tilelang.PrimFunc",
    };

    for (size_t i = 0; i < countof(names); i++)
        if (text_starts(full, names[i]))
            return true;
    return false;
}

static bool primitive(Lang *l, Text name, Value *out)
{
    return !text_is(name, "Var")            // makes one, where T.Var is a type
           && lang_getattr(l, module_value(lang_language_module(l)), name, out,
                        (Span){0})
           && !(out->kind == VAL_PRIM
                && op_info(lang_options(l)->ops, out->prim)->status
                       != OPSTATUS_BUILT);
}

// The modules that are here.
static bool known_part(Host *h, Text name, Value *out)
{
    Lang *l = h->lang;

    if (text_is(name, "tilelang.language")) {
        *out = module_value(lang_language_module(l));
        return true;
    }
    if (text_is(name, "tilelang.layout")) {
        Module *m = lang_layout_module(l);

        m->lookup = lookup;
        *out = module_value(m);
        return true;
    }
    if (text_is(name, "tilelang")) {
        *out = module_value(make_part(h, TEXT("")));
        return true;
    }
    if (!text_starts(name, "tilelang."))
        return false;
    Text part = text_slice(name, strlen("tilelang."), name.len);
    for (size_t i = 0; i < countof(parts); i++)
        if (text_is(part, parts[i])) {
            *out = module_value(make_part(h, part));
            return true;
        }
    return prelude_import(h, name, out);
}

// An emitter is about to add products: not to the bit as the instruction does.
static Value in_ieee(Lang *l, void *ctx, const Args *args)
{
    const Host *h = ctx;

    if (h->options.numerics == NUMERICS_EXACT)
        lang_unsupported(l, args->at_span, "--numerics of hand-written matrix "
                         "code, which is computed in IEEE arithmetic,");
    return V_NONE;
}

// What hand-written matrix code imports: swizzled layouts and emitters.
static bool matrix_code(Lang *l, Text module, Text name, Value *out)
{
    Value emitters;

    if (!text_ends(module, ".intrinsics") && !text_ends(module, ".mma_layout")
        && !text_ends(module, "_macro_generator"))
        return false;
    if (lang_getattr(l, module_value(lang_layout_module(l)), name, out,
                     (Span){0}))
        return true;
    Host *h = lang_options(l)->ctx;
    if (!prelude_import(h, TEXT("_emitters"), &emitters))
        return false;
    module_set(l, emitters.module, "in_ieee",
               v_builtin(l, "in_ieee", in_ieee, h));
    return lang_getattr(l, emitters, name, out, (Span){0});
}

// A part of this part; else something that only upstream has.
static bool lookup(Lang *l, Module *m, Text name, Value *out)
{
    Text full = text_format(lang_arena(l), "%.*s.%.*s", TEXT_ARG(m->name),
                            TEXT_ARG(name));

    if (text_starts(name, "__"))
        return false;
    if ((text_is(m->name, "tilelang.tvm.tirx")      // T without its tiles
         || text_starts(m->name, "tilelang.language.tir"))
        && primitive(l, name, out))
        return true;
    if (matrix_code(l, m->name, name, out))
        return true;
    // upstream's module has two emitters: another one cannot be imported
    if (text_is(m->name, "tilelang.cuda.intrinsics.macro.mma_macro_generator")
        && text_ends(name, "IntrinEmitter"))
        return false;
    if (known_part(lang_options(l)->ctx, full, out))
        return true;
    if (of_compiler(full)) {
        *out = v_unseen(l);
        return true;
    }
    Module *unknown = lang_module(l, text_cstr(lang_arena(l), full));
    unknown->opaque = true;
    *out = module_value(unknown);
    return true;
}

// What is Python text: requires_cuda and the like.
static void add_testing(Host *h, Module *m)
{
    Value v;

    if (!prelude_import(h, TEXT("tilelang.testing"), &v))
        BUG("the prelude has no tilelang.testing");
    for (int i = 0; i < v.module->members.len; i++) {
        const MapEntry *e = &v.module->members.at[i];

        if (!text_starts(e->key, "__"))
            module_set(h->lang, m, text_cstr(h->options.arena, e->key),
                       *(const Value *)e->value);
    }
}

static Module *make_part(Host *h, Text part)
{
    Text name = part.len ? text_format(h->options.arena, "tilelang.%.*s",
                                       TEXT_ARG(part))
                         : TEXT("tilelang");
    Module *m = lang_module(h->lang, text_cstr(h->options.arena, name));

    m->lookup = lookup;
    for (size_t i = 0; i < countof(rows); i++)
        if (text_is(part, rows[i].module))
            module_set(h->lang, m, rows[i].name,
                       v_builtin(h->lang, rows[i].name, rows[i].call, h));
    add_values(h, m, part);
    if (text_is(part, "testing"))
        add_testing(h, m);
    return m;
}

// tvm is also tilelang.tvm; everything of it can be imported.
bool tilelang_import(Host *h, Text name, Value *out)
{
    if (text_is(name, "tvm") || text_starts(name, "tvm."))
        name = text_format(h->options.arena, "tilelang.%.*s", TEXT_ARG(name));
    if (known_part(h, name, out))
        return true;
    if (!text_starts(name, "tilelang.tvm.")
        && !text_starts(name, "tilelang.transform.")
        && !text_starts(name, "tilelang.engine.")
        && !text_is(name, "tilelang.ir")
        && !text_is(name, "tilelang.cuda.pipeline"))
        return false;
    *out = module_value(make_part(h, text_slice(name, strlen("tilelang."),
                                                name.len)));
    return true;
}
