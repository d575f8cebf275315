// lower_thread.c - code that names threads: each warp runs it, its lanes are
// the vector.
//
// The body of such a launch is lowered as if it were the body of a T.Parallel
// over the threads of the block, without the loop: interp runs it once per
// warp. Variables and local arrays are each thread's own. What works on tiles
// (T.copy, T.gemm, T.Parallel, a loop of nothing else) is collective:
//
//     collect   set -> end      until all threads of the set have come
//       (agree: values of the threads as slots)
//       (tile code, as in other launches)
//     collectend
//
// The set are the threads of the block, less those that conditions on the
// thread index around keep out. Before a thread touches shared memory that
// other threads write, `soft` lets all come as far: this is where the
// compiler would put a barrier.
#include "code/code_int.h"

bool in_thread_code(const Lower *l)
{
    return l->thread && l->par == l->thread;
}

// ---- what makes a launch one of these ------------------------------------

static bool meets_threads(Op op)
{
    switch (op) {
    case OP_TVM_THREAD_ALLREDUCE:
    case OP_NAMED_BARRIER_ARRIVE:
    case OP_SYNC_GRID:
    case OP_SYNC_GLOBAL:
    case OP_MBARRIER_WAIT_PARITY:
    case OP_MBARRIER_ARRIVE:
    case OP_MBARRIER_EXPECT_TX:
    case OP_MBARRIER_ARRIVE_EXPECT_TX:
    case OP_BARRIER_ARRIVE:
    case OP_BARRIER_WAIT:
    case OP_CP_ASYNC_BARRIER_NOINC:
    case OP_PTX_CP_ASYNC:
        return true;
    default:
        return false;
    }
}

static bool names_thread(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_OP && op_is_warp(e->op))
        *(bool *)ctx = true;
    return true;
}

static bool names_threads(void *ctx, IrStmt *s)
{
    if (s->kind == STMT_TILE &&
        (meets_threads(s->op) || (s->op == OP_SYNC_THREADS &&
                                  ir_attr_get(s, ATTR_BARRIER_ID))))
        *(bool *)ctx = true;
    return true;
}

static bool not_parallel(void *ctx, IrStmt *s)
{
    (void)ctx;
    return s->kind != STMT_FOR || s->loop != LOOP_PARALLEL;
}

static bool adds(void *ctx, IrExpr *e)
{
    if (e->kind == EXPR_ATOMIC && e->op == OP_ATOMIC_ADD)
        *(bool *)ctx = true;
    return true;
}

// Each thread gets a value of its own from an atomic addition that stands
// outside of T.Parallel.
static bool adds_for_each(const IrStmt *launch)
{
    bool found = false;

    if (launch->threads[0] * launch->threads[1] * launch->threads[2] > 1)
        ir_walk(launch->then, not_parallel, adds, &found);
    return found;
}

static bool finds_call(void *ctx, IrStmt *s)
{
    if (s->kind == STMT_TILE && s->op == OP_CALL_EXTERN)
        *(bool *)ctx = true;
    return not_parallel(NULL, s);
}

// Each thread calls a C function that stands outside of T.Parallel.
static bool calls_for_each(const IrStmt *launch)
{
    bool found = false;

    if (launch->threads[0] * launch->threads[1] * launch->threads[2] > 1)
        ir_walk(launch->then, finds_call, NULL, &found);
    return found;
}

bool is_per_thread(const IrStmt *launch)
{
    bool found = false;

    ir_walk(launch->then, names_threads, names_thread, &found);
    return found || adds_for_each(launch) || calls_for_each(launch);
}

// ---- the launch ----------------------------------------------------------

void note_let(Lower *l, const IrVar *v, const IrExpr *value)
{
    l->let[v->id] = value;
}

static void set_index(Lower *l, const Launch *launch)
{
    int64_t unit = 1;

    if (launch->shape[1] * launch->shape[2] == 1)
        return;
    for (int d = 0; d < 3; unit *= launch->shape[d++]) {
        Form tid = {.col = 1, .lanes = {.reg = -1}};
        Val v[2] = {form_value(l, &tid, DT_I32)};

        v[1] = slot_value(int_slot(l, DT_I32, unit), DT_I32);
        v[0] = apply(l, LANE_OP_FLOORDIV, DT_I32, DT_I32, v, 2);
        v[1] = slot_value(int_slot(l, DT_I32, launch->shape[d]), DT_I32);
        l->thread_index[d] = apply(l, LANE_OP_FLOORMOD, DT_I32, DT_I32, v, 2);
        l->thread_index[d].temp = false;
    }
}

static void append(Lower *l, Emit *to, const Emit *from)
{
    for (int i = 0; i < from->len; i++)
        vec_push(l->arena, to, from->at[i]);
}

static void count_registers(Lower *l)
{
    for (int view = 0; view < 2; view++) {
        int count = 2 * l->registers.next_reg[view];

        if (count > l->code->warp_vector_count)
            l->code->warp_vector_count = count;
    }
    l->registers = (Registers){0};
}

// The head comes before the code whose loops were noted.
static void move_loops(Lower *l, int by)
{
    for (int i = 0; i < l->loops.len; i++)
        if (l->loops.at[i].launch == l->launch)
            l->loops.at[i].next += by;
}

static void open_threads(Lower *l, Par *p, Emit *head)
{
    size_t buffers = (size_t)l->code->buffer_count;
    const Launch *launch = &l->launches.at[l->launch];

    *p = (Par){.outer = head, .mask = -1, .first_slot = l->fact.len};
    p->written = new_array(l->arena, bool, buffers);
    p->private_reg = new_array(l->arena, int, buffers);
    for (size_t i = 0; i < buffers; i++) {
        p->written[i] = true;
        p->private_reg[i] = -1;
    }
    p->row_extent = 1;
    p->col_extent = launch->threads;
    p->lanes = launch->wave;
    l->thread = l->par = p;
    l->out = &p->body;
}

void lower_threads(Lower *l, const IrStmt *launch, Emit *out)
{
    Emit *outer = l->out, head = {0};
    Par p;

    if (l->mode >= CODE_COUNTED) {
        unsupported(l, "counting the accesses of single threads");
        return;
    }
    l->let = new_array(l->arena, const IrExpr *, (size_t)l->k->next_var);
    l->held_by = new_array(l->arena, Holders, (size_t)l->k->buffer_count);
    l->copy_of = new_array(l->arena, int, (size_t)l->k->buffer_count);
    for (int i = 0; i < l->k->buffer_count; i++)
        l->copy_of[i] = i;
    if (!variables_are_apart(l, launch))
        return;
    find_thread_writes(l, launch);
    l->set = all_threads(l, l->launches.at[l->launch].threads);
    open_threads(l, &p, &head);
    set_index(l, &l->launches.at[l->launch]);
    lower_stmt(l, launch->then);
    l->thread = l->par = NULL;
    l->copy_of = NULL;
    l->out = outer;
    count_registers(l);
    append(l, out, &head);
    move_loops(l, out->len);
    append(l, out, &p.body);
}

// ---- thread indices ------------------------------------------------------

bool thread_form(Lower *l, const IrExpr *e, Form *out)
{
    const Launch *launch = &l->launches.at[l->launch];

    *out = form_const(0);
    if (launch->shape[1] * launch->shape[2] != 1)
        return false;
    out->col = e->args[0]->i64 == 0;
    return true;
}

Val thread_index(Lower *l, const IrExpr *e)
{
    Form f;
    Val v;

    if (l->thread && !in_thread_code(l) && varies(l, e)) {
        unsupported(l, "a thread index in tile code, which the threads run "
                       "together; a loop of each thread is T.serial");
        return slot_value(int_slot(l, DT_I32, 0), DT_I32);
    }
    if (!l->thread) {
        unsupported(l, "a thread index outside of a T.Kernel");
        return slot_value(int_slot(l, DT_I32, 0), DT_I32);
    }
    if (thread_form(l, e, &f))
        return in_thread_code(l) ? form_value(l, &f, DT_I32)
                                 : agreed_form(l, &f, DT_I32);
    v = l->thread_index[e->args[0]->i64];
    return in_thread_code(l) ? v : agreed_value(l, v);
}

// ---- collectives ---------------------------------------------------------

Val agreed_value(Lower *l, Val v)
{
    Collective *c = l->collective;
    Emit *out = l->out;
    Agreed a = {v.reg, 0};

    if (v.level == AT_SLOT || l->failed)
        return v;
    for (int i = 0; i < c->agreed.len; i++)
        if (c->agreed.at[i].reg == v.reg)
            return slot_value(c->agreed.at[i].slot, v.dtype);
    a.slot = new_slot(l, false);
    vec_push(l->arena, &c->agreed, a);
    l->out = &c->head;
    emit(l, (Instr){.op = INSTR_AGREE,
                    .type = (uint8_t)lane_type_of(v.dtype),
                    .dtype = (uint8_t)v.dtype,
                    .d = a.slot,
                    .a = v.reg,
                    .b = new_site(l, SITE_AGREE, -1, false, TEXT(""))});
    l->out = out;
    l->fact.at[a.slot].taint = v.taint;
    l->fact.at[a.slot].range = limits_of(v.dtype);
    return slot_value(a.slot, v.dtype);
}

// Goes on in the warps' code before the collective, or back.
static void change_side(Lower *l, Par **par, Emit **out)
{
    Registers here = l->registers;
    Par *p = l->par;
    Emit *o = l->out;

    l->registers = l->collective->registers;
    l->collective->registers = here;
    l->par = *par;
    l->out = *out;
    *par = p;
    *out = o;
}

Val agreed_form(Lower *l, const Form *f, DType t)
{
    Par *par = l->thread;
    Emit *out = l->collective->outside;
    Val v;

    change_side(l, &par, &out);
    v = promote(l, form_value(l, f, t), AT_LANES);
    v.temp = false;
    change_side(l, &par, &out);
    return agreed_value(l, v);
}

static void open_collective(Lower *l, Collective *c)
{
    *c = (Collective){
        .outside = l->out, .registers = l->registers, .loop = l->loop};
    l->registers = (Registers){0};
    l->loop = NULL;
    l->par = NULL;
    l->collective = c;
    l->out = &c->body;
}

static void close_collective(Lower *l, Collective *c, Text what)
{
    int start;

    l->registers = c->registers;
    l->loop = c->loop;
    l->par = l->thread;
    l->collective = NULL;
    l->out = c->outside;
    if (!c->body.len)
        return;
    start = emit(l, (Instr){.op = INSTR_COLLECT,
                            .d = new_site(l, SITE_MEET, -1, false, what),
                            .a = l->set,
                            .c = l->par->mask});
    append(l, l->out, &c->head);
    append(l, l->out, &c->body);
    emit(l, (Instr){.op = INSTR_COLLECTEND});
    patch(l, start);
}

// ---- running together ----------------------------------------------------

static Text name_of_stmt(Lower *l, const IrStmt *s)
{
    if (s->kind == STMT_TILE)
        return text_of(op_info(l->k->ops, s->op)->surface);
    if (s->kind == STMT_FOR && s->loop == LOOP_PARALLEL)
        return TEXT("T.Parallel");
    return TEXT("this tile code");
}

// A fragment's element is no single thread's: all must store the same there.
static bool check_fragment_store(Lower *l, const IrStmt *s)
{
    bool bad = s->kind == STMT_STORE && varies(l, s->value);

    for (int i = 0; s->kind == STMT_STORE && i < s->index_count; i++)
        bad |= varies(l, s->index[i]);
    if (!bad)
        return true;
    l->at = s->at;
    unsupported(l,
                "a thread's own access to the fragment '%.*s', whose layout "
                "is not planned yet; use T.Parallel or a shared buffer",
                TEXT_ARG(s->buffer->name));
    return false;
}

// Runs the n statements from i on together; they make code once.
static void lower_together(Lower *l, const IrStmt *block, int i, int n)
{
    Text what = name_of_stmt(l, block->body[i]);
    Collective c;

    open_collective(l, &c);
    for (int j = i; j < i + n && !l->failed; j++) {
        l->block = block;
        hold_fragments(l, block->body[j]);
        if (check_fragment_store(l, block->body[j]))
            lower_stmt(l, block->body[j]);
    }
    close_collective(l, &c, what);
}

// ---- shared memory between threads ---------------------------------------

int place_here(Lower *l)
{
    Progress p = {0};
    const LoopCtx *loop[PLACE_LOOPS];
    int n = 0;

    for (const LoopCtx *c = l->loop; c; c = c->outer)
        if (c->counter >= 0) {
            for (int i = PLACE_LOOPS - 1; i > 0; i--)
                loop[i] = loop[i - 1];
            loop[0] = c; // the outermost come first; too deep ones are lost
            n += n < PLACE_LOOPS;
        }
    for (int i = 0; i < n; i++)
        p.counter[i] = loop[i]->counter;
    p.count = n;
    p.divergent = l->divergent;
    vec_push(l->arena, &l->places, p);
    return l->places.len - 1;
}

void let_others_come(Lower *l)
{
    emit(l, (Instr){.op = INSTR_SOFT, .a = place_here(l)});
}

// A part that not all threads come to: the compiler may put a barrier before it
// where none can be inside.
static bool is_left_out(Lower *l, const IrStmt *s)
{
    bool some = s->kind == STMT_IF || s->kind == STMT_WHILE
                    ? varies(l, s->cond)
                    : s->kind == STMT_FOR && turns_vary(l, s);

    return some && !l->divergent && touches_shared_within(l, s);
}

static void meet_softly(Lower *l, const IrStmt *s)
{
    l->at = s->at;
    l->stmt = s->id;
    if (touches_shared(l, s) || is_left_out(l, s))
        let_others_come(l);
}

static bool ends_block(const IrStmt *s)
{
    return s->kind == STMT_BREAK || s->kind == STMT_CONTINUE;
}

void lower_thread_block(Lower *l, const IrStmt *block)
{
    const IrStmt *outer = l->block;
    int n;

    for (int i = 0; i < block->len && !l->failed; i += n ? n : 1) {
        const IrStmt *s = block->body[i];

        for (n = 0; i + n < block->len; n++)
            if (!is_collective(l, block->body[i + n], false))
                break;
        if (n) {
            lower_together(l, block, i, n);
            continue;
        }
        l->block = block;
        meet_softly(l, s);
        lower_stmt(l, s);
        if (ends_block(s))
            break; // what follows is never reached
    }
    l->block = outer;
}
