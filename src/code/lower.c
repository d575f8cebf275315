// lower.c - IrKernel to bytecode: tables, buffers, parameters, launches.
#include <math.h>

#include "code/code_int.h"

#include <string.h>

enum {
    MOST_SCRATCH = 1 << 30,
    MOST_REGISTERS = 500,
    MOST_WARP_REGISTERS = 2000,
    BARRIER_BYTES = 32
};

// ---- errors --------------------------------------------------------------

static void report(Lower *l, ExitCode exit, const char *id, const char *format,
                   va_list args)
{
    char message[400];

    vsnprintf(message, sizeof message, format, args);
    if (!l->failed)
        diag_error(l->diag, exit, l->at, id, "%s", message);
    l->failed = true;
}

void unsupported(Lower *l, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report(l, EXIT_LIMIT, "code-unsupported", format, args);
    va_end(args);
}

void bad_program(Lower *l, const char *id, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report(l, EXIT_PROGRAM, id, format, args);
    va_end(args);
}

// ---- dtypes --------------------------------------------------------------

DType map_dtype(const Lower *l, DType t)
{
    const DTypeInfo *info = dtype_info(t);

    return l->mode == CODE_F64 && info->kind == KIND_FLOAT && info->bits >= 16
               ? DT_F64
               : t;
}

DType lane_dtype(LaneType t)
{
    static const DType of[LANE_COUNT] = {
        [LANE_F32] = DT_F32, [LANE_F64] = DT_F64, [LANE_I32] = DT_I32,
        [LANE_U32] = DT_U32, [LANE_I64] = DT_I64, [LANE_U64] = DT_U64,
    };

    return of[t];
}

bool is_signed_index(DType t)
{
    return t == DT_I32 || t == DT_I64;
}

// ---- instructions, slots, registers --------------------------------------

int emit(Lower *l, Instr i)
{
    EmitItem item = {.i = i, .stmt = l->stmt, .at = l->at};

    vec_push(l->arena, l->out, item);
    return l->out->len - 1;
}

void patch(Lower *l, int jump)
{
    Instr *i = &l->out->at[jump].i;
    int distance = l->out->len - jump;

    *(i->op == INSTR_JUMP ? &i->a : &i->b) = distance;
}

int new_slot(Lower *l, bool body)
{
    SlotFact fact = {.body = body};
    Slot zero = {0};

    vec_push(l->arena, &l->fact, fact);
    vec_push(l->arena, &l->slot, zero);
    vec_push(l->arena, &l->constant, DT_NONE);
    return l->slot.len - 1;
}

static int constant_slot(Lower *l, DType t, Slot value)
{
    char key[1 + sizeof value] = {(char)t};
    Text text = {key, sizeof key};
    MapEntry *old;
    int slot;

    memcpy(key + 1, &value, sizeof value);
    old = map_find(&l->constants, text);
    if (old)
        return (int)(intptr_t)old->value;
    slot = new_slot(l, false);
    l->slot.at[slot] = value;
    l->constant.at[slot] = t;
    map_set(l->arena, &l->constants, text_copy(l->arena, text),
            (void *)(intptr_t)slot);
    return slot;
}

static int64_t wrap_int(DType t, int64_t v)
{
    switch (t) {
    case DT_BOOL:
        return v != 0;
    case DT_I4:
        return ((v & 15) ^ 8) - 8;
    case DT_U4:
        return v & 15;
    case DT_I8:
        return (int8_t)v;
    case DT_I16:
        return (int16_t)v;
    case DT_I32:
        return (int32_t)v;
    case DT_U8:
        return (uint8_t)v;
    case DT_U16:
        return (uint16_t)v;
    case DT_U32:
        return (uint32_t)v;
    default:
        return v;
    }
}

int int_slot(Lower *l, DType t, int64_t v)
{
    int slot;

    if (dtype_is_float(t))
        return float_slot(l, t, (double)v);
    v = wrap_int(t, v);
    slot = constant_slot(l, t, (Slot){.i = v});
    l->fact.at[slot].range =
        t == DT_U64 && v < 0 ? (Range){.known = false} : range_of(v, v);
    return slot;
}

int float_slot(Lower *l, DType t, double v)
{
    Slot s = {0};

    if (t == DT_F64)
        s.d = v;
    else if (isinf(v) && dtype_info(t)->has_infinity)
        s.f = (float)v;         // num_round_f64 saturates 8-bit floats
    else
        s.f = (float)num_round_f64(t, v);
    return constant_slot(l, t, s);
}

int new_site(Lower *l, SiteKind kind, int buffer, bool store, Text message)
{
    Site s = {.kind = kind,
              .at = l->at,
              .buffer = buffer,
              .store = store,
              .message = message};

    vec_push(l->arena, &l->site, s);
    return l->site.len - 1;
}

int new_reg(Lower *l, bool view)
{
    int most = in_thread_code(l) ? MOST_WARP_REGISTERS : MOST_REGISTERS;

    if (l->registers.free_count[view])
        return l->registers.free_reg[view][--l->registers.free_count[view]];
    if (l->registers.next_reg[view] >= most)
        unsupported(l, "this code needs more than %d values at a time", most);
    else
        l->registers.next_reg[view]++;
    return 2 * (l->registers.next_reg[view] - 1) + view;
}

void release_reg(Lower *l, int reg)
{
    int view = reg & 1;

    Registers *r = &l->registers;

    if (reg >= 0 && r->free_count[view] < (int)countof(r->free_reg[view]))
        r->free_reg[view][r->free_count[view]++] = reg;
}

void release(Lower *l, Val v)
{
    if (v.temp && v.level != AT_SLOT)
        release_reg(l, v.reg);
}

int root_of(const Lower *l, int buffer)
{
    return l->code->buffer[buffer].root;
}

bool in_body(const Lower *l, int slot)
{
    return l->par && slot >= l->par->first_slot && l->fact.at[slot].body;
}

// ---- buffers -------------------------------------------------------------

static bool root_index(Lower *l, const IrBuffer *b, int *root)
{
    for (int i = 0; b->alias_of; i++) {
        if (i > 64) {
            bad_program(l, "code-alias", "'%.*s' is a view of itself",
                        TEXT_ARG(b->name));
            return false;
        }
        b = b->alias_of;
    }
    *root = b->id;
    return true;
}

static BufferPlace place_of(const Lower *l, const IrBuffer *root)
{
    if ((root->scope == SCOPE_LOCAL || root->scope == SCOPE_FRAGMENT) &&
        l->var_private[root->id])
        return BUFFER_PRIVATE;
    if (root->scope != SCOPE_GLOBAL)
        return BUFFER_SCRATCH;
    return root->param >= 0 ? BUFFER_PARAM
           : root->pointed  ? BUFFER_POINTED
                            : BUFFER_WORKSPACE;
}

static bool check_buffer(Lower *l, const IrBuffer *b)
{
    l->at = b->at;
    if (!dtype_info(b->dtype)->built)
        unsupported(l, "'%.*s': %s is not supported yet", TEXT_ARG(b->name),
                    dtype_info(b->dtype)->name);
    else if (b->rank < 0 || b->rank > IR_MAX_RANK)
        BUG("buffer of rank %d", b->rank);
    return !l->failed;
}

static void init_buffer(Lower *l, const IrBuffer *b)
{
    CodeBuffer *c = &l->code->buffer[b->id];

    if (!check_buffer(l, b) || !root_index(l, b, &c->root))
        return;
    if (b->alias_of && l->k->buffers[c->root]->pointed)
        unsupported(l, "'%.*s', a view of a tensor at an address,",
                    TEXT_ARG(b->name));
    c->name = b->name;
    c->scope = ir_scope_name(b->scope);
    c->at = b->at;
    c->dtype = map_dtype(l, b->dtype);
    c->place = place_of(l, l->k->buffers[c->root]);
    c->rank = b->rank;
    c->param = l->k->buffers[c->root]->param;
    c->lanes = (c->place == BUFFER_SCRATCH || c->place == BUFFER_PRIVATE) &&
               b->scope != SCOPE_BARRIER;
    c->offset = -1;
    c->copy = -1;
    c->safe_slot = -1;
    for (int d = 0; d < CODE_RANK; d++)
        c->shape_slot[d] = c->stride_slot[d] = -1;
}

// A pointer that is given away needs the true bits in memory.
static bool show_bits(void *ctx, IrStmt *s)
{
    Lower *l = ctx;

    for (int i = 1; s->kind == STMT_TILE && s->op == OP_CALL_EXTERN &&
                    i < s->operand_count; i++)
        if (s->operand[i].kind == OPERAND_REGION)
            l->code->buffer[root_of(l, s->operand[i].region->buffer->id)]
                .lanes = false;
    return true;
}

// Views of another dtype need the true bits in memory.
static void find_true_storage(Lower *l)
{
    for (int i = 0; i < l->k->buffer_count; i++) {
        CodeBuffer *c = &l->code->buffer[i];
        CodeBuffer *root = &l->code->buffer[c->root];

        if (l->k->buffers[i]->dtype == l->k->buffers[c->root]->dtype)
            continue;
        root->lanes = false;
        l->code->reinterprets = true;
        l->at = l->k->buffers[i]->at;
        if (dtype_info(c->dtype)->bits < 8 || dtype_info(root->dtype)->bits < 8)
            unsupported(l, "a view of %s as %s", dtype_info(root->dtype)->name,
                        dtype_info(c->dtype)->name);
    }
    ir_walk(l->k->body, show_bits, NULL, l);
    for (int i = 0; i < l->k->buffer_count; i++)
        if (!l->code->buffer[l->code->buffer[i].root].lanes)
            l->code->buffer[i].lanes = false;
}

static void set_shape(Lower *l, const IrBuffer *b)
{
    CodeBuffer *c = &l->code->buffer[b->id];
    Form f;

    l->at = b->at;
    c->element = c->lanes ? (int)lane_bytes(lane_type_of(c->dtype))
                : b->scope == SCOPE_BARRIER ? BARRIER_BYTES
                                            : (int)dtype_bytes(c->dtype, 1);
    for (int d = 0; d < b->rank; d++) {
        if (ir_is_int(b->shape[d], &c->shape[d])) {
            if (c->shape[d] < 0)
                bad_program(l, "code-shape", "'%.*s' has a negative size",
                            TEXT_ARG(b->name));
            continue;
        }
        c->shape[d] = -1;
        if (c->lanes || c->place == BUFFER_SCRATCH)
            unsupported(l, "'%.*s' needs a constant size", TEXT_ARG(b->name));
        else if (form_of(l, b->shape[d], &f))
            c->shape_slot[d] = form_base_slot(l, &f);
    }
    for (int d = 0; d < b->rank && b->strides[d]; d++)
        if (form_of(l, b->strides[d], &f))
            c->stride_slot[d] = form_base_slot(l, &f);
}

static bool set_strides(Lower *l, CodeBuffer *c)
{
    int64_t count = 1;

    for (int d = c->rank - 1; d >= 0; d--) {
        c->stride[d] = count;
        if (__builtin_mul_overflow(count, c->shape[d], &count) ||
            count > MOST_SCRATCH)
            count = MOST_SCRATCH + (int64_t)1;
    }
    if (c->place == BUFFER_PRIVATE)
        count *= CODE_LANES;
    if (__builtin_mul_overflow(count, (int64_t)c->element, &c->bytes) ||
        c->bytes > MOST_SCRATCH) {
        l->at = c->at;
        unsupported(l, "'%.*s' is larger than 1 GiB", TEXT_ARG(c->name));
        return false;
    }
    return true;
}

static void lay_out_scratch(Lower *l)
{
    Code *c = l->code;

    for (int i = 0; i < c->buffer_count && !l->failed; i++)
        if (c->buffer[i].place == BUFFER_SCRATCH ||
            c->buffer[i].place == BUFFER_PRIVATE)
            set_strides(l, &c->buffer[i]);
    for (int i = 0; i < c->buffer_count && !l->failed; i++) {
        CodeBuffer *root = &c->buffer[c->buffer[i].root];

        if (c->buffer[i].bytes > root->bytes)
            root->bytes = c->buffer[i].bytes;
    }
}

static void init_buffers(Lower *l)
{
    const IrKernel *k = l->k;

    l->code->buffer_count = k->buffer_count;
    l->code->buffer = new_array(l->arena, CodeBuffer, (size_t)k->buffer_count);
    for (int i = 0; i < k->buffer_count && !l->failed; i++)
        init_buffer(l, k->buffers[i]);
    if (l->failed)
        return;
    find_true_storage(l);
    for (int i = 0; i < k->buffer_count && !l->failed; i++)
        set_shape(l, k->buffers[i]);
    lay_out_scratch(l);
}

static void set_safe_values(Lower *l)
{
    for (int i = 0; i < l->k->buffer_count && !l->failed; i++) {
        const IrBuffer *b = l->k->buffers[i];
        CodeBuffer *c = &l->code->buffer[i];
        Val v;

        if (!b->safe_value)
            continue;
        l->at = b->at;
        v = cast_value(l, value_of(l, b->safe_value), c->dtype, true);
        c->safe_slot = v.reg;
    }
}

// ---- parameters ----------------------------------------------------------

static void bind_slot(Lower *l, const IrVar *v)
{
    int slot = new_slot(l, false);
    DType t = map_dtype(l, v->dtype);

    l->binding[v->id] = (Binding){.kind = BIND_VAL, .val = slot_value(slot, t)};
}

// plain: a size or stride that is v itself, else one that shows it.
static bool find_symbol(Lower *low, const IrVar *v, bool plain, CodeSymbol *out)
{
    const IrKernel *k = low->k;

    for (int stride = 0; stride < 2; stride++)
        for (int i = 0; i < k->param_count; i++) {
            const IrBuffer *b = k->params[i].buffer;

            for (int d = 0; b && d < b->rank; d++) {
                const IrExpr *e = stride ? b->strides[d] : b->shape[d];
                IrLinear l;

                if (!e || !ir_linear(e, &l) || l.symbol != v ||
                    (l.factor != 1 || l.offset) == plain)
                    continue;
                *out = (CodeSymbol){.name = out->name, .slot = out->slot,
                                    .param = i, .dim = d, .stride = stride,
                                    .factor = l.factor, .offset = l.offset};
                return true;
            }
        }
    return false;
}

static void init_symbols(Lower *l)
{
    Code *c = l->code;

    c->symbol_count = l->k->symbol_count;
    c->symbol = new_array(l->arena, CodeSymbol, (size_t)c->symbol_count);
    for (int i = 0; i < c->symbol_count && !l->failed; i++) {
        const IrVar *v = l->k->symbols[i];
        CodeSymbol *s = &c->symbol[i];

        bind_slot(l, v);
        s->name = v->name;
        s->slot = l->binding[v->id].val.reg;
        s->param = -1;
        l->at = v->at;
        if (!find_symbol(l, v, true, s))
            find_symbol(l, v, false, s);
    }
}

static void init_params(Lower *l)
{
    Code *c = l->code;

    c->param_count = l->k->param_count;
    c->param = new_array(l->arena, CodeParam, (size_t)c->param_count);
    for (int i = 0; i < c->param_count; i++) {
        const IrParam *p = &l->k->params[i];
        CodeParam *out = &c->param[i];

        *out = (CodeParam){.name = p->name,
                           .is_scalar = p->is_scalar,
                           .slot = -1,
                           .buffer = -1};
        if (!p->is_scalar) {
            out->buffer = p->buffer->id;
            out->dtype = map_dtype(l, p->buffer->dtype);
            continue;
        }
        bind_slot(l, p->var);
        out->slot = l->binding[p->var->id].val.reg;
        out->dtype = map_dtype(l, p->var->dtype);
    }
}

// ---- launches ------------------------------------------------------------

static InstrList finish_list(Lower *l, const Emit *e)
{
    InstrList out = {.len = e->len};
    size_t n = (size_t)e->len;

    out.code = new_array(l->arena, Instr, n);
    out.stmt = new_array(l->arena, int, n);
    out.at = new_array(l->arena, Span, n);
    for (int i = 0; i < e->len; i++) {
        out.code[i] = e->at[i].i;
        out.stmt[i] = e->at[i].stmt;
        out.at[i] = e->at[i].at;
    }
    return out;
}

static void halt(Lower *l)
{
    emit(l, (Instr){.op = INSTR_HALT});
}

static void bind_grid(Lower *l, const IrStmt *s, Launch *launch)
{
    launch->grid_rank = s->var_count;
    launch->at = s->at;
    launch->threads = 1;
    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(launch->threads, s->threads[i],
                                   &launch->threads))
            unsupported(l, "a block of that many threads");
    l->grid_taint = 0;
    for (int d = 0; d < s->var_count && !l->failed; d++) {
        Form f;
        Range extent;
        int slot;

        if (!form_of(l, s->extent[d], &f))
            return;
        launch->grid[d] = form_base_slot(l, &f);
        extent = form_range(l, &f);
        bind_slot(l, s->vars[d]);
        slot = launch->block[d] = l->binding[s->vars[d]->id].val.reg;
        launch->block_name[d] = s->vars[d]->name;
        l->fact.at[slot].taint = (uint8_t)(1u << d);
        if (extent.known && extent.high > 0)
            l->fact.at[slot].range = range_of(0, extent.high - 1);
        if (!extent.known || extent.high > 1)
            l->grid_taint |= (uint8_t)(1u << d);
    }
}

static void lower_launch(Lower *l, const IrStmt *s)
{
    size_t buffers = (size_t)l->k->buffer_count;
    Emit *host = l->out, body = {0};
    Launch launch = {0};

    if (l->launch >= 0 || s->var_count < 0 || s->var_count > IR_MAX_GRID) {
        unsupported(l, "a T.Kernel inside of another");
        return;
    }
    bind_grid(l, s, &launch);
    launch.per_thread = is_per_thread(s);
    launch.wave = l->k->config.wave == 64 ? 64 : 32;
    for (int i = 0; i < 3; i++)
        launch.shape[i] = (int)s->threads[i];
    l->launch = l->launches.len;
    vec_push(l->arena, &l->launches, launch);
    l->read = new_array(l->arena, bool, buffers);
    l->write = new_array(l->arena, bool, buffers);
    l->place = new_array(l->arena, StorePlace, buffers);
    l->control = 0;
    l->scratch = 0;
    l->out = &body;
    for (int i = 0; i < l->pointed.len; i++)
        lower_stmt(l, l->pointed.at[i]);
    if (launch.per_thread)
        lower_threads(l, s, &body);
    else
        lower_stmt(l, s->then);
    lower_last_step(l);
    halt(l);
    l->launches.at[l->launch].body = finish_list(l, &body);
    l->out = host;
    emit(l, (Instr){.op = INSTR_LAUNCH, .a = l->launch});
    l->launch = -1;
}

static void lower_host(Lower *l, const IrStmt *s)
{
    for (int i = 0; i < s->len && !l->failed; i++) {
        const IrStmt *t = s->body[i];

        l->at = t->at;
        l->stmt = t->id;
        if (t->kind == STMT_BLOCK)
            lower_host(l, t);
        else if (t->kind == STMT_LAUNCH)
            lower_launch(l, t);
        else if (t->kind == STMT_ALLOC && t->value) {
            vec_push(l->arena, &l->pointed, t);
        } else if (t->kind == STMT_ALLOC && t->buffer->scope == SCOPE_GLOBAL) {
            if (l->code->buffer[t->buffer->id].place == BUFFER_WORKSPACE)
                emit(l, (Instr){.op = INSTR_WORKSPACE, .a = t->buffer->id});
        } else if (t->kind == STMT_LET || t->kind == STMT_ASSERT ||
                   (t->kind == STMT_TILE &&
                    op_info(l->k->ops, t->op)->class == OPCLASS_HINT))
            lower_stmt(l, t);
        else
            unsupported(l, "this statement outside of a T.Kernel");
    }
}

// ---- the whole -----------------------------------------------------------

static void publish(Lower *l)
{
    Code *c = l->code;

#define PUBLISH(field) (c->field = l->field.at, c->field##_count = l->field.len)
    PUBLISH(access);
    PUBLISH(affine);
    PUBLISH(space);
    PUBLISH(gemm);
    PUBLISH(reduction);
    PUBLISH(scan);
    PUBLISH(im2col);
    PUBLISH(print);
    PUBLISH(native);
    PUBLISH(event);
    PUBLISH(step);
    PUBLISH(site);
    c->set = l->sets.at;
    c->set_count = l->sets.len;
    PUBLISH(meeting);
    c->place = l->places.at;
    c->place_count = l->places.len;
    c->slot = l->slot.at;
    c->slot_count = l->slot.len;
    c->constant = l->constant.at;
    c->loop = l->loops.at;
    c->loop_count = l->loops.len;
    c->pipeline = l->pipelines.at;
    c->pipeline_count = l->pipelines.len;
    c->launch = l->launches.at;
    c->launch_count = l->launches.len;
}

static void init_lower(Lower *l)
{
    size_t vars = (size_t)l->k->next_var, buffers = (size_t)l->k->buffer_count;

    l->binding = new_array(l->arena, Binding, vars);
    l->var_slot = new_array(l->arena, int, buffers);
    l->var_private = new_array(l->arena, bool, buffers);
    l->var_in_memory = new_array(l->arena, bool, buffers);
    for (size_t i = 0; i < buffers; i++)
        l->var_slot[i] = -1;
    new_slot(l, false); // slot 0: never an operand
}

Code *code_lower(Arena *a, Diag *d, const IrKernel *k, CodeMode mode)
{
    Emit shapes = {0}, host = {0};
    Lower *l = new (a, Lower);
    Code *c = new (a, Code);

    *l = (Lower){.arena = a,
                 .diag = d,
                 .k = k,
                 .mode = mode,
                 .code = c,
                 .launch = -1,
                 .at = k->at,
                 .stmt = -1};
    c->name = k->name;
    c->at = k->at;
    c->no_auto_sync = ir_config_is_set(k, "tl.disable_thread_storage_sync");
    init_lower(l);
    l->out = &shapes;
    init_symbols(l);
    init_params(l);
    find_private(l);
    init_buffers(l);
    if (mode == CODE_CONTROL && !l->failed)
        find_kernel_writes(l);
    set_safe_values(l);
    set_layouts(l);
    halt(l);
    l->out = &host;
    lower_host(l, k->body);
    halt(l);
    if (l->tile_dependent) {
        c = code_lower(a, d, k, CODE_COUNTED);
        if (c)
            c->tile_dependent = true;
        return c;
    }
    if (l->failed)
        return NULL;
    c->shapes = finish_list(l, &shapes);
    c->host = finish_list(l, &host);
    publish(l);
    return c;
}

CodeFacts code_facts(const Code *c)
{
    return (CodeFacts){.launches = c->launch_count,
                       .atomics_on_global = c->atomics_on_global,
                       .reads_written_global = c->reads_written_global,
                       .reinterprets = c->reinterprets,
                       .calls_natives = c->native_count > 0,
                       .tile_dependent = c->tile_dependent};
}

const CodeEvent *code_events(const Code *c, int *count)
{
    *count = c->event_count;
    return c->event;
}

const CodeStep *code_steps(const Code *c, int *count)
{
    *count = c->step_count;
    return c->step;
}
