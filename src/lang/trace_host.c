// trace_host.c - loops around T.Kernel: each turn launches its own kernels.
//
// The turns of such a loop are known while staging, and its body is built once
// for each. As in any other loop of a kernel, what one turn binds to a name is
// not seen by the next.
#include "lang/trace_int.h"

enum { HOST_TURNS = 1024 };     // that one kernel makes in all

// ---- is it one? -----------------------------------------------------------

static bool is_kernel_call(const Ast *e)
{
    if (e->kind != AST_CALL)
        return false;
    if (e->a->kind != AST_ATTRIBUTE && e->a->kind != AST_NAME)
        return false;
    return text_is(e->a->text, "Kernel") || text_is(e->a->text, "ClusterKernel");
}

bool trace_launches(const AstList *body, int depth)
{
    for (int i = 0; i < body->len && depth < 32; i++) {
        const Ast *s = body->at[i];

        if (s->kind == AST_WITH
            && (is_kernel_call(s->x.at[0]->a)
                || trace_launches(&s->y, depth + 1)))
            return true;
        if ((s->kind == AST_IF || s->kind == AST_FOR)
            && (trace_launches(&s->x, depth + 1)
                || trace_launches(&s->y, depth + 1)))
            return true;
    }
    return false;
}

// A macro that is called by its name and has a T.Kernel.
static bool macro_launches(Lang *l, Frame *f, const AstList *body, int depth)
{
    for (int i = 0; i < body->len && depth < 32; i++) {
        const Ast *s = body->at[i];
        Value v;

        if (s->kind == AST_EXPRSTMT && s->a->kind == AST_CALL
            && s->a->a->kind == AST_NAME && name_find(l, f, s->a->a->text, &v)
            && v.kind == VAL_MACRO && trace_launches(&v.function->def->x, 0))
            return true;
        if ((s->kind == AST_IF || s->kind == AST_FOR)
            && (macro_launches(l, f, &s->x, depth + 1)
                || macro_launches(l, f, &s->y, depth + 1)))
            return true;
    }
    return false;
}

bool trace_is_host_loop(Lang *l, Frame *f, const Ast *s)
{
    return !l->trace->launch && (trace_launches(&s->x, 0)
                                 || macro_launches(l, f, &s->x, 0));
}

// ---- its turns --------------------------------------------------------------

typedef struct {
    int rank;
    int64_t start[IR_MAX_RANK], extent[IR_MAX_RANK], step, turns;
} Turns;

static int64_t known_size(Lang *l, const IrExpr *e, const char *what, Span at)
{
    int64_t n;

    if (!ir_is_int(e, &n))
        lang_unsupported(l, at, "T.Kernel in a loop whose %s is known only when "
                         "the kernel is called", what);
    return n;
}

static Turns turns_of(Lang *l, const LoopFrame *loop, Span at)
{
    Turns t = {.rank = loop->rank, .step = 1, .turns = 1};

    if (loop->loop != LOOP_SERIAL && loop->loop != LOOP_UNROLL
        && loop->loop != LOOP_GRID)
        lang_raise(l, "TypeError", at, "T.Kernel inside T.%s: launches come one "
                   "after the other, in a loop over range or T.serial",
                   ir_loop_name(loop->loop));
    if (loop->step)
        t.step = known_size(l, loop->step, "step", at);
    for (int i = 0; i < loop->rank; i++) {
        t.start[i] = known_size(l, loop->start[i], "start", at);
        t.extent[i] = known_size(l, loop->extent[i], "number of turns", at);
        if (t.extent[i] < 0)
            t.extent[i] = 0;
        if (t.extent[i] && t.turns > HOST_TURNS / t.extent[i])
            lang_unsupported(l, at, "more than %d turns of loops around "
                             "T.Kernel", HOST_TURNS);
        t.turns *= t.extent[i];
    }
    return t;
}

// The indices of turn i, the last one running fastest.
static void bind_turn(Lang *l, Frame *f, const Ast *target, const Turns *t,
                      int64_t i)
{
    Value index[IR_MAX_RANK];
    bool many = target->kind == AST_TUPLE || target->kind == AST_LIST;

    for (int d = t->rank - 1; d >= 0; d--) {
        index[d] = v_int(t->start[d] + i % t->extent[d] * t->step);
        i /= t->extent[d];
    }
    if (many && target->x.len != t->rank)
        lang_raise(l, "ValueError", target->at, "the loop has %d %s, found %d "
                   "name%s", t->rank, t->rank == 1 ? "index" : "indices",
                   target->x.len, target->x.len == 1 ? "" : "s");
    for (int d = 0; d < (many ? t->rank : 1); d++) {
        const Ast *name = many ? target->x.at[d] : target;

        if (name->kind != AST_NAME)
            lang_raise(l, "TypeError", name->at,
                       "an index of a loop or grid is bound to a name");
        trace_bind(l, f, name->text, many || t->rank == 1
                                         ? index[d]
                                         : v_tuple(l, index, t->rank));
    }
}

// ---- the names before it ----------------------------------------------------

static Value *names_keep(Lang *l, const Frame *f)
{
    Value *kept = new_array(lang_arena(l), Value, (size_t)f->names.len + 1);

    for (int i = 0; i < f->names.len; i++)
        kept[i] = *(Value *)f->names.at[i].value;
    return kept;
}

static void names_restore(Frame *f, const Value *kept, int len)
{
    for (int i = 0; i < f->names.len; i++) {
        Value *now = f->names.at[i].value;

        *now = i < len ? kept[i] : (Value){.kind = VAL_UNBOUND,
                                           .s = TEXT("a for loop")};
    }
}

Flow trace_host_loop(Lang *l, Frame *f, const Ast *s, const LoopFrame *loop)
{
    Trace *trace = l->trace;
    int len = f->names.len;
    Flow flow = FLOW_NEXT;

    if (trace->probing)     // the first T.Kernel ends it
        return FLOW_RETURN;
    Turns t = turns_of(l, loop, s->b->at);
    Value *kept = names_keep(l, f);
    trace->host_depth++;
    for (int64_t i = 0; i < t.turns; i++) {
        if (trace->host_turns++ == HOST_TURNS)
            lang_unsupported(l, s->b->at, "more than %d turns of loops around "
                             "T.Kernel", HOST_TURNS);
        names_restore(f, kept, len);
        bind_turn(l, f, s->a, &t, i);
        flow = exec_block(l, f, &s->x);
        if (flow == FLOW_RETURN)
            break;
        int64_t inner = t.extent[t.rank - 1];
        if (flow == FLOW_BREAK)     // of T.grid, the innermost loop
            i += inner - 1 - i % inner;
    }
    trace->host_depth--;
    return flow == FLOW_RETURN ? flow : FLOW_NEXT;
}
