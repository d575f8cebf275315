// op.c - the op table as structures: signatures parsed, names looked up.
#include "op/op.h"

struct OpTable {
    OpInfo info[OP_COUNT];
    Map names;                          // surface without "T.", and aliases
};

static const char *const kind_names[] = {
    [ARG_REGION] = "region", [ARG_EXPR] = "expr",   [ARG_BUFFER] = "buffer",
    [ARG_ANY] = "any",       [ARG_DTYPE] = "dtype", [ARG_INT] = "int",
    [ARG_BOOL] = "bool",     [ARG_FLOAT] = "float", [ARG_TEXT] = "text",
    [ARG_LIST] = "list",     [ARG_DICT] = "dict",   [ARG_LAYOUT] = "layout",
};

bool op_is_atomic(Op op)
{
    switch (op) {
    case OP_ATOMIC_ADD:
    case OP_ATOMIC_MAX:
    case OP_ATOMIC_MIN:
    case OP_ATOMIC_OR:
        return true;
    default:
        return false;
    }
}

bool op_is_warp(Op op)
{
    switch (op) {
    case OP_GET_THREAD_BINDING:
    case OP_SHFL_SYNC:
    case OP_SHFL_XOR:
    case OP_SHFL_UP:
    case OP_SHFL_DOWN:
    case OP_ANY_SYNC:
    case OP_ALL_SYNC:
    case OP_BALLOT:
    case OP_BALLOT_SYNC:
    case OP_MATCH_ANY_SYNC:
    case OP_MATCH_ALL_SYNC:
    case OP_WARP_REDUCE_SUM:
    case OP_WARP_REDUCE_MAX:
    case OP_WARP_REDUCE_MIN:
    case OP_WARP_REDUCE_BITAND:
    case OP_WARP_REDUCE_BITOR:
    case OP_SYNCTHREADS_COUNT:
    case OP_SYNCTHREADS_AND:
    case OP_SYNCTHREADS_OR:
    case OP_RNG_RAND:
    case OP_RNG_STATE:
        return true;
    default:
        return false;
    }
}

bool op_is_reduction(Op op)
{
    switch (op) {
    case OP_REDUCE_SUM:
    case OP_REDUCE_MAX:
    case OP_REDUCE_MIN:
    case OP_REDUCE_ABSMAX:
    case OP_REDUCE_ABSSUM:
    case OP_REDUCE_BITAND:
    case OP_REDUCE_BITOR:
    case OP_REDUCE_BITXOR:
        return true;
    default:
        return false;
    }
}

const char *op_status_name(OpStatus status)
{
    switch (status) {
    case OPSTATUS_BUILT: return "built";
    case OPSTATUS_LATER: return "not built yet";
    case OPSTATUS_NEVER: return "not planned";
    }
    return "";
}

// Takes the text of `t` up to `stop` and moves `t` behind it.
static Text take(Text *t, char stop)
{
    size_t n = 0;
    while (n < t->len && t->at[n] != stop)
        n++;
    Text word = text_slice(*t, 0, n);
    *t = text_slice(*t, n < t->len ? n + 1 : n, t->len);
    return word;
}

static ArgKind find_kind(Text word, const char *surface)
{
    for (size_t i = 0; i < countof(kind_names); i++)
        if (text_is(word, kind_names[i]))
            return (ArgKind)i;
    BUG("ops.def: %s has a parameter of kind '%.*s'", surface, TEXT_ARG(word));
}

static Text unquote(Text t)
{
    bool quoted = t.len >= 2 && t.at[0] == '\'' && t.at[t.len - 1] == '\'';
    return quoted ? text_slice(t, 1, t.len - 1) : t;
}

// parameter: ["*"] name ":" kind [":" access] ["=" default]
static OpParam parse_param(Text t, const char *surface)
{
    OpParam p = {.access = ' '};
    if (t.len && t.at[0] == '*') {
        p.star = true;
        t = text_slice(t, 1, t.len);
    }
    Text head = take(&t, '=');
    p.name = take(&head, ':');
    p.kind = find_kind(take(&head, ':'), surface);
    if (head.len)
        p.access = head.at[0];
    p.fallback = unquote(t);
    p.optional = p.star || t.len > 0;
    return p;
}

static void parse_signature(OpInfo *info)
{
    Text rest = text_of(info->signature);
    bool keyword_only = false;
    while (rest.len) {
        Text word = text_trim(take(&rest, ','));
        if (text_is(word, "*")) {
            keyword_only = true;
            continue;
        }
        if (info->param_count == OP_MAX_PARAMS)
            BUG("ops.def: %s has too many parameters", info->surface);
        OpParam *p = &info->param[info->param_count++];
        *p = parse_param(word, info->surface);
        p->keyword_only = keyword_only;
        keyword_only |= p->star;
    }
}

static void add_name(Arena *a, OpTable *t, const char *name, Op op)
{
    Text key = text_of(name);
    if (text_starts(key, "T."))
        key = text_slice(key, 2, key.len);
    if (map_find(&t->names, key))
        BUG("ops.def: '%s' twice", name);
    map_set(a, &t->names, key, &t->info[op]);
}

static const OpInfo rows[OP_COUNT] = {
#define OP(id, name, c, s, lane, params, text)                                \
    [OP_##id] = {.surface = name, .class = OPCLASS_##c,                       \
                 .status = OPSTATUS_##s, .signature = params, .doc = text},
#include "op/ops.def"
};

static const struct {
    const char *name;
    Op op;
} aliases[] = {
#define ALIAS(name, id) {name, OP_##id},
#include "op/ops.def"
};

const OpTable *op_table_create(Arena *a)
{
    OpTable *t = new(a, OpTable);
    for (int i = 0; i < OP_COUNT; i++) {
        t->info[i] = rows[i];
        parse_signature(&t->info[i]);
        add_name(a, t, rows[i].surface, (Op)i);
    }
    for (size_t i = 0; i < countof(aliases); i++)
        add_name(a, t, aliases[i].name, aliases[i].op);
    return t;
}

const OpInfo *op_info(const OpTable *t, Op op)
{
    if ((unsigned)op >= OP_COUNT)
        BUG("op %d", (int)op);
    return &t->info[op];
}

const char *op_surface(Op op)
{
    if ((unsigned)op >= OP_COUNT)
        BUG("op %d", (int)op);
    return rows[op].surface;
}

bool op_find(const OpTable *t, Text name, Op *out)
{
    const OpInfo *info = map_get(&t->names, name);
    if (info)
        *out = (Op)(info - t->info);
    return info != NULL;
}

bool op_reduction_find(const OpTable *t, Text name, Op *out)
{
    TextBuf b = {0};
    Op op;

    buf_printf(&b, "reduce_%.*s", TEXT_ARG(name));
    bool found = op_find(t, buf_view(&b), &op) && op_is_reduction(op);
    buf_release(&b);
    if (found)
        *out = op;
    return found;
}

int op_param_find(const OpInfo *info, Text name)
{
    for (int i = 0; i < info->param_count; i++)
        if (text_eq(info->param[i].name, name))
            return i;
    return -1;
}

bool op_param_is_operand(const OpParam *p)
{
    return p->kind == ARG_REGION || p->kind == ARG_EXPR ||
           p->kind == ARG_BUFFER;
}

// Spellings further away than this are no misspellings.
static int nearest_limit(Text name)
{
    return name.len <= 3 ? 1 : name.len <= 8 ? 2 : 3;
}

Text op_suggest(const OpTable *t, Text name)
{
    Text best = {0};
    int best_cost = 2 * nearest_limit(name) + 2;
    for (int i = 0; i < t->names.len; i++) {
        const OpInfo *info = t->names.at[i].value;
        // of two equally near names the built one is more helpful
        int cost = 2 * text_distance(t->names.at[i].key, name) +
                   (info->status != OPSTATUS_BUILT);
        if (cost < best_cost) {
            best_cost = cost;
            best = t->names.at[i].key;
        }
    }
    return best;
}
