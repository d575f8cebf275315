// cmd_dump.c - prints what passes between two stages of the compiler.
#include "cli/session.h"
#include "gpu_backend/gpu_backend.h"
#include "lang/parse.h"
#include "plan/plan.h"

typedef enum {
    DUMP_TOKENS, DUMP_AST, DUMP_IR, DUMP_CODE, DUMP_PLAN,
    DUMP_CUDA, DUMP_HIP
} DumpStage;

static DumpStage wanted(const Cli *c)
{
    static const char *const names[] = {"tokens", "ast", "ir", "code",
                                        "plan",   "cuda", "hip"};
    Text name = cli_text(c, OPT_STAGE, "ir");
    for (size_t i = 0; i < countof(names); i++)
        if (text_is(name, names[i]))
            return (DumpStage)i;
    cli_usage(c, "--stage '%.*s': expected tokens, ast, ir, code, plan, "
              "cuda or hip",
              TEXT_ARG(name));
}

static void put(TextBuf *b)
{
    buf_write(b, stdout);
    buf_release(b);
}

static void dump_syntax(Session *s, DumpStage stage)
{
    Cli *c = s->cli;
    TextBuf b = {0};
    TokenList tokens = lex(c->arena, c->diag, c->sources, s->file);
    if (stage == DUMP_TOKENS) {
        tokens_print(&b, c->sources, tokens);
    } else {
        Ast *ast = parse(c->arena, c->diag, c->sources, tokens);
        if (ast)
            ast_print(&b, c->sources, ast);
    }
    put(&b);
}

static void dump_plans(Session *s, KernelObject *k, DumpStage stage)
{
    Cli *c = s->cli;
    const Device *targets[DEVICE_COUNT];
    bool source = stage == DUMP_CUDA || stage == DUMP_HIP;
    int n = cli_devices(c, stage == DUMP_HIP ? "mi300x" : "h100", targets,
                        DEVICE_COUNT);

    for (int i = 0; i < n; i++) {
        TextBuf b = {0};
        Plan *p = plan_build(c->arena, k->ir, targets[i],
                             source ? PLAN_TILESIM : PLAN_TILELANG);
        const GpuDialect *d = stage == DUMP_HIP ? gpu_dialect_hip()
                                                : gpu_dialect_cuda();
        GpuProgram *g = p && source ? gpu_emit(c->arena, p, d, c->sources)
                                    : NULL;
        if (p && !source)
            plan_print(&b, p);
        if (g)
            buf_text(&b, g->source);
        put(&b);
    }
}

static void dump_kernel(Session *s, KernelObject *k, DumpStage stage)
{
    TextBuf b = {0};
    if (stage >= DUMP_PLAN) {
        dump_plans(s, k, stage);
        return;
    }
    if (stage == DUMP_IR) {
        ir_print(&b, s->cli->sources, k->ir);
    } else {
        Code *code = kernel_code(k, CODE_AS_WRITTEN);
        if (code)
            code_print(&b, s->cli->sources, code);
    }
    put(&b);
}

static void dump_kernels(Session *s, DumpStage stage)
{
    if (session_is_launch(s)) {
        CaseOptions o = {.defines = s->defines,
                         .define_count = s->define_count};
        KernelObject *k = session_load(s) ? session_kernel(s, &o) : NULL;
        if (k)
            dump_kernel(s, k, stage);
        return;
    }
    session_script(s);
    for (int i = 0; i < s->host->kernels.len; i++)
        dump_kernel(s, s->host->kernels.at[i], stage);
}

int cmd_dump(Cli *c)
{
    Session s;
    DumpStage stage = wanted(c);
    HostOptions options = {.out = stderr, .record_only = true};
    if (!session_open(&s, c, &options))
        return diag_exit(c->diag);
    if (stage <= DUMP_AST)
        dump_syntax(&s, stage);
    else
        dump_kernels(&s, stage);
    ExitCode code = session_exit(&s);
    session_close(&s);
    return code;
}
