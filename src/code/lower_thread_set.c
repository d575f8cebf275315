// lower_thread_set.c - which threads come to a place, as far as the text of
// the program tells: conditions on thread indices and constants are evaluated
// for every thread of the block.
#include "code/code_int.h"

#include <string.h>

enum { MOST_STEPS = 20000 };

typedef struct {
    const Lower *l;
    int64_t index[3]; // the thread
    int steps;
} Eval;

static bool eval(Eval *v, const IrExpr *e, int64_t *out);

static bool eval_args(Eval *v, const IrExpr *e, int64_t *out)
{
    for (int i = 0; i < e->count; i++)
        if (!eval(v, e->args[i], &out[i]))
            return false;
    return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static bool divide(Op op, int64_t a, int64_t b, int64_t *out)
{
    if (b == 0 || (b == -1 && a == INT64_MIN))
        return false;
    *out = op == OP_FLOORDIV   ? floor_div(a, b)
           : op == OP_FLOORMOD ? a - floor_div(a, b) * b
           : op == OP_TRUNCDIV ? a / b
                               : a % b;
    return true;
}

static bool shift(Op op, int64_t a, int64_t b, int64_t *out)
{
    if (b < 0 || b > 31)
        return false;
    *out = op == OP_SHL ? (int64_t)((uint64_t)a << b) : a >> b;
    return true;
}

static bool eval_op(Op op, const int64_t *a, int64_t *out)
{
    switch (op) {
    case OP_ADD:
        return !__builtin_add_overflow(a[0], a[1], out);
    case OP_SUB:
        return !__builtin_sub_overflow(a[0], a[1], out);
    case OP_MUL:
        return !__builtin_mul_overflow(a[0], a[1], out);
    case OP_NEG:
        return !__builtin_sub_overflow((int64_t)0, a[0], out);
    case OP_FLOORDIV:
    case OP_FLOORMOD:
    case OP_TRUNCDIV:
    case OP_TRUNCMOD:
        return divide(op, a[0], a[1], out);
    case OP_SHL:
    case OP_SHR:
        return shift(op, a[0], a[1], out);
    case OP_MIN:
        return *out = a[0] < a[1] ? a[0] : a[1], true;
    case OP_MAX:
        return *out = a[0] > a[1] ? a[0] : a[1], true;
    case OP_EQ:
        return *out = a[0] == a[1], true;
    case OP_NE:
        return *out = a[0] != a[1], true;
    case OP_LT:
        return *out = a[0] < a[1], true;
    case OP_LE:
        return *out = a[0] <= a[1], true;
    case OP_AND:
        return *out = a[0] && a[1], true;
    case OP_OR:
        return *out = a[0] || a[1], true;
    case OP_NOT:
        return *out = !a[0], true;
    case OP_BITAND:
        return *out = a[0] & a[1], true;
    case OP_BITOR:
        return *out = a[0] | a[1], true;
    case OP_BITXOR:
        return *out = a[0] ^ a[1], true;
    default:
        return false;
    }
}

// Only int32 and bool: a value that would wrap is not known.
static bool is_small(DType t, int64_t v)
{
    return t == DT_BOOL || t == DT_I64 ||
           (t == DT_I32 && v >= INT32_MIN && v <= INT32_MAX);
}

static bool eval_kind(Eval *v, const IrExpr *e, int64_t *out)
{
    const IrExpr *let;
    int64_t args[3];

    switch (e->kind) {
    case EXPR_INT:
        *out = e->i64;
        return true;
    case EXPR_VAR:
        let = v->l->let[e->var->id];
        return let && eval(v, let, out);
    case EXPR_CAST:
        return !dtype_is_float(e->args[0]->dtype) && e->dtype != DT_BOOL &&
               eval(v, e->args[0], out);
    case EXPR_OP:
        if (e->count < 1 || e->count > 3 || !eval_args(v, e, args))
            return false;
        if (e->op == OP_GET_THREAD_BINDING)
            return *out = v->index[args[0]], true;
        return !dtype_is_float(e->args[0]->dtype) && eval_op(e->op, args, out);
    case EXPR_SELECT:
        if (!eval_args(v, e, args))
            return false;
        *out = args[0] ? args[1] : args[2];
        return true;
    default:
        return false;
    }
}

static bool eval(Eval *v, const IrExpr *e, int64_t *out)
{
    return v->steps-- > 0 && eval_kind(v, e, out) && is_small(e->dtype, *out);
}

static bool eval_thread(const Lower *l, const IrExpr *e, int t, int64_t *out)
{
    const Launch *launch = &l->launches.at[l->launch];
    Eval v = {.l = l, .steps = MOST_STEPS};

    v.index[0] = t % launch->shape[0];
    v.index[1] = t / launch->shape[0] % launch->shape[1];
    v.index[2] = t / launch->shape[0] / launch->shape[1];
    return eval(&v, e, out);
}

// ---- sets ----------------------------------------------------------------

static bool has(const ThreadSet *s, int t)
{
    return s->bit[t / 64] >> t % 64 & 1;
}

static void add(ThreadSet *s, int t)
{
    s->bit[t / 64] |= UINT64_C(1) << t % 64;
    s->count++;
}

static int set_index(Lower *l, const ThreadSet *s)
{
    for (int i = 0; i < l->sets.len; i++)
        if (!memcmp(&l->sets.at[i], s, sizeof *s))
            return i;
    vec_push(l->arena, &l->sets, *s);
    return l->sets.len - 1;
}

int all_threads(Lower *l, int64_t threads)
{
    ThreadSet s = {.count = 0};

    for (int t = 0; t < threads; t++)
        add(&s, t);
    return set_index(l, &s);
}

bool sets_are_apart(const Lower *l, int a, int b)
{
    for (int i = 0; i < MOST_THREADS / 64; i++)
        if (l->sets.at[a].bit[i] & l->sets.at[b].bit[i])
            return false;
    return true;
}

int set_where(Lower *l, const IrExpr *cond, bool holds)
{
    ThreadSet all = l->sets.at[l->set], s = {.count = 0};
    int64_t v;

    for (int t = 0; t < MOST_THREADS; t++) {
        if (!has(&all, t))
            continue;
        if (!eval_thread(l, cond, t, &v))
            return l->set;
        if ((v != 0) == holds)
            add(&s, t);
    }
    return set_index(l, &s);
}

// ---- what differs --------------------------------------------------------

// 1: the same for all threads of the set, 0: not, -1: not known.
static int is_same(Lower *l, const IrExpr *e)
{
    const ThreadSet *all = &l->sets.at[l->set];
    int64_t first = 0, v;
    bool some = false;

    for (int t = 0; t < MOST_THREADS; t++) {
        if (!has(all, t))
            continue;
        if (!eval_thread(l, e, t, &v))
            return -1;
        if (some && v != first)
            return 0;
        first = v;
        some = true;
    }
    return 1;
}

static bool varies_at(Lower *l, const IrExpr *e, int depth, int *steps)
{
    const IrExpr *let = e->kind == EXPR_VAR ? l->let[e->var->id] : NULL;
    int same;

    if (depth > DEPTH_LIMIT || --*steps < 0)
        return true;
    if (e->kind == EXPR_INT || e->kind == EXPR_FLOAT)
        return false;
    if (let)
        return varies_at(l, let, depth + 1, steps);
    if (e->kind == EXPR_OP && op_is_warp(e->op) &&
        e->op != OP_GET_THREAD_BINDING)
        return true;
    if (e->kind == EXPR_ATOMIC)
        return true;
    if (e->kind == EXPR_OP && e->op == OP_GET_THREAD_BINDING)
        return is_same(l, e) != 1;
    for (int i = 0; i < e->count; i++)
        if (varies_at(l, e->args[i], depth + 1, steps)) {
            same = is_same(l, e);
            return same != 1;
        }
    return false;
}

bool varies(Lower *l, const IrExpr *e)
{
    int steps = MOST_STEPS / 10;

    return e && varies_at(l, e, 0, &steps);
}

// ---- whole warps ---------------------------------------------------------

static bool has_whole_warps(const Lower *l, int set)
{
    const Launch *launch = &l->launches.at[l->launch];
    const ThreadSet *s = &l->sets.at[set];

    for (int t = 0; t < launch->threads; t++)
        if (has(s, t) != has(s, t / launch->wave * launch->wave))
            return false;
    return true;
}

bool parts_warps(Lower *l, const IrExpr *cond, int set)
{
    if (!varies(l, cond))
        return false;
    return set == l->set || !has_whole_warps(l, set);
}
