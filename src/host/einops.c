// einops.c - einops.rearrange, repeat, reduce and einsum.
//
// A pattern is two sides of groups: "b (h d) -> b h d". The tensor is taken
// apart to one dimension for each name on the left, reordered, given new
// dimensions or reduced, and put together as the right side says.
//
//   side  = { group }
//   group = NAME | "1" | "..." | "(" { NAME | "1" | "..." } ")"
#include "host/torch_int.h"

enum { MOST_AXES = 2 * TENSOR_MAX_RANK };

typedef struct {
    Text name;                  // of "...": none
    int64_t size;               // -1: not known yet
} Axis;

typedef struct {
    int axis[MOST_AXES], count; // in order
    int group[MOST_AXES + 1];   // of each group its first in `axis`
    int groups;
} Side;

typedef struct {
    Host *h;
    Span at;
    const char *function;
    Text pattern;
    Axis axes[MOST_AXES];
    int axis_count;
    int dots, dots_first;       // dimensions of "...", and their first axis
    Side left, right;
} Pattern;

static _Noreturn void refuse(const Pattern *p, const char *why)
{
    lang_raise(p->h->lang, "RuntimeError", p->at, "%s('%.*s'): %s", p->function,
               TEXT_ARG(p->pattern), why);
}

// ---- reading ----------------------------------------------------------------

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_';
}

static int new_axis(Pattern *p, Text name, int64_t size)
{
    if (p->axis_count == MOST_AXES)
        refuse(p, "too many names");
    p->axes[p->axis_count] = (Axis){name, size};
    return p->axis_count++;
}

static int axis_named(Pattern *p, Text name)
{
    for (int i = 0; i < p->axis_count; i++)
        if (p->axes[i].name.len && text_eq(p->axes[i].name, name))
            return i;
    return new_axis(p, name, -1);
}

static void add_axis(const Pattern *p, Side *s, int axis)
{
    for (int i = 0; i < s->count; i++)
        if (s->axis[i] == axis)
            refuse(p, "a name appears twice on one side");
    if (s->count == MOST_AXES)
        refuse(p, "too many dimensions");
    s->axis[s->count++] = axis;
}

static void start_group(const Pattern *p, Side *s)
{
    if (s->groups == TENSOR_MAX_RANK)
        refuse(p, "too many dimensions");
    s->group[s->groups++] = s->count;
}

// "...": as many dimensions as the tensor has more than the pattern.
static void add_dots(Pattern *p, Side *s, bool grouped)
{
    if (p->dots < 0)
        refuse(p, "'...' is only on the right");
    for (int i = 0; i < p->dots; i++) {
        if (!grouped)
            start_group(p, s);
        add_axis(p, s, p->dots_first + i);
    }
}

static bool all_digits(Text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (t.at[i] < '0' || t.at[i] > '9')
            return false;
    return true;
}

// A name, or "1" (nothing); other numbers are new dimensions on the right.
static void add_word(Pattern *p, Side *s, Text word, bool grouped)
{
    if (!grouped)
        start_group(p, s);
    if (text_is(word, "1"))
        return;
    if (!all_digits(word)) {
        add_axis(p, s, axis_named(p, word));
        return;
    }
    int64_t size = 0;
    for (size_t i = 0; i < word.len && size < 1 << 30; i++)
        size = 10 * size + (word.at[i] - '0');
    if (s == &p->left)
        refuse(p, "a number other than 1 on the left");
    add_axis(p, s, new_axis(p, (Text){0}, size));
}

static void read_side(Pattern *p, Text t, Side *s)
{
    bool grouped = false;
    for (size_t i = 0; i < t.len;) {
        char c = t.at[i];
        size_t end = i;
        while (end < t.len && is_name_char(t.at[end]))
            end++;
        if (end > i) {
            add_word(p, s, text_slice(t, i, end), grouped);
            i = end;
        } else if (text_starts(text_slice(t, i, t.len), "...")) {
            add_dots(p, s, grouped);
            i += 3;
        } else if (c == '(' && !grouped) {
            start_group(p, s);
            grouped = true;
            i++;
        } else if (c == ')' && grouped) {
            grouped = false;
            i++;
        } else if (c == ' ' || c == '\t' || c == '\n') {
            i++;
        } else {
            refuse(p, "a character that does not belong there");
        }
    }
    if (grouped)
        refuse(p, "a parenthesis is not closed");
}

// Dimensions that a side asks for, "..." not counted.
static int count_groups(Text t)
{
    int n = 0, depth = 0;
    bool word = false;
    for (size_t i = 0; i < t.len; i++) {
        bool in = is_name_char(t.at[i]);
        n += depth == 0 && ((in && !word) || t.at[i] == '(');
        depth += t.at[i] == '(' ? 1 : t.at[i] == ')' ? -1 : 0;
        word = in;
    }
    return n;
}

static size_t find(Text t, const char *what)
{
    size_t i = 0;
    while (i < t.len && !text_starts(text_slice(t, i, t.len), what))
        i++;
    return i;
}

static void read_sizes(Pattern *p, const Args *args)
{
    for (int i = 0; i < args->keyword_count; i++) {
        int64_t size = torch_int(p->h, args->values[i], "a size", 0, p->at);
        bool known = false;
        for (int a = 0; a < p->axis_count; a++)
            if (text_eq(p->axes[a].name, args->names[i])) {
                p->axes[a].size = size;
                known = true;
            }
        if (!known || size < 0)
            refuse(p, known ? "a size is negative"
                            : "a size for a name that it has not");
    }
}

// Sizes of the left side's names; one of each group may be open.
static void solve_sizes(Pattern *p, const Tensor *t)
{
    Side *s = &p->left;
    s->group[s->groups] = s->count;
    if (s->groups != t->rank)
        refuse(p, "the left side has another number of dimensions than the "
                  "tensor");
    for (int g = 0; g < s->groups; g++) {
        int64_t known = 1;
        int open = -1;
        for (int i = s->group[g]; i < s->group[g + 1]; i++) {
            if (p->axes[s->axis[i]].size >= 0)
                known *= p->axes[s->axis[i]].size;
            else if (open >= 0)
                refuse(p, "two sizes of one dimension are not known");
            else
                open = s->axis[i];
        }
        if (open >= 0 && known > 0 && t->shape[g] % known == 0)
            p->axes[open].size = t->shape[g] / known;
        else if (open >= 0 || known != t->shape[g])
            refuse(p, "the sizes do not fit the tensor");
    }
}

static void read_pattern(Pattern *p, const Tensor *t, const Args *args)
{
    size_t arrow = find(p->pattern, "->");
    if (arrow == p->pattern.len)
        refuse(p, "there is no '->'");
    Text left = text_slice(p->pattern, 0, arrow);
    Text right = text_slice(p->pattern, arrow + 2, p->pattern.len);
    p->dots = -1;
    if (find(left, "...") < left.len) {
        p->dots = t->rank - count_groups(left);
        if (p->dots < 0)
            refuse(p, "the tensor has too few dimensions");
        p->dots_first = p->axis_count;
        for (int i = 0; i < p->dots; i++)
            new_axis(p, (Text){0}, -1);
    }
    read_side(p, left, &p->left);
    read_side(p, right, &p->right);
    p->right.group[p->right.groups] = p->right.count;
    read_sizes(p, args);
    solve_sizes(p, t);
}

// ---- doing ------------------------------------------------------------------

static int place_in(const Side *s, int axis)
{
    for (int i = 0; i < s->count; i++)
        if (s->axis[i] == axis)
            return i;
    return -1;
}

// One dimension for each name of the left side.
static Value taken_apart(const Pattern *p, const Tensor *t)
{
    int64_t shape[MOST_AXES];
    if (p->left.count > TENSOR_MAX_RANK)
        refuse(p, "too many dimensions");
    for (int i = 0; i < p->left.count; i++)
        shape[i] = p->axes[p->left.axis[i]].size;
    return torch_reshaped(p->h, t, p->left.count, shape, p->at);
}

// x has the dimensions of `have`, in order; the right side may have more.
static Value put_together(const Pattern *p, Value x, const Side *have)
{
    Tensor view = *tensor_of(x);
    int order[MOST_AXES], extra = have->count;
    int64_t wide[MOST_AXES], shape[MOST_AXES];
    if (p->right.count > TENSOR_MAX_RANK)
        refuse(p, "too many dimensions");
    for (int i = 0; i < p->right.count; i++) {
        int own = place_in(have, p->right.axis[i]);
        wide[i] = p->axes[p->right.axis[i]].size;
        if (wide[i] < 0)
            refuse(p, "the size of a new dimension is not given");
        if (own < 0)
            view = tensor_unsqueeze(&view, view.rank);
        order[i] = own < 0 ? extra++ : own;
    }
    if (extra != p->right.count)
        refuse(p, "a name of the left side is missing on the right");
    view = tensor_permute(&view, order);
    view = tensor_expand(&view, p->right.count, wide);
    for (int g = 0; g < p->right.groups; g++) {
        shape[g] = 1;
        for (int i = p->right.group[g]; i < p->right.group[g + 1]; i++)
            if (__builtin_mul_overflow(shape[g], wide[i], &shape[g]))
                refuse(p, "the sizes are too large");
    }
    return torch_reshaped(p->h, &view, p->right.groups, shape, p->at);
}

static Tensor *begin(Host *h, Pattern *p, const Args *args, const char *name,
                     int count)
{
    *p = (Pattern){.h = h, .at = args->at_span, .function = name};
    if (args->count != count || args->at[1].kind != VAL_STR)
        lang_raise(h->lang, "TypeError", p->at, "%s() takes a tensor%s", name,
                   count == 3 ? ", a pattern and an operation"
                              : " and a pattern");
    p->pattern = args->at[1].s;
    return torch_tensor(h, args->at[0], "the argument", p->at);
}

static Value rearranged(Host *h, const Args *args, const char *name, bool more)
{
    Pattern p;
    Tensor *t = begin(h, &p, args, name, 2);
    read_pattern(&p, t, args);
    for (int i = 0; !more && i < p.right.count; i++)
        if (place_in(&p.left, p.right.axis[i]) < 0)
            refuse(&p, "a name of the right side is missing on the left");
    return put_together(&p, taken_apart(&p, t), &p.left);
}

static Value rearrange(Lang *l, void *ctx, const Args *args)
{
    (void)l;
    return rearranged(ctx, args, "rearrange", false);
}

static Value repeat(Lang *l, void *ctx, const Args *args)
{
    (void)l;
    return rearranged(ctx, args, "repeat", true);
}

static Reduction reduction_of(const Pattern *p, Value v)
{
    static const struct {
        const char *name;
        Reduction r;
    } table[] = {
        {"sum", REDUCE_SUM}, {"mean", REDUCE_MEAN}, {"max", REDUCE_AMAX},
        {"min", REDUCE_AMIN}, {"prod", REDUCE_PROD}, {"any", REDUCE_ANY},
        {"all", REDUCE_ALL},
    };
    for (size_t i = 0; v.kind == VAL_STR && i < countof(table); i++)
        if (text_is(v.s, table[i].name))
            return table[i].r;
    refuse(p, "the operation is one of sum, mean, max, min, prod, any, all");
}

static DType reduced_dtype(Reduction r, DType t)
{
    if (r == REDUCE_ANY || r == REDUCE_ALL)
        return DT_BOOL;
    return r <= REDUCE_PROD && !dtype_is_float(t) ? DT_I64 : t;
}

static Value reduce(Lang *l, void *ctx, const Args *args)
{
    Pattern p;
    Tensor *t = begin(ctx, &p, args, "reduce", 3);
    Side kept = {0};
    uint32_t mask = 0;
    (void)l;
    Reduction r = reduction_of(&p, args->at[2]);
    read_pattern(&p, t, args);
    for (int i = 0; i < p.left.count; i++) {
        if (place_in(&p.right, p.left.axis[i]) < 0)
            mask |= 1u << i;
        else
            kept.axis[kept.count++] = p.left.axis[i];
    }
    Value x = taken_apart(&p, t);
    if (mask)
        x = torch_reduce(p.h, x, r, mask, false, reduced_dtype(r, t->dtype),
                         p.at);
    return put_together(&p, x, &kept);
}

// ---- einsum -----------------------------------------------------------------

// Names become single letters.
static Text letters(Pattern *p)
{
    TextBuf b = {0};
    Text t = p->pattern;
    for (size_t i = 0; i < t.len;) {
        size_t end = i;
        while (end < t.len && is_name_char(t.at[end]))
            end++;
        if (end == i) {
            buf_addc(&b, t.at[i++]);
            continue;
        }
        int n = axis_named(p, text_slice(t, i, end));
        buf_addc(&b, (char)(n < 26 ? 'a' + n : 'A' + n - 26));
        i = end;
    }
    Text out = text_copy(p->h->options.arena, buf_view(&b));
    buf_release(&b);
    return out;
}

static Value einsum(Lang *l, void *ctx, const Args *args)
{
    Host *h = ctx;
    Pattern p = {.h = h, .at = args->at_span, .function = "einsum"};
    int n = args->count - 1;
    if (n < 1 || args->at[n].kind != VAL_STR)
        lang_raise(l, "TypeError", p.at,
                   "einsum() takes tensors and then a pattern");
    p.pattern = args->at[n].s;
    if (find(p.pattern, "->") == p.pattern.len)
        refuse(&p, "there is no '->'");
    Value *all = new_array(lang_arena(l), Value, args->count);
    all[0] = v_str(letters(&p));
    for (int i = 0; i < n; i++)
        all[i + 1] = args->at[i];
    Args again = {.at = all, .count = args->count, .at_span = p.at};
    return torch_find(TEXT("einsum"), IN_TORCH)(h, &again);
}

typedef struct {
    const char *name;
    Value (*call)(Lang *l, void *ctx, const Args *args);
} Row;

typedef struct {
    Host *h;
    const Row *row;
} Bridge;

static Value call_bridge(Lang *l, void *ctx, const Args *args)
{
    const Bridge *b = ctx;
    bool wanted = tape_wants(b->h, args);
    if (wanted)
        tape_hold(args);
    Value out = b->row->call(l, b->h, args);
    if (wanted)
        tape_record(b->h, text_format(lang_arena(l), "einops.%s",
                                      b->row->name), args, out);
    return out;
}

bool einops_import(Host *h, Text name, Value *out)
{
    static const Row rows[] = {
        {"rearrange", rearrange}, {"repeat", repeat}, {"reduce", reduce},
        {"einsum", einsum},
    };
    if (!text_is(name, "einops"))
        return false;
    Module *m = lang_module(h->lang, "einops");
    for (size_t i = 0; i < countof(rows); i++) {
        Bridge *b = new (h->options.arena, Bridge);
        *b = (Bridge){h, &rows[i]};
        module_set(h->lang, m, rows[i].name,
                   v_builtin(h->lang, rows[i].name, call_bridge, b));
    }
    *out = (Value){.kind = VAL_MODULE, .module = m};
    return true;
}
