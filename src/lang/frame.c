// frame.c - scopes at run time: names, closures, and frames used again.
#include <string.h>

#include "lang/eval_int.h"

// ---- maps of values --------------------------------------------------------

void map_bind(Lang *l, Map *m, Text name, Value v)
{
    Value *cell = map_get(m, name);

    value_bind(v);
    if (!cell) {
        cell = new (l->options.arena, Value);
        map_set(l->options.arena, m, name, cell);
    }
    *cell = v;
}

bool map_value(const Map *m, Text name, Value *out)
{
    const Value *cell = map_get(m, name);

    if (!cell || cell->kind == VAL_UNBOUND)
        return false;
    *out = *cell;
    return true;
}

bool map_remove(Map *m, Text name)
{
    Value *cell = map_get(m, name);

    if (!cell || cell->kind == VAL_UNBOUND)
        return false;
    *cell = (Value){.kind = VAL_UNBOUND};
    return true;
}

// ---- frames ----------------------------------------------------------------

// The names of a module's own frame are the module's members.
Map *frame_map(Frame *f)
{
    return f->scope->kind == AST_MODULE ? &f->module->members : &f->names;
}

Frame *frame_new(Lang *l, const Ast *scope, Frame *closure, Module *m)
{
    Frame *f = l->more->spare;

    if (f)
        l->more->spare = f->spare, f->spare = NULL;
    else
        f = new (l->options.arena, Frame);
    f->scope = scope;
    f->closure = closure;
    f->module = m;
    return f;
}

// Keeps the tables and cells of a frame that nothing can refer to any more.
void frame_give_back(Lang *l, Frame *f)
{
    Frame empty = {.names = f->names, .cells = f->cells,
                   .cell_room = f->cell_room};

    if (f->captured || f->traced)
        return;
    empty.names.len = 0;
    if (empty.names.slots)
        memset(empty.names.slots, 0,
               (size_t)empty.names.slot_count * sizeof *empty.names.slots);
    empty.spare = l->more->spare;
    *f = empty;
    l->more->spare = f;
}

// Something that outlives the call refers to f and the frames around it.
void frame_capture(Frame *f)
{
    for (; f && !f->captured; f = f->closure)
        f->captured = true;
}

void frame_enter(Lang *l, Frame *f, Span call_at)
{
    stack_check(l, call_at);
    if (l->depth >= LANG_MAX_DEPTH)
        lang_raise(l, "RecursionError", call_at,
                   "maximum recursion depth exceeded");
    f->caller = l->frame;
    f->call_at = call_at;
    l->frame = f;
    l->depth++;
}

void frame_leave(Lang *l)
{
    l->frame = l->frame->caller;
    l->depth--;
}

static bool is_comprehension(const Ast *scope)
{
    return scope->kind == AST_LISTCOMP || scope->kind == AST_SETCOMP ||
           scope->kind == AST_DICTCOMP || scope->kind == AST_GENERATOR;
}

Frame *frame_function(Frame *f)
{
    while (is_comprehension(f->scope) && f->closure)
        f = f->closure;
    return f;
}

// ---- names -----------------------------------------------------------------

static Value *new_cell(Lang *l, Frame *f)
{
    enum { CELLS = 8 };

    if (f->cell_count == f->cell_room) {
        if (f->cells)                           // later ones are on their own
            return new (l->options.arena, Value);
        f->cells = new_array(l->options.arena, Value, CELLS);
        f->cell_room = CELLS;
    }
    return &f->cells[f->cell_count++];
}

static void bind_here(Lang *l, Frame *f, Text name, Value v)
{
    Map *m = frame_map(f);
    Value *cell = map_get(m, name);

    value_bind(v);
    if (!cell) {
        cell = m == &f->names ? new_cell(l, f) : new (l->options.arena, Value);
        map_set(l->options.arena, m, name, cell);
    }
    *cell = v;
}

// The function frame around f that has `name` among its locals.
static Frame *enclosing_owner(Frame *f, Text name)
{
    for (f = f->closure; f; f = f->closure) {
        if (f->scope->kind == AST_CLASS || f->scope->kind == AST_MODULE)
            continue;
        if (map_find(&f->names, name) ||
            (f->scope->locals && map_find(f->scope->locals, name)))
            return f;
    }
    return NULL;
}

static bool declared(const Map *names, Text name)
{
    return names && names->len && map_find(names, name);
}

void name_bind(Lang *l, Frame *f, Text name, Value v)
{
    Frame *owner;

    if (declared(f->scope->globals, name)) {
        map_bind(l, &f->module->members, name, v);
        return;
    }
    if (declared(f->scope->nonlocals, name)) {
        owner = enclosing_owner(f, name);
        if (!owner)
            lang_raise(l, "SyntaxError", SPAN_NONE,
                       "no binding for nonlocal '%.*s' found",
                       TEXT_ARG(name));
        f = owner;
    }
    bind_here(l, f, name, v);
}

// A class body's names are not visible in the functions inside it.
static bool visible(const Frame *from, const Frame *f)
{
    return f == from || f->scope->kind != AST_CLASS;
}

static bool is_own_local(const Frame *f, Text name)
{
    return f->scope->kind != AST_MODULE && f->scope->kind != AST_CLASS &&
           f->scope->locals && map_find(f->scope->locals, name);
}

static bool find_module_name(Lang *l, const Frame *f, Text name, Value *out)
{
    return map_value(&f->module->members, name, out) ||
           map_value(&l->builtins->members, name, out);
}

bool name_find(Lang *l, Frame *f, Text name, Value *out)
{
    if (declared(f->scope->globals, name))
        return find_module_name(l, f, name, out);
    for (Frame *g = f; g; g = g->closure) {
        const Value *cell;

        if (!visible(f, g) || g->scope->kind == AST_MODULE)
            continue;
        cell = map_get(&g->names, name);
        if (cell) {
            *out = *cell;
            return cell->kind != VAL_UNBOUND;
        }
        if (is_own_local(g, name)) {
            *out = (Value){.kind = VAL_UNBOUND};
            return false;
        }
    }
    return find_module_name(l, f, name, out);
}
