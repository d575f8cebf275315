// fuzz_interp.c - any IR that reads is lowered, written down and run.
//
// Tensors are small whatever the kernel asks for; a timer cancels runs that
// take long, as --timeout does.
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "interp/interp.h"
#include "ir/ir.h"
#include "support/parallel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PARAMS = 8, MOST_ELEMENTS = 1 << 16, PATIENCE_US = 20000 };

static void on_alarm(int signal)
{
    parallel_cancel(signal);
}

static void start_timer(int microseconds)
{
    struct itimerval t = {.it_value = {.tv_usec = microseconds}};

    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &t, NULL);
}

// The table is the same for every input.
static const OpTable *op_table(void)
{
    static Arena *arena;
    static const OpTable *table;

    if (!arena) {
        arena = arena_create();
        table = op_table_create(arena);
    }
    return table;
}

// False when a tensor would be too large to be worth it.
static bool make_arg(const IrParam *p, CodeMode mode, InterpArg *a)
{
    int64_t n = 1;

    *a = (InterpArg){.is_scalar = p->is_scalar, .i64 = 3, .f64 = 1.5};
    a->dtype = p->is_scalar ? p->var->dtype : p->buffer->dtype;
    if (mode == CODE_F64 && dtype_is_float(a->dtype) && !dtype_is_fp8(a->dtype))
        a->dtype = DT_F64;
    a->rank = p->is_scalar ? 0 : p->buffer->rank;
    for (int d = a->rank - 1; d >= 0; d--) {
        if (!ir_is_int(p->buffer->shape[d], &a->shape[d]))
            a->shape[d] = 5;
        a->strides[d] = n;
        if (a->shape[d] < 0 || a->shape[d] > MOST_ELEMENTS ||
            (n *= a->shape[d]) > MOST_ELEMENTS)
            return false;
    }
    if (!a->is_scalar)
        a->data = calloc((size_t)n + 1, 8);
    return true;
}

static void run(const IrKernel *k, const Code *code, CodeMode mode, Diag *d)
{
    const InterpOptions o = {.memory_limit = 64 << 20};
    InterpArg args[MOST_PARAMS] = {{0}};
    int made = 0;

    while (made < k->param_count && made < MOST_PARAMS &&
           make_arg(&k->params[made], mode, &args[made]))
        made++;
    if (made == k->param_count) {
        InterpResult r;

        start_timer(PATIENCE_US);
        r = interp_run(code, d, args, made, &o);
        start_timer(0);
        parallel_cancel_reset();
        interp_result_release(&r);
    }
    for (int i = 0; i < made; i++)
        free(args[i].data);
}

static void lower(Arena *a, Diag *d, const SourceSet *sources,
                  const IrKernel *k, CodeMode mode)
{
    Code *code = code_lower(a, d, k, mode);
    TextBuf text = {0};

    if (!code) {
        if (!diag_errors(d))
            BUG("a kernel is not lowered and nobody says why");
        return;
    }
    code_print(&text, sources, code);
    buf_release(&text);
    run(k, code, mode, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_create();
    SourceSet *sources = sources_create();
    FILE *silent = fopen("/dev/null", "w");
    Text text = {(const char *)data, size};
    Diag *d;
    const IrKernel *k;

    if (!silent)
        abort();
    parallel_set_threads(1);
    d = diag_create(sources, silent, false);
    k = ir_read(a, op_table(), d, sources, sources_add(sources, "f.ir", text));
    for (; k; k = k->next) {
        lower(a, d, sources, k, CODE_AS_WRITTEN);
        lower(a, d, sources, k, CODE_F64);
    }
    diag_destroy(d);
    fclose(silent);
    sources_destroy(sources);
    arena_destroy(a);
    return 0;
}
