// check_op.c - the op table: names, signatures, suggestions, the manual page.
#include <string.h>

#include "op/op.h"
#include "unit.h"

static Arena *arena;
static const OpTable *table;

static void setup(void)
{
    arena = arena_create();
    table = op_table_create(arena);
}

static void teardown(void)
{
    arena_destroy(arena);
}

static Text without_prefix(const char *surface)
{
    Text t = text_of(surface);
    return text_starts(t, "T.") ? text_slice(t, 2, t.len) : t;
}

// ---- one test per row -------------------------------------------------------

START_TEST(surface_name_round_trips)
{
    const OpInfo *info = op_info(table, (Op)_i);
    Op found;
    ck_assert(op_find(table, without_prefix(info->surface), &found));
    ck_assert_int_eq(found, _i);
    ck_assert_str_eq(op_surface((Op)_i), info->surface);
}
END_TEST

START_TEST(row_says_what_it_does)
{
    const OpInfo *info = op_info(table, (Op)_i);
    size_t n = strlen(info->doc);
    ck_assert_msg(n > 0 && info->doc[n - 1] != '.', "%s", info->surface);
}
END_TEST

START_TEST(parameters_are_in_python_order)
{
    const OpInfo *info = op_info(table, (Op)_i);
    bool optional = false;
    for (int i = 0; i < info->param_count; i++) {
        const OpParam *p = &info->param[i];
        ck_assert_int_eq(op_param_find(info, p->name), i);
        if (!p->keyword_only && !p->star) {
            ck_assert_msg(p->optional || !optional, "%s", info->surface);
            optional = p->optional;
        }
        bool region = p->kind == ARG_REGION || p->kind == ARG_BUFFER;
        ck_assert_msg(region == (p->access != ' '), "%s", info->surface);
        ck_assert_msg(!region || strchr("rwa", p->access), "%s", info->surface);
    }
}
END_TEST

START_TEST(built_tile_operations_write_something)
{
    const OpInfo *info = op_info(table, (Op)_i);
    bool writes = false;
    if (info->class != OPCLASS_TILE || info->status != OPSTATUS_BUILT ||
        _i == OP_PRINT || _i == OP_ATOMIC_LOAD || _i == OP_EVALUATE)
        return;
    for (int i = 0; i < info->param_count; i++)
        writes |= info->param[i].access == 'w' || info->param[i].access == 'a';
    ck_assert_msg(writes, "%s", info->surface);
}
END_TEST

// ---- names ------------------------------------------------------------------

START_TEST(second_spellings_name_the_same_row)
{
    static const struct { const char *name; Op op; } same[] = {
        {"cdiv", OP_CEILDIV},        {"Serial", OP_SERIAL},
        {"symbolic", OP_DYNAMIC},    {"floordiv", OP_FLOORDIV},
        {"floormod", OP_FLOORMOD},   {"bitwise_and", OP_BITAND},
        {"bitwise_xor", OP_BITXOR},  {"shift_left", OP_SHL},
        {"shift_right", OP_SHR},     {"pow", OP_POW},
        {"c2d_im2col", OP_IM2COL},   {"float", OP_FLOAT32},
        {"half", OP_FLOAT16},        {"int", OP_INT32},
        {"uint", OP_UINT32},         {"float8_e4m3", OP_FLOAT8_E4M3FN},
        {"nearbyint", OP_ROUND},     {"+", OP_ADD},
    };
    for (size_t i = 0; i < countof(same); i++) {
        Op found;
        ck_assert_msg(op_find(table, text_of(same[i].name), &found), "%s",
                      same[i].name);
        ck_assert_int_eq(found, same[i].op);
    }
}
END_TEST

START_TEST(unknown_names_are_not_found)
{
    static const char *const names[] = {"", "gem", "T.copy", "Copy", "copy "};
    Op found;
    for (size_t i = 0; i < countof(names); i++)
        ck_assert_msg(!op_find(table, text_of(names[i]), &found), "%s",
                      names[i]);
}
END_TEST

START_TEST(misspellings_are_recognised)
{
    static const char *const pairs[][2] = {
        {"gem", "gemm"},           {"coppy", "copy"},
        {"Paralel", "Parallel"},   {"alloc_sharedd", "alloc_shared"},
        {"reduce_summ", "reduce_sum"}, {"flor", "floor"},
        {"alloc_fragments", "alloc_fragment"}, {"use_swizle", "use_swizzle"},
    };
    for (size_t i = 0; i < countof(pairs); i++) {
        Text near = op_suggest(table, text_of(pairs[i][0]));
        ck_assert_msg(text_is(near, pairs[i][1]), "%s: %.*s", pairs[i][0],
                      TEXT_ARG(near));
    }
    ck_assert_uint_eq(op_suggest(table, TEXT("frobnicate")).len, 0);
}
END_TEST

// The order in which names cover the upstream examples (tile-only files).
static const char *const first_forty[] = {
    "Tensor", "Kernel", "ceildiv", "Parallel", "alloc_fragment", "alloc_shared",
    "gemm", "const", "copy", "empty", "Pipelined", "clear", "if_then_else",
    "exp2", "reduce_sum", "GemmWarpPolicy", "fill", "reduce_max", "infinity",
    "max", "min", "use_swizzle", "log2", "atomic_add", "annotate_layout",
    "floordiv", "alloc_var", "disable_warp_group_reg_alloc", "exp", "dynamic",
    "serial", "floormod", "cast", "float8_e4m3fn", "reduce_absmax", "clamp",
    "im2col", "alloc_local", "alloc_global", "reshape",
};

START_TEST(first_forty_names_are_built)
{
    Op op;
    ck_assert(op_find(table, text_of(first_forty[_i]), &op));
    ck_assert_msg(op_info(table, op)->status == OPSTATUS_BUILT, "%s",
                  first_forty[_i]);
}
END_TEST

// All other names that upstream's example kernels use.
static const char example_names[] =
    "ws alloc_barrier tma_copy barrier_wait barrier_arrive tcgen05_gemm "
    "mbarrier_wait_parity alloc_tmem mbarrier_arrive get_thread_binding unroll "
    "access_ptr set_max_nreg wgmma_gemm wait_wgmma ptx_cp_async "
    "cp_async_barrier_noinc thread_binding log vectorized call_extern "
    "import_source shift_left get_block_binding tvm_thread_allreduce "
    "reinterpret evaluate comm_reducer attr Buffer dp4a sync_threads assume "
    "tcgen05_mma_arrive block_rank_in_cluster alloc_cluster_barrier "
    "ClusterKernel PersistentTileScheduler fence_proxy_async "
    "tcgen05_sf_warp_transpose tcgen05_gemm_blockscaled tcgen05_cp_warpx4 "
    "tfloat32 SharedBuffer view tvm_warp_shuffle sync_grid rsqrt sigmoid "
    "rng_rand rng_init parallel ptr make_tensor int4 index_to_coordinates "
    "gemm_sp float4_e2m1fn float8_e4m3 device_assert cumsum atomic_store "
    "atomic_load atomic_addx4 ws_op annotate_ws_schedule WSSync WSScope "
    "WSSchedule WSRole WSPipeline WSID any_sync finalize_reducer alloc_reducer "
    "alloc_buffer Serial Persistent Cast no_set_max_nreg mma_gemm_blockscaled "
    "float4_e2m1_unpacked mbarrier_arrive_expect_tx clc_get_first_ctaid_x "
    "clc_is_canceled clc_try_cancel_multicast FragmentBuffer ptx_wait_group "
    "ptx_commit_group annotate_producer_reg_dealloc "
    "annotate_consumer_reg_alloc "
    "float32 float16 bfloat16 int32 int8 int64 uint8 uint32 uint64 bool dtype "
    // and in its tests only
    "grid StridedTensor async_copy Select Fragment Layout shuffle_elect "
    "cluster_sync atomic_addx2 atomic_max atomic_min atomic_or address_of "
    "While "
    "reduce_min annotate_l2_hit_ratio reducer_init reducer_update cummax print "
    "transpose Shuffle annotate_safe_value copy_cluster ldg32 ldg256 stg32 "
    "stg256 lds32 sts128 annotate_min_blocks_per_sm isfinite rng_rand_float "
    "any_of all_of ballot_sync match_any_sync match_all_sync shfl_sync "
    "syncthreads_and syncthreads_or syncthreads_count warp_reduce_sum "
    "warp_reduce_max warp_reduce_min warp_reduce_bitand warp_reduce_bitor Ref "
    "align_up extract_lane annotate_pass_configs annotate_compile_flags "
    "annotate_restrict_buffers CUDASourceCodeKernel sblock reads writes "
    "launch_thread decl_buffer Ramp Broadcast func_attr match_buffer "
    "tvm_access_ptr float64 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu "
    "float8_e5m2 uint4 half short long";

START_TEST(every_upstream_name_is_known)
{
    Text rest = text_of(example_names);
    while (rest.len) {
        size_t n = 0;
        Op op;
        while (n < rest.len && rest.at[n] != ' ')
            n++;
        Text name = text_slice(rest, 0, n);
        ck_assert_msg(op_find(table, name, &op), "%.*s", TEXT_ARG(name));
        rest = text_slice(rest, n < rest.len ? n + 1 : n, rest.len);
    }
}
END_TEST

// ---- arguments --------------------------------------------------------------

// Keyword arguments that upstream's examples pass (tilelang_surface 2.1).
static const char *const keywords[][2] = {
    {"Tensor", "dtype"}, {"Kernel", "threads"}, {"Kernel", "prelude"},
    {"copy", "annotations"}, {"copy", "disable_tma"},
    {"copy", "coalesced_width"}, {"copy", "dst"},
    {"alloc_fragment", "dtype"}, {"alloc_fragment", "scope"},
    {"alloc_shared", "dtype"}, {"alloc_shared", "scope"},
    {"Pipelined", "num_stages"}, {"Pipelined", "annotations"},
    {"Pipelined", "start"}, {"Pipelined", "stop"},
    {"Parallel", "annotations"}, {"Parallel", "prefer_async"},
    {"gemm", "policy"}, {"gemm", "transpose_B"}, {"gemm", "clear_accum"},
    {"gemm", "transpose_A"}, {"gemm", "k_pack"}, {"gemm", "annotations"},
    {"gemm", "B"}, {"gemm", "C"},
    {"reduce_sum", "dim"}, {"reduce_sum", "clear"},
    {"reduce_sum", "annotations"}, {"fill", "annotations"},
    {"reduce_max", "dim"}, {"reduce_max", "clear"},
    {"reduce_max", "annotations"}, {"use_swizzle", "panel_size"},
    {"use_swizzle", "enable"}, {"alloc_var", "dtype"}, {"alloc_var", "init"},
    {"atomic_add", "memory_order"}, {"atomic_add", "use_tma"},
    {"atomic_add", "return_prev"}, {"alloc_local", "dtype"},
    {"unroll", "annotations"}, {"reduce_absmax", "dim"},
    {"reduce_absmax", "clear"}, {"reinterpret", "dtype"},
    {"SharedBuffer", "dtype"}, {"Parallel", "coalesced_width"},
    {"Parallel", "loop_layout"}, {"Pipelined", "order"},
    {"Pipelined", "stage"}, {"Pipelined", "group"},
};

START_TEST(keyword_is_a_parameter)
{
    Op op;
    ck_assert(op_find(table, text_of(keywords[_i][0]), &op));
    const OpInfo *info = op_info(table, op);
    ck_assert_int_eq(info->status, OPSTATUS_BUILT);
    ck_assert_msg(op_param_find(info, text_of(keywords[_i][1])) >= 0, "%s(%s=)",
                  keywords[_i][0], keywords[_i][1]);
}
END_TEST

START_TEST(gemm_reads_two_operands_and_updates_one)
{
    const OpInfo *g = op_info(table, OP_GEMM);
    ck_assert_int_eq(g->param_count, 10);
    ck_assert_int_eq(g->param[0].access, 'r');
    ck_assert_int_eq(g->param[1].access, 'r');
    ck_assert_int_eq(g->param[2].access, 'a');
    ck_assert(text_is(g->param[5].name, "policy"));
    ck_assert(text_is(g->param[5].fallback, "Square"));
    ck_assert(op_param_is_operand(&g->param[6]));       // clear_accum
    ck_assert(!op_param_is_operand(&g->param[7]));      // k_pack
    ck_assert(text_is(g->param[7].fallback, "1"));
}
END_TEST

START_TEST(copy_takes_hints_by_keyword_only)
{
    const OpInfo *c = op_info(table, OP_COPY);
    for (int i = 0; i < c->param_count; i++)
        ck_assert_int_eq(c->param[i].keyword_only, i >= 2);
    ck_assert(!c->param[0].optional && c->param[2].optional);
}
END_TEST

START_TEST(star_parameters_take_the_rest)
{
    const OpInfo *p = op_info(table, OP_PARALLEL);
    ck_assert(p->param[0].star && text_is(p->param[0].name, "extents"));
    ck_assert(p->param[1].keyword_only);
}
END_TEST

START_TEST(text_defaults_lose_their_quotes)
{
    const OpInfo *r = op_info(table, OP_ROUND);
    ck_assert(text_is(r->param[1].fallback, "ties-to-even"));
}
END_TEST

// ---- the manual page --------------------------------------------------------

START_TEST(manual_page_is_up_to_date)
{
    TextBuf want = {0};
    char *at;
    size_t len;
    const char *why;
    ops_print(&want, table, (Text){0});
    ck_assert(file_read(unit_path(arena, "docs/ops.md"), &at, &len, &why));
    ck_assert_msg(text_eq(buf_view(&want), (Text){at, len}),
                  "docs/ops.md is old: tilesim ops > docs/ops.md");
    free(at);
    buf_release(&want);
}
END_TEST

START_TEST(printing_can_be_limited_to_some_names)
{
    TextBuf out = {0};
    ops_print(&out, table, TEXT("clear"));
    ck_assert(strstr(out.at, "T.clear(buffer, annotations=None)"));
    ck_assert(!strstr(out.at, "T.copy"));
    buf_clear(&out);
    ops_print(&out, table, TEXT("zzz"));
    ck_assert(text_starts(buf_view(&out), "no primitive has 'zzz'"));
    buf_release(&out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("op");
    TCase *rows = tcase_create("rows"), *names = tcase_create("names");
    TCase *arguments = tcase_create("arguments");
    tcase_add_checked_fixture(rows, setup, teardown);
    tcase_add_checked_fixture(names, setup, teardown);
    tcase_add_checked_fixture(arguments, setup, teardown);
    tcase_add_loop_test(rows, surface_name_round_trips, 0, OP_COUNT);
    tcase_add_loop_test(rows, row_says_what_it_does, 0, OP_COUNT);
    tcase_add_loop_test(rows, parameters_are_in_python_order, 0, OP_COUNT);
    tcase_add_loop_test(rows, built_tile_operations_write_something, 0,
                        OP_COUNT);
    tcase_add_test(names, second_spellings_name_the_same_row);
    tcase_add_test(names, unknown_names_are_not_found);
    tcase_add_test(names, misspellings_are_recognised);
    tcase_add_loop_test(names, first_forty_names_are_built, 0,
                        (int)countof(first_forty));
    tcase_add_test(names, every_upstream_name_is_known);
    tcase_add_loop_test(arguments, keyword_is_a_parameter, 0,
                        (int)countof(keywords));
    tcase_add_test(arguments, gemm_reads_two_operands_and_updates_one);
    tcase_add_test(arguments, copy_takes_hints_by_keyword_only);
    tcase_add_test(arguments, star_parameters_take_the_rest);
    tcase_add_test(arguments, text_defaults_lose_their_quotes);
    tcase_add_test(arguments, manual_page_is_up_to_date);
    tcase_add_test(arguments, printing_can_be_limited_to_some_names);
    suite_add_tcase(s, rows);
    suite_add_tcase(s, names);
    suite_add_tcase(s, arguments);
    return unit_run(s);
}
