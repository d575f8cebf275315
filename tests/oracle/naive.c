// naive.c - statements, buffers and blocks, one after the other.
#include "naive_int.h"

#include <stdlib.h>

typedef enum { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } Flow;

static Flow run(Naive *n, const IrStmt *s);

// ---- statements ----------------------------------------------------------

// The largest value of each output, over all elements.
static void set_physical(Naive *n, const IrBuffer *b, int64_t count)
{
    const IrIndexMap *m = b->layout;
    Storage *s = &n->buffer[b->id];

    for (int64_t e = 0; e < count; e++) {
        for (int d = 0; d < b->rank; d++)
            n->var[m->in[d]->id] =
                naive_of_int(m->in[d]->dtype, e / s->stride[d] % s->shape[d]);
        for (int i = 0; i < m->out_rank; i++) {
            int64_t v = naive_eval(n, m->out[i]).i + 1;

            if (v > s->physical[i])
                s->physical[i] = v;
        }
    }
}

static void set_storage(Naive *n, const IrBuffer *b)
{
    Storage *s = &n->buffer[b->id];
    int64_t stride = 1;

    for (int d = b->rank - 1; d >= 0; d--) {
        s->shape[d] = naive_eval(n, b->shape[d]).i;
        s->stride[d] = stride;
        stride *= s->shape[d];
    }
    if (naive_is_laid_out(b))
        set_physical(n, b, stride);
    if (b->alias_of)
        return;
    free(s->data);
    s->data =
        calloc((size_t)stride + 1, (size_t)dtype_info(b->dtype)->bits / 8);
}

static char *root_data(Naive *n, const IrBuffer *b)
{
    while (b->alias_of)
        b = b->alias_of;
    return n->buffer[b->id].data;
}

static void alloc(Naive *n, const IrBuffer *b)
{
    set_storage(n, b);
    for (int i = 0; i < n->k->buffer_count; i++)
        if (n->k->buffers[i]->alias_of) {
            set_storage(n, n->k->buffers[i]);
            n->buffer[i].data = root_data(n, n->k->buffers[i]);
        }
}

static Flow loop(Naive *n, const IrStmt *s, int d)
{
    int64_t step = 1, start, count;

    if (d == s->var_count) {
        bool outer = n->parallel;
        Flow f;

        n->parallel = outer || s->loop == LOOP_PARALLEL;
        f = run(n, s->then);
        n->parallel = outer;
        return f == FLOW_CONTINUE ? FLOW_ON : f;
    }
    start = naive_eval(n, s->start[d]).i;
    count = naive_eval(n, s->extent[d]).i;
    if (s->step)
        step = naive_eval(n, s->step).i;
    for (int64_t i = 0; i < count; i++) {
        n->var[s->vars[d]->id] =
            naive_of_int(s->vars[d]->dtype, start + i * step);
        if (loop(n, s, d + 1) == FLOW_BREAK)
            break;
    }
    return FLOW_ON;
}

// tilelang_surface 4.8, word for word.
static void persistent(Naive *n, const IrStmt *s)
{
    int v = s->var_count;
    int64_t d[IR_MAX_RANK], gs = 8, total = 1;
    int64_t wave = naive_eval(n, s->wave_size).i;
    int64_t index = naive_eval(n, s->wave_index).i;

    for (int i = 0; i < v; i++)
        d[i] = naive_eval(n, s->extent[i]).i;
    if (s->group_size)
        gs = naive_eval(n, s->group_size).i;
    gs = gs < d[v - 1] ? gs : d[v - 1];
    gs = gs > 1 ? gs : 1;
    for (int i = 0; i < v - 1; i++)
        total *= d[i];
    total *= (d[v - 1] + gs - 1) / gs * gs;
    for (int64_t w = 0; w < (total + wave - 1) / wave; w++) {
        int64_t at = w * wave + index, last = at % gs;

        if (at >= total)
            break;
        at /= gs;
        for (int i = v - 2; i >= 0; i--) {
            n->var[s->vars[i]->id] = naive_of_int(s->vars[i]->dtype, at % d[i]);
            at /= d[i];
        }
        last += at * gs;
        n->var[s->vars[v - 1]->id] = naive_of_int(s->vars[v - 1]->dtype, last);
        if (last < d[v - 1] && run(n, s->then) == FLOW_BREAK)
            break;
    }
}

static void launch(Naive *n, const IrStmt *s)
{
    int64_t grid[3] = {1, 1, 1}, total = 1;

    n->threads = s->threads[0] * s->threads[1] * s->threads[2];
    for (int d = 0; d < s->var_count; d++) {
        grid[d] = naive_eval(n, s->extent[d]).i;
        total *= grid[d];
    }
    for (int64_t b = 0; b < total; b++) {
        int64_t rest = b;

        for (int d = 0; d < s->var_count; d++) {
            n->var[s->vars[d]->id] =
                naive_of_int(s->vars[d]->dtype, rest % grid[d]);
            rest /= grid[d];
        }
        run(n, s->then);
    }
}

static Flow run_block(Naive *n, const IrStmt *s)
{
    for (int i = 0; i < s->len; i++) {
        Flow f = run(n, s->body[i]);

        if (f != FLOW_ON)
            return f;
    }
    return FLOW_ON;
}

static Flow run(Naive *n, const IrStmt *s)
{
    int64_t index[IR_MAX_RANK];

    switch (s->kind) {
    case STMT_BLOCK:
        return run_block(n, s);
    case STMT_ALLOC:
        alloc(n, s->buffer);
        break;
    case STMT_LET:
        n->var[s->var->id] =
            naive_convert(naive_eval(n, s->value), s->var->dtype);
        break;
    case STMT_STORE:
        naive_indices(n, s->buffer, s->index, s->index_count, index);
        naive_store(n, s->buffer, index, 0, naive_eval(n, s->value));
        break;
    case STMT_IF:
        if (naive_truth(naive_eval(n, s->cond)))
            return run(n, s->then);
        return s->otherwise ? run(n, s->otherwise) : FLOW_ON;
    case STMT_FOR:
        if (s->loop != LOOP_PERSISTENT)
            return loop(n, s, 0);
        persistent(n, s);
        break;
    case STMT_WHILE:
        while (naive_truth(naive_eval(n, s->cond)))
            if (run(n, s->then) == FLOW_BREAK)
                break;
        break;
    case STMT_BREAK:
        return FLOW_BREAK;
    case STMT_CONTINUE:
        return FLOW_CONTINUE;
    case STMT_ASSERT:
        n->findings += !naive_truth(naive_eval(n, s->cond));
        break;
    case STMT_TILE:
        naive_tile(n, s);
        break;
    case STMT_LAUNCH:
        launch(n, s);
        break;
    case STMT_EVAL:
        naive_eval(n, s->value);
        break;
    }
    return FLOW_ON;
}

// ---- arguments -----------------------------------------------------------

static void bind_symbols(Naive *n, const NaiveArg *args)
{
    for (int i = 0; i < n->k->param_count; i++) {
        const IrParam *p = &n->k->params[i];

        for (int d = 0; !p->is_scalar && d < args[i].rank; d++) {
            const IrExpr *e = p->buffer->shape[d];

            if (e->kind == EXPR_VAR)
                n->var[e->var->id] = naive_of_int(e->dtype, args[i].shape[d]);
        }
        if (p->is_scalar)
            n->var[p->var->id] = naive_read_at(p->var->dtype, args[i].data);
    }
}

static int64_t run_counting(const IrKernel *k, const NaiveArg *args,
                            NaiveOutside *out)
{
    Naive n = {.k = (IrKernel *)k};

    n.var = calloc((size_t)k->next_var + 1, sizeof *n.var);
    n.buffer = calloc((size_t)k->buffer_count + 1, sizeof *n.buffer);
    bind_symbols(&n, args);
    for (int i = 0; i < k->param_count; i++)
        if (!k->params[i].is_scalar) {
            Storage *s = &n.buffer[k->params[i].buffer->id];

            set_storage(&n, k->params[i].buffer);
            free(s->data);
            s->data = args[i].data;
        }
    for (int i = 0; i < k->buffer_count; i++)
        if (k->buffers[i]->alias_of && naive_is_global(k->buffers[i])) {
            set_storage(&n, k->buffers[i]);
            n.buffer[i].data = root_data(&n, k->buffers[i]);
        }
    run(&n, k->body);
    for (int i = 0; i < k->buffer_count; i++)
        if (!k->buffers[i]->alias_of && k->buffers[i]->param < 0)
            free(n.buffer[i].data);
    free(n.var);
    free(n.buffer);
    *out = n.outside;
    return n.findings;
}

int64_t naive_run(const IrKernel *k, const NaiveArg *args)
{
    NaiveOutside outside;

    return run_counting(k, args, &outside);
}

void naive_outside(const IrKernel *k, const NaiveArg *args, NaiveOutside *out)
{
    run_counting(k, args, out);
}
