// print.c - bytecode as text: one instruction a line, stable.
//
// The rows of instr.def say what the fields of an instruction are; slots that
// hold constants are written as their value.
#include "code/code.h"
#include "code/instr.h"

#include <inttypes.h>

static const InstrInfo infos[INSTR_COUNT] = {
#define INSTR(id, name, operands, doc) [INSTR_##id] = {name, operands},
#include "code/instr.def"
};

const InstrInfo *instr_info(InstrOp op)
{
    return &infos[op];
}

// ---- pieces --------------------------------------------------------------

static void print_slot(TextBuf *out, const Code *c, int slot)
{
    DType t;

    if (slot < 0 || slot >= c->slot_count) {
        buf_puts(out, "-");
        return;
    }
    t = c->constant[slot];
    if (t == DT_NONE)
        buf_printf(out, "s%d", slot);
    else if (t == DT_F64)
        buf_printf(out, "%.17g", c->slot[slot].d);
    else if (dtype_is_float(t))
        buf_printf(out, "%.9gf", c->slot[slot].f);
    else
        buf_printf(out, "%" PRId64, c->slot[slot].i);
}

static void print_steps(TextBuf *out, int64_t row, int64_t col)
{
    if (row)
        buf_printf(out, " + %" PRId64 " row", row);
    if (col)
        buf_printf(out, " + %" PRId64 " col", col);
}

static void print_affine(TextBuf *out, const Code *c, int i)
{
    const Affine *a = &c->affine[i];

    buf_printf(out, "[%" PRId64, a->base);
    for (int t = 0; t < a->count; t++) {
        buf_printf(out, " + %" PRId64 " ", a->term[t].factor);
        print_slot(out, c, a->term[t].slot);
    }
    print_steps(out, a->row, a->col);
    buf_addc(out, ']');
}

static void print_access(TextBuf *out, const Code *c, int i)
{
    static const char *const kind[] = {"flat ", "", "gather "};
    const Access *a = &c->access[i];
    const CodeBuffer *b = &c->buffer[a->buffer];

    buf_printf(out, "%s%.*s[", kind[a->kind], TEXT_ARG(b->name));
    for (int d = 0; d < a->rank; d++) {
        if (d)
            buf_puts(out, ", ");
        print_slot(out, c, a->dim[d].slot);
        print_steps(out, a->dim[d].row, a->dim[d].col);
        if (a->dim[d].lanes >= 0)
            buf_printf(out, " + v%d", a->dim[d].lanes);
    }
    buf_addc(out, ']');
    if (!a->permuted)
        return;
    buf_puts(out, " at ");
    print_slot(out, c, a->place.slot);
    print_steps(out, a->place.row, a->place.col);
    if (a->place.lanes >= 0)
        buf_printf(out, " + v%d", a->place.lanes);
}

static void print_matrix(TextBuf *out, const Code *c, const Matrix *m)
{
    const CodeBuffer *b = &c->buffer[m->buffer];

    buf_printf(out, "%.*s[", TEXT_ARG(b->name));
    for (int d = 0; d < b->rank; d++) {
        if (d)
            buf_puts(out, ", ");
        print_slot(out, c, m->at[d]);
        if (d == m->row)
            buf_puts(out, " + row");
        if (d == m->col)
            buf_puts(out, " + col");
    }
    buf_addc(out, ']');
}

static void print_gemm(TextBuf *out, const Code *c, const Gemm *g)
{
    buf_printf(out, "%s %" PRId64 "x%" PRId64 "x%" PRId64 " ",
               dtype_info(g->type == LANE_F64   ? DT_F64
                          : g->type == LANE_I32 ? DT_I32
                                                : DT_F32)
                   ->brief,
               g->m, g->n, g->k);
    print_matrix(out, c, &g->c);
    buf_puts(out, " += ");
    print_matrix(out, c, &g->a);
    buf_puts(out, ", ");
    print_matrix(out, c, &g->b);
    if (g->clear >= 0) {
        buf_puts(out, " clear ");
        print_slot(out, c, g->clear);
    }
}

static void print_reduction(TextBuf *out, const Code *c, const Reduction *r)
{
    buf_printf(out, "%s%s %.*s <- %.*s dim %d%s", lane_op_info(r->op)->name,
               r->magnitude ? " abs" : "", TEXT_ARG(c->buffer[r->dst].name),
               TEXT_ARG(c->buffer[r->src].name), r->dim,
               r->clear ? "" : " accumulate");
}

static void print_scan(TextBuf *out, const Code *c, const Scan *z)
{
    buf_printf(out, "%s %" PRId64 "x%" PRId64 " ", lane_op_info(z->op)->name,
               z->rows, z->cols);
    print_matrix(out, c, &z->dst);
    buf_puts(out, " <- ");
    print_matrix(out, c, &z->src);
    buf_puts(out, z->down ? " down" : " along");
    if (z->reverse)
        buf_puts(out, " reverse");
}

static void print_im2col(TextBuf *out, const Code *c, const Im2col *m)
{
    buf_printf(out, "%.*s <- %.*s ", TEXT_ARG(c->buffer[m->dst].name),
               TEXT_ARG(c->buffer[m->src].name));
    print_slot(out, c, m->step_m);
    buf_addc(out, ' ');
    print_slot(out, c, m->step_k);
    buf_printf(out,
               " kernel %" PRId64 " stride %" PRId64 " dilation %" PRId64
               " pad %" PRId64,
               m->kernel, m->stride, m->dilation, m->pad);
}

static void print_print(TextBuf *out, const Code *c, const Print *p)
{
    buf_printf(out, "\"%.*s\" ", TEXT_ARG(p->message));
    if (p->kind == PRINT_SLOT)
        print_slot(out, c, p->slot);
    if (p->kind == PRINT_BUFFER)
        buf_text(out, c->buffer[p->buffer].name);
}

static void print_space(TextBuf *out, const Code *c, const Space *s)
{
    for (int d = 0; d < s->rank; d++) {
        if (d)
            buf_addc(out, 'x');
        print_slot(out, c, s->extent[d]);
        if (d < s->rank - 2)
            buf_printf(out, "(s%d)", s->coord[d]);
    }
}

static void print_register(TextBuf *out, int reg)
{
    if (reg < 0)
        buf_addc(out, '.');
    else
        buf_printf(out, "v%d", reg);
}

// ---- instructions --------------------------------------------------------

static const char *order_name(CodeOrder o)
{
    static const char *const names[] = {
        [ORDER_TMA_LOAD] = "tma load",   [ORDER_TMA_STORE] = "tma store",
        [ORDER_CP_ASYNC] = "cp.async",   [ORDER_MATRIX] = "matrix unit",
        [ORDER_END] = "end",             [ORDER_COMMIT] = "commit",
        [ORDER_WAIT] = "wait",           [ORDER_STORE_COMMIT] = "store commit",
        [ORDER_STORE_WAIT] = "store wait", [ORDER_MATRIX_WAIT] = "matrix wait",
        [ORDER_SYNC] = "sync",           [ORDER_SYNC_WARP] = "sync warp",
    };

    return names[o];
}

static void print_operand(TextBuf *out, const Code *c, char kind, int x, int pc)
{
    switch (kind) {
    case 's':
        print_slot(out, c, x);
        break;
    case 'v':
        print_register(out, x);
        break;
    case 'l':
        buf_printf(out, "->%d", pc + x);
        break;
    case 'x':
        print_access(out, c, x);
        break;
    case 'f':
        print_affine(out, c, x);
        break;
    case 'g':
        print_gemm(out, c, &c->gemm[x]);
        break;
    case 'r':
        print_reduction(out, c, &c->reduction[x]);
        break;
    case 'z':
        print_scan(out, c, &c->scan[x]);
        break;
    case 'm':
        print_im2col(out, c, &c->im2col[x]);
        break;
    case 'q':
        print_print(out, c, &c->print[x]);
        break;
    case 'e':
        buf_printf(out, "%d of statement %d", x, c->event[x].stmt);
        break;
    case 'w':
        buf_printf(out, "of statement %d", c->step[x].stmt);
        break;
    case 'p':
        print_space(out, c, &c->space[x]);
        break;
    case 'b':
        buf_text(out, c->buffer[x].name);
        break;
    case 'k':
        buf_printf(out, "#%d", x);
        break;
    case 'h':
        buf_printf(out, "%d threads", c->set[x].count);
        break;
    case 'y':
        buf_printf(out, "meeting %d", x);
        break;
    case 'o':
        buf_printf(out, "in %d loops", c->place[x].count);
        break;
    case 'n':
        buf_text(out, c->native[x].name);
        break;
    case 'u':
        buf_puts(out, order_name((CodeOrder)x));
        break;
    case 't':
        buf_printf(out, "site %d", x);
        break;
    }
}

static void print_lane_op(TextBuf *out, const Instr *i)
{
    static const char *const type[LANE_COUNT] = {
        [LANE_F32] = "f32", [LANE_F64] = "f64", [LANE_I32] = "i32",
        [LANE_U32] = "u32", [LANE_I64] = "i64", [LANE_U64] = "u64",
    };

    if (i->op == INSTR_OP || i->op == INSTR_VOP || i->op == INSTR_VATOMIC)
        buf_printf(out, ".%s", lane_op_info((LaneOp)i->lane)->name);
    buf_printf(out, ".%s", type[i->type]);
}

static int arity(const Instr *i)
{
    if (i->op != INSTR_OP && i->op != INSTR_VOP)
        return 3;
    return lane_op_info((LaneOp)i->lane)->arity;
}

static void print_instr(TextBuf *out, const Code *c, const Instr *i, int pc)
{
    const InstrInfo *info = &infos[i->op];
    const char *name = info->name;
    const int field[] = {i->d, i->a, i->b, i->c};
    bool first = true;

    buf_puts(out, name + (*name == '*' || *name == '+'));
    if (*name == '*')
        print_lane_op(out, i);
    if (*name == '+')
        buf_printf(out, ".%s", dtype_info((DType)i->dtype)->brief);
    if (i->flags & INSTR_ROW)
        buf_puts(out, ".row");
    if (i->flags & INSTR_COPY)
        buf_puts(out, ".copy");
    if (i->flags & INSTR_AIMED)
        buf_puts(out, ".aimed");
    if (i->flags & INSTR_NO_SAT)
        buf_puts(out, ".nosat");
    for (int f = 0; info->operands[f] && f <= arity(i); f++) {
        if (info->operands[f] == '-')
            continue;
        buf_puts(out, first ? " " : ", ");
        first = false;
        print_operand(out, c, info->operands[f], field[f], pc);
    }
}

static void print_list(TextBuf *out, const SourceSet *sources, const Code *c,
                       const InstrList *list)
{
    int line = 0;

    for (int pc = 0; pc < list->len; pc++) {
        Span at = list->at[pc];
        size_t start = out->len;

        buf_printf(out, "%5d  ", pc);
        print_instr(out, c, &list->code[pc], pc);
        if (at.file && sources) {
            Place p = sources_place(sources, at.file, at.begin);

            if (p.line != line) {
                buf_addc(out, ' ');
                if (out->len - start < 64)
                    buf_printf(out, "%*s", (int)(64 - (out->len - start)), "");
                buf_printf(out, "# line %d", p.line);
            }
            line = p.line;
        }
        buf_addc(out, '\n');
    }
}

// ---- tables --------------------------------------------------------------

static void print_buffer(TextBuf *out, const Code *c, const CodeBuffer *b)
{
    static const char *const place[] = {"parameter", "workspace", "pointed", "scratch",
                                        "private"};

    buf_printf(out, "buffer %.*s: %s[", TEXT_ARG(b->name),
               dtype_info(b->dtype)->name);
    for (int d = 0; d < b->rank; d++) {
        if (d)
            buf_puts(out, ", ");
        if (b->shape[d] >= 0)
            buf_printf(out, "%" PRId64, b->shape[d]);
        else
            print_slot(out, c, b->shape_slot[d]);
    }
    buf_printf(out, "] %s %s", b->scope, place[b->place]);
    if (b->lanes && b->element != (int)dtype_bytes(b->dtype, 1))
        buf_printf(out, ", kept in %d bytes", b->element);
    if (&c->buffer[b->root] != b)
        buf_printf(out, ", a view of %.*s", TEXT_ARG(c->buffer[b->root].name));
    buf_addc(out, '\n');
}

static void print_launch(TextBuf *out, const SourceSet *sources, const Code *c,
                         int i)
{
    const Launch *l = &c->launch[i];

    buf_printf(out, "launch #%d: grid ", i);
    for (int d = 0; d < l->grid_rank; d++) {
        if (d)
            buf_addc(out, 'x');
        print_slot(out, c, l->grid[d]);
        buf_printf(out, "(%.*s = s%d)", TEXT_ARG(l->block_name[d]),
                   l->block[d]);
    }
    buf_printf(out, " threads %" PRId64 "%s\n", l->threads,
               l->ordered ? " in order" : "");
    print_list(out, sources, c, &l->body);
}

void code_print(TextBuf *out, const SourceSet *sources, const Code *c)
{
    buf_printf(out, "code %.*s\n", TEXT_ARG(c->name));
    for (int i = 0; i < c->symbol_count; i++)
        buf_printf(out, "symbol %.*s = s%d\n", TEXT_ARG(c->symbol[i].name),
                   c->symbol[i].slot);
    for (int i = 0; i < c->param_count; i++)
        if (c->param[i].is_scalar)
            buf_printf(out, "scalar %.*s = s%d\n", TEXT_ARG(c->param[i].name),
                       c->param[i].slot);
    for (int i = 0; i < c->buffer_count; i++)
        print_buffer(out, c, &c->buffer[i]);
    if (c->shapes.len > 1) {
        buf_puts(out, "shapes:\n");
        print_list(out, sources, c, &c->shapes);
    }
    buf_puts(out, "host:\n");
    print_list(out, sources, c, &c->host);
    for (int i = 0; i < c->launch_count; i++)
        print_launch(out, sources, c, i);
}
