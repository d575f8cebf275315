// exec_reduce.c - reductions of tiles along one dimension.
//
// A tile is [outer][n][inner] around the reduced dimension. Every output is
// reduced in the order that lanes.h fixes for contiguous lanes; columns
// (inner > 1) are turned into contiguous lines first, sixteen at a time.
#include "interp/interp_int.h"

#include <string.h>

enum { TURN = 16 };

typedef struct {
    const Reduction *r;
    const CodeBuffer *src, *dst;
    Tensor *from, *to;
    LaneType type; // of dst
    int lane;
    int64_t outer, n, inner;
    const char *lanes; // src as lanes of dst's dtype
} Job;

static Job job_of(Worker *w, const Instr *i)
{
    const Reduction *r = &w->code->reduction[i->a];
    Job j = {.r = r,
             .src = &w->code->buffer[r->src],
             .dst = &w->code->buffer[r->dst],
             .from = &w->buffer[r->src],
             .to = &w->buffer[r->dst],
             .outer = 1,
             .inner = 1};

    j.type = lane_type_of(j.dst->dtype);
    j.lane = (int)lane_bytes(j.type);
    for (int d = 0; d < j.src->rank; d++)
        *(d < r->dim    ? &j.outer
          : d == r->dim ? &j.n
                        : &j.inner) =
            d == r->dim ? j.src->shape[d]
                        : (d < r->dim ? j.outer : j.inner) * j.src->shape[d];
    return j;
}

// ---- the source in dst's dtype -------------------------------------------

static int64_t piece(int64_t total, int64_t at)
{
    return total - at < CODE_LANES ? total - at : CODE_LANES;
}

static void convert_source(Worker *w, const Job *j, char *to)
{
    int64_t total = j->outer * j->n * j->inner;
    LaneFn *abs = w->lanes->op[LANE_OP_ABS][j->type];

    for (int64_t at = 0; at < total; at += CODE_LANES) {
        int64_t n = piece(total, at);
        char *out = to + at * j->lane;

        load_elements(w, j->from, w->pack[2], at, n);
        cast_lanes(w, out, j->dst->dtype, w->pack[2], j->src->dtype, true, n);
        if (j->r->magnitude && abs)
            abs(out, out, NULL, NULL, n);
    }
}

static void set_source(Worker *w, Job *j)
{
    if (!j->from->load && j->src->dtype == j->dst->dtype && !j->r->magnitude) {
        j->lanes = j->from->at;
        return;
    }
    convert_source(w, j, w->pack[0]);
    j->lanes = w->pack[0];
}

// ---- reduce --------------------------------------------------------------

static void reduce_line(Worker *w, const Job *j, const char *line, int64_t out,
                        const Slot *start)
{
    Slot acc = *start;

    if (!j->r->clear)
        load_elements(w, j->to, &acc, out, 1);
    w->lanes->reduce(j->r->op, j->type, j->dst->dtype, &acc, line, j->n);
    store_elements(w, j->to, out, &acc, 1);
}

// Columns [c, c + width) of one outer index, turned into lines.
static void reduce_columns(Worker *w, const Job *j, int64_t o, int64_t c,
                           int width, const Slot *start)
{
    const char *from = j->lanes + (o * j->n * j->inner + c) * j->lane;
    char *lines = w->pack[1];

    if (j->lane == 4)
        w->lanes->transpose32(lines, j->n, from, j->inner, (int)j->n, width);
    else
        w->lanes->transpose64(lines, j->n, from, j->inner, (int)j->n, width);
    for (int i = 0; i < width; i++)
        reduce_line(w, j, lines + i * j->n * j->lane, o * j->inner + c + i,
                    start);
}

const Instr *exec_REDUCE(Worker *w, const Instr *i)
{
    Job j = job_of(w, i);
    Slot start = w->slot[j.r->start];

    set_source(w, &j);
    for (int64_t o = 0; o < j.outer; o++) {
        if (j.inner == 1) {
            reduce_line(w, &j, j.lanes + o * j.n * j.lane, o, &start);
            continue;
        }
        for (int64_t c = 0; c < j.inner; c += TURN)
            reduce_columns(w, &j, o, c,
                           (int)(j.inner - c < TURN ? j.inner - c : TURN),
                           &start);
    }
    return i + 1;
}
