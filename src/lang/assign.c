// assign.c - binding values to targets.
#include "lang/eval_int.h"

// ---- unpacking -------------------------------------------------------------

static bool can_iterate(Value v)
{
    return v.kind == VAL_STR || v.kind == VAL_BYTES || v_is_sequence(v) ||
           v.kind == VAL_DICT || v.kind == VAL_SET || v.kind == VAL_RANGE ||
           v.kind == VAL_ITER || v.kind == VAL_INSTANCE ||
           v.kind == VAL_FOREIGN || v.kind == VAL_CLASS;
}

_Noreturn static void too_few(Lang *l, int count, int star, int got, Span at)
{
    if (star >= 0)
        lang_raise(l, "ValueError", at,
                   "not enough values to unpack (expected at least %d, got "
                   "%d)", count - 1, got);
    lang_raise(l, "ValueError", at,
               "not enough values to unpack (expected %d, got %d)", count,
               got);
}

// The items of v; of an endless iterator no more than are wanted.
static List *take_items(Lang *l, Value v, int count, int star, Span at)
{
    IterState *it;
    List *out;
    Value item;

    if (v_is_sequence(v))
        return v.list;
    if (!can_iterate(v))
        lang_raise(l, "TypeError", at,
                   "cannot unpack non-iterable %s object",
                   value_type_name(v));
    if (star >= 0)
        return value_to_list(l, v, at);
    it = iter_of(l, v, at);
    temp_push(l, v_iter(it));
    out = list_new(l, count, false);
    temp_push(l, v_of_list(out));
    while (out->len <= count && iter_next(l, it, &item))
        list_append(l, out, item);
    return out;
}

// Puts the items of v into out[count]; out[star] gets a list of the rest. What
// nobody knows has as many as are wanted, as little known.
static void unpack(Lang *l, Value v, int count, int star, Value *out, Span at)
{
    int top = temps_top(l);

    for (int i = 0; i < count && v_is_unseen(v); i++)
        out[i] = v;
    if (v_is_unseen(v))
        return;
    List *items = take_items(l, v, count, star, at);
    int rest = items->len - count + 1;

    temps_cut(l, top);
    if (items->len < count - (star >= 0))
        too_few(l, count, star, items->len, at);
    if (star < 0 && items->len > count)
        lang_raise(l, "ValueError", at,
                   "too many values to unpack (expected %d)", count);
    for (int i = 0; i < count; i++) {
        if (i == star)
            out[i] = v_list(l, items->at + i, rest);
        else
            out[i] = items->at[star >= 0 && i > star ? i + rest - 1 : i];
    }
}

static void assign_items(Lang *l, Frame *f, const AstList *targets, Value v,
                         Span at)
{
    int star = -1, top = temps_top(l);
    Value *items;

    for (int i = 0; i < targets->len; i++)
        if (targets->at[i]->kind == AST_STARRED)
            star = i;
    temp_push(l, v);
    items = temps_take(l, targets->len);
    unpack(l, v, targets->len, star, items, at);
    for (int i = 0; i < targets->len; i++)
        assign_target(l, f, i == star ? targets->at[i]->a : targets->at[i],
                      items[i]);
    temps_cut(l, top);
}

// ---- targets ---------------------------------------------------------------

static void assign_item(Lang *l, Frame *f, const Ast *target, Value v)
{
    int top = temps_top(l);
    Value base, index;

    temp_push(l, v);
    base = eval(l, f, target->a);
    temp_push(l, base);
    index = eval(l, f, target->b);
    temp_push(l, index);
    setitem(l, base, index, v, target->at);
    temps_cut(l, top);
    temp_drop(l, index, V_NONE);
}

static void assign_attribute(Lang *l, Frame *f, const Ast *target, Value v)
{
    int top = temps_top(l);
    Value base;

    temp_push(l, v);
    base = eval(l, f, target->a);
    temp_push(l, base);
    setattr(l, base, target->text, v, target->at);
    temps_cut(l, top);
}

void assign_target(Lang *l, Frame *f, const Ast *target, Value v)
{
    switch (target->kind) {
    case AST_NAME:
        name_bind(l, f, target->text, v);
        break;
    case AST_TUPLE:
    case AST_LIST:
        assign_items(l, f, &target->x, v, target->at);
        break;
    case AST_SUBSCRIPT:
        assign_item(l, f, target, v);
        break;
    case AST_ATTRIBUTE:
        assign_attribute(l, f, target, v);
        break;
    default:
        lang_raise(l, "SyntaxError", target->at, "cannot assign to this");
    }
}
