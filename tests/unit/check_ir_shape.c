// check_ir_shape.c - what regions mean: copy rules, shapes of tile operations.
#include "unit_ir.h"

// Buffers and variables that every statement under test can name.
static const char preamble[] =
    "tilesim-ir 1\n"
    "kernel \"main\"\n"
    "vars {\n"
    " 0 bx: block int32\n 1 by: block int32\n 2 bz: block int32\n"
    " 3 n: symbol int32\n 4 s: param float32\n 5 e: param int32\n"
    "}\n"
    "symbols n\n"
    "buffers {\n"
    " 0 Q: float16[4, 2048, 8, 128] global\n" // batch, seq, heads, dim
    " 1 K: float16[4, 8, n, 128] global\n"    // batch, heads, seq, dim
    " 2 M: float16[1024, 512] global\n"
    " 3 V: float32[1024] global\n"
    " 4 S: float16[128, 64] shared.dyn\n"
    " 5 W: float16[128, 128] shared.dyn\n"
    " 6 P: float16[3, 128, 64] shared.dyn\n"
    " 7 F: float32[128, 64] local.fragment\n"
    " 8 G: float32[128, 128] local.fragment\n"
    " 9 R: float32[128] local.fragment\n"
    " 10 H: float16[128, 64] local.fragment\n"
    " 11 One: float32[1, 64] local.fragment\n"
    " 12 L: float32[16] local\n"
    " 13 X: float32[1] local.var\n"
    " 14 B64: float16[64, 128] shared.dyn\n"
    " 15 BF: bfloat16[64, 128] shared.dyn\n"
    " 16 Img: float16[2, 32, 32, 16] global\n"
    " 17 Col: float16[64, 32] shared.dyn\n"
    " 18 Kept: float32[128, 1] local.fragment\n"
    " 19 T64: float16[64, 128] local.fragment\n"
    " 20 Y: float32[4, 4] shared.dyn\n"
    " 21 Cube: float32[4, 4, 4] shared.dyn\n"
    " 22 A192: float16[192, 64] shared.dyn\n"
    " 23 Unit: float32[1] local.fragment\n"
    "}\n"
    "params { \"Q\" Q \"K\" K \"M\" M \"V\" V \"Img\" Img \"s\" s \"e\" e }\n"
    "body { with T.Kernel(bx < 8, by < 8, bz < 4, threads=[128, 1, 1]) {\n"
    " alloc S alloc W alloc P alloc F alloc G alloc R alloc H alloc One alloc "
    "L\n"
    " alloc X alloc B64 alloc BF alloc Col alloc Kept alloc T64 alloc Y\n"
    " alloc Cube alloc A192 alloc Unit\n";

static IrStmt *found;

static bool keep_tile(void *ctx, IrStmt *s)
{
    (void)ctx;
    if (s->kind == STMT_TILE)
        found = s;
    return true;
}

// The statement, verified, or NULL.
static IrStmt *statement(const char *text)
{
    Text all = text_format(arena, "%s%s\n}}\n", preamble, text);
    k = read_text(all);
    found = NULL;
    if (k)
        ir_walk(k->body, keep_tile, NULL, NULL);
    return found;
}

static void put_side(TextBuf *out, const IrBuffer *b, IrExpr *const *min,
                     const int *map)
{
    for (int d = 0; d < b->rank; d++) {
        if (d)
            buf_puts(out, ", ");
        ir_print_expr(out, min[d]);
        if (map[d] >= 0)
            buf_printf(out, " + i%d", map[d]);
    }
}

// "128 64: bz, bx * 128 + i0 -> 0 + i0, 0 + i1"
static Text map_text(const IrCopyMap *m)
{
    TextBuf b = {0};
    for (int i = 0; i < m->rank; i++) {
        ir_print_expr(&b, m->extent[i]);
        buf_puts(&b, i + 1 < m->rank ? " " : "");
    }
    buf_puts(&b, ": ");
    if (m->src.buffer)
        put_side(&b, m->src.buffer, m->src.min, m->src.map);
    buf_puts(&b, " -> ");
    put_side(&b, m->dst.buffer, m->dst.min, m->dst.map);
    Text t = text_copy(arena, buf_view(&b));
    buf_release(&b);
    return t;
}

// ---- copies -----------------------------------------------------------------

// By hand from rules 1 to 6 of tilelang_surface 4.4; the forms are those that
// upstream's examples use, commonest first (2.4).
static const struct { const char *copy, *want; } copies[] = {
    // whole -> whole
    {"T.copy(F -> H)", "128 64: 0 + i0, 0 + i1 -> 0 + i0, 0 + i1"},
    {"T.copy(S -> F)", "128 64: 0 + i0, 0 + i1 -> 0 + i0, 0 + i1"},
    // slices with ':' and plain indices -> whole
    {"T.copy(Q[bz, bx * 128:+128, by, 0:+128] -> W)",
     "128 128: bz, bx * 128 + i0, by, 0 + i1 -> 0 + i0, 0 + i1"},
    {"T.copy(K[bz, by, bx * 128:+128, 0:+128] -> W)",
     "128 128: bz, by, bx * 128 + i0, 0 + i1 -> 0 + i0, 0 + i1"},
    {"T.copy(M[bx * 128:+128, by * 64:+64] -> S)",
     "128 64: bx * 128 + i0, by * 64 + i1 -> 0 + i0, 0 + i1"},
    // one dimension
    {"T.copy(V[bx * 128:+128] -> R)", "128: bx * 128 + i0 -> 0 + i0"},
    // open-ended in a symbolic dimension: the tile decides
    {"T.copy(K[bz, by, bx * 128:+n - bx * 128, 0:+128] -> W)",
     "128 128: bz, by, bx * 128 + i0, 0 + i1 -> 0 + i0, 0 + i1"},
    // an element takes the tile's extents, right-aligned
    {"T.copy(M[bx * 128, by * 64] -> S)",
     "128 64: bx * 128 + i0, by * 64 + i1 -> 0 + i0, 0 + i1"},
    {"T.copy(Q[bz, by, bx * 128, 0] -> W)",
     "128 128: bz, by, bx * 128 + i0, 0 + i1 -> 0 + i0, 0 + i1"},
    {"T.copy(V[bx] -> R)", "128: bx + i0 -> 0 + i0"},
    {"T.copy(P[1, 0, 0] -> F)", "128 64: 1, 0 + i0, 0 + i1 -> 0 + i0, 0 + i1"},
    // the other way
    {"T.copy(F -> M[bx * 128, by * 64])",
     "128 64: 0 + i0, 0 + i1 -> bx * 128 + i0, by * 64 + i1"},
    {"T.copy(W -> Q[bz, bx * 128:+128, by, 0:+128])",
     "128 128: 0 + i0, 0 + i1 -> bz, bx * 128 + i0, by, 0 + i1"},
    {"T.copy(R -> V[bx * 128:+128])", "128: 0 + i0 -> bx * 128 + i0"},
    {"T.copy(F -> P[2, 0:+128, 0:+64])",
     "128 64: 0 + i0, 0 + i1 -> 2, 0 + i0, 0 + i1"},
    // slice -> slice, ranks differ
    {"T.copy(Q[bz, 0:+128, by, 0:+64] -> P[0, 0:+128, 0:+64])",
     "128 64: bz, 0 + i0, by, 0 + i1 -> 0, 0 + i0, 0 + i1"},
    {"T.copy(S[0:+64, 0:+64] -> M[bx * 64:+64, 0:+64])",
     "64 64: 0 + i0, 0 + i1 -> bx * 64 + i0, 0 + i1"},
    // a slice's end is no bound: the fragment has 128 rows
    {"T.copy(M[bx * 128:+100, 0:+64] -> F)",
     "128 64: bx * 128 + i0, 0 + i1 -> 0 + i0, 0 + i1"},
    {"T.copy(M[bx * 128:+e, 0:+64] -> F)",
     "128 64: bx * 128 + i0, 0 + i1 -> 0 + i0, 0 + i1"},
    // two elements: one store
    {"T.copy(M[bx, by] -> S[0, 1])", ": bx, by -> 0, 1"},
    // equal depth: the source decides; a dimension of 1 on the left
    {"T.copy(One -> F[5:+1, 0:+64])", "64: 0, 0 + i0 -> 5, 0 + i0"},
    {"T.copy(M[bx, 0:+64] -> One)", "64: bx, 0 + i0 -> 0, 0 + i0"},
    // a destination that is larger than its global source's slice
    {"T.copy(S -> M[bx * 128:+256, 0:+64])",
     "128 64: 0 + i0, 0 + i1 -> bx * 128 + i0, 0 + i1"},
};

START_TEST(copies_walk_what_the_rules_say)
{
    IrCopyMap m;
    const IrStmt *s = statement(copies[_i].copy);
    ck_assert_msg(s != NULL, "%s: %.*s", copies[_i].copy,
                  TEXT_ARG(last_message()));
    ck_assert(ir_resolve_copy(k, nowhere, s->operand[0].region,
                              s->operand[1].region, &m));
    ck_assert_msg(text_is(map_text(&m), copies[_i].want), "%s: %.*s",
                  copies[_i].copy, TEXT_ARG(map_text(&m)));
}
END_TEST

// ---- everything that must be refused ----------------------------------------

static const struct { const char *stmt, *id, *part;
} faults[] = {
    // rule 1: whole buffers of other shapes
    {"T.copy(F -> G)", "ir-shape", "shapes differ: F is 128x64, G is 128x128"},
    {"T.copy(R -> F)", "ir-shape", "R is 128, F is 128x64"},
    {"T.copy(M -> S)", "ir-shape", "M is 1024x512, S is 128x64"},
    // rule 3: too few indices
    {"T.copy(V[bx] -> F)", "ir-shape",
     "V[...] has 1 indices, the other side 2 dimensions"},
    // rule 5: the tile is smaller than what is to be copied
    {"T.copy(M[bx * 128:+128, 0:+128] -> S)", "ir-shape",
     "shapes differ: the slice of M is 128x128, S is 128x64"},
    {"T.copy(Q[bz, 0:+128, 0:+8, 0:+128] -> W)", "ir-shape",
     "the slice of Q is 1x128x8x128, W is 128x128"},
    {"T.copy(V[0:+256] -> R)", "ir-shape", "the slice of V is 256, R is 128"},
    // gemm
    {"T.gemm(S, W -> G)", "ir-shape",
     "T.gemm: K is 64 in A (S, 128x64) and 128 in B (W, 128x128)"},
    {"T.gemm(S, B64 -> F)", "ir-shape",
     "T.gemm: N is 128 in B (B64, 64x128) and 64 in C (F, 128x64)"},
    {"T.gemm(A192, B64 -> G)", "ir-shape",
     "T.gemm: M is 192 in A (A192, 192x64) and 128 in C (G, 128x128)"},
    {"T.gemm(S, B64 -> G, transpose_A=True)", "ir-shape", "M is 64 in A"},
    {"T.gemm(S, BF -> G)", "ir-type", "A is float16 and B is bfloat16"},
    {"T.gemm(S, B64 -> W)", "ir-scope",
     "T.gemm: W is in shared.dyn; it must be a fragment"},
    {"T.gemm(M[0:+128, 0:+64], B64 -> G)", "ir-scope",
     "T.gemm: M is in global; it must be in shared memory or a fragment"},
    {"T.gemm(R, B64 -> G)", "ir-shape", "A must be a matrix"},
    {"T.gemm(S[0, 0], B64 -> G)", "ir-shape", "A must be a matrix"},
    {"T.gemm(P, B64 -> G)", "ir-shape",
     "dimension 0 of A must be a single index"},
    {"T.gemm(S[0:+e, 0:+64], B64 -> G)", "ir-shape", "must be constant"},
    {"T.gemm(S[0:+192, 0:+64], B64 -> G)", "ir-region",
     "elements 0 to 191 of dimension 0, and S has 128 there"},
    // reductions
    {"T.reduce_sum(F, G, dim=1)", "ir-shape",
     "reducing dimension 1 of F (128x64) leaves 128, and G is 128x128"},
    {"T.reduce_max(F, R, dim=0)", "ir-shape", "leaves 64, and R is 128"},
    {"T.reduce_max(F, R, dim=2)", "ir-shape", "dim=2, but F has 2 dimensions"},
    {"T.reduce_max(F, R, dim=-3)", "ir-shape", "dim=-3"},
    {"T.reduce_max(F[0:+64, 0:+64], R)", "ir-region", "takes whole buffers"},
    {"T.reduce_sum(V, X)", "ir-scope", "V is in global"},
    {"T.reduce_sum(R, V)", "ir-scope", "V is in global"},
    {"T.reduce_sum(L, R)", "ir-scope", "it must be local"},
    // scans, transposes, fills
    {"T.cumsum(Cube)", "ir-shape", "one or two dimensions"},
    {"T.cumsum(F, G)", "ir-shape", "F and G differ in shape"},
    {"T.cumsum(F, dim=2)", "ir-shape", "dim=2"},
    {"T.transpose(S, F)", "ir-shape", "exchanged"},
    {"T.transpose(R, R)", "ir-shape", "exchanged"},
    {"T.fill(F[0:+200, 0:+64], 0)", "ir-region",
     "T.fill: elements 0 to 199 of dimension 0, and F has 128 there"},
    {"T.clear(F[bx, 60:+8])", "ir-region", "elements 60 to 67 of dimension 1"},
    // im2col
    {"T.im2col(Img, W, bx, by, kernel=3, stride=0, dilation=1, pad=1)",
     "ir-shape", "stride must be at least 1"},
    {"T.im2col(M, Col, bx, by, kernel=3, stride=1, dilation=1, pad=1)",
     "ir-shape", "four dimensions"},
    {"T.im2col(Img, F, bx, by, kernel=3, stride=1, dilation=1, pad=1)",
     "ir-type", "the image is float16, the tile float32"},
    // atomics
    {"T.atomic_add(F, 1.0)", "ir-scope",
     "it must be in global or shared memory"},
    {"T.atomic_add(M, F)", "ir-shape",
     "shapes differ: F is 128x64, M is 1024x512"},
    {"T.atomic_add(M[bx, 0:+64], F)", "ir-shape",
     "shapes differ: F is 128x64, the slice of M is 1x64"},
    // operands
    {"T.copy(1.0 -> F)", "ir-operand", "src must be a buffer or a slice"},
    {"T.copy(F)", "ir-operand", "T.copy: dst is missing"},
    {"T.Tensor(F)", "ir-operand", "T.Tensor is no statement"},
    {"T.reduce_absmax(R, X, dim=0)", "ir-scope", "X is in local.var"},
    // strided slices
    {"T.copy(S[0:+64:2, 0:+64] -> F[0:+64, 0:+64])", "ir-region", "step 1"},
    // attributes
    {"T.gemm(S, B64 -> G, policy=\"Diagonal\")", "ir-attr",
     "policy='Diagonal' is none of Square, FullRow, FullCol"},
    {"T.gemm(S, B64 -> G, k_pack=0)", "ir-attr", "k_pack=0 must be at least 1"},
    {"T.gemm(S, B64 -> G, k_pack=\"2\")", "ir-attr",
     "k_pack must be an integer, not a text"},
    {"T.copy(F -> H, eviction_policy=\"evict_all\")", "ir-attr", "evict_first"},
    {"T.copy(F -> H, coalesced_width=-4)", "ir-attr", "at least 1"},
    {"T.use_swizzle(panel_size=0)", "ir-attr", "panel_size=0"},
};

START_TEST(faults_are_reported)
{
    const char *stmt = faults[_i].stmt;
    ck_assert_msg(statement(stmt) == NULL, "%s: accepted", stmt);
    ck_assert_msg(strcmp(last_id(), faults[_i].id) == 0, "%s: [%s] %.*s", stmt,
                  last_id(), TEXT_ARG(last_message()));
    ck_assert_msg(text_holds(last_message(), faults[_i].part), "%s: %.*s", stmt,
                  TEXT_ARG(last_message()));
    ck_assert_int_eq(diag_exit(diag), EXIT_PROGRAM);
}
END_TEST

// ---- what must be accepted --------------------------------------------------

static const char *const accepted[] = {
    "T.gemm(S, B64 -> G)",
    "T.gemm(S, S -> G, transpose_B=True)",
    "T.gemm(H, B64 -> G, policy=\"FullRow\", clear_accum=bx == 0, k_pack=2)",
    "T.gemm(P[2, 0:+128, 0:+64], B64 -> G)",
    "T.gemm(A192[64:+128, 0:+64], B64 -> G)",
    "T.gemm(B64, B64 -> G, transpose_A=True)",
    "T.reduce_sum(F, R, dim=1, clear=False)",
    "T.reduce_max(F, R)",
    "T.reduce_max(F, Kept, dim=-1)",
    "T.reduce_absmax(R, Unit, dim=0)",
    "T.reduce_sum(L, X)",
    "T.cumsum(F, dim=1, reverse=True)",
    "T.cumsum(R)",
    "T.cumsum(Y, Y, dim=0)",
    "T.transpose(S, T64)",
    "T.im2col(Img, Col, bx, by, kernel=3, stride=1, dilation=1, pad=1)",
    "T.atomic_add(M[bx, by], 1.0)",
    "T.atomic_add(M[bx * 128:+128, 0:+64], F)",
    "T.atomic_max(M[bx * 128, 0], F, memory_order=\"relaxed\")",
    "T.atomic_add(V[bx], (R[3]))",
    "T.fill(F[3, 4], s)",
    "T.clear(V)",
    "T.print(F, msg=\"f\")",
    "T.print(msg=\"here\")",
    "T.use_swizzle(panel_size=10, order=\"column\")",
    "T.copy(F -> H, loop_layout=layout([128, 64], thread=bx))",
};

START_TEST(correct_statements_pass)
{
    ck_assert_msg(statement(accepted[_i]) != NULL, "%s: %.*s", accepted[_i],
                  TEXT_ARG(last_message()));
}
END_TEST

// ---- details of what was resolved -------------------------------------------

START_TEST(gemm_shape_knows_the_dimensions)
{
    IrGemmShape g;
    const IrStmt *s = statement(
        "T.gemm(B64, P[1, 0:+128, 0:+64] -> G, transpose_A=True, "
        "transpose_B=True)");
    ck_assert_msg(s != NULL, "%.*s", TEXT_ARG(last_message()));
    ck_assert(ir_resolve_gemm(k, s, &g));
    ck_assert_int_eq(g.m, 128);
    ck_assert_int_eq(g.n, 128);
    ck_assert_int_eq(g.k, 64);
    ck_assert(g.trans_a && g.trans_b);
    ck_assert_int_eq(g.a_row, 1);       // m runs along B64's columns
    ck_assert_int_eq(g.a_col, 0);
    ck_assert_int_eq(g.b_row, 2);       // k runs along P's last dimension
    ck_assert_int_eq(g.b_col, 1);
    ck_assert_int_eq(g.c_row, 0);
    ck_assert_int_eq(g.c_col, 1);
}
END_TEST

START_TEST(reduction_knows_its_dimension)
{
    IrReduceShape r;
    ck_assert(ir_resolve_reduce(k, statement("T.reduce_sum(F, Kept)"), &r));
    ck_assert_int_eq(r.dim, 1);
    ck_assert(r.keep_dim && r.clear);
    const IrStmt *s = statement("T.reduce_max(R, Unit, dim=0, clear=False)");
    ck_assert(ir_resolve_reduce(k, s, &r));
    ck_assert_int_eq(r.dim, 0);
    ck_assert(!r.clear);
}
END_TEST

START_TEST(scan_without_destination_is_in_place)
{
    IrScanShape r;
    ck_assert(ir_resolve_scan(k, statement("T.cumsum(F, dim=-1)"), &r));
    ck_assert_ptr_eq(r.src, r.dst);
    ck_assert_int_eq(r.dim, 1);
    ck_assert(!r.reverse);
}
END_TEST

START_TEST(fill_walks_the_region)
{
    IrCopyMap m;
    const IrStmt *s = statement("T.fill(P[1, bx:+32, 0:+64], 0)");
    ck_assert(ir_resolve_fill(k, s->operand[0].region, &m));
    ck_assert(text_is(map_text(&m), "32 64:  -> 1, bx + i0, 0 + i1"));
    s = statement("T.fill(P[1, bx, 0], 0)");
    ck_assert(ir_resolve_fill(k, s->operand[0].region, &m));
    ck_assert_int_eq(m.rank, 0);
}
END_TEST

START_TEST(atomics_add_a_region_or_a_scalar)
{
    IrCopyMap m;
    const IrStmt *s = statement("T.atomic_add(M[bx * 128, 0], F)");
    ck_assert(ir_resolve_atomic(k, s, &m));
    ck_assert(text_is(map_text(&m),
                      "128 64: 0 + i0, 0 + i1 -> bx * 128 + i0, 0 + i1"));
    s = statement("T.atomic_add(M[bx * 128:+128, 0], R[3])");
    ck_assert(ir_resolve_atomic(k, s, &m));
    ck_assert(text_is(map_text(&m), "128:  -> bx * 128 + i0, 0"));
}
END_TEST

START_TEST(transpose_exchanges_the_last_two)
{
    IrCopyMap m;
    ck_assert(ir_resolve_transpose(k, statement("T.transpose(S, T64)"), &m));
    ck_assert(text_is(map_text(&m),
                      "128 64: 0 + i0, 0 + i1 -> 0 + i1, 0 + i0"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ir shapes");
    TCase *t = tcase_create("shapes");
    tcase_add_checked_fixture(t, ir_setup, ir_teardown);
    tcase_add_loop_test(t, copies_walk_what_the_rules_say, 0,
                        (int)countof(copies));
    tcase_add_loop_test(t, faults_are_reported, 0, (int)countof(faults));
    tcase_add_loop_test(t, correct_statements_pass, 0, (int)countof(accepted));
    tcase_add_test(t, gemm_shape_knows_the_dimensions);
    tcase_add_test(t, reduction_knows_its_dimension);
    tcase_add_test(t, scan_without_destination_is_in_place);
    tcase_add_test(t, fill_walks_the_region);
    tcase_add_test(t, atomics_add_a_region_or_a_scalar);
    tcase_add_test(t, transpose_exchanges_the_last_two);
    suite_add_tcase(s, t);
    return unit_run(s);
}
