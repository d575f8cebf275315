// prim.c - calls of T.* primitives: arguments by the op table, scalar functions
// to expressions.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lang/trace_int.h"

// ---- binding -------------------------------------------------------------------

static Span arg_span(const Args *args, int i)
{
    return args->spans && i < args->count ? args->spans[i] : args->at_span;
}

static int param_named(const OpInfo *info, Text name)
{
    for (int i = 0; i < info->param_count; i++)
        if (text_eq(info->param[i].name, name) && !info->param[i].star)
            return i;
    return -1;
}

static Text parameter_names(Lang *l, const OpInfo *info)
{
    Text all = TEXT("nothing");

    for (int i = 0; i < info->param_count; i++)
        all = i == 0 ? info->param[i].name
                     : text_format(lang_arena(l), "%.*s, %.*s", TEXT_ARG(all),
                                   TEXT_ARG(info->param[i].name));
    return all;
}

static _Noreturn void unexpected_keyword(Lang *l, const OpInfo *info,
                                         Text name, Span at)
{
    Text near = {0};
    int best = 4;
    for (int i = 0; i < info->param_count; i++) {
        int d = text_distance(info->param[i].name, name);
        if (d < best) {
            best = d;
            near = info->param[i].name;
        }
    }
    if (near.len)
        lang_raise(l, "TypeError", at,
                   "%s() has no argument '%.*s'; did you mean '%.*s'?",
                   info->surface, TEXT_ARG(name), TEXT_ARG(near));
    lang_raise(l, "TypeError", at, "%s() has no argument '%.*s'; it takes %.*s",
               info->surface, TEXT_ARG(name),
               TEXT_ARG(parameter_names(l, info)));
}

static void bind_positional(Lang *l, Bound *b, const Args *args)
{
    const OpInfo *info = b->info;
    int p = 0;
    for (int i = 0; i < args->count; i++) {
        while (p < info->param_count && info->param[p].keyword_only)
            p++;
        if (p >= info->param_count)
            lang_raise(l, "TypeError", arg_span(args, i),
                       "%s() takes at most %d positional argument%s",
                       info->surface, p, p == 1 ? "" : "s");
        if (info->param[p].star) {
            if (b->rest_count == IR_MAX_RANK)
                lang_raise(l, "TypeError", arg_span(args, i),
                           "%s() takes at most %d dimensions", info->surface,
                           IR_MAX_RANK);
            b->rest[b->rest_count++] = args->at[i];
            b->spans[p] = arg_span(args, i);
            continue;
        }
        b->at[p] = args->at[i];
        b->spans[p++] = arg_span(args, i);
    }
}

static void refuse_unbuilt(Lang *l, const OpInfo *info, Span at)
{
    if (info->status == OPSTATUS_LATER)
        lang_unsupported(l, at, "'%s', which is known but not built yet,",
                         info->surface);
    if (info->status == OPSTATUS_NEVER)
        lang_unsupported(l, at, "'%s', which belongs to hardware that tilesim "
                         "does not model,", info->surface);
}

static Bound prim_bind(Lang *l, Op op, const Args *args)
{
    Bound b = {.op = op, .info = op_info(l->options.ops, op),
               .call = args->at_span};
    refuse_unbuilt(l, b.info, args->at_span);
    for (int i = 0; i < OP_MAX_PARAMS; i++)
        b.spans[i] = args->at_span;
    bind_positional(l, &b, args);
    for (int i = 0; i < args->keyword_count; i++) {
        int p = param_named(b.info, args->names[i]);
        if (p < 0)
            unexpected_keyword(l, b.info, args->names[i], args->at_span);
        if (b.at[p].kind != VAL_UNBOUND)
            lang_raise(l, "TypeError", args->at_span,
                       "%s() got '%.*s' twice", b.info->surface,
                       TEXT_ARG(args->names[i]));
        b.at[p] = args->values[i];
    }
    for (int i = 0; i < b.info->param_count; i++)
        if (b.at[i].kind == VAL_UNBOUND && !b.info->param[i].optional
            && !b.info->param[i].star)
            lang_raise(l, "TypeError", args->at_span,
                       "%s() is missing argument '%.*s'", b.info->surface,
                       TEXT_ARG(b.info->param[i].name));
    return b;
}

bool bound_given(const Bound *b, int i)
{
    return b->at[i].kind != VAL_UNBOUND && b->at[i].kind != VAL_NONE;
}

int64_t bound_int(Lang *l, const Bound *b, int i, int64_t fallback)
{
    if (!bound_given(b, i))
        return fallback;
    return value_to_int(l, b->at[i], b->info->surface, b->spans[i]);
}

// ---- attributes ------------------------------------------------------------------

static IrAttrValue attr_list(Lang *l, const Value *at, const Value *values,
                             int count, Span span)
{
    int each = values ? 2 : 1;
    IrAttrValue v = {.kind = values ? ATTRVAL_DICT : ATTRVAL_LIST};
    v.list.at = new_array(lang_arena(l), IrAttrValue, each * count + 1);
    for (int i = 0; i < count; i++) {
        if (at[i].kind == VAL_UNBOUND)
            continue;
        v.list.at[v.list.len++] = attr_value(l, at[i], span);
        if (values)
            v.list.at[v.list.len++] = attr_value(l, values[i], span);
    }
    return v;
}

static Text prim_text(Lang *l, Value v)
{
    TextBuf b = {0};
    if (v.kind == VAL_PRIM)
        buf_puts(&b, op_info(l->options.ops, v.prim)->surface);
    else
        value_str(l, &b, v);
    Text t = text_copy(lang_arena(l), buf_view(&b));
    buf_release(&b);
    return t;
}

IrAttrValue attr_value(Lang *l, Value v, Span at)
{
    switch (v.kind) {
    case VAL_INT:
        return (IrAttrValue){.kind = ATTRVAL_INT, .i64 = v.i};
    case VAL_BOOL:
        return (IrAttrValue){.kind = ATTRVAL_BOOL, .i64 = v.b};
    case VAL_FLOAT:
        return (IrAttrValue){.kind = ATTRVAL_FLOAT, .f64 = v.f};
    case VAL_EXPR:
        return (IrAttrValue){.kind = ATTRVAL_EXPR, .expr = v.expr};
    case VAL_BUFFER:
        return (IrAttrValue){.kind = ATTRVAL_TEXT, .text = v.buffer->name};
    case VAL_LIST:
    case VAL_TUPLE:
        return attr_list(l, v.list->at, NULL, v.list->len, at);
    case VAL_DICT:
        return attr_list(l, v.dict->keys, v.dict->values, v.dict->len, at);
    case VAL_INDEXMAP:
        return (IrAttrValue){.kind = ATTRVAL_LAYOUT, .layout = v.indexmap};
    case VAL_STR:
    case VAL_POLICY:
        return (IrAttrValue){.kind = ATTRVAL_TEXT, .text = v.s};
    case VAL_NONE:
        return (IrAttrValue){.kind = ATTRVAL_NONE};
    default:
        return (IrAttrValue){.kind = ATTRVAL_TEXT, .text = prim_text(l, v)};
    }
}

IrAttrValue lang_attr_value(Lang *l, Value v, Span at)
{
    return attr_value(l, v, at);
}

void prim_attr(Lang *l, IrStmt *s, IrAttrId id, Value v, Span at)
{
    if (v.kind == VAL_INT && id == ATTR_POLICY) {
        static const char *const names[] = {"Square", "FullRow", "FullCol"};
        if (v.i < 0 || v.i > 2)
            lang_raise(l, "ValueError", at, "%lld is not a GemmWarpPolicy",
                       (long long)v.i);
        v = v_str(text_of(names[v.i]));
    }
    if (id == ATTR_LOOP_LAYOUT && v.kind != VAL_INDEXMAP)
        v = (Value){.kind = VAL_INDEXMAP,
                    .indexmap = layout_of(l, v, NULL, at)};
    ir_attr(trace_kernel(l), s, id, attr_value(l, v, at));
}

static void extra_attr(Lang *l, IrStmt *s, Text name, Value v, Span at)
{
    const IrAttrValue *old = ir_attr_get(s, ATTR_ANNOTATIONS);
    IrAttrValue all = {.kind = ATTRVAL_DICT};
    int had = old ? old->list.len : 0;
    all.list.at = new_array(lang_arena(l), IrAttrValue, had + 2);
    for (int i = 0; i < had; i++)
        all.list.at[i] = old->list.at[i];
    all.list.at[had] = (IrAttrValue){.kind = ATTRVAL_TEXT, .text = name};
    all.list.at[had + 1] = attr_value(l, v, at);
    all.list.len = had + 2;
    ir_attr(trace_kernel(l), s, ATTR_ANNOTATIONS, all);
}

void bound_attrs(Lang *l, const Bound *b, IrStmt *s, int from)
{
    for (int i = from; i < b->info->param_count; i++) {
        IrAttrId id;
        Text name = b->info->param[i].name;
        if (!bound_given(b, i) || b->info->param[i].star
            || op_param_is_operand(&b->info->param[i]))
            continue;
        if (ir_attr_find(name, &id))
            prim_attr(l, s, id, b->at[i], b->spans[i]);
        else
            extra_attr(l, s, name, b->at[i], b->spans[i]);
    }
}

// ---- expressions -----------------------------------------------------------------------

static bool all_numbers(const Bound *b)
{
    for (int i = 0; i < b->info->param_count; i++)
        if (b->at[i].kind != VAL_INT && b->at[i].kind != VAL_FLOAT
            && b->at[i].kind != VAL_BOOL && b->at[i].kind != VAL_UNBOUND)
            return false;
    return true;
}

static Value stage_ceildiv(Lang *l, Value a, Value b, Span at)
{
    Value sum = binary_op(l, AST_OP_ADD, a, b, at);
    sum = binary_op(l, AST_OP_SUB, sum, v_int(1), at);
    return binary_op(l, AST_OP_FLOORDIV, sum, b, at);
}

static bool less(Lang *l, Value a, Value b, Span at)
{
    return value_truth(l, binary_op(l, AST_OP_LT, a, b, at), at);
}

// Python numbers stay Python numbers where Python has the operation.
static bool stage_expr(Lang *l, const Bound *b, Value *out)
{
    Value x = b->at[0], y = b->at[1];
    if (!all_numbers(b) || b->info->param_count != 2)
        return false;
    switch (b->op) {
    case OP_CEILDIV:
        *out = stage_ceildiv(l, x, y, b->call);
        return true;
    case OP_ALIGN_UP:
        *out = binary_op(l, AST_OP_MUL, stage_ceildiv(l, x, y, b->call), y,
                         b->call);
        return true;
    case OP_MAX:
        *out = less(l, x, y, b->call) ? y : x;
        return true;
    case OP_MIN:
        *out = less(l, y, x, b->call) ? y : x;
        return true;
    default:
        break;
    }
    for (AstOp op = AST_OP_ADD; op <= AST_OP_XOR; op++)
        if (op != AST_OP_MATMUL && device_op(op) == b->op) {
            *out = binary_op(l, op, x, y, b->call);
            return true;
        }
    return false;
}

// T.cast(v, dtype, round, sat, rbits): random bits for stochastic rounding.
static void check_rbits(Lang *l, const Bound *b)
{
    static const char *const modes[] = {"", "rn", "rz", "rs"};
    enum { ROUND = 2, RBITS = 4 };
    Text mode = b->at[ROUND].kind == VAL_STR ? b->at[ROUND].s : TEXT("");
    bool random = text_is(mode, "rs"), known = false;

    for (size_t i = 0; i < countof(modes); i++)
        known |= text_is(mode, modes[i]);
    if (!known)
        lang_raise(l, "ValueError", b->spans[ROUND], "Invalid round '%.*s': "
                   "it is 'rn', 'rz' or 'rs'", TEXT_ARG(mode));
    if (random && !bound_given(b, RBITS))
        lang_raise(l, "ValueError", b->call, "rbits is required with "
                   "round='rs'");
    if (!random && bound_given(b, RBITS))
        lang_raise(l, "ValueError", b->spans[RBITS], "rbits is only valid with "
                   "round='rs'");
}

static Value cast_call(Lang *l, const Bound *b)
{
    int v = b->op == OP_CAST_TO ? 1 : 0;
    DType t = value_to_dtype(l, b->at[1 - v], b->spans[1 - v]);
    bool sat = true;
    if (b->op == OP_CAST) {
        if (bound_given(b, 3) && b->at[3].kind != VAL_BOOL)
            lang_raise(l, "ValueError", b->spans[3], "Invalid sat: it is True "
                       "or False, not %s", value_type_name(b->at[3]));
        sat = !bound_given(b, 3) || b->at[3].b;
        check_rbits(l, b);
        if (bound_given(b, 2) && b->at[2].kind == VAL_STR && b->at[2].s.len
            && !text_is(b->at[2].s, "rn"))
            lang_unsupported(l, b->spans[2], "rounding mode '%.*s' of T.cast",
                             TEXT_ARG(b->at[2].s));
    }
    IrExpr *e = ir_cast(trace_kernel(l), to_expr(l, b->at[v], b->spans[v]), t,
                        sat, b->call);
    trace_builder_ok(l, e, b->call);
    return v_expr(e);
}

static Value reinterpret_call(Lang *l, const Bound *b)
{
    bool old_order = b->at[0].kind == VAL_DTYPE || b->at[0].kind == VAL_STR;
    int v = old_order ? 1 : 0;
    // T.reinterpret(T.uint64(0), dtype="handle"): an operand of T.attr
    if (!old_order && b->at[1].kind == VAL_STR
        && text_is(b->at[1].s, "handle"))
        return b->at[0];
    IrExpr *e = ir_reinterpret(trace_kernel(l),
                               to_expr(l, b->at[v], b->spans[v]),
                               value_to_dtype(l, b->at[1 - v], b->spans[1 - v]),
                               b->call);
    trace_builder_ok(l, e, b->call);
    return v_expr(e);
}

static Value round_call(Lang *l, const Bound *b)
{
    Op op = OP_ROUND;
    if (bound_given(b, 1) && b->at[1].kind == VAL_STR) {
        if (text_is(b->at[1].s, "ties-away-from-zero"))
            op = OP_ROUND_AWAY;
        else if (!text_is(b->at[1].s, "ties-to-even"))
            lang_raise(l, "ValueError", b->spans[1],
                       "'%.*s' is no rounding mode of T.round: ties-to-even, "
                       "ties-away-from-zero", TEXT_ARG(b->at[1].s));
    }
    IrExpr *e = ir_op1(trace_kernel(l), op, to_expr(l, b->at[0], b->spans[0]),
                       b->call);
    trace_builder_ok(l, e, b->call);
    return expr_value(l, e);
}

// T.ieee_*: to nearest is what all arithmetic here does. The mode otherwise.
static Text rounding_mode(Lang *l, const Bound *b)
{
    static const char *const modes[] = {"rn", "rz", "ru", "rd"};
    int i = op_param_find(b->info, TEXT("rounding_mode"));
    bool known = false;

    if (i < 0 || !bound_given(b, i))
        return TEXT("rn");
    for (size_t m = 0; m < countof(modes) && b->at[i].kind == VAL_STR; m++)
        known |= text_is(b->at[i].s, modes[m]);
    if (!known)
        lang_raise(l, "ValueError", b->spans[i],
                   "a rounding mode of %s is 'rn', 'rz', 'ru' or 'rd'",
                   b->info->surface);
    return b->at[i].s;
}

static IrExpr *rounded(Lang *l, const Bound *b, IrExpr *const *args, int n,
                       IrExpr *nearest, Text mode)
{
    for (int i = 0; i < n; i++)
        if (args[i]->dtype != DT_F32)
            lang_unsupported(l, b->call, "rounding mode '%.*s' of %s for %s",
                             TEXT_ARG(mode), b->info->surface,
                             dtype_info(args[i]->dtype)->name);
    return round_directed(l, b->op, args, n, nearest, mode, b->call);
}

static Value plain_expr(Lang *l, const Bound *b)
{
    Text mode = rounding_mode(l, b);
    IrExpr *args[OP_MAX_PARAMS];
    int n = 0;
    for (int i = 0; i < b->info->param_count; i++)
        if (b->info->param[i].kind == ARG_EXPR
            && b->at[i].kind != VAL_UNBOUND) {
            bool logic = b->op == OP_AND || b->op == OP_OR || b->op == OP_NOT;
            args[n++] = logic ? to_condition(l, b->at[i], b->spans[i])
                              : to_expr(l, b->at[i], b->spans[i]);
        }
    IrExpr *e = ir_op(trace_kernel(l), b->op, args, n, b->call);
    trace_builder_ok(l, e, b->call);
    if (!text_is(mode, "rn"))
        e = rounded(l, b, args, n, e, mode);
    return expr_value(l, e);
}

static Value expr_call(Lang *l, const Bound *b)
{
    Value out;
    if (stage_expr(l, b, &out))
        return out;
    switch (b->op) {
    case OP_CAST:
    case OP_CAST_TO:
        return cast_call(l, b);
    case OP_REINTERPRET:
        return reinterpret_call(l, b);
    case OP_ROUND:
        return round_call(l, b);
    case OP_IF_THEN_ELSE:
        if (!v_is_device(b->at[0]))
            return value_truth(l, b->at[0], b->spans[0]) ? b->at[1] : b->at[2];
        return device_select(l, b->at[0], b->at[1], b->at[2], b->call);
    default:
        return plain_expr(l, b);
    }
}

// ---- dispatch ----------------------------------------------------------------------------

Value prim_call(Lang *l, Op op, const Args *args)
{
    Value out = V_NONE;
    if (unseen_argument(l, "", args, &out))
        return out;
    Args moved;
    if (op == OP_CALL_EXTERN) {
        moved = extern_args(l, args);
        args = &moved;
    }
    Bound b = prim_bind(l, op, args);
    if (vector_call(l, &b, &out) || stage_call(l, &b, &out) || thread_call(l, &b, &out))
        return out;
    switch (b.info->class) {
    case OPCLASS_EXPR:
        return expr_call(l, &b);
    case OPCLASS_TILE:
        return tile_call(l, &b);
    case OPCLASS_HINT:
        trace_add(l, tile_stmt(l, &b));
        return V_NONE;
    case OPCLASS_ALLOC:
        if (alloc_call(l, &b, &out))
            return out;
        break;
    case OPCLASS_LOOP:
        if (loop_call(l, &b, &out))
            return out;
        break;
    default:
        break;
    }
    lang_unsupported(l, args->at_span, "calling '%s'", b.info->surface);
}

// A literal of 64 bits has no value of its own: T.uint64(0xFFFFFFFFFFFFFFFF).
bool unsigned_literal(Lang *l, Value callee, const Ast *call, Value *out)
{
    const Ast *e = call->x.len == 1 ? call->x.at[0] : NULL;
    char digits[80];
    size_t n = 0;

    if (callee.kind != VAL_DTYPE || callee.dtype != DT_U64 || !e
        || e->kind != AST_NUMBER || !e->big || e->is_float)
        return false;
    for (size_t i = 0; i < e->text.len && n + 1 < sizeof digits; i++)
        if (e->text.at[i] != '_')
            digits[n++] = e->text.at[i];
    digits[n] = '\0';
    errno = 0;
    uint64_t v = strtoull(digits, NULL, 0);
    if (errno || strpbrk(digits, "oObB"))
        return false;
    *out = v_expr(ir_int(trace_kernel(l), DT_U64, (int64_t)v, e->at));
    return true;
}

Value dtype_call(Lang *l, DType t, const Args *args)
{
    static const char *const names[] = {"value="};
    Value v;
    args_bind(l, dtype_info(t)->name, args, names, 1, &v);
    IrKernel *k = trace_kernel(l);
    IrExpr *e;
    if (v.kind == VAL_UNBOUND)  // a variable: see T.let
        return v_expr(ir_use(k, ir_var(k, VAR_LET, TEXT("v"), t,
                                       args->at_span), args->at_span));
    if (v.kind == VAL_FLOAT && dtype_is_float(t))
        e = ir_float(k, t, v.f, args->at_span);
    else if (v.kind == VAL_INT && dtype_is_float(t))
        e = ir_float(k, t, (double)v.i, args->at_span);
    else if (v.kind == VAL_INT && dtype_is_int(t))
        e = ir_int(k, t, v.i, args->at_span);
    else
        e = ir_cast(k, to_expr(l, v, args->at_span), t, true, args->at_span);
    trace_builder_ok(l, e, args->at_span);
    return v_expr(e);
}
