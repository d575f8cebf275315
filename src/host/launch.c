// launch.c - which kernel of a file, with which arguments, on which tensors.
#include <stdlib.h>
#include <string.h>

#include "host/launch_int.h"

// ---- which kernel -----------------------------------------------------------

static bool launchable(Value v)
{
    return v.kind == VAL_KERNEL || jit_of(v) || kernel_of(v);
}

int launch_candidates(Module *m, Candidate *out, int room)
{
    int n = 0;
    for (int i = 0; i < m->members.len; i++) {
        Value *v = m->members.at[i].value;
        if (!v || !launchable(*v))
            continue;
        if (n < room)
            out[n] = (Candidate){m->members.at[i].key, *v};
        n++;
    }
    return n;
}

// A function, perhaps under functools.lru_cache or the like.
static bool plain_function(Lang *l, Value v, Value *out)
{
    *out = v;
    return v.kind == VAL_FUNCTION
           || (v.kind == VAL_BUILTIN
               && lang_getattr(l, v, TEXT("__wrapped__"), out, (Span){0})
               && out->kind == VAL_FUNCTION);
}

// A function of the file that defines another one under a decorator: there is
// no telling what it makes, until it is called.
static bool may_make(Lang *l, const Module *m, Value v)
{
    if (!plain_function(l, v, &v) || v.function->def->kind != AST_FUNCTION
        || v.function->def->at.file != m->file)
        return false;
    const AstList *body = &v.function->def->x;
    for (int i = 0; i < body->len; i++)
        if (body->at[i]->kind == AST_FUNCTION && body->at[i]->y.len)
            return true;
    return false;
}

static int plain_candidates(Lang *l, const Module *m, Candidate *out, int room)
{
    int n = 0;
    for (int i = 0; i < m->members.len; i++) {
        Value *v = m->members.at[i].value;
        if (!v || !may_make(l, m, *v))
            continue;
        if (n < room) {
            out[n].name = m->members.at[i].key;
            plain_function(l, *v, &out[n].value);
        }
        n++;
    }
    return n;
}

static void list_candidates(Host *h, const Candidate *c, int n)
{
    TextBuf b = {0};
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%.*s", i ? ", " : "", TEXT_ARG(c[i].name));
    diag_note(h->options.diag, (Span){0}, "choose one with --kernel: %.*s",
              (int)b.len, b.at);
    buf_release(&b);
}

static bool by_name(Lang *l, Module *m, Text name, const Candidate *c, int n,
                    Candidate *out)
{
    Value v;
    for (int i = 0; i < n; i++) {
        bool inner = c[i].value.kind == VAL_KERNEL
                     && text_eq(c[i].value.kernel->name, name);
        if (text_eq(c[i].name, name) || inner) {
            *out = c[i];
            return true;
        }
    }
    // a factory without a decorator
    out->name = name;
    return lang_module_get(m, name, &v) && plain_function(l, v, &out->value);
}

// Several files can be looked at in one run: messages name theirs.
static const char *file_of(const Host *h, const Module *m)
{
    return m->file ? sources_get(h->options.sources, m->file)->path : "<input>";
}

bool launch_choose(Host *h, Module *m, Text name, Candidate *out)
{
    Candidate c[64];
    int n = launch_candidates(m, c, countof(c));
    Diag *d = h->options.diag;
    if (name.len && by_name(h->lang, m, name, c, n < 64 ? n : 64, out))
        return true;
    if (!name.len && n == 0)
        n = plain_candidates(h->lang, m, c, countof(c));
    if (!name.len && n == 1) {
        *out = c[0];
        return true;
    }
    if (name.len)
        diag_error(d, EXIT_USAGE, (Span){0}, "no-such-kernel",
                   "'%s' has no kernel '%.*s'", file_of(h, m), TEXT_ARG(name));
    else if (n == 0)
        diag_error(d, EXIT_USAGE, (Span){0}, "no-kernel",
                   "'%s' has no kernel: no @T.prim_func and no @tilelang.jit "
                   "function at its top level", file_of(h, m));
    else
        diag_error(d, EXIT_USAGE, (Span){0}, "several-kernels",
                   "'%s' has %d kernels", file_of(h, m), n);
    if (n)
        list_candidates(h, c, n < 64 ? n : 64);
    return false;
}

// ---- with which arguments ---------------------------------------------------

typedef struct {
    Host *h;
    const Candidate *c;
    const CaseOptions *o;
    KernelObject *made;
} Making;

static bool launch_defines(const CaseOptions *o, Text name)
{
    for (int i = 0; i < o->define_count; i++)
        if (text_eq(o->defines[i].name, name))
            return true;
    return false;
}

bool launch_takes(const Function *fn, Text name)
{
    for (int i = 0; i < function_param_count(fn); i++) {
        Value v;
        bool has;
        if (text_eq(function_param(fn, i, &v, &has), name))
            return true;
    }
    return false;
}

static bool is_late(const IrKernel *ir, Text name)
{
    for (int i = 0; i < ir->symbol_count; i++)
        if (text_eq(ir->symbols[i]->name, name))
            return true;
    for (int i = 0; i < ir->param_count; i++)
        if (ir->params[i].is_scalar && text_eq(ir->params[i].name, name))
            return true;
    return false;
}

// -D names that the kernel does not have are mistakes. `more`: it may have
// arguments that are no parameters of fn.
static void check_defines(Making *m, const Function *fn, bool more)
{
    const IrKernel *ir = m->made->ir;
    for (int i = 0; i < m->o->define_count; i++) {
        Text name = m->o->defines[i].name;
        NearWord near = {.name = name};
        TextBuf takes = {0};
        Value v;
        if ((fn && launch_takes(fn, name)) || is_late(ir, name)
            || (more && kernel_argument(m->made, name, &v)))
            continue;
        for (int j = 0; fn && j < function_param_count(fn); j++) {
            bool has;
            Text p = function_param(fn, j, &v, &has);
            near_try(&near, p);
            buf_printf(&takes, "%s%.*s", j ? ", " : "", TEXT_ARG(p));
        }
        diag_error(m->h->options.diag, EXIT_USAGE, (Span){0}, "unknown-define",
                   "-D %.*s: '%.*s' has no such argument or size",
                   TEXT_ARG(name), TEXT_ARG(m->c->name));
        if (near.word.len)
            diag_note(m->h->options.diag, (Span){0}, "did you mean '%.*s'?",
                      TEXT_ARG(near.word));
        else if (takes.len)
            diag_note(m->h->options.diag, (Span){0}, "it takes %.*s",
                      (int)takes.len, takes.at);
        buf_release(&takes);
        m->made = NULL;
        return;
    }
}

// The shapes of --in files say what T.const sizes are.
static bool shapes_from_files(Making *m, const Function *fn, Dict *given)
{
    Arena *arena = m->h->options.arena;
    for (int i = 0; i < function_param_count(fn); i++) {
        Value v;
        bool has;
        Text name = function_param(fn, i, &v, &has);
        if (launch_defines(m->o, name))
            continue;
        for (int k = 0; k < m->o->in_count; k++) {
            const NamedText *in = &m->o->in[k];
            const char *why;
            if (in->name.len && !text_eq(in->name, name))
                continue;
            ArrayFile *file = array_open(arena, text_cstr(arena, in->value),
                                         &why);
            if (!file)
                return array_bad_file(m->h, name, in->value, why);
            const ArrayView *a = array_named(file, name);
            DType t;
            if (a && a->rank <= TENSOR_MAX_RANK && array_dtype(a->dtype, &t))
                dict_set(m->h->lang, given, v_str(name),
                         jit_spec(m->h, t, a->rank, a->shape,
                                  fn->def->name_at));
            array_close(file);
        }
    }
    return true;
}

// A number that is none for us would go as a text.
static bool check_number(const Making *m, const NamedText *d)
{
    size_t from = d->value.len && strchr("+-", d->value.at[0]) ? 1 : 0;

    for (size_t i = from; i < d->value.len; i++)
        if (d->value.at[i] < '0' || d->value.at[i] > '9')
            return true;
    if (d->value.len - from < 19
        || lang_literal(m->h->lang, d->value).kind == VAL_INT)
        return true;
    diag_error(m->h->options.diag, EXIT_USAGE, (Span){0}, "bad-define",
               "-D %.*s: %.*s is too large: an integer has 64 bits",
               TEXT_ARG(d->name), TEXT_ARG(d->value));
    return false;
}

static void make_from_jit(Making *m, JitObject *j)
{
    Lang *l = m->h->lang;
    const Function *fn = j->function.function;
    Dict *given = v_dict(l).dict;
    for (int i = 0; i < m->o->define_count; i++) {
        const NamedText *d = &m->o->defines[i];
        if (!check_number(m, d))
            return;
        if (j->eager || j->plain || launch_takes(fn, d->name))
            dict_set(l, given, v_str(d->name), lang_literal(l, d->value));
    }
    if (j->eager && !shapes_from_files(m, fn, given))
        return;
    m->made = jit_make(j, given, fn->def->name_at);
    check_defines(m, fn, j->eager || j->plain);
}

static void make_body(Lang *l, void *ctx)
{
    Making *m = ctx;
    Value v = m->c->value;
    (void)l;
    if (v.kind == VAL_FUNCTION) {
        v = jit_new(m->h, v);
        jit_of(v)->plain = true;
    }
    if (jit_of(v)) {
        make_from_jit(m, jit_of(v));
        return;
    }
    m->made = kernel_of(v) ? kernel_of(v)
                           : kernel_from_ir(m->h, v.kernel, V_NONE, (Span){0});
    check_defines(m, NULL, false);
}

// Factory parameters without a value are a usage error, and all are named.
static bool missing_defines(Making *m)
{
    JitObject *j = jit_of(m->c->value);
    Value v = j ? j->function : m->c->value;
    TextBuf b = {0};
    if (v.kind != VAL_FUNCTION || (j && j->configs.kind != VAL_NONE))
        return false;
    const Function *fn = v.function;
    bool eager = j && j->eager;
    for (int i = 0; i < function_param_count(fn); i++) {
        bool has;
        Text name = function_param(fn, i, &v, &has);
        if (!has && !launch_defines(m->o, name) && !eager)
            buf_printf(&b, "%s-D %.*s=...", b.len ? " " : "", TEXT_ARG(name));
    }
    if (b.len) {
        diag_error(m->h->options.diag, EXIT_USAGE, fn->def->name_at,
                   "missing-define", "'%.*s' needs %.*s",
                   TEXT_ARG(fn->name), (int)b.len, b.at);
    }
    bool any = b.len > 0;
    buf_release(&b);
    return any;
}

KernelObject *launch_make(Host *h, const Candidate *c,
                          const CaseOptions *options)
{
    Making m = {h, c, options, NULL};
    if (missing_defines(&m))
        return NULL;
    if (!lang_try(h->lang, make_body, &m, NULL))
        return NULL;
    return m.made;
}

bool launch_reference(Host *h, Module *m, Text name, bool named, Value *out)
{
    if (m && lang_module_get(m, name, out)
        && (out->kind == VAL_FUNCTION || out->kind == VAL_BUILTIN))
        return true;
    if (named)
        diag_error(h->options.diag, EXIT_USAGE, (Span){0}, "no-reference",
                   "the file has no function '%.*s'", TEXT_ARG(name));
    *out = V_NONE;
    return false;
}
