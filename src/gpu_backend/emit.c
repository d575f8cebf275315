// emit.c - a plan as a program of kernels.
#include "gpu_backend/emit_int.h"

#include <string.h>

void refuse(Emit *e, const char *format, ...)
{
    TextBuf what = {0};
    va_list args;

    if (e->failed)
        return;
    e->failed = true;
    va_start(args, format);
    buf_vprintf(&what, format, args);
    va_end(args);
    diag_error(e->k->diag, EXIT_LIMIT, e->at, "gpu-unsupported",
               "%.*s cannot be emitted as %s yet", (int)what.len, what.at,
               e->dialect->title);
    buf_release(&what);
}

IrBuffer *root_buffer(IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return b;
}

// ---- what a launch uses ----------------------------------------------------

typedef struct {
    const Emit *e;
    bool *buffer, *var;             // by id
    bool by_thread;
} Uses;

static void use_expr_tree(Uses *u, IrExpr *x);

static void use_buffer(Uses *u, IrBuffer *b)
{
    b = root_buffer(b);
    if (u->buffer[b->id])
        return;
    u->buffer[b->id] = true;
    for (int d = 0; d < b->rank; d++) {
        use_expr_tree(u, b->shape[d]);
        use_expr_tree(u, b->strides[d]);
    }
}

static bool use_expr(void *ctx, IrExpr *x)
{
    Uses *u = ctx;

    if (x->kind == EXPR_LOAD || x->kind == EXPR_ATOMIC) {
        use_buffer(u, x->buffer);
        for (int d = 0; d < x->buffer->rank; d++)
            use_expr_tree(u, x->buffer->shape[d]);
    }
    if (x->kind == EXPR_VAR)
        u->var[x->var->id] = true;
    if (x->kind == EXPR_OP && op_is_warp(x->op))
        u->by_thread = true;
    return true;
}

static void use_expr_tree(Uses *u, IrExpr *x)
{
    if (x)
        ir_walk_expr(x, use_expr, u);
}

static bool use_stmt(void *ctx, IrStmt *s)
{
    Uses *u = ctx;

    if (s->kind == STMT_STORE || s->kind == STMT_ALLOC)
        use_buffer(u, s->buffer);
    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION)
            use_buffer(u, s->operand[i].region->buffer);
    return true;
}

// Lets outside of launches that a used variable needs, transitively.
static void use_lets(Uses *u, const IrStmt *body)
{
    for (int i = body->len - 1; i >= 0; i--) {
        IrStmt *s = body->body[i];
        if (s->kind == STMT_LET && u->var[s->var->id])
            use_expr_tree(u, s->value);
    }
}

static Uses uses_of(const Emit *e, IrStmt *launch)
{
    Uses u = {.e = e, .buffer = new_array(e->arena, bool,
                                          e->k->buffer_count + 1),
              .var = new_array(e->arena, bool, e->k->next_var + 1)};

    ir_walk(launch, use_stmt, use_expr, &u);
    use_lets(&u, e->k->body);
    return u;
}

// ---- parameters ------------------------------------------------------------

static void add_param(Emit *e, GpuParam p)
{
    e->gpu->params[e->gpu->param_count++] = p;
}

static bool is_param(const Emit *e, const IrBuffer *b)
{
    return b->scope == SCOPE_GLOBAL && !b->pointed && !b->alias_of &&
           e->plan->kernel;
}

static void collect_params(Emit *e, const Uses *u)
{
    IrKernel *k = e->k;

    e->gpu->params = new_array(e->arena, GpuParam,
                               k->buffer_count + k->next_var +
                                   e->launch->feed.count +
                                   e->launch->store_count + 1);
    for (int i = 0; i < k->param_count; i++) {
        const IrParam *p = &k->params[i];
        if (p->buffer && u->buffer[p->buffer->id])
            add_param(e, (GpuParam){.kind = GPU_PARAM_TENSOR, .param = i,
                                    .buffer = p->buffer});
        else if (p->var && u->var[p->var->id])
            add_param(e, (GpuParam){.kind = GPU_PARAM_SCALAR, .param = i,
                                    .var = p->var});
    }
    for (int i = 0; i < k->buffer_count; i++) {
        IrBuffer *b = k->buffers[i];
        if (u->buffer[i] && is_param(e, b) && b->param < 0)
            add_param(e, (GpuParam){.kind = GPU_PARAM_WORKSPACE, .param = -1,
                                    .buffer = b});
    }
    for (int i = 0; i < k->symbol_count; i++)
        if (u->var[k->symbols[i]->id])
            add_param(e, (GpuParam){.kind = GPU_PARAM_SYMBOL, .param = -1,
                                    .var = k->symbols[i]});
}

static void check_param(Emit *e, const GpuParam *p)
{
    if (p->buffer && !type_of(p->buffer->dtype)) {
        e->at = p->buffer->at;
        refuse(e, "'%.*s' of %s", TEXT_ARG(p->buffer->name),
                    dtype_info(p->buffer->dtype)->name);
    }
}

static void print_params(Emit *e)
{
    const GpuLaunch *g = e->gpu;

    for (int i = 0; i < g->param_count; i++) {
        const GpuParam *p = &g->params[i];
        const char *end = i + 1 < g->param_count ? "," : ")";
        check_param(e, p);
        if (e->failed)
            return;
        if (p->kind == GPU_PARAM_TENSOR_MAP)
            line(e, "    const __grid_constant__ TensorMap %.*s%s",
                 TEXT_ARG(p->name), end);
        else if (p->buffer)
            line(e, "    %s *__restrict__ %.*s%s", type_of(p->buffer->dtype),
                 TEXT_ARG(e->buffer[p->buffer->id]), end);
        else
            line(e, "    %s %.*s%s", type_of(p->var->dtype),
                 TEXT_ARG(e->var[p->var->id]), end);
    }
    if (!g->param_count)
        line(e, "    )");
}

// ---- the body --------------------------------------------------------------

static void shared_pointers(Emit *e)
{
    int64_t end = e->launch->arena;
    bool any = false;

    for (int i = 0; i < e->launch->buffer_count; i++) {
        const PlanBuffer *b = &e->launch->buffers[i];
        if (b->is_unused)
            continue;
        any = true;
        if (!b->ir)
            continue;
        int64_t offset = b->offset;
        if (b->is_static) {
            offset = (end + 127) / 128 * 128;
            end = offset + b->bytes;
        }
        if (!type_of(b->ir->dtype)) {
            e->at = b->ir->at;
            refuse(e, "'%.*s' of %s", TEXT_ARG(b->ir->name),
                        dtype_info(b->ir->dtype)->name);
            return;
        }
        const PlanFeedCopy *c = fed_ring(e, b->ir);
        if (c && !c->elsewhere)
            continue;
        line(e, "%s *const %.*s = (%s *)(arena + %lld);", type_of(b->ir->dtype),
             TEXT_ARG(e->buffer[b->ir->id]), type_of(b->ir->dtype),
             (long long)offset);
    }
    *(e->dialect->fixed_arena ? &e->gpu->static_shared
                              : &e->gpu->dynamic_shared) = any ? end : 0;
}

static void outer_lets(Emit *e, const Uses *u)
{
    for (int i = 0; i < e->k->body->len; i++) {
        IrStmt *s = e->k->body->body[i];
        if (s->kind == STMT_LET && u->var[s->var->id])
            stmt(e, s);
    }
}

// Blocks in the order of T.use_swizzle.
static bool swizzled(Emit *e, const IrStmt *s)
{
    const GpuDialect *d = e->dialect;
    PlanPanels p = plan_panels(s);
    int x = p.by_columns, y = !p.by_columns;

    if (!p.size)
        return false;
    line(e, "int %.*s, %.*s;", TEXT_ARG(e->var[s->vars[0]->id]),
         TEXT_ARG(e->var[s->vars[1]->id]));
    line(e, "panels(%s + %s * %s, %s, %s, %lld, &%.*s, &%.*s);", d->block[0],
         d->block[1], d->blocks[0], d->blocks[x], d->blocks[y],
         (long long)p.size, TEXT_ARG(e->var[s->vars[x]->id]),
         TEXT_ARG(e->var[s->vars[y]->id]));
    return true;
}

static void block_indices(Emit *e, const IrStmt *s)
{
    bool done = swizzled(e, s);

    for (int i = 0; i < s->var_count; i++) {
        Range r = interval_of(e, s->extent[i]);
        bool known = r.known && r.high > 0;
        e->range[s->vars[i]->id] =
            (Range){true, 0, known ? r.high - 1 : INT32_MAX};
        if (!done || i > 1)
            line(e, "const int %.*s = (int)%s;",
                 TEXT_ARG(e->var[s->vars[i]->id]), e->dialect->block[i]);
    }
}

static void thread_number(Emit *e, const IrStmt *s)
{
    const char *const *at = e->dialect->thread;

    if (s->threads[1] * s->threads[2] == 1)
        line(e, "const int tid = (int)%s;", at[0]);
    else
        line(e, "const int tid = (int)(%s + %lld * (%s + %lld * %s));", at[0],
             (long long)s->threads[0], at[1], (long long)s->threads[1], at[2]);
    line(e, "const int lane = tid %% %d, warp = tid / %d;", e->lanes,
         e->lanes);
    line(e, "(void)lane, (void)warp;");
}

static void aliases(Emit *e, const Uses *u)
{
    for (int i = 0; i < e->k->buffer_count; i++) {
        IrBuffer *b = e->k->buffers[i], *root = root_buffer(b);
        bool outside = root->scope == SCOPE_GLOBAL && !root->pointed;
        if (b == root || !u->buffer[root->id] || !type_of(b->dtype))
            continue;
        if (!outside && !in_shared(e, root))
            continue;
        line(e, "%s *const %.*s = (%s *)%.*s;", type_of(b->dtype),
             TEXT_ARG(e->buffer[i]), type_of(b->dtype),
             TEXT_ARG(e->buffer[root->id]));
    }
}

// What upstream's rules plan and no kernel of ours can do.
static void refuse_plan(Emit *e, const PlanLaunch *l)
{
    if (l->refused)
        refuse(e, "what upstream's compiler itself refuses (%s)", l->refused);
    if (l->unheld)
        refuse(e, "'%.*s', whose elements are not where they are needed,",
               TEXT_ARG(l->unheld->name));
    if (l->feed.unfed) {
        e->at = l->feed.unfed->at;
        refuse(e, "%s", l->feed.why);
    }
    if (l->is_shuffled)
        refuse(e, "shared memory of a pipeline in parts");
    for (int i = 0; i < l->buffer_count && e->plan->rules == PLAN_TILELANG; i++)
        if (l->buffers[i].ir && is_nibble(l->buffers[i].ir->dtype))
            refuse(e, "'%.*s' of %s", TEXT_ARG(l->buffers[i].ir->name),
                   dtype_info(l->buffers[i].ir->dtype)->name);
}

static void kernel_body(Emit *e, const Uses *u)
{
    IrStmt *s = (IrStmt *)e->launch->stmt;

    e->at = s->at;
    refuse_plan(e, e->launch);
    e->hazards = hazards_copy(e, &(Hazards){0});
    e->left = hazards_copy(e, &(Hazards){0});
    shared_pointers(e);
    thread_number(e, s);
    aliases(e, u);
    outer_lets(e, u);
    block_indices(e, s);
    hazards_clear(e);
    mbarriers_open(e);
    feed_open(e);
    block(e, s->then);
}

int registers_of_tiles(const Emit *e)
{
    const PlanLaunch *l = e->launch;
    int64_t bits = 0;

    for (int i = 0; i < l->fragment_count; i++) {
        const IrBuffer *b = l->fragments[i];
        if (in_registers(e, b))
            bits += (int64_t)e->plan->fragments[b->id]->locals *
                    dtype_info(b->dtype)->bits;
    }
    return (int)((bits + 31) / 32);
}

// Operands of e4m3fn are put right a whole step at a time.
bool fills_registers(const Emit *e)
{
    enum { MOST = 160, MOST_PUT_RIGHT = 112 };
    const PlanLaunch *l = e->launch;
    int most = MOST;

    for (int i = 0; i < l->gemm_count; i++)
        if (l->gemms[i].unit == PLAN_MFMA && l->gemms[i].a->dtype == DT_E4M3FN)
            most = MOST_PUT_RIGHT;
    return registers_of_tiles(e) > most;
}

// Waves that share an SIMD of four: as many as shared memory lets come, and no
// more than two, where the tiles of a thread leave it half the registers.
static int waves_of(const Emit *e)
{
    int simds = 4 * e->lanes, least = (e->threads + simds - 1) / simds;
    int64_t lds = e->gpu->static_shared;
    bool alone = fills_registers(e) ||
                 (lds && e->plan->device->smem_sm / lds * e->threads <= simds);
    int wanted = alone ? 1 : 2;
    return wanted > least ? wanted : least;
}

static void kernel(Emit *e, const Uses *u)
{
    TextBuf body = {0}, *out = e->out;
    GpuLaunch *g = e->gpu;

    e->out = &body;
    e->indent = 1;
    kernel_body(e, u);
    e->indent = 0;
    e->out = out;
    buf_text(out, buf_view(&e->tables));
    note_line(e, e->launch->stmt);
    line(e, "%s %s%d%s%s", e->dialect->kernel, e->dialect->bounds[0],
         e->threads + e->launch->producers,
         e->launch->producers || e->launch->fragment_count
             ? e->dialect->bounds[1] : "",
         e->dialect->bounds[2]);
    if (e->dialect->waves)
        line(e, "%s(%d)))", e->dialect->waves, waves_of(e));
    line(e, "%.*s(", TEXT_ARG(g->symbol));
    print_params(e);
    line(e, "{");
    if (g->static_shared)
        line(e, "    %s[%lld];", e->dialect->arena,
             (long long)g->static_shared);
    else if (g->dynamic_shared)
        line(e, "    %s[];", e->dialect->arena);
    buf_text(out, buf_view(&body));
    line(e, "}");
    buf_release(&body);
    buf_clear(&e->tables);
    for (int i = 0; i < g->param_count; i++)
        if (g->params[i].buffer)
            g->params[i].is_written = e->stored[g->params[i].buffer->id];
}

// ---- the program -----------------------------------------------------------

static Text symbol_of(Emit *e, int i)
{
    Text name = text_format(e->arena, "%.*s_%d", TEXT_ARG(e->k->name), i);
    char *at = (char *)name.at;

    for (size_t c = 0; c < name.len; c++) {
        bool ok = (at[c] >= 'a' && at[c] <= 'z') ||
                  (at[c] >= 'A' && at[c] <= 'Z') ||
                  (at[c] >= '0' && at[c] <= '9') || at[c] == '_';
        if (!ok)
            at[c] = '_';
    }
    return text_format(e->arena, "tilesim_%.*s", TEXT_ARG(name));
}

static void launch(Emit *e, int i, GpuLaunch *g)
{
    int n = e->k->buffer_count;

    e->launch = &e->plan->launches[i];
    e->gpu = g;
    e->threads = e->launch->threads;
    e->group = 0;
    e->varies = new_array(e->arena, bool, e->k->next_var + 1);
    e->varies_in = new_array(e->arena, bool, n + 1);
    e->range = new_array(e->arena, Range, e->k->next_var + 1);
    e->point = new_array(e->arena, int64_t, e->k->next_var + 1);
    e->stored = new_array(e->arena, bool, n + 1);
    e->ringed = new_array(e->arena, bool, n + 1);
    e->uses_async = e->in_ring = e->filling = false;
    e->dist = NULL;
    e->divergent = 0;
    e->temps = e->printed.len = 0;
    const IrStmt *s = e->launch->stmt;
    g->symbol = symbol_of(e, i);
    g->stmt = s;
    for (int d = 0; d < 3; d++) {
        g->grid[d] = d < s->var_count ? s->extent[d] : NULL;
        g->threads[d] = (int)s->threads[d];
    }
    if (g->threads[1] * g->threads[2] == 1)
        g->threads[0] = e->threads;
    g->threads[0] += e->launch->producers;
    e->has_async = e->launch->store_count > 0;
    for (int j = 0; j < e->launch->gemm_count; j++)
        e->has_async |= e->launch->gemms[j].unit == PLAN_WGMMA;
    for (int k = 0; k < e->k->symbol_count; k++)
        e->range[e->k->symbols[k]->id] = (Range){true, 0, INT32_MAX};
    Uses u = uses_of(e, (IrStmt *)s);
    e->by_thread = u.by_thread;
    find_varying(e, s);
    collect_params(e, &u);
    tma_params(e);
    kernel(e, &u);
    g->is_cooperative = e->cooperative;
}

static void collect_workspaces(GpuProgram *p, Arena *a)
{
    const IrKernel *k = p->plan->kernel;

    p->workspaces = new_array(a, IrBuffer *, k->buffer_count + 1);
    for (int i = 0; i < k->buffer_count; i++) {
        for (int l = 0; l < p->launch_count; l++) {
            const GpuLaunch *g = &p->launches[l];
            bool found = false;
            for (int j = 0; j < g->param_count; j++)
                found |= g->params[j].kind == GPU_PARAM_WORKSPACE &&
                         g->params[j].buffer->id == i;
            if (found) {
                p->workspaces[p->workspace_count++] = k->buffers[i];
                break;
            }
        }
    }
}

GpuProgram *gpu_emit(Arena *a, const Plan *p, const GpuDialect *d,
                     const SourceSet *sources)
{
    TextBuf out = {0}, kernels = {0}, calls = {0};
    Emit e = {.arena = a, .plan = p, .k = (IrKernel *)p->kernel, .dialect = d,
              .sources = sources, .out = &kernels,
              .lanes = (int)p->device->warp_lanes};
    GpuProgram *g = new (a, GpuProgram);

    if (p->device->vendor != d->vendor) {
        diag_error(e.k->diag, EXIT_LIMIT, e.k->at, "gpu-target",
                   "%s is not written for %s", d->title, p->device->title);
        return NULL;
    }
    g->plan = p;
    g->launches = new_array(a, GpuLaunch, p->launch_count + 1);
    name_all(&e);
    for (int i = 0; i < p->launch_count && !e.failed; i++) {
        if (i)
            buf_addc(&kernels, '\n');
        launch(&e, i, &g->launches[g->launch_count++]);
    }
    buf_printf(&out, "// %.*s for %s\n", TEXT_ARG(p->kernel->name),
               device_arch_name(p->device));
    buf_text(&calls, buf_view(&e.functions));
    buf_text(&calls, buf_view(&kernels));
    prelude(&e, &out, buf_view(&calls));
    buf_text(&out, buf_view(&calls));
    buf_release(&kernels);
    buf_release(&calls);
    buf_release(&e.functions);
    if (!e.failed)
        g->source = text_copy(a, buf_view(&out));
    buf_release(&out);
    buf_release(&e.tables);
    if (e.failed)
        return NULL;
    collect_workspaces(g, a);
    return g;
}
