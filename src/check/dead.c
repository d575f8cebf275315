// dead.c - tiles that are written and never read, in any launch.
//
// Read off the code that was made for this configuration: what is under a
// condition of Python's, and not taken, is not in it. An accumulator that only
// its own product reads counts as never read.
#include "check/check_int.h"

#include <stdlib.h>

typedef struct {
    const Code *code;
    bool *read;                 // by root
    int *launch, *pc;           // by root: the first store, or -1
} Uses;

static void read_of(Uses *u, int buffer)
{
    u->read[u->code->buffer[buffer].root] = true;
}

static void written(Uses *u, int buffer, int launch, int pc)
{
    int root = u->code->buffer[buffer].root;

    if (u->launch[root] >= 0)
        return;
    u->launch[root] = launch;
    u->pc[root] = pc;
}

static void uses_of_tiles(Uses *u, const Instr *i, int launch, int pc)
{
    const Code *c = u->code;

    switch ((InstrOp)i->op) {
    case INSTR_GEMM:
        read_of(u, c->gemm[i->a].a.buffer);
        read_of(u, c->gemm[i->a].b.buffer);
        if (c->gemm[i->a].group)
            read_of(u, c->gemm[i->a].e.buffer);
        written(u, c->gemm[i->a].c.buffer, launch, pc);
        break;
    case INSTR_REDUCE:
        read_of(u, c->reduction[i->a].src);
        written(u, c->reduction[i->a].dst, launch, pc);
        break;
    case INSTR_SCAN:
        if (c->scan[i->a].src.buffer != c->scan[i->a].dst.buffer)
            read_of(u, c->scan[i->a].src.buffer);
        written(u, c->scan[i->a].dst.buffer, launch, pc);
        break;
    case INSTR_IM2COL:
        read_of(u, c->im2col[i->a].src);
        written(u, c->im2col[i->a].dst, launch, pc);
        break;
    case INSTR_PRINT:
        if (c->print[i->a].kind == PRINT_BUFFER)
            read_of(u, c->print[i->a].buffer);
        break;
    default:
        break;
    }
}

static void uses_of(Uses *u, const Instr *i, int launch, int pc)
{
    const Code *c = u->code;

    switch ((InstrOp)i->op) {
    case INSTR_VLOAD:
    case INSTR_LOAD:
    case INSTR_AGREEMEM:
    case INSTR_BARARRIVE:
    case INSTR_BARWAIT:
        read_of(u, c->access[i->a].buffer);
        break;
    case INSTR_VSTORE:
    case INSTR_STORE:
        written(u, c->access[i->a].buffer, launch, pc);
        break;
    case INSTR_VATOMIC:
        if (i->d >= 0)
            read_of(u, c->access[i->a].buffer);
        written(u, c->access[i->a].buffer, launch, pc);
        break;
    case INSTR_EXTERN:
    case INSTR_VEXTERN:
        for (int j = 0; j < c->native[i->a].count; j++)
            if (c->native[i->a].arg[j].access >= 0)
                read_of(u, c->access[c->native[i->a].arg[j].access].buffer);
        break;
    default:
        uses_of_tiles(u, i, launch, pc);
        break;
    }
}

static void report_dead(Report *r, const Uses *u, int root)
{
    const CodeBuffer *b = &u->code->buffer[root];
    CheckFinding *f = add_finding(r, FINDING_DEAD_STORE,
                                  span_of(r, u->launch[root], u->pc[root]));
    TextBuf words = {0};

    f->count = 1;
    f->message = text_format(r->a, "'%.*s' is written here and never read",
                             TEXT_ARG(b->name));
    buf_puts(&words, "allocated here");
    add_note(r, f, b->at, &words);
}

void report_dead_stores(Report *r)
{
    const Code *c = r->k->code;
    size_t n = (size_t)c->buffer_count + 1;
    Uses u = {c, xcalloc(n, sizeof *u.read), xcalloc(n, sizeof *u.launch),
              xcalloc(n, sizeof *u.pc)};

    for (int i = 0; i < c->buffer_count; i++)
        u.launch[i] = -1;
    for (int l = 0; l < c->launch_count; l++)
        for (int i = 0; i < c->launch[l].body.len; i++)
            uses_of(&u, &c->launch[l].body.code[i], l, i);
    for (int i = 0; i < c->buffer_count; i++)
        if (c->buffer[i].root == i && c->buffer[i].name.len &&
            c->buffer[i].place == BUFFER_SCRATCH && !u.read[i] &&
            u.launch[i] >= 0)
            report_dead(r, &u, i);
    free(u.read);
    free(u.launch);
    free(u.pc);
}
