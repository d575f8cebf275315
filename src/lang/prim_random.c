// prim_random.c - T.rng_init, T.rng_rand, T.rng_rand_float: cuRAND's generators.
//
// The state is a local array of each thread. Philox is a function of a position
// that counts on; the steps of XORWOW and MRG32k3a, and what makes floats of
// bits, are written out as ordinary expressions.
#include "lang/eval_int.h"
#include "lang/trace_int.h"

typedef enum { PHILOX, XORWOW, MRG32K3A, GENERATOR_COUNT } Generator;

static const char *const generator_names[GENERATOR_COUNT] = {
    "curandStatePhilox4_32_10_t", "curandStateXORWOW_t",
    "curandStateMRG32k3a_t",
};

// Normal numbers come in pairs: [0] of float32, [1] of float64.
typedef struct Random {
    Generator generator;
    IrBuffer *state;
    IrBuffer *has[2], *second[2];
} Random;

// Where expressions are made.
typedef struct {
    Lang *l;
    IrKernel *k;
    Random *r;
    Span at;
} Maker;

static IrExpr *good(const Maker *m, IrExpr *e)
{
    trace_builder_ok(m->l, e, m->at);
    return e;
}

static IrExpr *number(const Maker *m, DType t, int64_t v)
{
    return ir_int(m->k, t, v, m->at);
}

static IrExpr *real(const Maker *m, DType t, double v)
{
    return ir_float(m->k, t, v, m->at);
}

static IrExpr *op1(const Maker *m, Op op, IrExpr *a)
{
    return good(m, ir_op1(m->k, op, a, m->at));
}

static IrExpr *op2(const Maker *m, Op op, IrExpr *a, IrExpr *b)
{
    return good(m, ir_op2(m->k, op, a, b, m->at));
}

static IrExpr *as(const Maker *m, IrExpr *e, DType t)
{
    return good(m, ir_cast(m->k, e, t, true, m->at));
}

static IrExpr *get(const Maker *m, IrBuffer *b, int at)
{
    IrExpr *index = number(m, DT_I32, at);

    return good(m, ir_load(m->k, b, &index, 1, m->at));
}

static void set(const Maker *m, IrBuffer *b, int at, IrExpr *e)
{
    IrExpr *index = number(m, DT_I32, at);

    store_element(m->l, b, &index, as(m, e, b->dtype), m->at);
}

static IrExpr *freeze(const Maker *m, const char *name, IrExpr *e)
{
    return to_expr(m->l, trace_freeze(m->l, text_of(name), e, m->at), m->at);
}

static IrBuffer *array(const Maker *m, const char *name, DType t, int n)
{
    IrExpr *size = number(m, DT_I32, n);
    IrBuffer *b = ir_buffer(m->k, text_of(name), t, SCOPE_LOCAL, 1, &size,
                            NULL, m->at);

    trace_builder_ok(m->l, b, m->at);
    trace_emit(m->l, STMT_ALLOC, m->at)->buffer = b;
    return b;
}

// ---- bits ------------------------------------------------------------------

static IrExpr *philox_bits(const Maker *m)
{
    IrExpr *at[3], *bits;

    for (int i = 0; i < 3; i++)
        at[i] = get(m, m->r->state, i);
    bits = freeze(m, "random", good(m, ir_op(m->k, OP_RNG_RAND, at, 3, m->at)));
    set(m, m->r->state, 2,
        op2(m, OP_ADD, get(m, m->r->state, 2), number(m, DT_U64, 1)));
    return bits;
}

// a ^ a << n, or >> n
static IrExpr *xor_shifted(const Maker *m, IrExpr *a, Op shift, int n)
{
    return op2(m, OP_BITXOR, a, op2(m, shift, a, number(m, DT_U32, n)));
}

static void shift_down(const Maker *m, int from, int to)
{
    for (int i = from; i < to; i++)
        set(m, m->r->state, i, get(m, m->r->state, i + 1));
}

static IrExpr *xorwow_bits(const Maker *m)
{
    IrBuffer *s = m->r->state;
    IrExpr *t = freeze(m, "t", xor_shifted(m, get(m, s, 0), OP_SHR, 2));
    IrExpr *next = op2(m, OP_BITXOR, xor_shifted(m, get(m, s, 4), OP_SHL, 4),
                       xor_shifted(m, t, OP_SHL, 1));

    next = freeze(m, "next", next);
    shift_down(m, 0, 4);
    set(m, s, 4, next);
    set(m, s, 5, op2(m, OP_ADD, get(m, s, 5), number(m, DT_U32, 362437)));
    return freeze(m, "random", op2(m, OP_ADD, next, get(m, s, 5)));
}

// (a * s[i] - b * s[j]) modulo n, which then is the last of three words.
static IrExpr *half_step(const Maker *m, int64_t a, int i, int64_t b, int j,
                         int64_t n)
{
    IrBuffer *s = m->r->state;
    IrExpr *negative = op2(m, OP_SUB, number(m, DT_U64, n),
                           as(m, get(m, s, j), DT_U64));
    IrExpr *sum = op2(m, OP_ADD,
                      op2(m, OP_MUL, number(m, DT_U64, a),
                          as(m, get(m, s, i), DT_U64)),
                      op2(m, OP_MUL, number(m, DT_U64, b), negative));
    IrExpr *p = freeze(m, "p", op2(m, OP_FLOORMOD, sum, number(m, DT_U64, n)));

    shift_down(m, j, j + 2);
    set(m, s, j + 2, p);
    return p;
}

enum { MODULUS_1 = 4294967087u, MODULUS_2 = 4294944443u };

// A number from 1 to MODULUS_1, as float64.
static IrExpr *mrg_number(const Maker *m)
{
    IrExpr *p = half_step(m, 1403580, 1, 810728, 0, MODULUS_1);
    IrExpr *q = half_step(m, 527612, 5, 1370589, 3, MODULUS_2);
    IrExpr *more = op2(m, OP_SUB, number(m, DT_U64, MODULUS_1), q);
    IrExpr *z = ir_select(m->k, op2(m, OP_LE, p, q), op2(m, OP_ADD, p, more),
                          op2(m, OP_SUB, p, q), m->at);

    return freeze(m, "z", as(m, good(m, z), DT_F64));
}

static IrExpr *bits_of(const Maker *m)
{
    IrExpr *z;

    if (m->r->generator == PHILOX)
        return philox_bits(m);
    if (m->r->generator == XORWOW)
        return xorwow_bits(m);
    // about 2^32 / MODULUS_1, with cuRAND's digits
    z = op2(m, OP_MUL, mrg_number(m), real(m, DT_F64, 1.000000048662));
    return freeze(m, "random", as(m, z, DT_U32));
}

// ---- uniform ---------------------------------------------------------------

// The middle of the interval that the integer bits name: bits * unit + unit *
// middle, the product exact.
static IrExpr *interval(const Maker *m, DType t, IrExpr *bits, double unit,
                        double middle)
{
    IrExpr *e = op2(m, OP_MUL, as(m, bits, t), real(m, t, unit));

    return op2(m, OP_ADD, e, real(m, t, unit * middle));
}

// 53 bits of two draws: the first XOR the second shifted up.
static IrExpr *wide_bits(const Maker *m)
{
    IrExpr *low = as(m, bits_of(m), DT_U64);
    IrExpr *high = as(m, bits_of(m), DT_U64);

    return op2(m, OP_BITXOR, low,
               op2(m, OP_SHL, high, number(m, DT_U64, 53 - 32)));
}

static IrExpr *uniform(const Maker *m, DType t)
{
    if (m->r->generator == MRG32K3A)
        return as(m, op2(m, OP_MUL, mrg_number(m),
                         real(m, DT_F64, 2.3283065498378288e-10)), t);
    if (t == DT_F32)
        return interval(m, t, bits_of(m), 0x1p-32, 0.5);
    if (m->r->generator == PHILOX)
        return interval(m, t, bits_of(m), 0x1p-32, 1);
    return interval(m, t, wide_bits(m), 0x1p-53, 0.5);
}

// ---- normal ------------------------------------------------------------------

// Box and Muller's radius of u in (0, 1], and two uniform numbers as a length
// and an angle in turns of pi.
static IrExpr *radius(const Maker *m, IrExpr *u)
{
    IrExpr *e = op2(m, OP_MUL, real(m, u->dtype, -2), op1(m, OP_LOG, u));

    return freeze(m, "radius", op1(m, OP_SQRT, e));
}

static IrExpr *angle32(const Maker *m)
{
    const double two_pi = (float)6.2831855;

    if (m->r->generator == MRG32K3A)
        return op2(m, OP_MUL, uniform(m, DT_F32), real(m, DT_F32, two_pi));
    return interval(m, DT_F32, bits_of(m), (float)(0x1p-32 * two_pi), 0.5);
}

static IrExpr *angle64(const Maker *m)
{
    IrExpr *turns =
        m->r->generator == MRG32K3A
            ? op2(m, OP_MUL, uniform(m, DT_F64), real(m, DT_F64, 2))
            : interval(m, DT_F64, wide_bits(m), 0x1p-52, 0.5);

    return op2(m, OP_MUL, turns, real(m, DT_F64, 3.14159265358979323846));
}

static IrExpr *length(const Maker *m, DType t)
{
    if (t == DT_F64 && m->r->generator == PHILOX)
        return interval(m, t, wide_bits(m), 0x1p-53, 0.5);
    return uniform(m, t);
}

// A pair: out has the one that is given first, the other is kept.
static void draw_pair(const Maker *m, DType t, IrBuffer *out)
{
    IrExpr *u = freeze(m, "u", length(m, t));
    IrExpr *v = freeze(m, "v", t == DT_F32 ? angle32(m) : angle64(m));
    IrExpr *r = radius(m, u);

    set(m, out, 0, op2(m, OP_MUL, op1(m, OP_SIN, v), r));
    set(m, m->r->second[t == DT_F64], 0,
        op2(m, OP_MUL, op1(m, OP_COS, v), r));
    set(m, m->r->has[t == DT_F64], 0, number(m, DT_I32, 1));
}

static IrExpr *normal(const Maker *m, DType t)
{
    Trace *trace = m->l->trace;
    IrStmt *outer = trace->block, *fresh = ir_block(m->k, m->at);
    IrStmt *kept = ir_block(m->k, m->at), *branch;
    IrBuffer *out = array(m, "normal", t, 1), *has = m->r->has[t == DT_F64];
    IrExpr *none = op2(m, OP_EQ, get(m, has, 0), number(m, DT_I32, 0));

    trace->block = fresh;
    draw_pair(m, t, out);
    trace->block = kept;
    set(m, out, 0, get(m, m->r->second[t == DT_F64], 0));
    set(m, has, 0, number(m, DT_I32, 0));
    trace->block = outer;
    branch = trace_emit(m->l, STMT_IF, m->at);
    branch->cond = none;
    branch->then = fresh;
    branch->otherwise = kept;
    return get(m, out, 0);
}

// ---- calls -------------------------------------------------------------------

static Generator generator_of(Lang *l, const Bound *b)
{
    if (!bound_given(b, 3))
        return PHILOX;
    for (int g = 0; b->at[3].kind == VAL_STR && g < GENERATOR_COUNT; g++)
        if (text_is(b->at[3].s, generator_names[g]))
            return (Generator)g;
    lang_raise(l, "AssertionError", b->spans[3],
               "T.rng_init: the generators are %s, %s and %s",
               generator_names[0], generator_names[1], generator_names[2]);
}

// seq is the thread in the grid unless it is given.
static IrExpr *sequence_of(const Maker *m, const Bound *b)
{
    const IrStmt *launch = launch_around(m->l, b);
    int64_t threads = 1;

    if (bound_given(b, 1))
        return to_expr(m->l, b->at[1], b->spans[1]);
    for (int d = 0; d < 3; d++)
        threads *= launch->threads[d];
    return op2(m, OP_ADD, thread_number(m->l, b),
               op2(m, OP_MUL, ir_use(m->k, launch->vars[0], m->at),
                   number(m, DT_I32, threads)));
}

static void start(const Maker *m, IrExpr *const from[3])
{
    Random *r = m->r;
    const DType kept[2] = {DT_F32, DT_F64};

    if (r->generator == PHILOX) {
        r->state = array(m, "rng", DT_U64, 3);
        for (int i = 0; i < 3; i++)
            set(m, r->state, i, from[i]);
    } else {
        int first = r->generator == XORWOW ? 0 : NUM_RANDOM_WORDS;

        r->state = array(m, "rng", DT_U32, NUM_RANDOM_WORDS);
        for (int i = 0; i < NUM_RANDOM_WORDS; i++) {
            IrExpr *args[4] = {from[0], from[1], from[2],
                               number(m, DT_I32, first + i)};

            set(m, r->state, i,
                good(m, ir_op(m->k, OP_RNG_STATE, args, 4, m->at)));
        }
    }
    for (int i = 0; i < 2; i++) {
        r->has[i] = array(m, "rng_has", DT_I32, 1);
        r->second[i] = array(m, "rng_second", kept[i], 1);
        set(m, r->has[i], 0, number(m, DT_I32, 0));
    }
}

static Value random_init(Lang *l, const Bound *b)
{
    Maker m = {l, l->trace->k, new (lang_arena(l), Random), b->call};
    IrExpr *from[3];

    m.r->generator = generator_of(l, b);
    from[0] = freeze(&m, "seed", to_expr(l, b->at[0], b->spans[0]));
    from[1] = freeze(&m, "sequence", sequence_of(&m, b));
    from[2] = bound_given(b, 2) ? to_expr(l, b->at[2], b->spans[2])
                                : number(&m, DT_I32, 0);
    from[2] = freeze(&m, "offset", from[2]);
    start(&m, from);
    l->trace->random = m.r;
    return V_NONE;
}

static bool is_normal(Lang *l, const Bound *b)
{
    if (!bound_given(b, 1))
        return false;
    if (b->at[1].kind == VAL_STR && text_is(b->at[1].s, "normal"))
        return true;
    if (b->at[1].kind != VAL_STR || !text_is(b->at[1].s, "uniform"))
        lang_raise(l, "AssertionError", b->spans[1], "T.rng_rand_float: the "
                   "distributions are 'uniform' and 'normal'");
    return false;
}

static Value random_float(Lang *l, const Bound *b, const Maker *m)
{
    int64_t bits = bound_int(l, b, 0, 32);
    DType t = bits == 64 ? DT_F64 : DT_F32;

    if (bits != 32 && bits != 64)
        lang_raise(l, "AssertionError", b->call,
                   "T.rng_rand_float: bit is 32 or 64, not %lld",
                   (long long)bits);
    return v_expr(freeze(m, "random",
                         is_normal(l, b) ? normal(m, t) : uniform(m, t)));
}

bool random_call(Lang *l, const Bound *b, Value *out)
{
    Maker m = {.l = l, .at = b->call};

    if (b->op != OP_RNG_INIT && b->op != OP_RNG_RAND
        && b->op != OP_RNG_RAND_FLOAT)
        return false;
    m.k = trace_need(l, b->info->surface, b->call)->k;
    m.r = l->trace->random;
    if (b->op != OP_RNG_INIT && !m.r)
        lang_raise(l, "TypeError", b->call, "%s before T.rng_init",
                   b->info->surface);
    *out = b->op == OP_RNG_INIT   ? random_init(l, b)
           : b->op == OP_RNG_RAND ? v_expr(bits_of(&m))
                                  : random_float(l, b, &m);
    return true;
}
