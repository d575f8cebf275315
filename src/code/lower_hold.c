// lower_hold.c - which threads keep a fragment in their registers.
//
// Groups of threads that have none in common have a fragment each, though the
// program gives it one name: here it is copied, a buffer for each group.
#include <string.h>

#include "code/code_int.h"

int storage_of(const Lower *l, const IrBuffer *b)
{
    return l->copy_of ? l->copy_of[b->id] : b->id;
}

static bool has_views(const Lower *l, int root)
{
    for (int i = 0; i < l->k->buffer_count; i++)
        if (i != root && root_of(l, i) == root)
            return true;
    return false;
}

// Another buffer like the fragment `root`; the allocation fills both.
static int copy_fragment(Lower *l, int root)
{
    int n = l->code->buffer_count, last = root;
    CodeBuffer *all = new_array(l->arena, CodeBuffer, (size_t)n + 1);

    memcpy(all, l->code->buffer, (size_t)n * sizeof *all);
    all[n] = all[root];
    all[n].root = n;
    all[n].copy = all[n].offset = -1;
    while (all[last].copy >= 0)
        last = all[last].copy;
    all[last].copy = n;
    l->code->buffer = all;
    l->code->buffer_count = n + 1;
    reserve(l, &all[n]);
    return n;
}

// Which holder the threads that come here are, or share with; -1: neither.
static int holder_of(const Lower *l, const Holders *h)
{
    int near = -1;

    for (int i = 0; i < h->len; i++)
        if (h->at[i].set == l->set)
            return i;
        else if (!sets_are_apart(l, h->at[i].set, l->set))
            near = i;
    return near;
}

// A fragment lies in the registers of the threads that use it: groups that
// have no thread in common have one each. What more threads than one group
// share with it is one fragment, and others have no part in it.
static void hold_fragment(Lower *l, const IrBuffer *b)
{
    int root = root_of(l, b->id), i;
    Holders *h = &l->held_by[root];
    Holder new = {l->set, root};

    if (b->scope != SCOPE_FRAGMENT || l->failed)
        return;
    i = holder_of(l, h);
    if (i < 0 ? h->mixed || (h->len && has_views(l, root))
              : h->at[i].set != l->set && h->len > 1) {
        unsupported(l,
                    "'%.*s' is used by two groups of threads that have none in "
                    "common: give each a fragment of its own",
                    TEXT_ARG(b->name));
        return;
    }
    if (i < 0) {
        if (h->len)
            new.buffer = copy_fragment(l, root);
        i = h->len;
        vec_push(l->arena, h, new);
    }
    h->mixed |= h->at[i].set != l->set;
    h->at[i].set = l->set;
    l->copy_of[root] = h->at[i].buffer;
}

static bool hold_expr(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_LOAD)
        hold_fragment(ctx, e->buffer);
    return true;
}

static bool hold_stmt(void *ctx, IrStmt *s)
{
    Lower *l = ctx;

    l->at = s->at;
    if (s->kind == STMT_STORE)
        hold_fragment(l, s->buffer);
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION)
            hold_fragment(l, s->operand[i].region->buffer);
    return !l->failed;
}

void hold_fragments(Lower *l, IrStmt *s)
{
    ir_walk(s, hold_stmt, hold_expr, l);
}
