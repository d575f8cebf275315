// check_ir.c - building expressions: dtypes, folding, indices.
#include <math.h>

#include "unit_ir.h"

// A value of a dtype that cannot fold.
static IrExpr *value(const char *name, DType t)
{
    return ir_use(k, ir_var(k, VAR_LET, text_of(name), t, nowhere), nowhere);
}

static IrExpr *lit(int64_t v)
{
    return ir_literal(k, v, nowhere);
}

static IrExpr *real(double v)
{
    return ir_float(k, DT_F32, v, nowhere);
}

static IrExpr *op2(Op op, IrExpr *a, IrExpr *b)
{
    return ir_op2(k, op, a, b, nowhere);
}

static void expect_text(const IrExpr *e, const char *want)
{
    ck_assert_msg(e != NULL, "nothing built for %s", want);
    ck_assert_msg(text_is(expr_text(e), want), "%.*s, expected %s",
                  TEXT_ARG(expr_text(e)), want);
}

static void expect_error(const void *built, const char *id, const char *part)
{
    ck_assert_ptr_null(built);
    ck_assert_str_eq(last_id(), id);
    ck_assert_msg(text_holds(last_message(), part), "%.*s",
                  TEXT_ARG(last_message()));
}

// ---- dtypes of mixed operands -----------------------------------------------

// tilelang_surface 4.2, by hand. Both orders are tried.
static const struct { DType a, b, result; } mixed[] = {
    {DT_F16, DT_F16, DT_F16},     {DT_F16, DT_F32, DT_F32},
    {DT_F32, DT_F64, DT_F64},     {DT_F16, DT_F64, DT_F64},
    {DT_F16, DT_BF16, DT_F16},    {DT_F32, DT_BF16, DT_F32},
    {DT_F16, DT_I32, DT_F16},     {DT_F32, DT_I64, DT_F32},
    {DT_F32, DT_U8, DT_F32},      {DT_F16, DT_E4M3FN, DT_F16},
    {DT_F32, DT_E5M2FNUZ, DT_F32}, {DT_BF16, DT_I32, DT_BF16},
    {DT_BF16, DT_E4M3FN, DT_BF16}, {DT_BF16, DT_U64, DT_BF16},
    {DT_E4M3FN, DT_I32, DT_E4M3FN}, {DT_E5M2, DT_U8, DT_E5M2},
    {DT_I8, DT_I32, DT_I32},      {DT_I32, DT_I64, DT_I64},
    {DT_U8, DT_U16, DT_U16},      {DT_I8, DT_U8, DT_U8},
    {DT_I32, DT_U32, DT_U32},     {DT_I32, DT_U8, DT_I32},
    {DT_I16, DT_U32, DT_U32},     {DT_I64, DT_U32, DT_I64},
    {DT_I64, DT_U64, DT_U64},     {DT_BOOL, DT_I32, DT_I32},
    {DT_BOOL, DT_U8, DT_U8},      {DT_BOOL, DT_F16, DT_F16},
    {DT_BF16, DT_BF16, DT_BF16},  {DT_E4M3FN, DT_E4M3FN, DT_E4M3FN},
};

START_TEST(mixed_operands_take_one_dtype)
{
    DType a = mixed[_i].a, b = mixed[_i].b, want = mixed[_i].result;
    IrExpr *x = value("x", a), *y = value("y", b);
    IrExpr *sum = op2(OP_ADD, x, y), *less = op2(OP_LT, y, x);
    ck_assert_int_eq(sum->dtype, want);
    ck_assert_int_eq(op2(OP_MUL, y, x)->dtype, want);
    ck_assert_int_eq(sum->args[0]->dtype, want);
    ck_assert_int_eq(sum->args[1]->dtype, want);
    ck_assert_int_eq(less->dtype, DT_BOOL);
    ck_assert_int_eq(less->args[0]->dtype, want);
}
END_TEST

START_TEST(literals_are_int32_and_float32)
{
    ck_assert_int_eq(op2(OP_ADD, value("x", DT_F32), lit(1))->dtype, DT_F32);
    ck_assert_int_eq(op2(OP_MUL, value("x", DT_F16), real(1.5))->dtype, DT_F32);
    ck_assert_int_eq(op2(OP_MUL, value("x", DT_BF16), real(1.5))->dtype,
                     DT_F32);
    ck_assert_int_eq(op2(OP_MUL, value("x", DT_F16), lit(2))->dtype, DT_F16);
    ck_assert_int_eq(op2(OP_ADD, value("x", DT_I8), lit(1))->dtype, DT_I32);
    ck_assert_int_eq(op2(OP_MUL, value("x", DT_I32), real(1.5))->dtype, DT_F32);
    ck_assert_int_eq(lit(INT64_C(3000000000))->dtype, DT_I64);
}
END_TEST

START_TEST(two_kinds_of_8_bit_floats_do_not_mix)
{
    expect_error(op2(OP_ADD, value("x", DT_E4M3FN), value("y", DT_E5M2)),
                 "ir-type", "float8_e4m3fn and float8_e5m2");
}
END_TEST

START_TEST(functions_keep_their_argument_dtype)
{
    static const Op functions[] = {OP_EXP2, OP_LOG, OP_RSQRT, OP_TANH, OP_ERF,
                                   OP_SIGMOID, OP_FLOOR, OP_ABS, OP_FAST_EXP};
    for (size_t i = 0; i < countof(functions); i++)
        for (DType t = DT_F16; t <= DT_F64; t++)
            ck_assert_int_eq(ir_op1(k, functions[i], value("x", t),
                                    nowhere)->dtype, t);
}
END_TEST

START_TEST(functions_of_floats_refuse_integers)
{
    expect_error(ir_op1(k, OP_EXP2, value("x", DT_I32), nowhere), "ir-type",
                 "T.exp2 applies to floats, and this is int32");
}
END_TEST

START_TEST(rounding_leaves_integers_alone)
{
    IrExpr *x = value("x", DT_I32);
    ck_assert_ptr_eq(ir_op1(k, OP_FLOOR, x, nowhere), x);
    ck_assert_ptr_eq(ir_op1(k, OP_ROUND, x, nowhere), x);
    expect_text(ir_op1(k, OP_ISNAN, x, nowhere), "False");
    expect_text(ir_op1(k, OP_ISFINITE, x, nowhere), "True");
}
END_TEST

START_TEST(leading_zeros_are_an_int32)
{
    IrExpr *wide = ir_op1(k, OP_CLZ, value("x", DT_U64), nowhere);
    expect_text(wide, "T.clz(x)");
    ck_assert_int_eq(wide->dtype, DT_I32);
    expect_text(ir_op1(k, OP_CLZ, value("x", DT_I8), nowhere),
                "T.clz(int32(x))");
}
END_TEST

// ---- operators that refuse --------------------------------------------------

START_TEST(integers_have_no_true_division)
{
    expect_error(op2(OP_DIV, value("x", DT_I32), lit(2)), "ir-int-division",
                 "use '//'");
    expect_error(op2(OP_DIV, lit(7), lit(2)), "ir-int-division", "int32");
    ck_assert_int_eq(op2(OP_DIV, value("x", DT_F16), lit(2))->dtype, DT_F16);
}
END_TEST

START_TEST(floor_division_refuses_floats)
{
    expect_error(op2(OP_FLOORDIV, value("x", DT_F32), lit(2)), "ir-type",
                 "// applies to integers, and this is float32");
}
END_TEST

START_TEST(dividing_by_zero_is_an_error)
{
    expect_error(op2(OP_FLOORDIV, value("x", DT_I32), lit(0)),
                 "ir-zero-division", "division by zero");
    expect_error(op2(OP_FLOORMOD, lit(3), lit(0)), "ir-zero-division", "zero");
    expect_error(op2(OP_DIV, value("x", DT_F32), real(0)), "ir-zero-division",
                 "zero");
    expect_error(op2(OP_DIV, value("x", DT_F32), lit(0)), "ir-zero-division",
                 "zero");
}
END_TEST

static bool is_least(void *ctx, const IrVar *v, int64_t *out)
{
    (void)ctx, (void)v;
    return *out = INT64_MIN, true;
}

// What no int64 holds has no value, rather than a trap or another one.
START_TEST(values_out_of_range_have_none)
{
    static const Op trapping[] = {OP_FLOORDIV, OP_FLOORMOD, OP_MUL};
    int64_t out;

    for (size_t i = 0; i < countof(trapping); i++) {
        IrExpr *e = op2(trapping[i], value("x", DT_I64), lit(-1));
        ck_assert_ptr_nonnull(e);
        ck_assert(!ir_evaluate(e, is_least, NULL, &out));
    }
}
END_TEST

START_TEST(logic_needs_conditions)
{
    IrExpr *c = value("c", DT_BOOL);
    expect_error(op2(OP_AND, c, value("x", DT_I32)), "ir-type",
                 "and applies to conditions (bool), and this is int32");
    ck_assert_int_eq(op2(OP_OR, c, c)->dtype, DT_BOOL);
    expect_text(ir_op1(k, OP_BITNOT, c, nowhere), "not c");
    expect_text(ir_truth(k, value("x", DT_I32), nowhere), "x != 0");
    ck_assert_ptr_eq(ir_truth(k, c, nowhere), c);
}
END_TEST

START_TEST(shift_counts_stay_within_the_width)
{
    expect_error(op2(OP_SHL, value("x", DT_I32), lit(32)), "ir-shift",
                 "shift by 32: int32 has 32 bits");
    expect_error(op2(OP_SHR, value("x", DT_I32), lit(-1)), "ir-shift", "-1");
    expect_text(op2(OP_SHL, value("x", DT_U8), lit(4)), "int32(x) << 4");
}
END_TEST

START_TEST(bits_need_integers)
{
    expect_error(op2(OP_BITAND, value("x", DT_F32), lit(1)), "ir-type",
                 "& applies to integers");
    ck_assert_int_eq(op2(OP_BITXOR, value("c", DT_BOOL), value("d", DT_BOOL))
                         ->dtype, DT_BOOL);
}
END_TEST

// "not 0" of the sum, difference and product of 0s and 1s.
START_TEST(arithmetic_on_two_bools_keeps_their_truth)
{
    static const Op of[][2] = {
        {OP_ADD, OP_BITOR}, {OP_SUB, OP_BITXOR}, {OP_MUL, OP_BITAND},
        {OP_MAX, OP_BITOR}, {OP_MIN, OP_BITAND},
    };

    for (size_t i = 0; i < countof(of); i++) {
        IrExpr *e = op2(of[i][0], value("c", DT_BOOL), value("d", DT_BOOL));

        ck_assert_int_eq(e->op, of[i][1]);
        ck_assert_int_eq(e->dtype, DT_BOOL);
    }
}
END_TEST

START_TEST(selections_need_a_condition)
{
    expect_error(ir_select(k, value("x", DT_I32), lit(1), lit(2), nowhere),
                 "ir-type", "a condition is int32, not bool");
    IrExpr *e = ir_select(k, value("c", DT_BOOL), value("h", DT_F16), real(0),
                          nowhere);
    ck_assert_int_eq(e->kind, EXPR_SELECT);
    ck_assert_int_eq(e->dtype, DT_F32);
}
END_TEST

// ---- folding ----------------------------------------------------------------

static const struct { Op op; int64_t a, b; const char *want; } constants[] = {
    {OP_ADD, 2, 3, "5"},            {OP_SUB, 2, 3, "-1"},
    {OP_MUL, -4, 3, "-12"},         {OP_FLOORDIV, 7, 2, "3"},
    {OP_FLOORDIV, -7, 2, "-4"},     {OP_FLOORDIV, 7, -2, "-4"},
    {OP_FLOORMOD, -7, 2, "1"},      {OP_FLOORMOD, 7, -2, "-1"},
    {OP_TRUNCDIV, -7, 2, "-3"},     {OP_TRUNCMOD, -7, 2, "-1"},
    {OP_BITAND, 12, 10, "8"},       {OP_BITOR, 12, 10, "14"},
    {OP_BITXOR, 12, 10, "6"},       {OP_SHL, 3, 4, "48"},
    {OP_SHR, -16, 2, "-4"},         {OP_MIN, 3, -3, "-3"},
    {OP_MAX, 3, -3, "3"},           {OP_EQ, 3, 3, "True"},
    {OP_NE, 3, 3, "False"},         {OP_LT, 2, 3, "True"},
    {OP_GE, 2, 3, "False"},         {OP_CEILDIV, 7, 2, "4"},
    {OP_CEILDIV, 8, 2, "4"},        {OP_ALIGN_UP, 100, 64, "128"},
    {OP_POW, 3, 4, "81"},           {OP_POW, -5, 0, "1"},
};

START_TEST(integer_constants_fold)
{
    expect_text(op2(constants[_i].op, lit(constants[_i].a),
                    lit(constants[_i].b)), constants[_i].want);
}
END_TEST

START_TEST(signed_overflow_is_an_error)
{
    expect_error(op2(OP_ADD, lit(INT32_MAX), lit(1)), "ir-overflow",
                 "2147483647 + 1 overflows int32");
    expect_error(op2(OP_MUL, lit(65536), lit(65536)), "ir-overflow", "int32");
    IrExpr *big = ir_int(k, DT_I64, INT64_MAX, nowhere);
    expect_error(op2(OP_ADD, big, lit(1)), "ir-overflow",
                 "9223372036854775807 + 1 overflows int64");
    expect_error(ir_int(k, DT_U8, 300, nowhere), "ir-overflow",
                 "300 does not fit uint8");
}
END_TEST

START_TEST(unsigned_constants_wrap)
{
    IrExpr *x = ir_int(k, DT_U32, 4294967295, nowhere);
    expect_text(op2(OP_ADD, x, ir_int(k, DT_U32, 2, nowhere)), "1_u32");
    expect_text(op2(OP_MUL, x, x), "1_u32");
    expect_text(ir_op1(k, OP_BITNOT, ir_int(k, DT_U64, 0, nowhere), nowhere),
                "18446744073709551615_u64");
    expect_text(ir_cast(k, lit(-1), DT_U8, true, nowhere), "255_u8");
    expect_text(ir_cast(k, lit(200), DT_I8, true, nowhere), "-56_i8");
}
END_TEST

START_TEST(neutral_elements_vanish_for_integers_only)
{
    IrExpr *x = value("x", DT_I32), *f = value("f", DT_F32);
    ck_assert_ptr_eq(op2(OP_ADD, x, lit(0)), x);
    ck_assert_ptr_eq(op2(OP_ADD, lit(0), x), x);
    ck_assert_ptr_eq(op2(OP_MUL, x, lit(1)), x);
    expect_text(op2(OP_MUL, x, lit(0)), "0");
    expect_text(op2(OP_FLOORMOD, x, lit(1)), "0");
    expect_text(op2(OP_ADD, f, lit(0)), "f + 0.0");
    expect_text(op2(OP_MUL, f, real(1)), "f * 1.0");
    expect_text(op2(OP_MUL, f, real(0)), "f * 0.0");
}
END_TEST

START_TEST(sums_with_constants_merge)
{
    IrExpr *x = value("x", DT_I32);
    expect_text(op2(OP_ADD, op2(OP_ADD, x, lit(3)), lit(4)), "x + 7");
    expect_text(op2(OP_SUB, op2(OP_ADD, x, lit(3)), lit(4)), "x - 1");
    expect_text(op2(OP_ADD, op2(OP_SUB, x, lit(4)), lit(4)), "x");
    expect_text(op2(OP_MUL, op2(OP_MUL, x, lit(3)), lit(4)), "x * 12");
    expect_text(op2(OP_CEILDIV, x, lit(128)), "(x + 127) // 128");
}
END_TEST

START_TEST(float_literals_do_not_fold)
{
    expect_text(op2(OP_ADD, real(0.1), real(0.2)), "0.1 + 0.2");
    expect_text(ir_op1(k, OP_NEG, real(0.5), nowhere), "-0.5");
    // rounded once, to the dtype they end up in
    expect_text(op2(OP_MUL, value("d", DT_F64), real(0.1)), "d * 0.1_f64");
    expect_text(ir_cast(k, real(2.5), DT_I32, true, nowhere), "2");
    expect_text(ir_cast(k, real(1e30), DT_I32, true, nowhere), "int32(1e+30)");
}
END_TEST

START_TEST(infinities_decide_a_maximum)
{
    IrExpr *x = value("x", DT_F32);
    ck_assert_ptr_eq(op2(OP_MAX, x, real(-INFINITY)), x);
    ck_assert_ptr_eq(op2(OP_MIN, real(INFINITY), x), x);
    expect_text(op2(OP_MAX, x, real(INFINITY)), "inf");
}
END_TEST

START_TEST(powers_multiply_out)
{
    IrExpr *x = value("x", DT_F32);
    expect_text(op2(OP_POW, x, lit(3)), "x * x * x");
    ck_assert_ptr_eq(op2(OP_POW, x, lit(1)), x);
    expect_text(op2(OP_POW, x, lit(0)), "1.0");
    expect_text(op2(OP_POW, x, real(0.5)), "x ** 0.5");
    expect_text(op2(OP_POW, x, lit(-2)), "x ** (-2.0)");
    expect_error(op2(OP_POW, x, lit(1000)), "ir-too-deep", "1000");
    expect_error(op2(OP_POW, value("i", DT_I32), value("j", DT_I32)), "ir-type",
                 "floats");
}
END_TEST

START_TEST(greater_is_less_with_sides_exchanged)
{
    IrExpr *x = value("x", DT_I32), *y = value("y", DT_I32);
    expect_text(op2(OP_GT, x, y), "y < x");
    expect_text(op2(OP_GE, x, lit(5)), "5 <= x");
    expect_text(ir_op(k, OP_CLAMP, (IrExpr *[]){x, lit(0), y}, 3, nowhere),
                "T.min(T.max(x, 0), y)");
}
END_TEST

START_TEST(differences_cancel_equal_parts)
{
    IrExpr *bx = value("bx", DT_I32), *n = value("n", DT_I32);
    IrExpr *y = value("y", DT_I32);
    IrExpr *start = op2(OP_MUL, bx, lit(128));
    IrExpr *stop = op2(OP_MUL, op2(OP_ADD, bx, lit(1)), lit(128));
    expect_text(op2(OP_SUB, stop, start), "128");
    expect_text(op2(OP_SUB, op2(OP_ADD, start, n), start), "n");
    expect_text(op2(OP_SUB, op2(OP_ADD, n, stop), op2(OP_ADD, start, y)),
                "n - y + 128");
    expect_text(op2(OP_SUB, n, start), "n - bx * 128");
    expect_text(op2(OP_SUB, op2(OP_MUL, n, lit(2)), n), "n * 2 - n");
    expect_text(op2(OP_SUB, n, n), "0");
    IrExpr *f = value("f", DT_F32);
    expect_text(op2(OP_SUB, f, f), "f - f");
}
END_TEST

// ---- bounds on what is built ------------------------------------------------

START_TEST(expressions_stay_bounded)
{
    IrExpr *e = value("x", DT_I32);
    for (int i = 0; i < 5000 && e; i++)
        e = op2(OP_MUL, e, value("y", DT_I32));
    expect_error(e, "ir-too-deep", "too large");
}
END_TEST

START_TEST(doubling_does_not_explode)
{
    IrExpr *e = value("x", DT_I32);
    for (int i = 0; i < 200 && e; i++)
        e = op2(OP_ADD, e, e);
    expect_error(e, "ir-too-deep", "too large");
}
END_TEST

// ---- buffers and indices ----------------------------------------------------

static IrBuffer *tile(void)
{
    IrExpr *shape[] = {lit(16), lit(32)};
    return ir_buffer(k, TEXT("A"), DT_F16, SCOPE_SHARED, 2, shape, NULL,
                     nowhere);
}

START_TEST(loads_need_an_index_per_dimension)
{
    IrExpr *i = value("i", DT_I32);
    IrExpr *three[] = {i, i, i}, *floats[] = {i, real(1)};
    expect_error(ir_load(k, tile(), three, 3, nowhere), "ir-index-count",
                 "A has 2 dimensions, 3 indices given");
    expect_error(ir_load(k, tile(), floats, 2, nowhere), "ir-index",
                 "index 1 of A is float32, not an integer");
    ck_assert_int_eq(ir_load(k, tile(), three, 2, nowhere)->dtype, DT_F16);
}
END_TEST

START_TEST(constant_indices_are_checked)
{
    IrExpr *i = value("i", DT_I32);
    expect_error(ir_load(k, tile(), (IrExpr *[]){i, lit(32)}, 2, nowhere),
                 "ir-index-range",
                 "index 32 is out of range: dimension 1 of A has 32 elements");
    expect_error(ir_load(k, tile(), (IrExpr *[]){lit(-17), i}, 2, nowhere),
                 "ir-index-range", "-17");
    expect_text(ir_load(k, tile(), (IrExpr *[]){lit(-1), i}, 2, nowhere),
                "A[15, i]");
}
END_TEST

START_TEST(stores_convert_to_the_buffer)
{
    IrExpr *i = value("i", DT_I32);
    IrStmt *s = ir_store(k, tile(), (IrExpr *[]){i, i}, 2, real(1.5), nowhere);
    ck_assert_int_eq(s->value->dtype, DT_F16);
    s = ir_store(k, tile(), (IrExpr *[]){i, i}, 2, value("x", DT_F32), nowhere);
    expect_text(s->value, "float16(x)");
}
END_TEST

START_TEST(bad_buffers_are_refused)
{
    IrExpr *negative[] = {lit(-3)}, *dynamic[] = {value("n", DT_I32)};
    IrExpr *huge[] = {lit(1 << 30), lit(1 << 30), lit(1 << 30)};
    expect_error(ir_buffer(k, TEXT("A"), DT_F32, SCOPE_GLOBAL, 1, negative,
                           NULL, nowhere),
                 "ir-shape", "dimension 0 of A is -3");
    expect_error(ir_buffer(k, TEXT("S"), DT_F32, SCOPE_SHARED, 1, dynamic, NULL,
                           nowhere), "ir-shape", "constant sizes");
    expect_error(ir_buffer(k, TEXT("A"), DT_F32, SCOPE_GLOBAL, 3, huge, NULL,
                           nowhere), "ir-shape", "A is too large");
    expect_error(ir_buffer(k, TEXT("A"), DT_F32, SCOPE_GLOBAL, 0, NULL, NULL,
                           nowhere), "ir-shape", "0 dimensions");
}
END_TEST

START_TEST(slices_keep_what_was_written)
{
    IrExpr *bx = value("bx", DT_I32);
    IrSubscript s[] = {
        {.start = bx}, {.start = lit(-8), .step = 1, .is_slice = true},
    };
    IrRegion *r = ir_region(k, tile(), s, 2, nowhere);
    ck_assert_int_eq(r->form, REGION_SLICE);
    ck_assert_ptr_null(r->extent[0]);
    expect_text(r->min[1], "24");
    expect_text(r->extent[1], "8");
    s[1].is_slice = false;
    ck_assert_int_eq(ir_region(k, tile(), s, 2, nowhere)->form, REGION_POINT);
    expect_error(ir_region(k, tile(), s, 1, nowhere), "ir-index-count",
                 "A has 2 dimensions, 1 index given");
}
END_TEST

START_TEST(empty_slices_are_refused)
{
    IrSubscript s[] = {
        {.start = lit(4), .stop = lit(4), .step = 1, .is_slice = true},
        {.step = 1, .is_slice = true},
    };
    expect_error(ir_region(k, tile(), s, 2, nowhere), "ir-region", "empty");
}
END_TEST

START_TEST(attributes_stay_in_table_order)
{
    IrStmt *s = ir_tile(k, OP_COPY, nowhere);
    ir_attr(k, s, ATTR_DISABLE_TMA,
            (IrAttrValue){.kind = ATTRVAL_BOOL, .i64 = 1});
    ir_attr(k, s, ATTR_K_PACK, (IrAttrValue){.kind = ATTRVAL_INT, .i64 = 2});
    ir_attr(k, s, ATTR_K_PACK, (IrAttrValue){.kind = ATTRVAL_INT, .i64 = 4});
    ck_assert_int_eq(s->attrs->id, ATTR_K_PACK);
    ck_assert_ptr_null(s->attrs->next->next);
    ck_assert_int_eq(ir_attr_int(s, ATTR_K_PACK, 1), 4);
    ck_assert_int_eq(ir_attr_int(s, ATTR_BATCH, 7), 7);
    ck_assert_ptr_null(ir_attr_get(s, ATTR_BATCH));
}
END_TEST

START_TEST(every_attribute_is_found_by_name)
{
    IrAttrId id;
    ck_assert(ir_attr_find(text_of(ir_attr_name((IrAttrId)_i)), &id));
    ck_assert_int_eq(id, _i);
}
END_TEST

static TCase *cases(Suite *s, const char *name)
{
    TCase *t = tcase_create(name);
    tcase_add_checked_fixture(t, ir_setup, ir_teardown);
    suite_add_tcase(s, t);
    return t;
}

int main(void)
{
    Suite *s = suite_create("ir");
    TCase *t = cases(s, "dtypes");
    tcase_add_loop_test(t, mixed_operands_take_one_dtype, 0,
                        (int)countof(mixed));
    tcase_add_test(t, literals_are_int32_and_float32);
    tcase_add_test(t, two_kinds_of_8_bit_floats_do_not_mix);
    tcase_add_test(t, functions_keep_their_argument_dtype);
    tcase_add_test(t, functions_of_floats_refuse_integers);
    tcase_add_test(t, rounding_leaves_integers_alone);
    tcase_add_test(t, leading_zeros_are_an_int32);
    tcase_add_test(t, integers_have_no_true_division);
    tcase_add_test(t, floor_division_refuses_floats);
    tcase_add_test(t, dividing_by_zero_is_an_error);
    tcase_add_test(t, values_out_of_range_have_none);
    tcase_add_test(t, logic_needs_conditions);
    tcase_add_test(t, shift_counts_stay_within_the_width);
    tcase_add_test(t, bits_need_integers);
    tcase_add_test(t, arithmetic_on_two_bools_keeps_their_truth);
    tcase_add_test(t, selections_need_a_condition);
    t = cases(s, "folding");
    tcase_add_loop_test(t, integer_constants_fold, 0, (int)countof(constants));
    tcase_add_test(t, signed_overflow_is_an_error);
    tcase_add_test(t, unsigned_constants_wrap);
    tcase_add_test(t, neutral_elements_vanish_for_integers_only);
    tcase_add_test(t, sums_with_constants_merge);
    tcase_add_test(t, float_literals_do_not_fold);
    tcase_add_test(t, infinities_decide_a_maximum);
    tcase_add_test(t, powers_multiply_out);
    tcase_add_test(t, greater_is_less_with_sides_exchanged);
    tcase_add_test(t, differences_cancel_equal_parts);
    tcase_add_test(t, expressions_stay_bounded);
    tcase_add_test(t, doubling_does_not_explode);
    t = cases(s, "buffers");
    tcase_add_test(t, loads_need_an_index_per_dimension);
    tcase_add_test(t, constant_indices_are_checked);
    tcase_add_test(t, stores_convert_to_the_buffer);
    tcase_add_test(t, bad_buffers_are_refused);
    tcase_add_test(t, slices_keep_what_was_written);
    tcase_add_test(t, empty_slices_are_refused);
    tcase_add_test(t, attributes_stay_in_table_order);
    tcase_add_loop_test(t, every_attribute_is_found_by_name, 0, ATTR_COUNT);
    return unit_run(s);
}
