// lower_loop.c - serial loops, while, break and continue.
//
// Inside a T.Parallel a loop whose lanes may leave it at different times is
// divergent: `live` holds the lanes still in the loop, `iter` those still in
// the current iteration; it ends when no lane is live.
#include "code/code_int.h"

static bool has_jump(const IrStmt *s)
{
    if (!s)
        return false;
    switch (s->kind) {
    case STMT_BREAK:
    case STMT_CONTINUE:
        return true;
    case STMT_BLOCK:
        for (int i = 0; i < s->len; i++)
            if (has_jump(s->body[i]))
                return true;
        return false;
    case STMT_IF:
        return has_jump(s->then) || has_jump(s->otherwise);
    default:
        return false; // a loop's jumps are its own
    }
}

// ---- the shared frame ----------------------------------------------------

static void patch_all(Lower *l, int *at, int n)
{
    for (int i = 0; i < n; i++)
        patch(l, at[i]);
}

void loop_enter(Lower *l, LoopCtx *ctx, int counter)
{
    *ctx = (LoopCtx){
        .outer = l->loop, .live = -1, .iter = -1, .counter = counter};
    l->loop = ctx;
    if (l->par)
        l->par->depth++;
}

// Behind the loop: where its breaks go.
void loop_leave(Lower *l, LoopCtx *ctx)
{
    patch_all(l, ctx->breaks.at, ctx->breaks.len);
    l->loop = l->loop->outer;
    if (l->par)
        l->par->depth--;
}

void loop_continue_here(Lower *l, LoopCtx *ctx)
{
    patch_all(l, ctx->continues.at, ctx->continues.len);
}

static int mask_copy(Lower *l, int from)
{
    int r = new_reg(l, false);

    if (from >= 0)
        emit(l, (Instr){.op = INSTR_VMOV, .type = LANE_I32, .d = r, .a = from});
    else
        emit(l, (Instr){.op = INSTR_VFILL,
                        .type = LANE_I32,
                        .d = r,
                        .a = int_slot(l, DT_I32, 1)});
    return r;
}

static void mask_and(Lower *l, int d, int mask)
{
    emit(l, (Instr){.op = INSTR_VOP,
                    .lane = LANE_OP_AND,
                    .type = LANE_I32,
                    .d = d,
                    .a = d,
                    .b = mask,
                    .c = -1});
}

static void jump_back(Lower *l, int to)
{
    int here = l->out->len;

    emit(l, (Instr){.op = INSTR_JUMP, .a = to - here});
}

void lower_jump(Lower *l, bool is_continue)
{
    LoopCtx *loop = l->loop;
    int jump, out;

    if (!loop) {
        bad_program(l, "code-jump", "'%s' outside of a loop",
                    is_continue ? "continue" : "break");
        return;
    }
    if (loop->iter < 0) {
        jump = emit(l, (Instr){.op = INSTR_JUMP});
        if (is_continue)
            vec_push(l->arena, &loop->continues, jump);
        else
            vec_push(l->arena, &loop->breaks, jump);
        return;
    }
    out = invert_mask(l, l->par->mask);
    mask_and(l, loop->iter, out);
    if (!is_continue)
        mask_and(l, loop->live, out);
    release_reg(l, out);
}

// ---- for -----------------------------------------------------------------

typedef struct {
    const IrVar *var;
    Form start;
    int64_t step;
    Val extent; // a slot, or lanes
    int counter;
} Trip;

static bool trip_of(Lower *l, const IrStmt *s, int d, Trip *t)
{
    t->var = s->vars[d];
    t->step = 1;
    if (s->step && !ir_is_int(s->step, &t->step)) {
        unsupported(l, "the step of a loop must be a constant");
        return false;
    }
    if (!form_of(l, s->start[d], &t->start))
        return false;
    t->extent = cast_value(l, value_of(l, s->extent[d]), DT_I64, true);
    if (l->failed)
        return false;
    for (int i = 0; i < t->start.count; i++)
        t->start.term[i].slot = frozen_slot(l, t->start.term[i].slot);
    if (t->extent.level == AT_SLOT)
        t->extent.reg = frozen_slot(l, t->extent.reg);
    if (l->par && l->par->mask >= 0 && t->extent.level == AT_ROW)
        t->extent = promote(l, t->extent, AT_LANES);
    if (in_thread_code(l) && t->extent.level != AT_SLOT)
        t->extent = frozen_vector(l, t->extent);
    t->counter = new_slot(l, l->par != NULL);
    emit(l, (Instr){
                .op = INSTR_MOV, .d = t->counter, .a = int_slot(l, DT_I64, 0)});
    return !l->failed;
}

static void bind_trip(Lower *l, Trip *t)
{
    Form f = t->start, counter = form_slot(t->counter);
    Range extent = {.known = false};

    if (t->extent.level == AT_SLOT)
        extent = l->fact.at[t->extent.reg].range;
    if (extent.known && extent.high > 0)
        l->fact.at[t->counter].range = range_of(0, extent.high - 1);
    if (!form_add(l, &f, &counter, t->step))
        return;
    if (f.row || f.col || f.lanes.reg >= 0) {
        Form *form = new (l->arena, Form);

        *form = f;
        l->binding[t->var->id] = (Binding){
            .kind = BIND_FORM, .form = form, .by_thread = in_thread_code(l)};
        return;
    }
    l->binding[t->var->id] = (Binding){.kind = BIND_VAL,
                                       .val = form_value(l, &f, t->var->dtype),
                                       .by_thread = in_thread_code(l)};
}

static void lower_nest(Lower *l, const IrStmt *s, int d);

static void note_loop(Lower *l, const Trip *t, int next)
{
    const Binding *b = &l->binding[t->var->id];
    CodeLoop loop = {.name = t->var->name,
                     .launch = l->launch,
                     .next = next,
                     .by_thread = in_thread_code(l)};

    if ((l->par || l->thread) && !loop.by_thread)
        return;
    if (b->kind != BIND_VAL || b->val.level != AT_SLOT)
        return;
    loop.slot = b->val.reg;
    vec_push(l->arena, &l->loops, loop);
}

// 1 + its place among the pipelined loops; 0: it is none of them.
static int note_pipeline(Lower *l, const IrStmt *s, const Trip *t)
{
    CodePipeline p = {t->var->name, s->at, l->launch};

    if (s->loop != LOOP_PIPELINED)
        return 0;
    vec_push(l->arena, &l->pipelines, p);
    return l->pipelines.len;
}

static void uniform_for(Lower *l, const IrStmt *s, int d, Trip *t)
{
    uint8_t saved = enter_control(l, t->extent);
    LoopCtx ctx;
    int entry, next;

    loop_enter(l, &ctx, t->counter);
    entry = emit(
        l, (Instr){.op = INSTR_JUMPGE, .d = t->counter, .a = t->extent.reg});
    bind_trip(l, t);
    lower_nest(l, s, d + 1);
    loop_continue_here(l, &ctx);
    next = l->out->len;
    emit(l, (Instr){.op = INSTR_NEXT,
                    .d = t->counter,
                    .a = t->extent.reg,
                    .b = entry + 1 - next,
                    .c = note_pipeline(l, s, t)});
    note_loop(l, t, next);
    patch(l, entry);
    loop_leave(l, &ctx);
    l->control = saved;
}

// live &= counter < extent
static int divergent_test(Lower *l, LoopCtx *ctx, const Trip *t)
{
    Val args[2] = {slot_value(t->counter, DT_I64), t->extent}, c;

    args[1].temp = false;
    c = apply(l, LANE_OP_LT, DT_I64, DT_BOOL, args, 2);
    c = promote(l, c, AT_LANES);
    mask_and(l, ctx->live, c.reg);
    release(l, c);
    return emit(l, (Instr){.op = INSTR_VNONE, .a = ctx->live});
}

static void divergent_body(Lower *l, LoopCtx *ctx)
{
    emit(l, (Instr){.op = INSTR_VMOV,
                    .type = LANE_I32,
                    .d = ctx->iter,
                    .a = ctx->live});
    l->par->mask = ctx->iter;
}

// counter += 1
static void count_turn(Lower *l, int counter)
{
    Form next = form_slot(counter), one = form_const(1);

    if (form_add(l, &next, &one, 1))
        emit(l, (Instr){.op = INSTR_MOV,
                        .d = counter,
                        .a = form_base_slot(l, &next)});
}

static void divergent_for(Lower *l, const IrStmt *s, int d, Trip *t)
{
    int mask = l->par->mask, top, end;
    LoopCtx ctx;

    loop_enter(l, &ctx, t->counter);
    ctx.live = mask_copy(l, mask);
    ctx.iter = new_reg(l, false);
    top = l->out->len;
    end = divergent_test(l, &ctx, t);
    divergent_body(l, &ctx);
    bind_trip(l, t);
    lower_nest(l, s, d + 1);
    count_turn(l, t->counter);
    jump_back(l, top);
    patch(l, end);
    l->par->mask = mask;
    loop_leave(l, &ctx);
}

// Loop d of a statement's nest; past the last one, its body.
static void lower_nest(Lower *l, const IrStmt *s, int d)
{
    Trip t;

    if (d == s->var_count) {
        lower_stmt(l, s->then);
        return;
    }
    if (l->failed || !trip_of(l, s, d, &t))
        return;
    if (t.extent.level != AT_SLOT ||
        (l->par && d == s->var_count - 1 && has_jump(s->then)))
        divergent_for(l, s, d, &t);
    else
        uniform_for(l, s, d, &t);
}

bool turns_vary(Lower *l, const IrStmt *s)
{
    for (int d = 0; d < s->var_count; d++)
        if (varies(l, s->start[d]) || varies(l, s->extent[d]))
            return true;
    return false;
}

static void lower_serial(Lower *l, const IrStmt *s)
{
    bool divergent = l->divergent;

    l->divergent |= in_thread_code(l) && turns_vary(l, s);
    lower_nest(l, s, 0);
    l->divergent = divergent;
}

void lower_for(Lower *l, const IrStmt *s)
{
    if (s->loop == LOOP_THREAD)
        unsupported(l, "T.thread_binding as a loop in the IR");
    else if (s->loop == LOOP_PERSISTENT)
        lower_persistent(l, s);
    else if (s->loop == LOOP_PARALLEL && !l->par)
        lower_parallel(l, s);
    else
        lower_serial(l, s);
}

// ---- while ---------------------------------------------------------------

static void uniform_while(Lower *l, const IrStmt *s)
{
    int top = l->out->len, end;
    uint8_t saved = l->control;
    LoopCtx ctx;
    Val cond;

    loop_enter(l, &ctx, -1);
    cond = cast_value(l, value_of(l, s->cond), DT_BOOL, true);
    enter_control(l, cond);
    end = emit(l, (Instr){.op = INSTR_JUMPZ, .a = cond.reg});
    lower_stmt(l, s->then);
    loop_continue_here(l, &ctx);
    jump_back(l, top);
    patch(l, end);
    loop_leave(l, &ctx);
    l->control = saved;
}

static void divergent_while(Lower *l, const IrStmt *s)
{
    int mask = l->par->mask, counter = new_slot(l, true), top, end;
    LoopCtx ctx;
    Val cond;

    if (in_thread_code(l))
        emit(l, (Instr){.op = INSTR_MOV,
                        .d = counter,
                        .a = int_slot(l, DT_I64, 0)});
    loop_enter(l, &ctx, counter);
    ctx.live = mask_copy(l, mask);
    ctx.iter = new_reg(l, false);
    top = l->out->len;
    l->par->mask = ctx.live;
    if (in_thread_code(l))
        let_others_come(l);
    cond = cast_value(l, value_of(l, s->cond), DT_BOOL, true);
    cond = promote(l, cond, AT_LANES);
    mask_and(l, ctx.live, cond.reg);
    release(l, cond);
    end = emit(l, (Instr){.op = INSTR_VNONE, .a = ctx.live});
    divergent_body(l, &ctx);
    lower_stmt(l, s->then);
    if (in_thread_code(l))
        count_turn(l, counter);
    jump_back(l, top);
    patch(l, end);
    l->par->mask = mask;
    loop_leave(l, &ctx);
}

void lower_while(Lower *l, const IrStmt *s)
{
    bool divergent = l->divergent;

    l->divergent |= in_thread_code(l) && varies(l, s->cond);
    if (l->par)
        divergent_while(l, s);
    else
        uniform_while(l, s);
    l->divergent = divergent;
}
