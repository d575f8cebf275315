// trace.c - where a NaN or an infinity begins, in one block run once more.
//
// The shadows are those of missing values, with other origins: an instruction
// whose operands are numbers and whose result is none begins one. Shadows of
// results that are numbers after all are taken away, so that what arrives at
// an output came there by values, not by chance.
#include "check/check_int.h"

#include <math.h>
#include <string.h>

static bool is_traced(const Check *k, const InterpStep *s)
{
    return s->launch == k->target.launch && s->block == k->target.block;
}

// ---- operands ------------------------------------------------------------

static bool is_vector(const Instr *i)
{
    return i->op == INSTR_VOP || i->op == INSTR_VROUND || i->op == INSTR_VCAST;
}

static bool is_scalar(const Instr *i)
{
    return i->op == INSTR_OP || i->op == INSTR_ROUND || i->op == INSTR_CAST;
}

static bool is_float(LaneType t)
{
    return t == LANE_F32 || t == LANE_F64;
}

// The type of the result, and of the operands.
static LaneType result_type(const Instr *i)
{
    if (i->op == INSTR_VOP || i->op == INSTR_OP)
        return lane_op_info((LaneOp)i->lane)->truth ? LANE_I32
                                                    : (LaneType)i->type;
    return lane_type_of((DType)i->dtype);
}

static LaneType operand_type(const Instr *i)
{
    if (i->op == INSTR_VOP || i->op == INSTR_OP)
        return (LaneType)i->type;
    return lane_type_of((DType)(i->op == INSTR_CAST || i->op == INSTR_VCAST
                                    ? i->from
                                    : i->dtype));
}

static int lanes_of(const InterpStep *s)
{
    if (is_scalar(s->instr))
        return 1;
    return s->instr->flags & INSTR_ROW ? s->rows : s->n;
}

// A register may be a view of a tile: not more than its lanes are read.
static void keep(const InterpStep *s, uint64_t *to, int reg, LaneType t)
{
    if (reg < 0)
        return;
    if (is_scalar(s->instr))
        memcpy(to, &s->slot[reg], sizeof *s->slot);
    else
        memcpy(to, s->v[reg], (size_t)lanes_of(s) * lane_bytes(t));
}

static double number(LaneType t, const void *lanes, int i)
{
    switch (t) {
    case LANE_F32:
        return (double)((const float *)lanes)[i];
    case LANE_F64:
        return ((const double *)lanes)[i];
    case LANE_I32:
        return ((const int32_t *)lanes)[i];
    case LANE_U32:
        return ((const uint32_t *)lanes)[i];
    default:
        return (double)((const int64_t *)lanes)[i];
    }
}

// ---- tiles -----------------------------------------------------------------

static double element(Check *k, const InterpStep *s, int buffer, int64_t at)
{
    LaneType t = lane_type_of(k->code->buffer[buffer].dtype);
    uint64_t lane = 0;

    interp_read(s, buffer, at, 1, &lane);
    return number(t, &lane, 0);
}

static bool matrix_has_nan(Check *k, const InterpStep *s, const Matrix *m,
                           int64_t rows, int64_t cols)
{
    InterpMatrix x;

    if (!interp_touch_matrix(s, m, rows, cols, &x))
        return true;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            if (isnan(element(k, s, m->buffer,
                              x.at + i * x.row_step + j * x.col_step)))
                return true;
    return false;
}

static bool buffer_has_nan(Check *k, const InterpStep *s, int buffer)
{
    int64_t n;

    interp_memory_of(s, buffer, &n);
    for (int64_t i = 0; i < n; i++)
        if (isnan(element(k, s, buffer, i)))
            return true;
    return false;
}

// What a tile operation starts from has a NaN: none begins there.
static bool starts_with_nan(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;

    if (i->op == INSTR_GEMM) {
        const Gemm *g = &k->code->gemm[i->a];

        return matrix_has_nan(k, s, &g->a, g->m,
                              g->group ? g->k / g->group * g->kept : g->k) ||
               matrix_has_nan(k, s, &g->b, g->k, g->n) ||
               matrix_has_nan(k, s, &g->c, g->m, g->n);
    }
    return buffer_has_nan(k, s, k->code->reduction[i->a].src) ||
           (!k->code->reduction[i->a].clear &&
            buffer_has_nan(k, s, k->code->reduction[i->a].dst));
}

void trace_before(Check *k, const InterpStep *s)
{
    CheckWorker *w = worker_of_step(k, s);
    const Instr *i = s->instr;

    if (!is_traced(k, s))
        return;
    if (is_vector(i) || is_scalar(i)) {
        bool more = i->op == INSTR_VOP || i->op == INSTR_OP;

        bool selects = more && i->lane == LANE_OP_SELECT;
        LaneType t = operand_type(i);

        keep(s, w->operand[0], i->a, selects ? LANE_I32 : t);
        keep(s, w->operand[1], more ? i->b : -1, t);
        keep(s, w->operand[2], more ? i->c : -1, t);
    }
    if (i->op == INSTR_GEMM || i->op == INSTR_REDUCE)
        w->had_nan = starts_with_nan(k, s);
    shadow_before(k, s);
}

// ---- beginnings ----------------------------------------------------------

static void keep_double(Note *n, int at, double v)
{
    memcpy(&n->x[at], &v, sizeof v);
}

// The origin of what begins here; 0 when there are too many.
static uint8_t begin(Check *k, const InterpStep *s, int lane, double a,
                     double b, double result)
{
    int i = 0;
    Note *n;

    while (i < k->begin_count && k->begin[i] != s->pc)
        i++;
    if (i == SHADE_ORIGIN - 1)
        return 0;
    if (i == k->begin_count)
        k->begin[k->begin_count++] = s->pc;
    n = note(k, s, NOTE_BEGIN, -1, i, 0);
    if (!n->count) {
        keep_double(n, 0, a);
        keep_double(n, 1, b);
        keep_double(n, 2, result);
        if (!is_scalar(s->instr))
            note_lane(n, s, lane);
    }
    n->count++;
    return (uint8_t)(i + 1);
}

static bool is_logarithm(const Instr *i)
{
    LaneOp op = (LaneOp)i->lane;

    return (i->op == INSTR_VOP || i->op == INSTR_OP) &&
           (op == LANE_OP_LOG || op == LANE_OP_LOG2 || op == LANE_OP_LOG10 ||
            op == LANE_OP_LOG1P);
}

typedef struct {
    const InterpStep *s;
    const uint64_t (*operand)[CODE_LANES];
    LaneType in, out;
    int arity;
    bool selects;
} Step;

static double operand(const Step *t, int which, int lane)
{
    bool condition = t->selects && which == 0;

    return number(condition ? LANE_I32 : t->in, t->operand[which], lane);
}

// Operands are fit to begin a NaN when none is one; an infinity, when all are
// finite and no logarithm gives it.
static bool begins(const Step *t, int lane, double result)
{
    bool nan = isnan(result);

    if (t->selects || (!nan && is_logarithm(t->s->instr)))
        return false;
    for (int i = 0; i < t->arity; i++) {
        double v = operand(t, i, lane);

        if (nan ? isnan(v) : !isfinite(v))
            return false;
    }
    return true;
}

static Step step_of(const Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;
    bool more = i->op == INSTR_VOP || i->op == INSTR_OP;

    return (Step){.s = s,
                  .operand = worker_of_step(k, s)->operand,
                  .in = operand_type(i),
                  .out = result_type(i),
                  .arity = more ? lane_op_info((LaneOp)i->lane)->arity : 1,
                  .selects = more && i->lane == LANE_OP_SELECT};
}

static uint8_t after_lane(Check *k, const Step *t, int lane, double result,
                          uint8_t shadow)
{
    if (isfinite(result))
        return 0;
    if (shadow || !begins(t, lane, result))
        return shadow;
    return begin(k, t->s, lane, operand(t, 0, lane),
                 t->arity > 1 ? operand(t, 1, lane) : NAN, result);
}

static void after_vector(Check *k, const InterpStep *s)
{
    Step t = step_of(k, s);
    Shadows *f = lanes_file(k, s);
    int reg = s->instr->d;
    uint8_t *d = f->lanes + (size_t)reg * (size_t)f->pitch, any = 0;

    if (!is_float(t.out))
        return;
    if (!f->dirty[reg])
        memset(d, 0, (size_t)f->pitch);
    for (int j = 0; j < lanes_of(s); j++) {
        d[j] = after_lane(k, &t, j, number(t.out, s->v[reg], j), d[j]);
        any |= d[j];
    }
    f->dirty[reg] = any != 0;
}

static void after_scalar(Check *k, const InterpStep *s)
{
    Step t = step_of(k, s);
    uint8_t *d = &slots_file(k, s)->slot[s->instr->d];

    if (is_float(t.out))
        *d = after_lane(k, &t, 0, number(t.out, &s->slot[s->instr->d], 0), *d);
}

// ---- tile operations -----------------------------------------------------

// The elements of a tile: numbers lose their shadow, others without one begin
// here.
static void after_element(Check *k, const InterpStep *s, int buffer, int64_t at)
{
    double v = element(k, s, buffer, at);
    uint8_t shadow = shade_get(k, s, buffer, at);

    if (isfinite(v) && shadow)
        shade_put(k, s, buffer, at, 0);
    else if (isnan(v) && !shadow && !worker_of_step(k, s)->had_nan)
        shade_put(k, s, buffer, at, begin(k, s, 0, NAN, NAN, v));
}

static void after_gemm(Check *k, const InterpStep *s)
{
    const Gemm *g = &k->code->gemm[s->instr->a];
    InterpMatrix c;

    if (!is_float(lane_type_of(k->code->buffer[g->c.buffer].dtype)) ||
        !interp_touch_matrix(s, &g->c, g->m, g->n, &c))
        return;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++)
            after_element(k, s, g->c.buffer,
                          c.at + i * c.row_step + j * c.col_step);
}

static void after_reduce(Check *k, const InterpStep *s)
{
    const Reduction *r = &k->code->reduction[s->instr->a];
    int64_t n;

    if (!is_float(lane_type_of(k->code->buffer[r->dst].dtype)))
        return;
    interp_memory_of(s, r->dst, &n);
    for (int64_t i = 0; i < n; i++)
        after_element(k, s, r->dst, i);
}

void trace_after(Check *k, const InterpStep *s)
{
    const Instr *i = s->instr;

    if (!is_traced(k, s))
        return;
    if (is_vector(i))
        after_vector(k, s);
    else if (is_scalar(i))
        after_scalar(k, s);
    else if (i->op == INSTR_GEMM)
        after_gemm(k, s);
    else if (i->op == INSTR_REDUCE)
        after_reduce(k, s);
}
