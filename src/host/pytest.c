// pytest.c - runs a file's test functions; what pytest needs beyond Python.
//
// prelude/pytest.py turns functions, marks and parameters into cases; here the
// cases are run one after the other, each under a handler of its own, and
// counted. A failure is reported like any other error, with a note that names
// the case and its parameters.
#include <regex.h>
#include <string.h>

#include "host/tilelang_int.h"
#include "support/parallel.h"

// ---- pytest.raises ----------------------------------------------------------------

typedef struct {
    Foreign foreign;
    Host *host;
    Value type, match, caught;
    DiagHold hold;
    int64_t unseen;             // generated code made so far
    int kernels;                // made so far
} Raises;

// Python's regular expressions as POSIX ones, as far as they go: groups that
// are not kept and \d are written otherwise.
static Text posix_pattern(Lang *l, Text t, Span at)
{
    TextBuf b = {0};

    for (size_t i = 0; i < t.len; i++) {
        bool escape = t.at[i] == '\\' && i + 1 < t.len;

        if (escape && t.at[i + 1] == 'd')
            buf_puts(&b, "[0-9]"), i++;
        else if (escape)
            buf_add(&b, t.at + i, 2), i++;
        else if (t.at[i] == '(' && i + 2 < t.len && t.at[i + 1] == '?'
                 && t.at[i + 2] == ':')
            buf_addc(&b, '('), i += 2;
        else if (t.at[i] == '(' && i + 1 < t.len && t.at[i + 1] == '?')
            buf_release(&b), lang_unsupported(l, at, "'(?' in a pattern");
        else
            buf_addc(&b, t.at[i]);
    }
    Text out = text_copy(lang_arena(l), buf_view(&b));
    buf_release(&b);
    return out;
}

// re.search
static bool pattern_found(Lang *l, Text pattern, Text in, Span at)
{
    Arena *a = lang_arena(l);
    regex_t re;

    if (regcomp(&re, text_cstr(a, posix_pattern(l, pattern, at)),
                REG_EXTENDED | REG_NOSUB))
        lang_raise(l, "ValueError", at, "'%.*s' is no pattern",
                   TEXT_ARG(pattern));
    bool found = regexec(&re, text_cstr(a, in), 0, NULL, 0) == 0;
    regfree(&re);
    return found;
}

static Text words_of(Lang *l, Value v)
{
    TextBuf b = {0};

    value_str(l, &b, v);
    Text t = text_copy(lang_arena(l), buf_view(&b));
    buf_release(&b);
    return t;
}

static Value raises_enter(Lang *l, Foreign *self, Span at)
{
    Raises *r = (Raises *)self;

    (void)at;
    r->hold = diag_hold(r->host->options.diag);
    r->unseen = lang_unseen(l).made;
    r->kernels = r->host->kernels.len;
    return v_foreign(self);
}

static void check_match(Lang *l, const Raises *r, Span at)
{
    Text words = words_of(l, r->caught);

    if (r->match.kind == VAL_STR
        && !pattern_found(l, r->match.s, words, at))
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "the exception says '%.*s', which does not match "
                        "'%.*s'", TEXT_ARG(words), TEXT_ARG(r->match.s));
}

// Nothing was raised, and a kernel was made there: upstream's
// compiler refuses a kernel, for a limit of what it can generate.
static bool compiler_refuses(Lang *l, Raises *r, Span at)
{
    Host *h = r->host;

    r->caught = v_unseen(l);        // what its message says is not known
    if (lang_unseen(l).made > r->unseen + 1) {
        lang_not_compared(l, at);
        return true;
    }
    if (h->kernels.len == r->kernels)
        return false;
    h->refusals++;
    diag_warning(h->options.diag, at, "not-refused", "upstream's compiler is "
                 "expected to refuse this kernel; here it has a meaning");
    return true;
}

static bool raises_leave(Lang *l, Foreign *self, Value e, bool catchable,
                         Span at)
{
    Raises *r = (Raises *)self;
    bool expected = e.kind != VAL_NONE && catchable
                    && lang_is_instance(l, e, r->type, at);

    diag_settle(r->host->options.diag, &r->hold, expected);
    if (e.kind == VAL_NONE && compiler_refuses(l, r, at))
        return false;
    if (e.kind == VAL_NONE)
        lang_raise_exit(l, EXIT_FINDINGS, "AssertionError", at,
                        "nothing was raised, where %.*s was expected",
                        TEXT_ARG(words_of(l, r->type)));
    if (!expected)
        return false;
    r->caught = e;
    check_match(l, r, at);
    lang_checked(l);
    return true;
}

static bool raises_getattr(Lang *l, Foreign *self, Text name, Value *out,
                           Span at)
{
    const Raises *r = (Raises *)self;

    (void)l, (void)at;
    if (!text_is(name, "value"))
        return false;
    *out = r->caught;
    return true;
}

static void raises_mark(Foreign *self, void (*mark)(Lang *l, Value v), Lang *l)
{
    const Raises *r = (Raises *)self;

    mark(l, r->type);
    mark(l, r->match);
    mark(l, r->caught);
}

static const ForeignType raises_type = {
    .name = "RaisesContext", .enter = raises_enter, .leave = raises_leave,
    .getattr = raises_getattr, .mark = raises_mark,
};

static Value raises(Lang *l, void *ctx, const Args *args)
{
    static const char *const names[] = {"expected_exception", "*", "match="};
    Value v[countof(names)];

    args_bind(l, "raises", args, names, countof(names), v);
    Raises *r = xcalloc(1, sizeof *r);
    r->host = ctx;
    r->type = v[0];
    r->match = v[countof(names) - 1];
    r->caught = V_NONE;
    return lang_adopt(l, &r->foreign, &raises_type, sizeof *r);
}

// ---- what prelude/pytest.py asks ----------------------------------------------------

static Value first(Lang *l, const Args *args)
{
    if (args->count != 1)
        lang_raise(l, "TypeError", args->at_span, "expected one argument");
    return args->at[0];
}

static Value is_function(Lang *l, void *ctx, const Args *args)
{
    (void)ctx;
    return v_bool(first(l, args).kind == VAL_FUNCTION);
}

static Value is_test(Lang *l, void *ctx, const Args *args)
{
    Value v = first(l, args);

    (void)ctx;
    return v_bool(v.kind == VAL_FUNCTION || v.kind == VAL_CLASS);
}

// The names of a function's parameters; of a method's too.
static Value param_names(Lang *l, void *ctx, const Args *args)
{
    Value v = first(l, args), out = v_list(l, NULL, 0), fallback;
    bool has;

    (void)ctx;
    if (v.kind == VAL_BOUND)
        v = v.bound->callee;
    for (int i = 0; v.kind == VAL_FUNCTION
                    && i < function_param_count(v.function); i++)
        list_append(l, out.list, v_str(function_param(v.function, i, &fallback,
                                                      &has)));
    return out;
}

static Value find_module(Lang *l, void *ctx, const Args *args)
{
    Value name = first(l, args);

    (void)ctx;
    if (name.kind != VAL_STR)
        lang_raise(l, "TypeError", args->at_span, "a module's name is a str");
    Module *m = lang_find_module(l, name.s, args->at_span);
    return m ? (Value){.kind = VAL_MODULE, .module = m} : V_NONE;
}

// (name, value) of what a module defines.
static Value members(Lang *l, const Module *m)
{
    Value out = v_list(l, NULL, 0);

    for (int i = 0; i < m->members.len; i++) {
        const Value *v = m->members.at[i].value;
        Value pair[2] = {v_str(m->members.at[i].key)};

        if (!v || v->kind == VAL_UNBOUND)
            continue;
        pair[1] = *v;
        list_append(l, out.list, v_tuple(l, pair, 2));
    }
    return out;
}

// ---- running ------------------------------------------------------------------------

typedef struct {
    Value function, result;     // result: None, or why it was skipped
} Case;

static void run_body(Lang *l, void *ctx)
{
    Case *c = ctx;
    Args none = {0};

    c->result = lang_call(l, c->function, &none);
}

// How a case ended. What it asserted about generated code is not compared: see
// lang/unseen.c.
typedef enum {
    CASE_PASSED,                // it asserted something, and all of it held
    CASE_FAILED,
    CASE_SKIPPED,
    CASE_PARTLY,                // values held, generated code is not compared
    CASE_UNSEEN,                // it asserts nothing but generated code
    CASE_STOPPED,               // it fails after a guess of generated code
    CASE_REFUSED,               // it asserts that upstream's compiler refuses
    CASE_UNCHECKED,             // it asserts nothing
    CASE_COUNT
} CaseEnd;

typedef struct {
    int at[CASE_COUNT];
} Counts;

// What was asserted until now.
typedef struct {
    int64_t checks, refusals, differences;
    Unseen unseen;
} Asserted;

static Asserted asserted(const Host *h)
{
    return (Asserted){lang_checks(h->lang) + h->assertions, h->refusals,
                      lang_differences(h->lang), lang_unseen(h->lang)};
}

static void failed(Host *h, Text id, int errors)
{
    Diag *d = h->options.diag;

    if (diag_raised(d) == errors && !parallel_cancelled())
        diag_error(d, EXIT_FINDINGS, (Span){0}, "test-ended",
                   "%.*s ended the program", TEXT_ARG(id));
    diag_note(d, (Span){0}, "in %.*s", TEXT_ARG(id));
}

static void say(const Host *h, CaseEnd end, Text id)
{
    static const char *const words[CASE_COUNT] = {
        [CASE_FAILED] = "FAILED", [CASE_PARTLY] = "PARTLY",
        [CASE_UNSEEN] = "UNSEEN", [CASE_STOPPED] = "STOPPED",
        [CASE_REFUSED] = "REFUSED",
        [CASE_UNCHECKED] = "UNCHECKED",
    };

    if (words[end])
        fprintf(h->options.out, "%s %.*s\n", words[end], TEXT_ARG(id));
}

static CaseEnd end_of(const Host *h, const Asserted *before)
{
    Asserted now = asserted(h);
    bool values = now.checks > before->checks;

    bool refused = now.refusals > before->refusals;

    if (now.unseen.not_compared > before->unseen.not_compared)
        return values ? CASE_PARTLY : CASE_UNSEEN;
    if (refused)
        return values ? CASE_PARTLY : CASE_REFUSED;
    return values ? CASE_PASSED : CASE_UNCHECKED;
}

// (id, function, reason to skip or None, whether it may fail)
static CaseEnd run_case(Host *h, const List *item)
{
    Diag *d = h->options.diag;
    Text id = item->at[0].s;
    Case c = {.function = item->at[1], .result = V_NONE};
    bool may_fail = value_truth(h->lang, item->at[3], (Span){0});
    int errors = diag_raised(d), mark = lang_pins(h->lang);
    Asserted before = asserted(h);

    if (item->at[2].kind != VAL_NONE)
        return CASE_SKIPPED;
    DiagHold hold = diag_hold(d);
    bool ok = lang_try(h->lang, run_body, &c, NULL) && diag_raised(d) == errors;
    bool stopped = !ok && lang_unseen(h->lang).guesses
                   && lang_differences(h->lang) == before.differences;
    diag_settle(d, &hold, may_fail || stopped);
    lang_unpin(h->lang, mark);
    lang_forget_guesses(h->lang);
    if (c.result.kind == VAL_STR || (!ok && may_fail))
        return CASE_SKIPPED;
    if (stopped)
        return CASE_STOPPED;
    if (!ok)
        failed(h, id, errors);
    return ok ? end_of(h, &before) : CASE_FAILED;
}

static void say_counts(const Host *h, const Counts *n)
{
    static const char *const words[CASE_COUNT] = {
        "passed", "failed", "skipped", "with generated code not compared",
        "about generated code only", "stopped at generated code",
        "expecting a refusal of upstream's compiler", "asserting nothing",
    };

    for (int i = 0; i < CASE_COUNT; i++)
        if (i <= CASE_SKIPPED || n->at[i])
            fprintf(h->options.out, "%s%d %s", i ? ", " : "", n->at[i],
                    words[i]);
    fputc('\n', h->options.out);
}

typedef struct {
    Host *h;
    const Module *module;
    const char *prefix;
    List *cases;
} Collecting;

static void collect_body(Lang *l, void *ctx)
{
    Collecting *c = ctx;
    Value module, collect;

    if (!prelude_import(c->h, TEXT("pytest"), &module)
        || !lang_getattr(l, module, TEXT("collect"), &collect, (Span){0}))
        BUG("the prelude has no pytest.collect");
    Value in[2] = {members(l, c->module), v_str(text_of(c->prefix))};
    Args args = {.at = in, .count = 2};
    c->cases = value_to_list(l, lang_call(l, collect, &args), (Span){0});
}

bool host_run_tests(Host *h, const Module *m, const char *prefix)
{
    Collecting c = {h, m, prefix, NULL};
    Counts n = {0};

    if (!lang_try(h->lang, collect_body, &c, NULL))
        return false;
    lang_pin(h->lang, (Value){.kind = VAL_LIST, .list = c.cases});
    for (int i = 0; i < c.cases->len && !parallel_cancelled(); i++) {
        const List *item = c.cases->at[i].list;
        CaseEnd end = run_case(h, item);

        n.at[end]++;
        say(h, end, item->at[0].s);
    }
    say_counts(h, &n);
    return n.at[CASE_FAILED] == 0;
}

// ---- the modules ----------------------------------------------------------------------

// tilelang.testing.main(), pytest.main(): ends the program.
static Value run_main(Lang *l, void *ctx, const Args *args)
{
    bool ok = host_run_tests(ctx, lang_main(l), "test");
    int why = parallel_cancelled();

    if (why)
        lang_stop(l, why < 0 ? EXIT_LIMIT : EXIT_INTERRUPTED);
    lang_exit(l, !ok, args->at_span);
}

// tilelang.testing.regression()
static Value regression(Lang *l, void *ctx, const Args *args)
{
    (void)args;
    if (!host_run_tests(ctx, lang_main(l), "regression_"))
        lang_exit(l, 1, args->at_span);
    return V_NONE;
}

Value pytest_helpers(Host *h)
{
    static const struct {
        const char *name;
        TilelangFn *call;
    } rows[] = {
        {"raises", raises}, {"is_function", is_function}, {"is_test", is_test},
        {"param_names", param_names}, {"find_module", find_module},
        {"main", run_main}, {"regression", regression},
    };
    Lang *l = h->lang;
    Module *m = lang_module(l, "_pytest");
    const Device *d = h->options.device;
    bool nvidia = d->vendor == VENDOR_NVIDIA;

    for (size_t i = 0; i < countof(rows); i++)
        module_set(l, m, rows[i].name,
                   v_builtin(l, rows[i].name, rows[i].call, h));
    module_set(l, m, "arch", v_str(text_of(device_arch_name(d))));
    module_set(l, m, "nvidia", v_bool(nvidia));
    return (Value){.kind = VAL_MODULE, .module = m};
}
