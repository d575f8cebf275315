// exception.c - raising, catching and reporting exceptions.
//
// An exception is an INSTANCE. Raising jumps to the innermost Handler, which
// puts back the frame, the trace and the pending values of its place. What
// cannot be caught (a construct that is not supported, a stop from outside)
// travels the same way, past every `except` and `finally` of the program.
#include <string.h>

#include "lang/eval_int.h"

static const ExceptionRow rows[EXC_COUNT] = {
#define EXCEPTION(id, name, base, report)                                     \
    [EXC_##id] = {name, EXC_##base, report},
#include "lang/exception.def"
};

void exceptions_init(Lang *l)
{
    for (int i = 0; i < EXC_COUNT; i++) {
        Class *base = rows[i].base == EXC_NONE
                          ? l->more->object
                          : l->more->exceptions[rows[i].base];
        Class *c = class_new(l, text_of(rows[i].name), &base, 1);

        c->built_in = true;
        c->exception = &rows[i];
        c->module = l->builtins;
        l->more->exceptions[i] = c;
        if (i != EXC_FROZEN && i != EXC_STAGING)        // of other modules
            module_set(l, l->builtins, rows[i].name, v_class(c));
    }
    module_set(l, l->builtins, "IOError", v_class(l->more->exceptions[EXC_OS]));
    module_set(l, l->builtins, "EnvironmentError",
               v_class(l->more->exceptions[EXC_OS]));
}

Value exception_new(Lang *l, Class *c, const Value *args, int count)
{
    Instance *i = instance_new(l, c);

    map_bind(l, &i->attributes, TEXT("args"), v_tuple(l, args, count));
    return v_instance(i);
}

Value exception_args(Lang *l, Value e)
{
    Value args;

    if (map_value(&e.instance->attributes, TEXT("args"), &args) &&
        args.kind == VAL_TUPLE)
        return args;
    return v_tuple(l, NULL, 0);
}

bool exception_is(const Lang *l, Value e, ExceptionId id)
{
    return e.kind == VAL_INSTANCE &&
           class_is(e.instance->cls, l->more->exceptions[id]);
}

bool exception_uncatchable(Value e)
{
    return e.instance->trouble && e.instance->trouble->uncatchable;
}

// ---- handlers --------------------------------------------------------------

bool protect(Lang *l, LangBody *body, void *ctx, Value *error)
{
    Handler h = {.outer = l->handler, .frame = l->frame, .trace = l->trace,
                 .depth = l->depth, .temps = temps_top(l),
                 .pins = lang_pins(l),
                 .texts = l->more->texts.depth,
                 .import_guards = l->more->import_guards,
                 .raised = l->raised};

    l->handler = &h;
    if (setjmp(h.jump) == 0) {
        body(l, ctx);
        l->handler = h.outer;
        return true;
    }
    l->handler = h.outer;
    l->frame = h.frame;
    l->trace = h.trace;
    l->depth = h.depth;
    temps_cut(l, h.temps);
    lang_unpin(l, h.pins);
    l->more->texts.depth = h.texts;
    l->more->import_guards = h.import_guards;
    *error = l->raised;
    l->raised = h.raised;
    return false;
}

_Noreturn void exception_throw(Lang *l, Value e)
{
    if (!l->handler)
        BUG("an exception was raised outside lang_try and lang_run_file");
    l->raised = e;
    longjmp(l->handler->jump, 1);
}

// ---- the place and the calls -----------------------------------------------

static void add_call(Trouble *t, Text name, Span at)
{
    const int keep = TROUBLE_CALLS / 2;
    int last = t->call_count - 1;

    if (last >= 0 && t->calls[last].at.file == at.file &&
        t->calls[last].at.begin == at.begin &&
        text_eq(t->calls[last].name, name)) {
        t->calls[last].times++;
        return;
    }
    if (t->call_count == TROUBLE_CALLS) {       // drop the oldest of the rest
        memmove(&t->calls[keep], &t->calls[keep + 1],
                (size_t)(TROUBLE_CALLS - keep - 1) * sizeof t->calls[0]);
        t->call_count--;
        t->calls_hidden++;
    }
    t->calls[t->call_count].name = name;
    t->calls[t->call_count].times = 1;
    t->calls[t->call_count++].at = at;
}

static bool same_start(Span a, Span b)
{
    return a.file == b.file && a.begin == b.begin;
}

// The host calls a function from nowhere, which is from the function itself,
// and a decorator calls the one that it decorates: no news to anyone.
static bool calls_itself(const Frame *f)
{
    const Ast *def = f->function->def;
    bool own = same_start(f->call_at, def->name_at);

    for (int i = 0; def->kind == AST_FUNCTION && i < def->y.len; i++)
        own = own || same_start(f->call_at, def->y.at[i]->at);
    return own;
}

static Trouble *trouble_here(Lang *l, Span at)
{
    Trouble *t = new (l->options.arena, Trouble);

    t->at = at.file ? at : l->more->at;
    t->exit = EXIT_PROGRAM;
    t->in_kernel = l->trace != NULL;
    for (const Frame *f = l->frame; f; f = f->caller)
        if (f->function && f->call_at.file && !calls_itself(f))
            add_call(t, f->function->name, f->call_at);
    return t;
}

_Noreturn void exception_raise(Lang *l, Value e, Span at)
{
    Value cause;

    if (!e.instance->trouble)
        e.instance->trouble = trouble_here(l, at);
    if (l->raised.kind == VAL_INSTANCE && l->raised.instance != e.instance &&
        !map_value(&e.instance->attributes, TEXT("__context__"), &cause))
        map_bind(l, &e.instance->attributes, TEXT("__context__"), l->raised);
    exception_throw(l, e);
}

static Class *class_named(Lang *l, const char *type)
{
    Class *c;

    for (int i = 0; i < EXC_COUNT; i++)
        if (strcmp(rows[i].name, type) == 0)
            return l->more->exceptions[i];
    c = class_new(l, text_of(type), &l->more->exceptions[EXC_RUNTIME], 1);
    c->module = l->builtins;
    c->built_in = true;
    return c;
}

static Value make(Lang *l, ExitCode exit, const char *type, Span at,
                  const char *format, va_list args)
{
    TextBuf b = {0};
    Value message, e;

    buf_vprintf(&b, format, args);
    message = v_buf(l, &b);
    e = exception_new(l, class_named(l, type), &message, 1);
    e.instance->trouble = trouble_here(l, at);
    e.instance->trouble->exit = exit;
    return e;
}

_Noreturn void lang_raise(Lang *l, const char *type, Span at,
                          const char *format, ...)
{
    va_list args;
    Value e;

    va_start(args, format);
    e = make(l, EXIT_PROGRAM, type, at, format, args);
    va_end(args);
    exception_raise(l, e, at);
}

_Noreturn void lang_raise_exit(Lang *l, ExitCode exit, const char *type,
                               Span at, const char *format, ...)
{
    va_list args;
    Value e;

    va_start(args, format);
    e = make(l, exit, type, at, format, args);
    va_end(args);
    l->more->differences += exit == EXIT_FINDINGS;
    exception_raise(l, e, at);
}

// With the name that was perhaps meant, when there is one.
_Noreturn void lang_raise_near(Lang *l, const char *type, Span at, Text near,
                               const char *format, ...)
{
    va_list args;
    Value e;

    va_start(args, format);
    e = make(l, EXIT_PROGRAM, type, at, format, args);
    va_end(args);
    e.instance->trouble->suggestion = near;
    e.instance->trouble->suggestion_at = at;
    exception_raise(l, e, at);
}

_Noreturn void lang_unsupported(Lang *l, Span at, const char *format, ...)
{
    va_list args;
    Value e;

    va_start(args, format);
    e = make(l, EXIT_LIMIT, "NotImplementedError", at, format, args);
    va_end(args);
    e.instance->trouble->uncatchable = true;
    e.instance->trouble->forgiven = l->more->loading && !l->trace;
    exception_report(l, e);
    e.instance->trouble->reported = true;
    exception_throw(l, e);
}

_Noreturn void lang_exit(Lang *l, int code, Span at)
{
    Value v = v_int(code);

    exception_raise(l, exception_new(l, l->more->exceptions[EXC_SYSTEM_EXIT],
                                     &v, 1), at);
}

_Noreturn void lang_stop(Lang *l, ExitCode exit)
{
    Value e = exception_new(l, l->more->exceptions[EXC_INTERRUPT], NULL, 0);

    e.instance->trouble = trouble_here(l, SPAN_NONE);
    e.instance->trouble->uncatchable = true;
    e.instance->trouble->reported = true;
    e.instance->trouble->exit = exit;
    l->exit_code = (int)exit;
    exception_throw(l, e);
}

// ---- reports ---------------------------------------------------------------

static Text message_of(Lang *l, Value e)
{
    value_str(l, text_begin(l), e);
    return text_end(l).s;
}

typedef struct {
    Value e;
    Text out;
} Message;

static void compose(Lang *l, void *ctx)
{
    Message *m = ctx;

    m->out = message_of(l, m->e);
}

// The program's own __str__ may fail.
static Text message_safely(Lang *l, Value e)
{
    Message m = {.e = e};
    Value other;

    return protect(l, compose, &m, &other) ? m.out : TEXT("(no message: its "
                                                          "__str__ failed)");
}

static void note_calls(Diag *d, const Trouble *t)
{
    for (int i = 0; i < t->call_count; i++) {
        if (i == TROUBLE_CALLS / 2 && t->calls_hidden)
            diag_note(d, t->calls[i].at, "(%d more calls)", t->calls_hidden);
        if (t->calls[i].times > 1)
            diag_note(d, t->calls[i].at, "'%.*s' was called from here, %d "
                      "times", TEXT_ARG(t->calls[i].name), t->calls[i].times);
        else
            diag_note(d, t->calls[i].at, "'%.*s' was called from here",
                      TEXT_ARG(t->calls[i].name));
    }
}

static void note_cause(Lang *l, Value e, const char *name, const char *words)
{
    Value cause;
    Text message;

    if (!map_value(&e.instance->attributes, text_of(name), &cause) ||
        cause.kind != VAL_INSTANCE || !cause.instance->cls->exception)
        return;
    message = message_safely(l, cause);
    diag_note(l->options.diag,
              cause.instance->trouble ? cause.instance->trouble->at
                                      : SPAN_NONE,
              "%s %.*s: %.*s", words, TEXT_ARG(cause.instance->cls->name),
              TEXT_ARG(message));
}

static bool may_stop(Lang *l, const Trouble *t)
{
    return l->options.may_stop && !t->in_kernel && l->options.may_stop(l);
}

static void report_words(Lang *l, Value e, const Trouble *t)
{
    const Class *c = e.instance->cls;
    Text message = message_safely(l, e);

    if (t->forgiven)
        diag_warning(l->options.diag, t->at, "stage-import-stopped",
                     "%.*s is not supported: the import stops here, what this "
                     "file defines below is unknown", TEXT_ARG(message));
    else if (may_stop(l, t))
        diag_warning(l->options.diag, t->at, "stage-stopped",
                     "the program stops here, after its kernels: %.*s%s%.*s%s",
                     TEXT_ARG(c->name), message.len ? ": " : "",
                     TEXT_ARG(message),
                     t->uncatchable ? " is not supported" : "");
    else if (t->uncatchable)
        diag_error(l->options.diag, t->exit, t->at, "stage-unsupported",
                   "%.*s is not supported", TEXT_ARG(message));
    else
        diag_error(l->options.diag, t->exit, t->at, c->exception->report,
                   "%.*s%s%.*s", TEXT_ARG(c->name), message.len ? ": " : "",
                   TEXT_ARG(message));
}

void exception_report(Lang *l, Value e)
{
    Trouble *t = e.instance->trouble;
    Value cause;

    if (t && t->reported)
        return;
    if (!t)
        t = trouble_here(l, SPAN_NONE);
    if (!exception_is(l, e, EXC_STAGING))       // whose cause was reported
        report_words(l, e, t);
    if (t->suggestion.len)
        diag_note(l->options.diag, t->suggestion_at, "did you mean '%.*s'?",
                  TEXT_ARG(t->suggestion));
    note_calls(l->options.diag, t);
    if (map_value(&e.instance->attributes, TEXT("__cause__"), &cause))
        note_cause(l, e, "__cause__", "caused by");
    else
        note_cause(l, e, "__context__", "raised while handling");
}

// ---- for the host ----------------------------------------------------------

// What escaped from a run: reported, or kept as the exit code of sys.exit().
static void escaped(Lang *l, Value e)
{
    if (!exception_is(l, e, EXC_SYSTEM_EXIT))
        exception_report(l, e);
}

static LangError error_of(Lang *l, Value e)
{
    const Trouble *t = e.instance->trouble;
    LangError error = {.type = e.instance->cls->name, .at = t ? t->at
                                                              : SPAN_NONE};

    error.message = message_safely(l, e);
    if (t && t->reported)
        error.type = TEXT("");
    return error;
}

bool lang_try(Lang *l, LangBody *body, void *ctx, LangError *error)
{
    Value e;

    if (protect(l, body, ctx, &e))
        return true;
    if (error)
        *error = error_of(l, e);
    else
        escaped(l, e);
    return false;
}

// ---- raise -----------------------------------------------------------------

static Value exception_value(Lang *l, Value v, Span at)
{
    Args none = {.at_span = at};

    if (v.kind == VAL_CLASS && v.cls->exception)
        v = class_call(l, v.cls, &none);
    opaque_check(l, v, at);
    if (v.kind != VAL_INSTANCE || !v.instance->cls->exception)
        lang_raise(l, "TypeError", at,
                   "exceptions must derive from BaseException");
    return v;
}

static void reraise(Lang *l, Span at)
{
    if (l->raised.kind != VAL_INSTANCE)
        lang_raise(l, "RuntimeError", at, "No active exception to reraise");
    exception_throw(l, l->raised);
}

void exec_raise(Lang *l, Frame *f, const Ast *s)
{
    Value e, cause;

    if (!s->a)
        reraise(l, s->at);
    e = exception_value(l, eval(l, f, s->a), s->at);
    temp_push(l, e);
    if (s->b) {
        cause = eval(l, f, s->b);
        if (cause.kind != VAL_NONE)
            cause = exception_value(l, cause, s->b->at);
        map_bind(l, &e.instance->attributes, TEXT("__cause__"), cause);
    }
    exception_raise(l, e, s->at);
}
