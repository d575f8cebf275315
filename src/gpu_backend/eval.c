// eval.c - extents of a launch for given symbols and scalars.
#include "gpu_backend/emit_int.h"

typedef struct {
    const GpuProgram *program;      // NULL: every variable has a value
    const int64_t *value;
} Eval;

// A let of the kernel's body, outside of its launches.
static const IrExpr *let_of(const IrStmt *block, const IrVar *v)
{
    for (int i = 0; i < block->len; i++) {
        const IrStmt *s = block->body[i];
        if (s->kind == STMT_LET && s->var == v)
            return s->value;
    }
    return NULL;
}

static bool value_of(void *ctx, const IrVar *var, int64_t *out)
{
    const Eval *v = ctx;

    if (!v->program || var->kind == VAR_SYMBOL || var->kind == VAR_PARAM) {
        *out = v->value[var->id];
        return true;
    }
    const IrExpr *e = let_of(v->program->plan->kernel->body, var);
    return e && ir_evaluate(e, value_of, ctx, out);
}

bool gpu_eval(const GpuProgram *g, const IrExpr *e, const int64_t *value,
              int64_t *out)
{
    Eval v = {g, value};
    return ir_evaluate(e, value_of, &v, out);
}

bool eval_at(const IrExpr *x, const int64_t *value, int64_t *out)
{
    Eval v = {NULL, value};
    return ir_evaluate(x, value_of, &v, out);
}
