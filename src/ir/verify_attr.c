// verify_attr.c - kinds and values of attributes.
#include "ir/verify_int.h"

static const struct {
    IrAttrKind kind;
} rows[ATTR_COUNT] = {
#define ATTR(id, name, value, doc) [ATTR_##id] = {ATTRVAL_##value},
#include "ir/attr.def"
};

static const char *kind_name(IrAttrKind kind)
{
    static const char *const names[] = {
        [ATTRVAL_NONE] = "None",   [ATTRVAL_INT] = "an integer",
        [ATTRVAL_BOOL] = "True or False", [ATTRVAL_FLOAT] = "a number",
        [ATTRVAL_TEXT] = "a text", [ATTRVAL_EXPR] = "an expression",
        [ATTRVAL_LIST] = "a list", [ATTRVAL_DICT] = "a dict",
        [ATTRVAL_LAYOUT] = "a layout",
    };
    return names[kind];
}

static bool kind_fits(IrAttrId id, IrAttrKind wanted, IrAttrKind found)
{
    bool whole = found == ATTRVAL_INT || found == ATTRVAL_BOOL;
    if (found == wanted || found == ATTRVAL_NONE || wanted == ATTRVAL_EXPR)
        return true;
    if (id == ATTR_ORDER)               // of use_swizzle
        return found == ATTRVAL_TEXT;
    return whole && (wanted == ATTRVAL_INT || wanted == ATTRVAL_BOOL);
}

// The texts an attribute can be; "" ends a row.
static const struct {
    IrAttrId id;
    const char *words[7];
} choices[] = {
    {ATTR_POLICY, {"Square", "FullRow", "FullCol"}},
    {ATTR_EVICTION_POLICY, {"evict_normal", "evict_first", "evict_last"}},
    {ATTR_PREFER_INSTRUCTION, {"tma", "cp_async", "sync"}},
    {ATTR_MEMORY_ORDER, {"relaxed", "consume", "acquire", "release", "acq_rel",
                         "seq_cst"}},
    {ATTR_ORDER, {"row", "column", "mlx"}},
};

static bool check_choice(IrKernel *k, const IrStmt *s, const IrAttr *a,
                         const char *const *words)
{
    TextBuf list = {0};
    for (int i = 0; words[i]; i++) {
        if (text_is(a->value.text, words[i])) {
            buf_release(&list);
            return true;
        }
        buf_printf(&list, "%s%s", i ? ", " : "", words[i]);
    }
    ir_error(k, s->at, "ir-attr", "%s='%.*s' is none of %.*s",
             ir_attr_name(a->id), TEXT_ARG(a->value.text),
             TEXT_ARG(buf_view(&list)));
    buf_release(&list);
    return false;
}

static const struct {
    IrAttrId id;
    int64_t least;
} limits[] = {
    {ATTR_K_PACK, 1},          {ATTR_NUM_STAGES, 0}, {ATTR_COALESCED_WIDTH, 1},
    {ATTR_PANEL_SIZE, 1},      {ATTR_BATCH, 1},      {ATTR_PAD, 0},
    {ATTR_UNROLL_FACTOR, 1},
};

static bool check_limit(IrKernel *k, const IrStmt *s, const IrAttr *a)
{
    for (size_t i = 0; i < countof(limits); i++)
        if (a->id == limits[i].id && a->value.kind == ATTRVAL_INT &&
            a->value.i64 < limits[i].least)
            return ir_error(k, s->at, "ir-attr",
                            "%s=%lld must be at least %lld",
                            ir_attr_name(a->id), (long long)a->value.i64,
                            (long long)limits[i].least);
    return true;
}

static bool check_attr(IrKernel *k, const IrStmt *s, const IrAttr *a)
{
    if (!kind_fits(a->id, rows[a->id].kind, a->value.kind))
        return ir_error(k, s->at, "ir-attr", "%s must be %s, not %s",
                        ir_attr_name(a->id), kind_name(rows[a->id].kind),
                        kind_name(a->value.kind));
    if (a->value.kind == ATTRVAL_TEXT)
        for (size_t i = 0; i < countof(choices); i++)
            if (a->id == choices[i].id)
                return check_choice(k, s, a, choices[i].words);
    return check_limit(k, s, a);
}

bool verify_attrs(IrKernel *k, const IrStmt *s)
{
    bool good = true;
    for (const IrAttr *a = s->attrs; a; a = a->next)
        good = check_attr(k, s, a) && good;
    return good;
}
