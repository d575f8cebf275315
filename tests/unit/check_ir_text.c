// check_ir_text.c - the text form: printing, reading back, refusing.
#include <math.h>

#include "unit_ir.h"

// ---- round trips ------------------------------------------------------------

static const char *const golden[] = {
    "tests/data/ir/gemm.ir", "tests/data/ir/mixture.ir", "tests/data/ir/fa.ir",
    "tests/data/ir/mla_decode.ir",
};

static Text file_text(const char *name)
{
    char *at;
    size_t len;
    const char *why;
    ck_assert(file_read(unit_path(arena, name), &at, &len, &why));
    Text t = text_copy(arena, (Text){at, len});
    free(at);
    return t;
}

START_TEST(dumps_read_back_to_themselves)
{
    Text text = file_text(golden[_i]);
    IrKernel *read = read_text(text);
    ck_assert_msg(read != NULL, "%.*s", TEXT_ARG(last_message()));
    ck_assert_msg(text_eq(printed(read), text), "%s prints otherwise",
                  golden[_i]);
}
END_TEST

// A dump that was cut off is refused, unless only the places are missing.
START_TEST(truncated_dumps_are_refused)
{
    Text text = file_text(golden[0]);
    size_t body_end = (size_t)(strstr(text.at, "\nsource ") + 1 - text.at);
    for (size_t n = 0; n < text.len - 2; n += n % 5 + 1) {
        IrKernel *read = read_text(text_slice(text, 0, n));
        bool complete = n + 1 == body_end || n == body_end;
        ck_assert_msg(!read || complete, "%zu bytes are accepted", n);
    }
    ck_assert_ptr_nonnull(read_text(text_slice(text, 0, body_end)));
}
END_TEST

static const char frame[] =
    "tilesim-ir 1\nkernel \"main\"\n"
    "vars {\n 0 i: loop int32\n 1 j: loop int32\n 2 x: let float32\n"
    " 3 c: let bool\n 4 u: let uint32\n 5 h: let float16\n 6 bx: block int32\n"
    " 7 n: symbol int64\n 8 y: let int32\n 9 z: let float32\n}\n"
    "symbols n\n"
    "buffers {\n 0 A: float32[16, 16] global\n 1 F: float32[16, 16] "
    "local.fragment\n"
    " 2 S: int32[16] shared.dyn\n 3 L: int32[4] local\n 4 V: int32[1] "
    "local.var\n}\n"
    "params { \"A\" A }\n";

static IrKernel *with_body(const char *body)
{
    return read_text(text_format(arena, "%sbody { %s }\n", frame, body));
}

// Inside a launch with every buffer allocated and every let defined.
static IrKernel *inside(const char *body)
{
    return with_body(text_format(arena,
        "with T.Kernel(bx < 4, threads=[64, 1, 1]) {\n"
        "alloc F alloc S alloc L alloc V\n"
        "let x = A[0, bx] let c = x < 1.0 let u = uint32(bx)\n"
        "let h = float16(x)\n%s\n}", body).at);
}

// Expressions as they must be printed: the text is its own expectation.
static const char *const expressions[] = {
    "x + 1.0",
    "x - 1.0 - x",
    "x - (1.0 - x)",
    "x * (x + 1.0)",
    "-x * x",
    "-(x * x)",
    "x ** 0.5",
    "(-x) ** x",
    "(x + x) ** (-2.0)",
    "x / 3.0 / x",
    "1e-30",
    "1e+30",
    "-0.0",
    "inf",
    "-inf",
    "nan",
    "0.1",
    "16777217.0",
    "3.4028234663852886e+38",
    "float32(h * 1.5_f16)",
    "float32(h + inf_f16)",
    "T.exp2(x * 1.44269504)",
    "T.max(x, T.min(1.0, x))",
    "T.if_then_else(c and not c or x < 1.0, x, 0.0)",
    "T.Select(c, x, x * 2.0)",
    "T.round(x)",
    "T.round_away(x)",
    "T.reinterpret(bx, float32)",
    "A[bx, bx + 1]",
    "A[bx % 16, 15]",
    "float32(float8_e4m3fn(x))",
    "float32(float8_e4m3fn(x, sat=False))",
    "T.atan2(x, 1.0)",
    "T.__exp(x)",
    "float32(T.isnan(x))",
    "float32(bx // 4 + bx % 4 * 2)",
    "float32(int64(bx) + n)",
    "float32(u >> 3_u32 & 7_u32 | u << 1_u32 ^ ~u)",
    "float32(5_i64 - n)",
    "float32(T.truncdiv(bx, 3) - T.truncmod(bx, 3))",
    "float32(4294967295_u32 + u)",
    "float32((bx < 3) == (2 < bx))",
    "float32(T.clz(bx) + T.popcount(bx))",
    "float32(-2147483648 + bx)",
    "x + -1.0",
    "x * -x",
};

START_TEST(expressions_print_as_they_read)
{
    Text line = text_format(arena, "let z = %s\n", expressions[_i]);
    IrKernel *read = inside(line.at);
    ck_assert_msg(read != NULL, "%s: %.*s", expressions[_i],
                  TEXT_ARG(last_message()));
    Text text = printed(read);
    ck_assert_msg(text_holds(text, text_format(arena, " %s", line.at).at),
                  "%s", expressions[_i]);
    IrKernel *again = read_text(text);
    ck_assert_msg(again && text_eq(printed(again), text), "%s",
                  expressions[_i]);
}
END_TEST

START_TEST(every_attribute_survives)
{
    static const char *const lines[] = {
        "T.copy(A[0, bx] -> F, coalesced_width=8, loop_layout=layout([16, 16], "
        "thread=bx, replicate=2), prefer_instruction=\"tma\", "
        "disable_tma=True, "
        "eviction_policy=\"evict_last\", annotations={\"a\": [1, -2.5, None], "
        "\"b\": (bx + 1)})",
        "T.cumsum(F, dim=-1, reverse=True)",
        "T.atomic_add(A[bx, 0], 1.0, use_tma=False, memory_order=\"acq_rel\", "
        "return_prev=False)",
        "for j in T.unroll(4, explicit=True, unroll_factor=2)",
        "for j in T.Pipelined(4, num_stages=2, order=[0], stage=[1], "
        "sync=[[0]], group=[[0]])",
        "for j in T.Parallel(4, coalesced_width=2, prefer_async=True)",
        "T.print(F, msg=\"tab\\x09 quote\\\" back\\\\ line\\n\")",
        "assert c @(msg=\"no\")",
    };
    Text text = file_text(golden[0]);
    ck_assert(text_holds(text, "order=[0, 1, 2], stage=[0, 0, 2]"));
    for (size_t i = 0; i < countof(lines); i++) {
        bool loop = text_starts(text_of(lines[i]), "for");
        IrKernel *read = inside(text_format(arena, "%s%s", lines[i],
                                            loop ? " { }" : "").at);
        ck_assert_msg(read != NULL, "%s: %.*s", lines[i],
                      TEXT_ARG(last_message()));
        ck_assert_msg(text_holds(printed(read), lines[i]), "%s", lines[i]);
    }
}
END_TEST

START_TEST(equal_names_are_told_apart)
{
    IrExpr *shape[] = {ir_literal(k, 8, nowhere)};
    IrBuffer *a = ir_buffer(k, TEXT("x"), DT_F32, SCOPE_GLOBAL, 1, shape, NULL,
                            nowhere);
    IrStmt *let = ir_let(k, TEXT("x"), ir_literal(k, 3, nowhere), nowhere);
    IrStmt *odd =
        ir_let(k, TEXT("not a name"), ir_literal(k, 4, nowhere), nowhere);
    IrStmt *word = ir_let(k, TEXT("and"), ir_literal(k, 5, nowhere), nowhere);
    ir_param(k, TEXT(""), a, NULL);
    ir_append(k, k->body, let);
    ir_append(k, k->body, odd);
    ir_append(k, k->body, word);
    Text text = printed(k);
    ck_assert(text_holds(text, "let x.0 = 3"));
    ck_assert(text_holds(text, "let _.1 = 4"));
    ck_assert(text_holds(text, "let and.2 = 5"));
    ck_assert(text_holds(text, "0 x.b0 \"x\": float32[8] global"));
    IrKernel *again = read_text(text);
    ck_assert_msg(again != NULL, "%.*s", TEXT_ARG(last_message()));
    ck_assert(text_eq(printed(again), text));
    ck_assert(text_is(again->body->body[1]->var->name, "not a name"));
}
END_TEST

// Messages of a re-read kernel point at the program, whose text travels along.
START_TEST(places_survive)
{
    Text program = TEXT("def f():\r\n\tx = 1  # \xc3\xa9\n\nlast");
    uint32_t file = sources_add(sources, "dir/prog.tile", program);
    Span at = {file, 11, 16}, end = {file, (uint32_t)program.len - 4,
                                     (uint32_t)program.len};
    IrStmt *let = ir_let(k, TEXT("x"), ir_literal(k, 1, at), end);
    ir_append(k, k->body, let);
    Text text = printed(k);
    IrKernel *again = read_text(text);
    ck_assert_msg(again != NULL, "%.*s", TEXT_ARG(last_message()));
    const IrStmt *s = again->body->body[0];
    const Source *src = sources_get(sources, s->at.file);
    ck_assert_str_eq(src->path, "dir/prog.tile");
    ck_assert(text_eq(src->text, program));
    ck_assert_uint_eq(s->at.begin, end.begin);
    ck_assert_uint_eq(s->at.end, end.end);
    ck_assert_uint_eq(s->value->at.begin, 11);
    ck_assert_uint_eq(again->body->at.file, 0);
    ck_assert(text_eq(printed(again), text));
}
END_TEST

START_TEST(several_kernels_share_a_file)
{
    Text one = file_text(golden[0]), two = file_text(golden[1]);
    Text both = text_format(arena, "%.*s%.*s", TEXT_ARG(one), TEXT_ARG(two));
    IrKernel *read = read_text(both);
    ck_assert_msg(read && read->next && !read->next->next, "%.*s",
                  TEXT_ARG(last_message()));
    ck_assert(text_eq(printed(read), both));
}
END_TEST

START_TEST(origins_and_ids_survive)
{
    IrKernel *read = inside("17: S[0] = 1\n 90<17: S[1] = 2\n{ #33<17\n}");
    ck_assert_msg(read != NULL, "%.*s", TEXT_ARG(last_message()));
    Text text = printed(read);
    ck_assert(text_holds(text, "\n   17:         S[0] = 1\n"));
    ck_assert(text_holds(text, "\n90<17:         S[1] = 2\n"));
    ck_assert(text_holds(text, "{ #33<17\n"));
    ck_assert_int_ge(read->next_stmt, 91);
}
END_TEST

// ---- the verifier -----------------------------------------------------------

static const struct {
    const char *body, *id, *part;
} faults[] = {
    // scopes
    {"S[y] = 1", "ir-scope", "y is not defined here"},
    {"if c { let y = 1 } S[y] = 1", "ir-scope", "y is not defined here"},
    {"for i in T.serial(4) { } S[i] = 1", "ir-scope", "i is not defined here"},
    {"let y = 1 let y = 2", "ir-scope", "y is defined twice"},
    {"for i in T.serial(4) { for i in T.serial(4) { } }", "ir-scope",
     "i is defined twice"},
    {"let i = 1", "ir-scope", "i is a let variable here and a loop variable"},
    {"alloc S", "ir-scope", "S cannot be allocated here: it exists already"},
    {"alloc A", "ir-scope", "A cannot be allocated"},
    // loops
    {"break", "ir-loop", "break outside a loop"},
    {"if c { continue }", "ir-loop", "continue outside a loop"},
    {"for i in T.Parallel(4) { break }", "ir-loop", "cannot leave T.Parallel"},
    {"for i in T.serial(-3) { }", "ir-verify", "negative number of iterations"},
    {"for i in T.serial(x) { }", "ir-type", "float32 and must be an integer"},
    {"for i, j in T.serial(4, 4) { }", "ir-verify",
     "wrong number of variables"},
    {"for i in T.serial(4, step=0) { }", "ir-verify", "other than 0"},
    {"for i in T.Parallel(4, step=2) { }", "ir-verify", "step"},
    {"while x { }", "ir-type", "a condition is float32, not bool"},
    {"if bx { }", "ir-type", "a condition is int32, not bool"},
    // T.Parallel
    {"for i in T.Parallel(4) { T.clear(S) }", "ir-parallel",
     "T.clear inside T.Parallel"},
    {"for i in T.Parallel(4) { for j in T.Pipelined(4) { } }", "ir-parallel",
     "T.Pipelined inside T.Parallel"},
    {"for i in T.Parallel(4) { S[i] = 1 for j in T.Parallel(4) { } }",
     "ir-parallel", "only statement"},
    {"for i in T.Parallel(4) { L[i] = 1 }", "ir-parallel",
     "a local buffer belongs to each thread: it cannot be indexed by i"},
    {"for i in T.Parallel(4) { T.copy(A[0, 0] -> F[0:+1, 0:+2]) }",
     "ir-parallel", "T.copy inside"},
    // values
    {"S[16] = 1", "ir-index-range", "index 16 is out of range"},
    {"S[0, 0] = 1", "ir-index-count", "S has 1 dimension, 2 indices given"},
    {"S[x] = 1", "ir-index", "index 0 of S is float32"},
    {"S[0] = bx / 2", "ir-int-division", "integers have no '/'"},
    {"S[0] = bx // 0", "ir-zero-division", "division by zero"},
    {"S[0] = int32(T.atomic_add(A[0, 0], 1.0)) + 1", "ir-operand",
     "must be a value of its own"},
    {"eval T.exp2(bx)", "ir-type", "T.exp2 applies to floats"},
    {"with T.Kernel(bx < 4, threads=[1, 1, 1]) { }", "ir-verify",
     "T.Kernel inside T.Kernel"},
    // ids
    {"5: S[0] = 1 5: S[1] = 1", "ir-verify", "two statements have the id 5"},
};

START_TEST(ill_formed_kernels_are_refused)
{
    ck_assert_msg(inside(faults[_i].body) == NULL, "%s: accepted",
                  faults[_i].body);
    ck_assert_msg(strcmp(last_id(), faults[_i].id) == 0, "%s: [%s] %.*s",
                  faults[_i].body, last_id(), TEXT_ARG(last_message()));
    ck_assert_msg(text_holds(last_message(), faults[_i].part), "%s: %.*s",
                  faults[_i].body, TEXT_ARG(last_message()));
}
END_TEST

static const struct { const char *body, *part; } outside[] = {
    {"S[0] = 1", "S is not allocated here"},
    {"alloc S", "S (shared.dyn) is allocated outside T.Kernel"},
    {"for i in T.serial(4) { }", "must stand inside T.Kernel"},
    {"with T.Kernel(bx < 4, threads=[2048, 1, 1]) { }", "1 to 1024 threads"},
    {"with T.Kernel(bx < 4, threads=[64, 64, 1]) { }", "64x64x1"},
    {"with T.Kernel(bx < 4, threads=[0, 1, 1]) { }", "0x1x1"},
    {"with T.Kernel(bx < -4, threads=[1, 1, 1]) { }", "negative"},
    {"with T.Kernel(threads=[1, 1, 1]) { }", "one to three grid sizes"},
    {"with T.Kernel(bx < 4, threads=[1, 1, 1]) { S[0] = 1 }",
     "S is not allocated here"},
};

START_TEST(unbuilt_operations_are_a_limit)
{
    const OpInfo *info = op_info(ops, (Op)_i);
    TextBuf b = {0};

    if (info->class != OPCLASS_TILE || info->status == OPSTATUS_BUILT)
        return;
    buf_printf(&b, "%s()", info->surface);
    buf_addc(&b, '\0');
    ck_assert_ptr_null(inside(b.at));
    ck_assert(text_holds(last_message(), op_status_name(info->status)));
    ck_assert_int_eq(diag_exit(diag), EXIT_LIMIT);
    buf_release(&b);
}
END_TEST

START_TEST(statements_outside_a_launch_are_checked)
{
    ck_assert_ptr_null(with_body(outside[_i].body));
    bool known = text_holds(last_message(), outside[_i].part) ||
                 text_holds(last_message(), "must stand inside T.Kernel");
    ck_assert_msg(known, "%s: %.*s", outside[_i].body,
                  TEXT_ARG(last_message()));
}
END_TEST

static const char *const correct[] = {
    "for i in T.serial(1:+7, step=-2) { if c { break } else { continue } }",
    "for i in T.Parallel(4) { for j in T.Parallel(4) { F[i, j] = x } }",
    "for i in T.Parallel(16) { for j in T.serial(0) { } }",
    "for i in T.Parallel(4) { T.copy(A[i, 0] -> F[i, 0]) }",
    "for i in T.Parallel(4) { T.atomic_add(A[i, 0], x) }",
    "for i in T.Parallel(16) { S[i] = L[2] + V[0] }",
    "let z = T.atomic_add(A[bx, 0], 1.0) eval T.atomic_max(A[bx, 1], 1.0)",
    "while V[0] < 4 { V[0] = V[0] + 1 }",
    "for i in T.Persistent(8, wave_size=4, index=bx, group_size=8) { S[i] = 1 "
    "}",
    "for i, j in T.grid(4, 4) { break }",
    "T.assume(c) T.disable_warp_group_reg_alloc()",
    "let y = 1 S[y] = 2 { }",
    "for i in T.serial(n) { S[int32(i) % 16] = 1 }",
};

START_TEST(well_formed_kernels_pass)
{
    IrKernel *read = inside(correct[_i]);
    ck_assert_msg(read != NULL, "%s: %.*s", correct[_i],
                  TEXT_ARG(last_message()));
    IrKernel *again = read_text(printed(read));
    ck_assert(again && text_eq(printed(again), printed(read)));
}
END_TEST

// ---- syntax -----------------------------------------------------------------

static const struct {
    const char *text, *part;
} broken[] = {
    {"", "expected 'tilesim'"},
    {"hello", "expected 'tilesim'"},
    {"tilesim-ir 2\nkernel \"m\"", "out of range"},
    {"tilesim-ir 1\nkernel m", "expected a string"},
    {"tilesim-ir 1\nkernel \"m", "not closed"},
    {"tilesim-ir 1\nkernel \"m\\q\"", "bad escape"},
    {"tilesim-ir 1\nkernel \"m\"\nbodies {", "expected a section"},
    {"tilesim-ir 1\nkernel \"m\"\nbody {", "expected a statement"},
    {"tilesim-ir 1\nkernel \"m\"\nvars { }", "expected a section 'body'"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { } source \"a\" {\n}",
     "expected a section 'spans'"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { } body { }",
     "a second section 'body'"},
    {"tilesim-ir 1\nkernel \"m\"\nvars { 0 x: loop float8 }",
     "expected a dtype"},
    {"tilesim-ir 1\nkernel \"m\"\nvars { 0 x: loops int32 }", "expected loop"},
    {"tilesim-ir 1\nkernel \"m\"\nvars { 0 x: loop int32 1 x: loop int32 }",
     "stands for two things"},
    {"tilesim-ir 1\nkernel \"m\"\nvars { 99999999999 x: loop int32 }",
     "out of range"},
    {"tilesim-ir 1\nkernel \"m\"\nbuffers { 1 A: float32[4] global }",
     "without gaps"},
    {"tilesim-ir 1\nkernel \"m\"\nbuffers { 0 A: float32[-4] global }",
     "dimension 0 of A is -4"},
    {"tilesim-ir 1\nkernel \"m\"\nbuffers { 0 A: float32[4] nowhere }",
     "memory scope"},
    {"tilesim-ir 1\nkernel \"m\"\nbuffers { 0 A: float32[B] global }",
     "unknown name 'B'"},
    {"tilesim-ir 1\nkernel \"m\"\nparams { \"A\" A }", "expected a variable"},
    {"tilesim-ir 1\nkernel \"m\"\nconfig { speed 3 }", "unknown configuration"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { assert 99999999999999999999 }",
     "too large"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { assert 1_q7 }", "unknown dtype"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { assert 3000000000 }",
     "does not fit int32"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { assert ? }", "unexpected character"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { assert (1 }", "expected ')'"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { assert T.max(1) }",
     "takes 2 operands"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { assert T.gemm(1) }", "no expression"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { T.copyy() }", "expected a statement"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { T.clear(speed=3) }",
     "unknown attribute 'speed'"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { for x in T.serial(3) { } }",
     "expected the name of a variable"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { }\nsource \"a\" {\nx\n}",
     "must begin with"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { }\nspans { 1/1:1+1 }", "no source 1"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { }\nspans { }", "expected an integer"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { }\nsource \"a\" {\n|x\n}\n"
     "spans { 1/1:1+9 = }",
     "beyond its file"},
    {"tilesim-ir 1\nkernel \"m\"\nbody { }\nsource \"a\" {\n|x\n}\n"
     "spans { 1/7:1+0 = }",
     "no such place"},
};

START_TEST(broken_text_is_refused)
{
    ck_assert_msg(read_text(text_of(broken[_i].text)) == NULL, "%s: accepted",
                  broken[_i].text);
    ck_assert_msg(text_holds(last_message(), broken[_i].part), "%s: %.*s",
                  broken[_i].text, TEXT_ARG(last_message()));
    ck_assert_int_eq(diag_exit(diag), EXIT_PROGRAM);
}
END_TEST

// A thing repeated n times around a middle.
static Text nested(const char *head, const char *open, const char *middle,
                   const char *close, int n)
{
    TextBuf b = {0};
    buf_puts(&b, head);
    for (int i = 0; i < n; i++)
        buf_puts(&b, open);
    buf_puts(&b, middle);
    for (int i = 0; i < n; i++)
        buf_puts(&b, close);
    Text t = text_copy(arena, buf_view(&b));
    buf_release(&b);
    return t;
}

START_TEST(nesting_is_bounded)
{
    static const char start[] = "tilesim-ir 1\nkernel \"m\"\nbody { assert ";
    ck_assert_ptr_null(read_text(nested(start, "(", "True", ")", 100000)));
    ck_assert(text_holds(last_message(), "nested too deeply"));
    ck_assert_ptr_null(read_text(nested(start, "not ", "True", "", 100000)));
    ck_assert(text_holds(last_message(), "nested too deeply"));
    ck_assert_ptr_null(read_text(nested("tilesim-ir 1\nkernel \"m\"\nbody ",
                                        "{", "", "}", 100000)));
    ck_assert(text_holds(last_message(), "nested too deeply"));
    ck_assert_ptr_null(read_text(nested("tilesim-ir 1\nkernel \"m\"\nconfig { "
                                        "pass_configs ",
                                        "[", "", "]", 100000)));
    ck_assert(text_holds(last_message(), "nested too deeply"));
    ck_assert_ptr_null(read_text(nested("tilesim-ir 1\nkernel \"m\"\nbody ",
                                        "{", "", "}", 300)));
    ck_assert(text_holds(last_message(), "nested too deeply"));
}
END_TEST

static TCase *cases(Suite *s, const char *name)
{
    TCase *t = tcase_create(name);
    tcase_add_checked_fixture(t, ir_setup, ir_teardown);
    tcase_set_timeout(t, 60);
    suite_add_tcase(s, t);
    return t;
}

int main(void)
{
    Suite *s = suite_create("ir text");
    TCase *t = cases(s, "round trips");
    tcase_add_loop_test(t, dumps_read_back_to_themselves, 0,
                        (int)countof(golden));
    tcase_add_test(t, truncated_dumps_are_refused);
    tcase_add_loop_test(t, expressions_print_as_they_read, 0,
                        (int)countof(expressions));
    tcase_add_test(t, every_attribute_survives);
    tcase_add_test(t, equal_names_are_told_apart);
    tcase_add_test(t, places_survive);
    tcase_add_test(t, several_kernels_share_a_file);
    tcase_add_test(t, origins_and_ids_survive);
    t = cases(s, "verifier");
    tcase_add_loop_test(t, ill_formed_kernels_are_refused, 0,
                        (int)countof(faults));
    tcase_add_loop_test(t, unbuilt_operations_are_a_limit, 0, OP_COUNT);
    tcase_add_loop_test(t, statements_outside_a_launch_are_checked, 0,
                        (int)countof(outside));
    tcase_add_loop_test(t, well_formed_kernels_pass, 0, (int)countof(correct));
    t = cases(s, "syntax");
    tcase_add_loop_test(t, broken_text_is_refused, 0, (int)countof(broken));
    tcase_add_test(t, nesting_is_bounded);
    return unit_run(s);
}
