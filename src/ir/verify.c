// verify.c - the rules of a well-formed IR: scopes, operands, loops.
//
// Everything is checked where it stands, in program order, so that a message
// points at the statement of the program. A statement with a fault is left, the
// ones behind it are still checked.
#include "ir/verify_int.h"

static bool fault(Verifier *v, const IrStmt *s, const char *text)
{
    return ir_error(v->k, s->at, "ir-verify", "%s", text);
}

// ---- definitions ------------------------------------------------------------

static bool define(Verifier *v, const IrVar *var, IrVarKind kind,
                   const IrStmt *s)
{
    if (!var)
        return fault(v, s, "a variable is missing");
    if (var->kind != kind)
        return ir_error(v->k, s->at, "ir-scope", "%.*s is a %s variable here "
                        "and a %s variable by its table", TEXT_ARG(var->name),
                        var_kind_name(kind), var_kind_name(var->kind));
    bool *known = verify_known(v, var);
    if (*known)
        return ir_error(v->k, s->at, "ir-scope", "%.*s is defined twice",
                        TEXT_ARG(var->name));
    *known = true;
    return true;
}

static void forget(Verifier *v, IrVar *const *vars, int n)
{
    for (int i = 0; i < n; i++)
        if (vars[i])
            *verify_known(v, vars[i]) = false;
}

static bool verify_alloc(Verifier *v, const IrStmt *s)
{
    const IrBuffer *b = s->buffer;
    if (!b)
        return fault(v, s, "a buffer is missing");
    bool shared = b->scope != SCOPE_LOCAL && b->scope != SCOPE_VAR;
    if (v->alive[b->id] || b->alias_of || b->param >= 0)
        return ir_error(v->k, s->at, "ir-scope",
                        "%.*s cannot be allocated here: it exists already",
                        TEXT_ARG(b->name));
    if (b->pointed != (s->value != NULL))
        return fault(v, s, "a tensor at an address has one, others do not");
    if (s->value && (b->scope != SCOPE_GLOBAL ||
                     !verify_int(v, s->value, s->at)))
        return fault(v, s, "an address is an integer, its tensor global");
    if (!s->value && (b->scope == SCOPE_GLOBAL) == v->in_launch)
        return ir_error(v->k, s->at, "ir-scope",
                        "%.*s (%s) is allocated %s T.Kernel",
                        TEXT_ARG(b->name), ir_scope_name(b->scope),
                        v->in_launch ? "inside" : "outside");
    if (v->parallel && shared)
        return ir_error(v->k, s->at, "ir-parallel", "%.*s (%s) is allocated "
                        "inside T.Parallel", TEXT_ARG(b->name),
                        ir_scope_name(b->scope));
    v->alive[b->id] = true;
    return true;
}

// ---- statements -------------------------------------------------------------

static bool verify_stmt(Verifier *v, IrStmt *s);

static bool verify_let(Verifier *v, const IrStmt *s)
{
    if (!verify_value(v, s->value, s->at))
        return false;
    if (s->var && s->var->dtype != s->value->dtype)
        return fault(v, s, "a let's variable and value differ in dtype");
    return define(v, s->var, VAR_LET, s);
}

static bool verify_store(Verifier *v, const IrStmt *s)
{
    if (!s->buffer)
        return fault(v, s, "a buffer is missing");
    if (!verify_buffer_alive(v, s->buffer, s->at) ||
        !verify_index(v, s->buffer, s->index, s->index_count, s->at) ||
        !verify_expr(v, s->value, s->at))
        return false;
    return s->value->dtype == s->buffer->dtype ||
           fault(v, s, "a store's value has another dtype than its buffer");
}

static bool is_body(const IrStmt *s)
{
    return s && s->kind == STMT_BLOCK;
}

static bool verify_if(Verifier *v, const IrStmt *s)
{
    if (!is_body(s->then) || (s->otherwise && !is_body(s->otherwise)))
        return fault(v, s, "an if needs blocks");
    if (!verify_bool(v, s->cond, s->at))
        return false;
    bool good = verify_stmt(v, s->then);
    return (!s->otherwise || verify_stmt(v, s->otherwise)) && good;
}

static bool verify_while(Verifier *v, const IrStmt *s)
{
    if (!is_body(s->then) || s->otherwise)
        return fault(v, s, "a while needs one block");
    if (!verify_bool(v, s->cond, s->at))
        return false;
    v->loops++;
    bool good = verify_stmt(v, s->then);
    v->loops--;
    return good;
}

// ---- loops ------------------------------------------------------------------

static bool is_parallel(const IrStmt *s)
{
    return s->kind == STMT_FOR && s->loop == LOOP_PARALLEL;
}

static bool takes_one_var(IrLoopKind l)
{
    return l != LOOP_PARALLEL && l != LOOP_GRID && l != LOOP_PERSISTENT;
}

static bool verify_inside_parallel(Verifier *v, const IrStmt *s)
{
    if (!v->parallel)
        return true;
    if (s->loop == LOOP_PIPELINED || s->loop == LOOP_PERSISTENT)
        return ir_error(v->k, s->at, "ir-parallel", "T.%s inside T.Parallel",
                        ir_loop_name(s->loop));
    if (s->loop != LOOP_PARALLEL)
        return true;
    const IrStmt *body = v->parallel->then;
    if (body->len == 1 && body->body[0] == s)
        return true;
    ir_error(v->k, s->at, "ir-parallel",
             "a T.Parallel inside T.Parallel must be "
             "its only statement; name both loops in one T.Parallel(a, b)");
    diag_note(v->k->diag, v->parallel->at, "the outer T.Parallel");
    return false;
}

static bool verify_step(Verifier *v, const IrStmt *s)
{
    int64_t step;
    if (!s->step)
        return true;
    if (!takes_one_var(s->loop) || !ir_is_int(s->step, &step) || step == 0)
        return fault(v, s, "a loop's step must be a constant other than 0, and "
                           "only loops of one variable have one");
    return verify_int(v, s->step, s->at);
}

static bool verify_wave(Verifier *v, const IrStmt *s)
{
    if (s->loop != LOOP_PERSISTENT)
        return (!s->wave_size && !s->wave_index && !s->group_size) ||
               fault(v, s, "only T.Persistent has waves");
    return verify_int(v, s->wave_size, s->at) &&
           verify_int(v, s->wave_index, s->at) &&
           verify_int(v, s->group_size, s->at);
}

static bool verify_extent(Verifier *v, const IrStmt *s, int i)
{
    int64_t n;
    if (!verify_int(v, s->extent[i], s->at))
        return false;
    return !ir_is_int(s->extent[i], &n) || n >= 0 ||
           fault(v, s, "a negative number of iterations");
}

static bool verify_for_head(Verifier *v, const IrStmt *s)
{
    bool single = takes_one_var(s->loop);
    if (s->var_count < 1 || s->var_count > (single ? 1 : IR_MAX_RANK))
        return fault(v, s, "a loop with a wrong number of variables");
    if (!is_body(s->then) || s->otherwise)
        return fault(v, s, "a loop needs one block");
    for (int i = 0; i < s->var_count; i++)
        if (!verify_int(v, s->start[i], s->at) || !verify_extent(v, s, i))
            return false;
    return verify_step(v, s) && verify_wave(v, s) &&
           verify_inside_parallel(v, s);
}

static bool define_loop_vars(Verifier *v, const IrStmt *s, IrVarKind kind)
{
    for (int i = 0; i < s->var_count; i++) {
        if (!define(v, s->vars[i], kind, s))
            return false;
        if (!dtype_is_int(s->vars[i]->dtype))
            return fault(v, s, "a loop variable must be an integer");
    }
    return true;
}

static bool verify_for(Verifier *v, const IrStmt *s)
{
    if (!verify_for_head(v, s))
        return false;
    int loops = v->loops;
    const IrStmt *parallel = v->parallel;
    v->loops = is_parallel(s) ? 0 : loops + 1;
    v->parallel = is_parallel(s) ? s : parallel;
    bool good = define_loop_vars(v, s, VAR_LOOP) && verify_stmt(v, s->then);
    forget(v, s->vars, s->var_count);
    v->loops = loops;
    v->parallel = parallel;
    return good;
}

static bool verify_leave(Verifier *v, const IrStmt *s)
{
    const char *word = s->kind == STMT_BREAK ? "break" : "continue";
    if (v->loops)
        return true;
    return ir_error(v->k, s->at, "ir-loop", "%s %s", word,
                    v->parallel
                        ? "cannot leave T.Parallel: its iterations have "
                          "no order"
                        : "outside a loop");
}

// ---- launches ---------------------------------------------------------------

enum { MAX_THREADS = 1024 };

static bool verify_threads(Verifier *v, const IrStmt *s)
{
    int64_t total = 1;
    for (int i = 0; i < 3; i++) {
        int64_t n = s->threads[i];
        if (n < 1 || n > MAX_THREADS || (total *= n) > MAX_THREADS)
            return ir_error(v->k, s->at, "ir-launch", "a block has 1 to %d "
                            "threads, this one %lldx%lldx%lld", MAX_THREADS,
                            (long long)s->threads[0], (long long)s->threads[1],
                            (long long)s->threads[2]);
    }
    return true;
}

static bool verify_launch(Verifier *v, const IrStmt *s)
{
    if (v->in_launch)
        return fault(v, s, "T.Kernel inside T.Kernel");
    if (s->var_count < 1 || s->var_count > IR_MAX_GRID || !is_body(s->then) ||
        s->otherwise)
        return fault(v, s, "a launch has one to three grid sizes and a block");
    for (int i = 0; i < s->var_count; i++)
        if (!verify_extent(v, s, i))
            return false;
    if (!verify_threads(v, s))
        return false;
    v->in_launch = true;
    bool good = define_loop_vars(v, s, VAR_BLOCK) && verify_stmt(v, s->then);
    forget(v, s->vars, s->var_count);
    v->in_launch = false;
    return good;
}

// ---- tile operations --------------------------------------------------------

static bool verify_operand(Verifier *v, const IrStmt *s, int i)
{
    const OpInfo *info = op_info(v->k->ops, s->op);
    const OpParam *p = &info->param[i];
    const IrOperand *o = &s->operand[i];
    if (o->kind == OPERAND_NONE)
        return !op_param_is_operand(p) || p->optional ||
               ir_error(v->k, s->at, "ir-operand", "%s: %.*s is missing",
                        info->surface, TEXT_ARG(p->name));
    bool value =
        p->kind == ARG_EXPR ||
        (p->kind == ARG_REGION &&
         (p->access == 'r' || (s->op == OP_CALL_EXTERN && i > 0)));
    bool fits = o->kind == OPERAND_EXPR
                    ? value
                    : op_param_is_operand(p) && p->kind != ARG_EXPR;
    if (!fits)
        return ir_error(
            v->k, s->at, "ir-operand", "%s: %.*s must be %s", info->surface,
            TEXT_ARG(p->name),
            p->kind == ARG_EXPR ? "a value" : "a buffer or a slice");
    return o->kind == OPERAND_EXPR ? verify_expr(v, o->expr, s->at)
                                   : verify_region(v, o->region, s->at);
}

static bool is_element(const IrOperand *o)
{
    return o->kind != OPERAND_REGION || o->region->form == REGION_POINT;
}

// Scalar forms: what T.Parallel may hold.
static bool is_scalar_form(const IrStmt *s)
{
    switch (s->op) {
    case OP_COPY: case OP_ATOMIC_ADDX2: case OP_ATOMIC_ADDX4:
    case OP_ATOMIC_STORE: case OP_REDUCER_UPDATE:
        return is_element(&s->operand[0]) && is_element(&s->operand[1]);
    case OP_PRINT:
        return is_element(&s->operand[0]);
    case OP_CALL_EXTERN:
        return true;                    // verify_call: elements only
    default:
        return op_is_atomic(s->op) && is_element(&s->operand[0]) &&
               is_element(&s->operand[1]);
    }
}

// Pointers are to elements, and the function has a name.
static bool verify_call(Verifier *v, const IrStmt *s)
{
    if (!ir_attr_get(s, ATTR_FUNC_NAME))
        return ir_error(v->k, s->at, "ir-operand", "%s without a func_name",
                        op_surface(s->op));
    if (s->operand[0].kind == OPERAND_REGION &&
        s->operand[0].region->buffer->scope != SCOPE_VAR)
        return ir_error(v->k, s->at, "ir-operand", "the result of %s goes to a "
                        "variable", op_surface(s->op));
    for (int i = 0; i < s->operand_count; i++)
        if (!is_element(&s->operand[i]))
            return ir_error(v->k, s->at, "ir-operand", "%s takes pointers to "
                            "elements, not slices", op_surface(s->op));
    return true;
}

static bool is_statement(const OpInfo *info, Op op)
{
    return info->class == OPCLASS_TILE || info->class == OPCLASS_HINT ||
           ((info->class == OPCLASS_SIMT || info->class == OPCLASS_ARCH) &&
            !ir_op_arity(op));
}

static bool verify_tile(Verifier *v, const IrStmt *s)
{
    if ((unsigned)s->op >= OP_COUNT)
        return fault(v, s, "an unknown operation");
    const OpInfo *info = op_info(v->k->ops, s->op);
    if (!is_statement(info, s->op))
        return ir_error(v->k, s->at, "ir-operand", "%s is no statement",
                        info->surface);
    if (info->status != OPSTATUS_BUILT) {
        diag_error(v->k->diag, EXIT_LIMIT, s->at, "ir-operand", "%s is %s",
                   info->surface, op_status_name(info->status));
        return false;
    }
    if (s->operand_count != info->param_count)
        return fault(v, s, "a tile operation with a wrong number of operands");
    for (int i = 0; i < s->operand_count; i++)
        if (!verify_operand(v, s, i))
            return false;
    if (s->op == OP_CALL_EXTERN && !verify_call(v, s))
        return false;
    if (v->parallel && info->class != OPCLASS_HINT && !is_scalar_form(s)) {
        ir_error(v->k, s->at, "ir-parallel", "%s inside T.Parallel: a tile "
                 "operation works for the whole block", info->surface);
        diag_note(v->k->diag, v->parallel->at, "the T.Parallel around it");
        return false;
    }
    return ir_resolve_tile(v->k, s);
}

// ---- all statements ---------------------------------------------------------

static bool verify_id(Verifier *v, const IrStmt *s)
{
    if (s->id < 0 || s->id >= v->k->next_stmt)
        return fault(v, s, "a statement's id is out of range");
    if (v->used_ids[s->id])
        return ir_error(v->k, s->at, "ir-verify",
                        "two statements have the id %d", s->id);
    v->used_ids[s->id] = true;
    return true;
}

static bool allowed_outside(Verifier *v, const IrStmt *s)
{
    bool hint = s->kind == STMT_TILE && (unsigned)s->op < OP_COUNT &&
                op_info(v->k->ops, s->op)->class == OPCLASS_HINT;
    return s->kind == STMT_BLOCK || s->kind == STMT_LET ||
           s->kind == STMT_ALLOC || s->kind == STMT_ASSERT ||
           s->kind == STMT_LAUNCH || hint;
}

// A block's lets and allocations end with it.
static bool verify_block(Verifier *v, const IrStmt *s)
{
    bool good = true;
    for (int i = 0; i < s->len; i++)
        good = verify_stmt(v, s->body[i]) && good;
    for (int i = 0; i < s->len; i++) {
        const IrStmt *inner = s->body[i];
        if (inner->kind == STMT_LET)
            forget(v, &inner->var, 1);
        if (inner->kind == STMT_ALLOC && inner->buffer)
            v->alive[inner->buffer->id] = false;
    }
    return good;
}

static bool verify_by_kind(Verifier *v, const IrStmt *s)
{
    switch (s->kind) {
    case STMT_BLOCK: return verify_block(v, s);
    case STMT_ALLOC: return verify_alloc(v, s);
    case STMT_LET: return verify_let(v, s);
    case STMT_STORE: return verify_store(v, s);
    case STMT_IF: return verify_if(v, s);
    case STMT_FOR: return verify_for(v, s);
    case STMT_WHILE: return verify_while(v, s);
    case STMT_BREAK: case STMT_CONTINUE: return verify_leave(v, s);
    case STMT_ASSERT: return verify_bool(v, s->cond, s->at);
    case STMT_TILE: return verify_tile(v, s);
    case STMT_LAUNCH: return verify_launch(v, s);
    case STMT_EVAL: return verify_value(v, s->value, s->at);
    }
    return fault(v, s, "an unknown statement");
}

static bool verify_stmt(Verifier *v, IrStmt *s)
{
    if (!s)
        return ir_error(v->k, v->k->at, "ir-verify", "a statement is missing");
    if (!verify_id(v, s))
        return false;
    if (!v->in_launch && !allowed_outside(v, s))
        return fault(v, s, "this statement must stand inside T.Kernel");
    if (v->depth == STMT_MAX_DEPTH)
        return fault(v, s, "statements are nested too deeply");
    v->depth++;
    bool good = verify_attrs(v->k, s);
    good = verify_by_kind(v, s) && good;
    v->depth--;
    return good;
}

// ---- kernel -----------------------------------------------------------------

static bool verify_vars(Verifier *v)
{
    for (int i = 1; i < v->vars.len; i++)
        if (v->vars.at[i - 1]->id == v->vars.at[i]->id)
            return ir_error(v->k, v->vars.at[i]->at, "ir-verify",
                            "two variables have the id %d", v->vars.at[i]->id);
    return true;
}

static bool verify_params(Verifier *v)
{
    const IrKernel *k = v->k;
    for (int i = 0; i < k->param_count; i++) {
        const IrParam *p = &k->params[i];
        if (p->is_scalar ? !p->var || p->var->kind != VAR_PARAM
                         : !p->buffer || p->buffer->param != i ||
                               p->buffer->scope != SCOPE_GLOBAL)
            return ir_error(v->k, k->at, "ir-verify",
                            "parameter %d is neither a tensor nor a scalar",
                            i);
        if (p->is_scalar)
            *verify_known(v, p->var) = true;
        else
            v->alive[p->buffer->id] = true;
    }
    for (int i = 0; i < k->config.output_count; i++)
        if (k->config.outputs[i] < 0 ||
            k->config.outputs[i] >= k->param_count ||
            k->params[k->config.outputs[i]].is_scalar)
            return ir_error(v->k, k->at, "ir-verify", "output %d is no tensor "
                            "parameter", k->config.outputs[i]);
    return true;
}

static bool verify_layout(Verifier *v, const IrBuffer *b)
{
    const IrIndexMap *m = b->layout;
    if (!m)
        return true;
    if (m->in_rank > b->rank)
        return ir_error(v->k, b->at, "ir-layout", "the layout of %.*s takes %d "
                        "indices, the buffer has %d", TEXT_ARG(b->name),
                        m->in_rank, b->rank);
    for (int i = 0; i < m->in_rank; i++)
        if (m->in[i])
            *verify_known(v, m->in[i]) = true;
    if (m->replica)
        *verify_known(v, m->replica) = true;
    bool good = !m->thread || verify_int(v, m->thread, b->at);
    for (int i = 0; i < m->out_rank && good; i++)
        good = verify_int(v, m->out[i], b->at);
    forget(v, m->in, m->in_rank);
    forget(v, &m->replica, 1);
    return good;
}

static bool verify_buffers(Verifier *v)
{
    bool good = true;
    for (int i = 0; i < v->k->buffer_count; i++) {
        const IrBuffer *b = v->k->buffers[i];
        if (b->id != i || (b->alias_of && b->alias_of->id >= i))
            return ir_error(v->k, b->at, "ir-verify", "buffers out of order");
        for (int d = 0; d < b->rank; d++)
            good = verify_int(v, b->shape[d], b->at) &&
                   (!b->strides[d] || verify_int(v, b->strides[d], b->at)) &&
                   good;
        good = (!b->safe_value || verify_expr(v, b->safe_value, b->at)) && good;
        good = verify_layout(v, b) && good;
    }
    return good;
}

bool ir_verify(IrKernel *k)
{
    Arena *a = arena_create();
    Verifier v = {.k = k, .vars = vars_of(a, k)};
    v.known = new_array(a, bool, (size_t)v.vars.len + 1);
    v.alive = new_array(a, bool, (size_t)k->buffer_count + 1);
    v.used_ids = new_array(a, bool, (size_t)k->next_stmt + 1);
    for (int i = 0; i < k->symbol_count; i++)
        *verify_known(&v, k->symbols[i]) = true;
    bool good = verify_vars(&v) && verify_params(&v) && verify_buffers(&v);
    good = good && is_body(k->body) && verify_stmt(&v, k->body);
    arena_destroy(a);
    return good && !v.failed;
}
