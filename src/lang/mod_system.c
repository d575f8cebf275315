// mod_system.c - sys, time, warnings, logging.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lang/eval_int.h"

typedef Value Call(Lang *l, void *ctx, const Args *args);

static void add(Lang *l, Module *m, const char *name, Call *call)
{
    module_set(l, m, name, v_builtin(l, name, call, (void *)name));
}

// Takes anything, does nothing.
static Value ignore(Lang *l, void *ctx, const Args *args)
{
    (void)l;
    (void)ctx;
    (void)args;
    return V_NONE;
}

static Text text_arg(Lang *l, const char *function, const Args *args, int i)
{
    if (i >= args->count || args->at[i].kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span,
                   "%s() needs a str, not %s", function,
                   i < args->count ? value_type_name(args->at[i])
                                   : "nothing");
    return args->at[i].s;
}

// ---- sys -------------------------------------------------------------------

static Value s_exit(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    args_count(l, "exit", args, 0, 1);
    exception_raise(l, exception_new(l, l->more->exceptions[EXC_SYSTEM_EXIT],
                                     args->at, args->count), args->at_span);
}

static Value s_write(Lang *l, void *ctx, const Args *args)
{
    Text t = text_arg(l, "write", args, 0);

    fwrite(t.at, 1, t.len, ctx ? stderr : l->options.out);
    return v_int(str_len(t));
}

static Value stream(Lang *l, const char *name, void *ctx)
{
    Module *m = lang_module(l, name);

    module_set(l, m, "write", v_builtin(l, "write", s_write, ctx));
    add(l, m, "flush", ignore);
    return v_module(m);
}

static Value argv_list(Lang *l)
{
    List *out = list_new(l, l->options.argc + 1, false);
    uint32_t file = l->main ? l->main->file : 0;

    list_append(l, out, v_str(file ? text_of(sources_get(l->options.sources,
                                                         file)->path)
                                   : TEXT("")));
    for (int i = 0; i < l->options.argc; i++)
        list_append(l, out, v_str(l->options.argv[i]));
    return v_of_list(out);
}

static Value version_info(Lang *l)
{
    static const char *const names[] = {"major", "minor", "micro",
                                        "releaselevel", "serial"};
    Value v[5] = {v_int(3), v_int(12), v_int(0), v_cstr("final"), v_int(0)};

    return v_record(l, "version_info", names, v, 5);
}

void fill_sys(Lang *l, Module *m)
{
    add(l, m, "exit", s_exit);
    module_set(l, m, "argv", argv_list(l));
    module_set(l, m, "path", v_list(l, NULL, 0));
    module_set(l, m, "version", v_cstr("3.12.0 (tilesim)"));
    module_set(l, m, "version_info", version_info(l));
    module_set(l, m, "platform", v_cstr("linux"));
    module_set(l, m, "executable", v_cstr(""));
    module_set(l, m, "byteorder", v_cstr("little"));
    module_set(l, m, "maxsize", v_int(INT64_MAX));
    module_set(l, m, "stdout", stream(l, "sys.stdout", NULL));
    module_set(l, m, "stderr", stream(l, "sys.stderr", m));
}

// ---- time ------------------------------------------------------------------

static Value t_time(Lang *l, void *ctx, const Args *args)
{
    struct timespec t;

    args_count(l, ctx, args, 0, 0);
    clock_gettime(strcmp(ctx, "time") == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC,
                  &t);
    return v_float((double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
}

void fill_time(Lang *l, Module *m)
{
    add(l, m, "time", t_time);
    add(l, m, "perf_counter", t_time);
    add(l, m, "monotonic", t_time);
    add(l, m, "process_time", t_time);
    add(l, m, "sleep", ignore);
}

// ---- warnings and logging --------------------------------------------------

static Value w_warn(Lang *l, void *ctx, const Args *args)
{
    Value text;

    (void)ctx;
    if (args->count < 1)
        lang_raise(l, "TypeError", args->at_span,
                   "warn() missing required argument 'message'");
    value_str(l, text_begin(l), args->at[0]);
    text = text_end(l);
    diag_warning(l->options.diag, args->at_span, "stage-warning", "%.*s",
                 TEXT_ARG(text.s));
    return V_NONE;
}

// with warnings.catch_warnings(): warnings are no exceptions here, and are
// shown whatever the filters say.
static Value w_enter(Lang *l, Foreign *self, Span at)
{
    (void)l;
    (void)self;
    (void)at;
    return V_NONE;
}

static void w_exit(Lang *l, Foreign *self, Span at)
{
    (void)l;
    (void)self;
    (void)at;
}

static const ForeignType catch_type = {
    .name = "catch_warnings", .enter = w_enter, .exit = w_exit,
};

static Value w_catch(Lang *l, void *ctx, const Args *args)
{
    Value record;

    (void)ctx;
    for (int i = 0; i < args->keyword_count; i++) {
        record = args->values[i];
        if (text_is(args->names[i], "record") &&
            value_truth(l, record, args->at_span))
            lang_unsupported(l, args->at_span, "catch_warnings(record=True)");
    }
    return lang_adopt(l, xcalloc(1, sizeof(Foreign)), &catch_type,
                      sizeof(Foreign));
}

void fill_warnings(Lang *l, Module *m)
{
    add(l, m, "warn", w_warn);
    add(l, m, "filterwarnings", ignore);
    add(l, m, "simplefilter", ignore);
    add(l, m, "resetwarnings", ignore);
    add(l, m, "catch_warnings", w_catch);
}

static void add_logging(Lang *l, Module *m)
{
    static const char *const names[] = {
        "debug", "info", "warning", "error", "critical", "exception",
        "setLevel", "addHandler", "basicConfig", "disable",
    };

    for (size_t i = 0; i < countof(names); i++)
        add(l, m, names[i], ignore);
}

static Value g_logger(Lang *l, void *ctx, const Args *args)
{
    Module *m = lang_module(l, "logging.Logger");

    (void)ctx;
    args_count(l, "getLogger", args, 0, 1);
    add_logging(l, m);
    module_set(l, m, "name", args->count ? args->at[0] : v_cstr("root"));
    return v_module(m);
}

void fill_logging(Lang *l, Module *m)
{
    static const char *const levels[] = {"DEBUG", "INFO", "WARNING", "ERROR",
                                         "CRITICAL"};

    add_logging(l, m);
    add(l, m, "getLogger", g_logger);
    for (size_t i = 0; i < countof(levels); i++)
        module_set(l, m, levels[i], v_int(10 * (int64_t)(i + 1)));
}
