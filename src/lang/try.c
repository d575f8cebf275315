// try.c - try, except, else, finally, and with.
#include "lang/eval_int.h"

typedef struct {
    Frame *f;
    const AstList *body;
    Flow flow;
} Block;

static void run_block(Lang *l, void *ctx)
{
    Block *b = ctx;

    b->flow = exec_block(l, b->f, b->body);
}

// ---- except ----------------------------------------------------------------

static bool handler_matches(Lang *l, Frame *f, const Ast *handler, Value e)
{
    Value type;

    if (!handler->a)
        return true;
    type = eval(l, f, handler->a);
    if (type.kind == VAL_MODULE && type.module->opaque)
        return false;
    return is_instance(l, e, type, handler->a->at);
}

typedef struct {
    Frame *f;
    const Ast *handler;
    Flow flow;
} Handling;

static void run_handler(Lang *l, void *ctx)
{
    Handling *h = ctx;

    h->flow = exec_block(l, h->f, &h->handler->x);
}

// The handler's name and the handled exception last as long as its body.
static Flow handle(Lang *l, Frame *f, const Ast *handler, Value e)
{
    Handling h = {.f = f, .handler = handler};
    Value outer = l->raised, other;
    bool ok;

    temp_push(l, outer);
    temp_push(l, e);
    if (handler->text.len)
        name_bind(l, f, handler->text, e);
    l->raised = e;
    ok = protect(l, run_handler, &h, &other);
    l->raised = outer;
    if (handler->text.len)
        map_remove(frame_map(f), handler->text);
    if (!ok)
        exception_throw(l, other);
    return h.flow;
}

static bool names_import_error(const Ast *type)
{
    static const char *const names[] = {"ImportError", "ModuleNotFoundError",
                                        "Exception", "BaseException"};

    for (int i = 0; type->kind == AST_TUPLE && i < type->x.len; i++)
        if (names_import_error(type->x.at[i]))
            return true;
    for (size_t i = 0; i < countof(names); i++)
        if (type->kind == AST_NAME && text_is(type->text, names[i]))
            return true;
    return false;
}

// Inside such a try an unknown module is what the program reckons with.
static bool expects_import_error(const Ast *s)
{
    for (int i = 0; i < s->y.len; i++)
        if (!s->y.at[i]->a || names_import_error(s->y.at[i]->a))
            return true;
    return false;
}

// try ... except ... else, without finally.
static Flow try_except(Lang *l, Frame *f, const Ast *s)
{
    Block b = {.f = f, .body = &s->x};
    bool guard = expects_import_error(s), ok;
    Value e;

    l->more->import_guards += guard;
    ok = protect(l, run_block, &b, &e);
    l->more->import_guards -= guard;
    if (ok)
        return b.flow == FLOW_NEXT && s->a ? exec_block(l, f, &s->a->x)
                                           : b.flow;
    if (exception_uncatchable(e))
        exception_throw(l, e);
    temp_push(l, e);
    for (int i = 0; i < s->y.len; i++)
        if (handler_matches(l, f, s->y.at[i], e))
            return handle(l, f, s->y.at[i], e);
    exception_throw(l, e);
}

typedef struct {
    Frame *f;
    const Ast *s;
    Flow flow;
} Guarded;

static void run_guarded(Lang *l, void *ctx)
{
    Guarded *g = ctx;

    g->flow = try_except(l, g->f, g->s);
}

Flow exec_try(Lang *l, Frame *f, const Ast *s)
{
    Guarded g = {.f = f, .s = s};
    Value e = V_NONE, returned, outer = l->raised;
    Flow flow;
    bool ok;

    if (s->except_star)
        lang_unsupported(l, s->at, "'except*'");
    if (!s->b)
        return try_except(l, f, s);
    ok = protect(l, run_guarded, &g, &e);
    if (!ok && exception_uncatchable(e))
        exception_throw(l, e);
    returned = l->returned;
    temp_push(l, returned);
    temp_push(l, e);
    temp_push(l, outer);
    if (!ok)                                    // being handled, in a way
        l->raised = e;
    flow = exec_block(l, f, &s->b->x);
    l->raised = outer;
    if (flow != FLOW_NEXT)                      // that drops the exception
        return flow;
    if (!ok)
        exception_throw(l, e);
    l->returned = returned;
    return g.flow;
}

// ---- with ------------------------------------------------------------------

static Value enter(Lang *l, Value manager, Span at)
{
    Value out;

    if (manager.kind == VAL_FOREIGN && manager.foreign->type->enter) {
        value_bind(manager);
        return manager.foreign->type->enter(l, manager.foreign, at);
    }
    if (manager.kind == VAL_INSTANCE &&
        call_dunder(l, manager, "__enter__", NULL, 0, &out, at))
        return out;
    opaque_check(l, manager, at);
    if (manager.kind == VAL_KERNELFRAME)
        lang_raise(l, "TypeError", at,
                   "'with T.Kernel(...)' outside a kernel: put it into a "
                   "function with @T.prim_func or @tilelang.jit");
    lang_raise(l, "TypeError", at,
               "'%s' object does not support the context manager protocol",
               value_type_name(manager));
}

// True when the manager wants the exception forgotten.
static bool leave(Lang *l, Value manager, Value e, Span at)
{
    Value args[3] = {V_NONE, V_NONE, V_NONE}, out;

    if (manager.kind == VAL_FOREIGN && manager.foreign->type->leave) {
        bool catchable = e.kind == VAL_NONE || !exception_uncatchable(e);

        return manager.foreign->type->leave(l, manager.foreign, e, catchable,
                                            at) && catchable;
    }
    if (manager.kind == VAL_FOREIGN) {
        if (manager.foreign->type->exit)
            manager.foreign->type->exit(l, manager.foreign, at);
        return false;
    }
    if (e.kind == VAL_INSTANCE) {
        args[0] = v_class(e.instance->cls);
        args[1] = e;
    }
    if (!call_dunder(l, manager, "__exit__", args, 3, &out, at))
        lang_raise(l, "AttributeError", at, "__exit__");
    return value_truth(l, out, at);
}

typedef struct {
    Frame *f;
    const Ast *s;
    int item;
    WithNext *next;
    Value entered;
    Flow flow;
} With;

static void run_with(Lang *l, void *ctx)
{
    With *w = ctx;
    const Ast *target = w->s->x.at[w->item]->b;

    if (target)
        assign_target(l, w->f, target, w->entered);
    w->flow = w->next(l, w->f, w->s, w->item + 1);
}

Flow with_manager(Lang *l, Frame *f, const Ast *s, int i, Value manager,
                  WithNext *next)
{
    With w = {.f = f, .s = s, .item = i, .next = next};
    Value e = V_NONE, returned;
    Span at = s->x.at[i]->at;
    bool ok;

    temp_push(l, manager);
    w.entered = enter(l, manager, at);
    temp_push(l, w.entered);
    ok = protect(l, run_with, &w, &e);
    returned = l->returned;
    temp_push(l, returned);
    temp_push(l, e);
    if (!ok && exception_uncatchable(e) && manager.kind != VAL_FOREIGN)
        exception_throw(l, e);
    if (!leave(l, manager, e, at) && !ok)
        exception_throw(l, e);
    l->returned = returned;
    return ok ? w.flow : FLOW_NEXT;
}

static Flow with_item(Lang *l, Frame *f, const Ast *s, int i)
{
    if (i == s->x.len)
        return exec_block(l, f, &s->y);
    return with_manager(l, f, s, i, eval(l, f, s->x.at[i]->a), with_item);
}

Flow exec_with(Lang *l, Frame *f, const Ast *s)
{
    return with_item(l, f, s, 0);
}
