// print.c - the op table as people read it: `tilesim ops` and docs/ops.md.
#include "op/op.h"

static const struct {
    const char *title, *text;
} chapters[] = {
    [OPCLASS_TILE] = {"Tile operations", "Statements on buffers and slices; "
                      "they work for the whole block."},
    [OPCLASS_EXPR] = {"Expressions", "Operators and functions of scalars; in "
                      "T.Parallel they run over all elements."},
    [OPCLASS_LOOP] = {"Loops", "What `for` iterates over."},
    [OPCLASS_ALLOC] = {"Buffers", "What makes a buffer."},
    [OPCLASS_HINT] = {"Hints", "They steer layout and scheduling, never "
                      "results."},
    [OPCLASS_STAGE] = {"Staging", "Evaluated while the kernel is built."},
    [OPCLASS_DTYPE] = {"Dtypes", "Objects, and calls that convert."},
    [OPCLASS_SIMT] = {"Per-thread code", "Needs the threads of a block one by "
                      "one."},
    [OPCLASS_ARCH] = {"Architecture", "Barriers, asynchronous copies, warp "
                      "groups, clusters."},
};

static void print_default(TextBuf *out, const OpParam *p)
{
    bool quote = p->kind == ARG_TEXT && !text_is(p->fallback, "None");
    buf_printf(out, quote ? "='%.*s'" : "=%.*s", TEXT_ARG(p->fallback));
}

// Python's parameter list.
static void print_signature(TextBuf *out, const OpInfo *info)
{
    bool keyword_only = false;
    buf_addc(out, '(');
    for (int i = 0; i < info->param_count; i++) {
        const OpParam *p = &info->param[i];
        buf_puts(out, i ? ", " : "");
        if (p->keyword_only && !keyword_only &&
            !(i && info->param[i - 1].star))
            buf_puts(out, "*, ");
        keyword_only = p->keyword_only;
        buf_printf(out, "%s%.*s", p->star ? "*" : "", TEXT_ARG(p->name));
        if (p->optional && !p->star)
            print_default(out, p);
    }
    buf_addc(out, ')');
}

static bool has_signature(const OpInfo *info)
{
    bool call = text_starts(text_of(info->surface), "T.");
    return call && (info->param_count ||
                    (info->status == OPSTATUS_BUILT &&
                     info->class != OPCLASS_DTYPE));
}

static void print_row(TextBuf *out, const OpInfo *info)
{
    buf_printf(out, "- `%s", info->surface);
    if (has_signature(info))
        print_signature(out, info);
    buf_addc(out, '`');
    if (info->status != OPSTATUS_BUILT)
        buf_printf(out, " (%s)", op_status_name(info->status));
    buf_printf(out, ": %s\n", info->doc);
}

static bool holds(Text text, Text part)
{
    for (size_t i = 0; i + part.len <= text.len; i++)
        if (text_eq(text_slice(text, i, i + part.len), part))
            return true;
    return false;
}

static int print_chapter(TextBuf *out, const OpTable *t, OpClass class,
                         Text filter)
{
    int rows = 0;
    for (OpStatus status = OPSTATUS_BUILT; status <= OPSTATUS_NEVER; status++)
        for (int i = 0; i < OP_COUNT; i++) {
            const OpInfo *info = op_info(t, (Op)i);
            if (info->class != class || info->status != status ||
                !holds(text_of(info->surface), filter))
                continue;
            if (rows++ == 0)
                buf_printf(out, "\n## %s\n%s\n\n", chapters[class].title,
                           chapters[class].text);
            print_row(out, info);
        }
    return rows;
}

static void print_head(TextBuf *out, const OpTable *t)
{
    int built = 0;
    for (int i = 0; i < OP_COUNT; i++)
        built += op_info(t, (Op)i)->status == OPSTATUS_BUILT;
    buf_printf(out, "# Primitives\n%d rows, %d built. \"not built yet\" and "
               "\"not planned\" are refused with exit code 4.\n",
               OP_COUNT, built);
}

void ops_print(TextBuf *out, const OpTable *t, Text filter)
{
    static const OpClass order[] = {
        OPCLASS_TILE, OPCLASS_LOOP, OPCLASS_ALLOC, OPCLASS_EXPR, OPCLASS_DTYPE,
        OPCLASS_HINT, OPCLASS_STAGE, OPCLASS_SIMT, OPCLASS_ARCH,
    };
    int rows = 0;
    if (!filter.len)
        print_head(out, t);
    for (size_t i = 0; i < countof(order); i++)
        rows += print_chapter(out, t, order[i], filter);
    if (rows == 0)
        buf_printf(out, "no primitive has '%.*s' in its name\n",
                   TEXT_ARG(filter));
}
