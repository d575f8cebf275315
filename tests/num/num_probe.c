// num_probe.c - runs one piece of num on bytes from stdin, result to stdout.
//
// num_probe convert MODE DST SRC          MODE: sat nosat torch scalar
// num_probe lane ISA OP TYPE N            a, then b and c by arity
// num_probe memory ISA ROW DTYPE N        ROW: a row of tables, below
// num_probe change ISA FROM TO N          lane types; TO "odd": convert_odd
// num_probe gemm ISA TYPE M N K LDA LDB LDC   a, b, c
// num_probe reduce ISA OP TYPE ROUND N    acc, then N elements
// num_probe libm OP N                     the C library's answer in long double
//                                         (x87: 64 bits of it) for doubles
// num_probe ops                           lines of name, arity, kinds, truth
// num_probe isas                          the names this machine has
#define _GNU_SOURCE                             // exp10l
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/lanes.h"

typedef struct {
    char *at;
    size_t len, used;
    Arena *taken;
} Input;

static Input read_all(void)
{
    Input in = {.taken = arena_create()};
    size_t room = 1 << 16, got;
    in.at = xmalloc(room);
    while ((got = fread(in.at + in.len, 1, room - in.len, stdin)) > 0) {
        in.len += got;
        if (in.len == room)
            in.at = xrealloc(in.at, room *= 2, 1);
    }
    return in;
}

_Noreturn static void usage(const char *what)
{
    fatal(EXIT_USAGE, "num_probe: bad %s", what);
}

// An aligned copy of the next `bytes` of the input.
static void *take(Input *in, size_t bytes)
{
    char *copy = arena_alloc(in->taken, bytes + 1, 1);
    if (in->len - in->used < bytes)
        usage("input length");
    memcpy(copy, in->at + in->used, bytes);
    in->used += bytes;
    return copy;
}

static DType dtype_arg(const char *name)
{
    DType t;
    if (!dtype_find(text_of(name), &t))
        usage("dtype");
    return t;
}

static LaneType lane_arg(const char *name)
{
    static const char *const names[] = {"f32", "f64", "i32",
                                        "u32", "i64", "u64"};
    for (int t = 0; t < LANE_COUNT; t++)
        if (strcmp(name, names[t]) == 0)
            return (LaneType)t;
    usage("lane type");
}

static LaneOp op_arg(const char *name)
{
    for (int op = 0; op < LANE_OP_COUNT; op++)
        if (strcmp(name, lane_op_info((LaneOp)op)->name) == 0)
            return (LaneOp)op;
    usage("operation");
}

static const Lanes *isa_arg(const char *name)
{
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (strcmp(name, isa_name((Isa)isa)) == 0 && lanes_for((Isa)isa))
            return lanes_for((Isa)isa);
    usage("instruction set");
}

static void put(const void *at, size_t bytes)
{
    fwrite(at, 1, bytes, stdout);
}

static void convert_scalar(DType dst, char *out, DType src, const char *in,
                           int64_t n)
{
    size_t ds = dtype_bytes(dst, 1), ss = dtype_bytes(src, 1);
    for (int64_t i = 0; i < n; i++, out += ds, in += ss) {
        if (dtype_is_float(src))
            num_put_f64(dst, out, num_get_f64(src, in));
        else
            num_put_i64(dst, out, num_get_i64(src, in));
    }
}

static void do_convert(char **arg, Input *in)
{
    DType dst = dtype_arg(arg[1]), src = dtype_arg(arg[2]);
    int64_t n = (int64_t)(in->len / dtype_bytes(src, 1));
    size_t bytes = dtype_bytes(dst, n);
    char *out = xcalloc(bytes + 1, 1);
    if (strcmp(arg[0], "sat") == 0)
        num_convert(dst, out, src, in->at, n);
    else if (strcmp(arg[0], "nosat") == 0)
        num_convert_nosat(dst, out, src, in->at, n);
    else if (strcmp(arg[0], "torch") == 0)
        num_convert_torch(dst, out, src, in->at, n);
    else
        convert_scalar(dst, out, src, in->at, n);
    put(out, bytes);
    free(out);
}

static void run_lane(LaneFn *fn, Input *in, const size_t sizes[4], int64_t n)
{
    const void *src[3] = {0};
    for (int i = 0; i < 3 && sizes[i + 1]; i++)
        src[i] = take(in, sizes[i + 1] * (size_t)n);
    char *out = xcalloc((size_t)n + 1, sizes[0]);
    if (!fn)
        usage("combination");
    fn(out, src[0], src[1], src[2], n);
    put(out, sizes[0] * (size_t)n);
    free(out);
}

static void do_lane(char **arg, Input *in)
{
    LaneOp op = op_arg(arg[1]);
    LaneType t = lane_arg(arg[2]);
    const LaneOpInfo *info = lane_op_info(op);
    size_t size = lane_bytes(t);
    size_t sizes[4] = {info->truth ? 4 : size,
                       op == LANE_OP_SELECT ? 4 : size,
                       info->arity > 1 ? size : 0, info->arity > 2 ? size : 0};
    run_lane(isa_arg(arg[0])->op[op][t], in, sizes, atoll(arg[3]));
}

static void do_memory(char **arg, Input *in)
{
    const Lanes *l = isa_arg(arg[0]);
    DType t = dtype_arg(arg[2]);
    size_t lane = lane_bytes(lane_type_of(t)), cell = dtype_bytes(t, 1);
    const struct {
        const char *name;
        LaneFn *fn;
        size_t dst, src;
    } rows[] = {
        {"load", l->load[t], lane, cell},
        {"store", l->store[t], cell, lane},
        {"round", l->round[t], lane, lane},
        {"clamp", l->clamp[t], lane, lane},
        {"round_nosat", l->round_nosat[t], lane, lane},
        {"store_nosat", l->store_nosat[t], cell, lane},
        {"load_f64", l->load_f64[t], 8, cell},
        {"store_f64", l->store_f64[t], cell, 8},
    };
    for (size_t i = 0; i < countof(rows); i++)
        if (strcmp(arg[1], rows[i].name) == 0) {
            size_t sizes[4] = {rows[i].dst, rows[i].src};
            run_lane(rows[i].fn, in, sizes, atoll(arg[3]));
            return;
        }
    usage("row");
}

static void do_change(char **arg, Input *in)
{
    const Lanes *l = isa_arg(arg[0]);
    LaneType from = lane_arg(arg[1]);
    bool odd = strcmp(arg[2], "odd") == 0;
    LaneType to = odd ? LANE_F32 : lane_arg(arg[2]);
    size_t sizes[4] = {lane_bytes(to), lane_bytes(from)};
    run_lane(odd ? l->convert_odd[from] : l->convert[from][to], in, sizes,
             atoll(arg[3]));
}

static void do_gemm(char **arg, Input *in)
{
    const Lanes *l = isa_arg(arg[0]);
    LaneType t = lane_arg(arg[1]);
    int m = atoi(arg[2]), n = atoi(arg[3]), k = atoi(arg[4]);
    int64_t lda = atoll(arg[5]), ldb = atoll(arg[6]), ldc = atoll(arg[7]);
    size_t size = lane_bytes(t);
    void *a = take(in, (size_t)(m * lda) * size);
    void *b = take(in, (size_t)(k * ldb) * size);
    void *c = take(in, (size_t)(m * ldc) * size);
    if (t == LANE_F32)
        l->gemm_f32(m, n, k, a, lda, b, ldb, c, ldc);
    else if (t == LANE_F64)
        l->gemm_f64(m, n, k, a, lda, b, ldb, c, ldc);
    else
        l->gemm_i32(m, n, k, a, lda, b, ldb, c, ldc);
    put(c, (size_t)(m * ldc) * size);
}

static void do_reduce(char **arg, Input *in)
{
    const Lanes *l = isa_arg(arg[0]);
    LaneType t = lane_arg(arg[2]);
    DType round = strcmp(arg[3], "none") == 0 ? DT_NONE : dtype_arg(arg[3]);
    int64_t n = atoll(arg[4]);
    void *acc = take(in, lane_bytes(t));
    l->reduce(op_arg(arg[1]), t, round, acc,
              take(in, lane_bytes(t) * (size_t)n), n);
    put(acc, lane_bytes(t));
}

static long double sigmoid(long double x)
{
    return 1 / (1 + expl(-x));
}

static long double rsqrt(long double x)
{
    return 1 / sqrtl(x);
}

static const struct {
    LaneOp op;
    long double (*one)(long double x);
    long double (*two)(long double x, long double y);
} oracles[] = {
    {LANE_OP_EXP, expl, NULL},         {LANE_OP_EXP2, exp2l, NULL},
    {LANE_OP_EXP10, exp10l, NULL},     {LANE_OP_EXPM1, expm1l, NULL},
    {LANE_OP_LOG, logl, NULL},         {LANE_OP_LOG2, log2l, NULL},
    {LANE_OP_LOG10, log10l, NULL},     {LANE_OP_LOG1P, log1pl, NULL},
    {LANE_OP_SQRT, sqrtl, NULL},       {LANE_OP_RSQRT, rsqrt, NULL},
    {LANE_OP_SIN, sinl, NULL},         {LANE_OP_COS, cosl, NULL},
    {LANE_OP_TAN, tanl, NULL},         {LANE_OP_ASIN, asinl, NULL},
    {LANE_OP_ACOS, acosl, NULL},       {LANE_OP_ATAN, atanl, NULL},
    {LANE_OP_ATAN2, NULL, atan2l},     {LANE_OP_SINH, sinhl, NULL},
    {LANE_OP_COSH, coshl, NULL},       {LANE_OP_TANH, tanhl, NULL},
    {LANE_OP_SIGMOID, sigmoid, NULL},  {LANE_OP_ERF, erfl, NULL},
    {LANE_OP_POW, NULL, powl},
};

static void do_libm(char **arg, Input *in)
{
    LaneOp op = op_arg(arg[0]);
    size_t n = (size_t)atoll(arg[1]), row = 0;
    const double *a = take(in, n * sizeof *a);
    const double *b = lane_op_info(op)->arity > 1 ? take(in, n * sizeof *b) : a;
    while (row < countof(oracles) && oracles[row].op != op)
        row++;
    if (row == countof(oracles))
        usage("operation");
    for (size_t i = 0; i < n; i++) {
        long double v = oracles[row].one ? oracles[row].one(a[i])
                                         : oracles[row].two(a[i], b[i]);
        put(&v, sizeof v);
    }
}

static void do_isas(char **arg, Input *in)
{
    (void)arg, (void)in;
    for (int isa = 0; isa < ISA_COUNT; isa++)
        if (lanes_for((Isa)isa))
            puts(isa_name((Isa)isa));
}

static void do_ops(char **arg, Input *in)
{
    (void)arg, (void)in;
    for (int op = 0; op < LANE_OP_COUNT; op++) {
        const LaneOpInfo *info = lane_op_info((LaneOp)op);
        printf("%s %d %s %d\n", info->name, info->arity, info->kinds,
               info->truth);
    }
}

static const struct {
    const char *name;
    int args;
    void (*run)(char **arg, Input *in);
} commands[] = {
    {"convert", 3, do_convert}, {"lane", 4, do_lane},
    {"memory", 4, do_memory},   {"change", 4, do_change},
    {"gemm", 8, do_gemm},       {"reduce", 5, do_reduce},
    {"libm", 2, do_libm},
    {"ops", 0, do_ops},         {"isas", 0, do_isas},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < countof(commands); i++)
        if (argc == commands[i].args + 2 &&
            strcmp(argv[1], commands[i].name) == 0) {
            Input in = {0};
            if (commands[i].args)
                in = read_all();
            commands[i].run(argv + 2, &in);
            free(in.at);
            arena_destroy(in.taken);
            return fflush(stdout) || ferror(stdout);
        }
    usage("command");
}
