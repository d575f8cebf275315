// comp.c - comprehensions and generator expressions.
//
// Both are an IterState that walks the nested `for` clauses: a list is made by
// running it to its end, a generator expression hands it out. The outermost
// iterable is evaluated in the scope around, the rest in a scope of its own.
#include "lang/eval_int.h"

static bool conditions_hold(Lang *l, Frame *f, const Ast *clause)
{
    for (int i = 0; i < clause->x.len; i++) {
        const Ast *c = clause->x.at[i];

        if (!value_truth(l, eval(l, f, c), c->at))
            return false;
    }
    return true;
}

static void open_clause(Lang *l, IterState *it, int level)
{
    const Ast *clause = it->node->x.at[level];

    it->inner[level] = iter_of(l, eval(l, it->frame, clause->b),
                               clause->b->at);
}

// On to the next element; its names are bound in the frame then.
static bool step(Lang *l, IterState *it)
{
    int last = it->node->x.len - 1, level = it->flag ? last : 0;

    it->flag = true;
    while (level >= 0 && !it->stop) {
        const Ast *clause = it->node->x.at[level];
        Value v;

        if (!iter_next(l, it->inner[level], &v)) {
            level--;
            continue;
        }
        lang_step(l, clause->at);
        assign_target(l, it->frame, clause->a, v);
        if (!conditions_hold(l, it->frame, clause))
            continue;
        if (level == last)
            return true;
        open_clause(l, it, ++level);
    }
    it->stop = 1;
    return false;
}

static bool generator_next(Lang *l, IterState *it, Value *out)
{
    int top = temps_top(l), pins = lang_pins(l);
    bool more;

    frame_enter(l, it->frame, it->node->at);
    temp_push(l, v_iter(it));
    more = step(l, it);
    if (more)
        *out = eval(l, it->frame, it->node->a);
    temps_cut(l, top);
    lang_unpin(l, pins);
    frame_leave(l);
    return more;
}

static IterState *comprehension(Lang *l, Frame *f, const Ast *e, Value source)
{
    const Ast *first = e->x.at[0];
    IterState *it;

    for (int i = 0; i < e->x.len; i++)
        if (e->x.at[i]->is_async)
            lang_unsupported(l, e->at, "an async comprehension");
    it = iter_new(l, "generator", generator_next);
    it->node = e;
    it->inner_count = e->x.len;
    it->inner = new_array(l->options.arena, IterState *, (size_t)e->x.len);
    it->inner[0] = iter_of(l, source, first->b->at);
    it->frame = frame_new(l, e, f, f->module);
    return it;
}

static void add_element(Lang *l, IterState *it, Value out)
{
    const Ast *e = it->node;
    int top = temps_top(l);
    Value first = eval(l, it->frame, e->a), v;

    if (e->kind == AST_LISTCOMP) {
        list_append(l, out.list, first);
        return;
    }
    temp_push(l, first);
    if (e->kind == AST_SETCOMP) {
        set_add(l, out.dict, first);
    } else {
        v = eval(l, it->frame, e->b);
        temp_push(l, v);
        dict_set(l, out.dict, first, v);
    }
    temps_cut(l, top);
}

// What is made of lines that nobody knows is as little known.
Value eval_comprehension(Lang *l, Frame *f, const Ast *e)
{
    Value source = eval(l, f, e->x.at[0]->b);

    if (v_is_unseen(source))
        return source;
    IterState *it = comprehension(l, f, e, source);
    int top = temps_top(l);
    Value out;

    if (e->kind == AST_GENERATOR) {
        frame_capture(it->frame);
        return v_iter(it);
    }
    out = e->kind == AST_LISTCOMP
              ? v_of_list(list_new(l, 8, false))
              : v_of_dict(e->kind == AST_SETCOMP ? VAL_SET : VAL_DICT,
                          dict_new(l));
    temp_push(l, out);
    temp_push(l, v_iter(it));
    frame_enter(l, it->frame, e->at);
    while (step(l, it))
        add_element(l, it, out);
    frame_leave(l);
    temps_cut(l, top);
    frame_give_back(l, it->frame);
    return out;
}
