// lower_extern.c - T.call_extern: calls of C functions.
//
// A call may do anything: blocks that make calls run one after the other, the
// lanes of a T.Parallel or of a warp call in their order, and all tensors that
// it gets a pointer into count as read and written.
#include "code/code_int.h"

enum { RESULT, FIRST = 2 };

// C has a type for it.
static bool check_type(Lower *l, DType t, const char *what)
{
    const DTypeInfo *info = dtype_info(t);

    if (info->bits < 8 || (info->kind == KIND_FLOAT && info->bits < 32))
        unsupported(l, "%s of T.call_extern is %s, for which C has no type: "
                       "pass float32, or a pointer", what, info->name);
    return !l->failed;
}

static int value_register(Lower *l, const IrExpr *e, Val *v)
{
    if (!check_type(l, e->dtype, "an argument"))
        return 0;
    *v = value_of(l, e);
    if (l->par && !l->failed)
        *v = promote(l, *v, AT_LANES);
    return v->reg;
}

static bool check_pointer(Lower *l, const IrBuffer *b)
{
    const CodeBuffer *c = &l->code->buffer[b->id];
    const CodeBuffer *root = &l->code->buffer[c->root];

    if (b->scope == SCOPE_VAR && l->par)
        unsupported(l, "T.call_extern takes no pointer to '%.*s', a variable "
                       "of each thread: use T.alloc_local", TEXT_ARG(b->name));
    else if (dtype_info(b->dtype)->bits < 8)
        unsupported(l, "T.call_extern takes no pointer to '%.*s', whose "
                       "elements are smaller than a byte", TEXT_ARG(b->name));
    else if (has_layout(b) || b->strides[0])
        unsupported(l, "T.call_extern takes no pointer to '%.*s', which does "
                       "not lie row by row without gaps: copy it to a tile",
                    TEXT_ARG(b->name));
    else if (c->place == BUFFER_PRIVATE && c->dtype != root->dtype)
        unsupported(l, "T.call_extern takes no pointer to '%.*s', a view of "
                       "each thread's own array as another dtype",
                    TEXT_ARG(b->name));
    return !l->failed;
}

static int pointer(Lower *l, const IrRegion *r, Spot *spot)
{
    const IrBuffer *b = r->buffer;
    Form index[IR_MAX_RANK];

    if (!check_pointer(l, b) ||
        !index_forms(l, b, r->min, b->rank, index))
        return 0;
    note_read(l, b);
    note_write(l, b, index);
    *spot = spot_of(l, b, index, true, 0, l->par ? AT_LANES : AT_SLOT);
    return spot->access;
}

static void keep_result(Lower *l, const IrRegion *r, Val v)
{
    Form zero = form_const(0);

    store_to(l, r->buffer, &zero, v, 0);
}

static Val result_value(Lower *l, DType t)
{
    Val v = {AT_LANES, -1, t, true, 7};

    if (l->par) {
        v.reg = new_reg(l, false);
        return v;
    }
    v = slot_value(new_slot(l, false), t);
    l->fact.at[v.reg].mutable = true;
    l->fact.at[v.reg].taint = 7;
    return v;
}

static void emit_call(Lower *l, const Native *n, int result)
{
    vec_push(l->arena, &l->native, *n);
    emit(l, (Instr){.op = l->par ? INSTR_VEXTERN : INSTR_EXTERN,
                    .type = (uint8_t)(n->result == DT_NONE
                                          ? LANE_I32
                                          : lane_type_of(n->result)),
                    .d = result,
                    .a = l->native.len - 1,
                    .b = -1,
                    .c = l->par ? l->par->mask : -1});
}

void lower_extern(Lower *l, const IrStmt *s)
{
    const IrRegion *r = s->operand[RESULT].kind == OPERAND_REGION
                            ? s->operand[RESULT].region
                            : NULL;
    Native n = {.name = ir_attr_get(s, ATTR_FUNC_NAME)->text, .at = s->at,
                .result = r ? r->buffer->dtype : DT_NONE};
    Val v[NATIVE_ARGS] = {0}, out = {.reg = -1};
    Spot spot[NATIVE_ARGS] = {0};

    if (l->mode != CODE_AS_WRITTEN)
        unsupported(l, "T.call_extern can neither be counted nor run in f64");
    if (r && !check_type(l, n.result, "a result"))
        return;
    for (int i = FIRST; i < s->operand_count && !l->failed; i++) {
        const IrOperand *o = &s->operand[i];
        int at = n.count;

        if (o->kind == OPERAND_NONE)
            continue;
        n.arg[at].access = -1;
        if (o->kind == OPERAND_REGION) {
            n.arg[at].access = pointer(l, o->region, &spot[at]);
        } else {
            n.arg[at].dtype = o->expr->dtype;
            n.arg[at].reg = value_register(l, o->expr, &v[at]);
        }
        n.count++;
    }
    if (l->failed)
        return;
    if (r)
        out = result_value(l, n.result);
    l->launches.at[l->launch].ordered = true;
    emit_call(l, &n, out.reg);
    for (int i = 0; i < n.count; i++) {
        if (n.arg[i].access >= 0)
            spot_release(l, &spot[i]);
        else
            release(l, v[i]);
    }
    if (r)
        keep_result(l, r, out);
}
