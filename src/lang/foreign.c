// foreign.c - the registry of host objects: what is alive, what can go.
//
// Three ways out. A temporary is freed when the operation that consumed it
// returns (temp_drop). The rest is swept between statements, once 64 MiB were
// registered since the last sweep: an object goes when no frame, module,
// handled exception, pending temporary or pin can reach it. lang_destroy frees
// what is left.
#include <stdlib.h>

#include "lang/eval_int.h"

enum { SWEEP_AFTER = 64 << 20 };

// ---- pending values --------------------------------------------------------

_Noreturn void temps_full(Lang *l)
{
    lang_raise(l, "RecursionError", SPAN_NONE,
               "maximum recursion depth exceeded");
}

Value *temps_take(Lang *l, int n)
{
    LangMore *m = l->more;
    Value *at = m->temps + m->temp_len;

    if (n > TEMPS_ROOM - m->temp_len)
        temps_full(l);
    for (int i = 0; i < n; i++)
        at[i] = (Value){.kind = VAL_UNBOUND};
    m->temp_len += n;
    return at;
}

int lang_pins(const Lang *l)
{
    return l->more->pins.len;
}

void lang_pin(Lang *l, Value v)
{
    LangMore *m = l->more;

    if (m->pins.len == m->pins.room) {
        m->pins.room = m->pins.room ? 2 * m->pins.room : 64;
        m->pins.at = xrealloc(m->pins.at, (size_t)m->pins.room,
                              sizeof *m->pins.at);
    }
    m->pins.at[m->pins.len++] = v;
}

void lang_unpin(Lang *l, int mark)
{
    if (mark < l->more->pins.len)
        l->more->pins.len = mark;
}

// ---- objects ---------------------------------------------------------------

Value lang_adopt(Lang *l, Foreign *f, const ForeignType *type, size_t bytes)
{
    Value v = v_foreign(f);

    f->type = type;
    f->bytes = bytes;
    f->bound = false;
    f->marked = false;
    f->next = l->foreign;
    l->foreign = f;
    l->foreign_bytes += bytes;
    lang_pin(l, v);
    return v;
}

bool foreign_may_steal(const Foreign *f)
{
    return !f->bound;
}

Foreign *foreign_as(Value v, const ForeignType *type)
{
    return v.kind == VAL_FOREIGN && v.foreign->type == type ? v.foreign : NULL;
}

static void free_object(Lang *l, Foreign *f)
{
    l->foreign_bytes -= f->bytes < l->foreign_bytes ? f->bytes
                                                    : l->foreign_bytes;
    if (f->type->release)
        f->type->release(f);
    free(f);
}

// Can a result of this kind hold on to an operand without having bound it?
static bool holds_values(const Foreign *f)
{
    return f->type->mark && (!f->type->holds || f->type->holds(f));
}

static bool may_refer(Value result)
{
    switch (result.kind) {
    case VAL_NONE:
    case VAL_BOOL:
    case VAL_INT:
    case VAL_FLOAT:
    case VAL_STR:
    case VAL_BYTES:
    case VAL_TUPLE:                             // elements are bound
    case VAL_LIST:
    case VAL_DICT:
    case VAL_SET:
    case VAL_DTYPE:
    case VAL_VECTYPE:
    case VAL_TYPE:
        return false;
    case VAL_FOREIGN:
        return holds_values(result.foreign);
    default:
        return true;
    }
}

static bool is_pinned(const Lang *l, const Foreign *f)
{
    const LangMore *m = l->more;

    for (int i = m->pins.len - 1; i >= 0; i--)
        if (m->pins.at[i].kind == VAL_FOREIGN && m->pins.at[i].foreign == f)
            return true;
    return false;
}

void temp_drop(Lang *l, Value v, Value result)
{
    Foreign **link = &l->foreign;

    if (v.kind != VAL_FOREIGN || v.foreign->bound ||
        holds_values(v.foreign) || may_refer(result) ||
        (result.kind == VAL_FOREIGN && result.foreign == v.foreign) ||
        is_pinned(l, v.foreign))
        return;
    while (*link && *link != v.foreign)
        link = &(*link)->next;
    if (!*link)
        BUG("a temporary is not registered");
    *link = v.foreign->next;
    free_object(l, v.foreign);
}

// ---- marking ---------------------------------------------------------------

// The mark phase has its own stack: values nest as deep as they like.
typedef struct {
    Value *at;
    size_t len, room;
} Work;

typedef struct {
    Lang *l;
    Work work;
} Marker;

static void later(Marker *m, Value v)
{
    Work *w = &m->work;

    if (v.kind < VAL_TUPLE || v.kind == VAL_RANGE)
        return;
    if (w->len == w->room) {
        w->room = w->room ? 2 * w->room : 256;
        w->at = xrealloc(w->at, w->room, sizeof *w->at);
    }
    w->at[w->len++] = v;
}

static bool first_visit(const Marker *m, uint32_t *seen)
{
    if (*seen == m->l->more->epoch)
        return false;
    *seen = m->l->more->epoch;
    return true;
}

static void mark_array(Marker *m, const Value *at, int n)
{
    for (int i = 0; i < n; i++)
        later(m, at[i]);
}

static void mark_map(Marker *m, const Map *map)
{
    for (int i = 0; i < map->len; i++)
        if (map->at[i].value)
            later(m, *(const Value *)map->at[i].value);
}

static void mark_class(Marker *m, Class *c)
{
    if (!c || !first_visit(m, &c->seen))
        return;
    mark_map(m, &c->attributes);
    for (int i = 0; i < c->mro_len; i++)
        later(m, v_class(c->mro[i]));
    for (int i = 0; c->data && i < c->data->len; i++) {
        later(m, c->data->at[i].fallback);
        later(m, c->data->at[i].factory);
    }
}

static void mark_module(Marker *m, Module *module)
{
    if (module && first_visit(m, &module->seen))
        mark_map(m, &module->members);
}

static void mark_function(Marker *m, Function *fn);

static void mark_frame(Marker *m, Frame *f)
{
    for (; f && first_visit(m, &f->seen); f = f->closure) {
        mark_map(m, &f->names);
        mark_module(m, f->module);
        mark_function(m, f->function);
        if (f->yielded)
            mark_array(m, f->yielded->at, f->yielded->len);
    }
}

static void mark_function(Marker *m, Function *fn)
{
    if (!fn || !first_visit(m, &fn->seen))
        return;
    mark_frame(m, fn->closure);
    mark_module(m, fn->module);
    mark_map(m, &fn->attributes);
    mark_class(m, fn->owner);
    if (fn->defaults && fn->def->b)
        mark_array(m, fn->defaults, fn->def->b->x.len);
}

static void mark_iter(Marker *m, IterState *it)
{
    if (!it || !first_visit(m, &it->seen))
        return;
    later(m, it->source);
    later(m, it->extra);
    for (int i = 0; i < it->inner_count; i++)
        if (it->inner[i])
            later(m, v_iter(it->inner[i]));
    mark_frame(m, it->frame);
}

static void mark_foreign_child(Lang *l, Value v);

static void mark_object(Marker *m, Foreign *f)
{
    if (f->marked)
        return;
    f->marked = true;
    if (f->type->mark)
        f->type->mark(f, mark_foreign_child, m->l);
}

static void mark_dict(Marker *m, Dict *d)
{
    if (!first_visit(m, &d->seen))
        return;
    mark_array(m, d->keys, d->len);
    mark_array(m, d->values, d->len);
    if (d->missing)
        later(m, *d->missing);
}

static void mark_list(Marker *m, List *list)
{
    if (first_visit(m, &list->seen))
        mark_array(m, list->at, list->len);
    mark_class(m, list->cls);
}

static void mark_instance(Marker *m, Instance *i)
{
    if (!first_visit(m, &i->seen))
        return;
    mark_map(m, &i->attributes);
    mark_class(m, i->cls);
}

static void mark_builtin(Marker *m, const BuiltinFn *b)
{
    if (!b->held || !first_visit(m, &b->held->seen))
        return;
    later(m, b->held->value);
    mark_map(m, &b->held->attributes);
}

static void mark_value(Marker *m, Value v)
{
    switch (v.kind) {
    case VAL_TUPLE:
    case VAL_LIST:
        mark_list(m, v.list);
        break;
    case VAL_DICT:
    case VAL_SET:
        mark_dict(m, v.dict);
        break;
    case VAL_SLICE:
        later(m, *v.slice->start);
        later(m, *v.slice->stop);
        later(m, *v.slice->step);
        break;
    case VAL_ITER:
        mark_iter(m, v.iter);
        break;
    case VAL_FUNCTION:
    case VAL_MACRO:
        mark_function(m, v.function);
        break;
    case VAL_BUILTIN:
        mark_builtin(m, v.builtin);
        break;
    case VAL_BOUND:
        later(m, v.bound->self);
        later(m, v.bound->callee);
        break;
    case VAL_CLASS:
        mark_class(m, v.cls);
        break;
    case VAL_INSTANCE:
        mark_instance(m, v.instance);
        break;
    case VAL_MODULE:
        mark_module(m, v.module);
        break;
    case VAL_DESCRIPTOR:
        later(m, v.descriptor->get);
        later(m, v.descriptor->set);
        break;
    case VAL_SUPER:
        later(m, v.super->self);
        break;
    case VAL_FOREIGN:
        mark_object(m, v.foreign);
        break;
    default:
        break;
    }
}

static void drain(Marker *m)
{
    while (m->work.len)
        mark_value(m, m->work.at[--m->work.len]);
}

// What a host object keeps inside; called by its `mark`.
static void mark_foreign_child(Lang *l, Value v)
{
    Marker m = {.l = l};

    later(&m, v);
    drain(&m);
    free(m.work.at);
}

static void mark_roots(Marker *m)
{
    Lang *l = m->l;

    for (Frame *f = l->frame; f; f = f->caller)
        mark_frame(m, f);
    for (int i = 0; i < l->modules.len; i++)
        mark_module(m, l->modules.at[i].value);
    mark_module(m, l->builtins);
    mark_module(m, l->main);
    mark_array(m, l->more->temps, l->more->temp_len);
    mark_array(m, l->more->pins.at, l->more->pins.len);
    later(m, l->raised);
    later(m, l->returned);
    for (Handler *h = l->handler; h; h = h->outer) {
        later(m, h->raised);
        for (Frame *f = h->frame; f; f = f->caller)
            mark_frame(m, f);
    }
    drain(m);
}

static void sweep(Lang *l)
{
    Foreign **link = &l->foreign;

    while (*link) {
        Foreign *f = *link;

        if (f->marked) {
            f->marked = false;
            link = &f->next;
            continue;
        }
        *link = f->next;
        free_object(l, f);
    }
}

void foreign_sweep(Lang *l)
{
    Marker m = {.l = l};

    l->more->epoch++;
    mark_roots(&m);
    free(m.work.at);
    sweep(l);
    l->foreign_swept = l->foreign_bytes;
}

void foreign_sweep_if_due(Lang *l)
{
    if (l->foreign_bytes < l->foreign_swept)
        l->foreign_swept = l->foreign_bytes;
    if (l->foreign_bytes - l->foreign_swept > SWEEP_AFTER)
        foreign_sweep(l);
}

void foreign_free_all(Lang *l)
{
    while (l->foreign) {
        Foreign *f = l->foreign;

        l->foreign = f->next;
        free_object(l, f);
    }
}
