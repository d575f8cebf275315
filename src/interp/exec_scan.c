// exec_scan.c - running sums of tiles.
//
// The tile is brought to lanes of dst's dtype row by row, summed up there,
// and written back: src and dst may be the same.
#include "interp/interp_int.h"

typedef struct {
    const Scan *z;
    Tensor *from, *to;
    DType have, want;
    int64_t from_at, to_at; // element offsets
    int lane;
    char *tile; // rows x cols lanes
} Job;

static int64_t row_step(const Tensor *t, const Matrix *m)
{
    return m->row < 0 ? 0 : t->stride[m->row];
}

static int64_t piece(int64_t total, int64_t at)
{
    return total - at < CODE_LANES ? total - at : CODE_LANES;
}

static void load_row(Worker *w, const Job *j, int64_t r)
{
    int64_t from = j->from_at + r * row_step(j->from, &j->z->src);

    for (int64_t c = 0; c < j->z->cols; c += CODE_LANES) {
        int64_t n = piece(j->z->cols, c);

        load_elements(w, j->from, w->pack[2], from + c, n);
        cast_lanes(w, j->tile + (r * j->z->cols + c) * j->lane, j->want,
                   w->pack[2], j->have, true, n);
    }
}

// n lanes at `to` += those at `before`.
static void step(const Worker *w, const Job *j, int64_t to, int64_t before,
                 int64_t n)
{
    char *d = j->tile + to * j->lane;
    LaneFn *round = w->lanes->round[j->want];

    w->lanes->op[j->z->op][lane_type_of(j->want)](d, j->tile + before * j->lane,
                                                  d, NULL, n);
    if (round)
        round(d, d, NULL, NULL, n);
}

static void sum_down(const Worker *w, const Job *j)
{
    int64_t cols = j->z->cols, last = j->z->rows - 1;

    for (int64_t r = 1; r <= last; r++)
        if (j->z->reverse)
            step(w, j, (last - r) * cols, (last - r + 1) * cols, cols);
        else
            step(w, j, r * cols, (r - 1) * cols, cols);
}

static void sum_along(const Worker *w, const Job *j, int64_t r)
{
    int64_t first = r * j->z->cols, last = first + j->z->cols - 1;

    for (int64_t c = 1; c < j->z->cols; c++)
        if (j->z->reverse)
            step(w, j, last - c, last - c + 1, 1);
        else
            step(w, j, first + c, first + c - 1, 1);
}

const Instr *exec_SCAN(Worker *w, const Instr *i)
{
    const Scan *z = &w->code->scan[i->a];
    Job j = {.z = z,
             .from = &w->buffer[z->src.buffer],
             .to = &w->buffer[z->dst.buffer],
             .have = w->code->buffer[z->src.buffer].dtype,
             .want = w->code->buffer[z->dst.buffer].dtype,
             .tile = w->pack[0]};

    j.lane = (int)lane_bytes(lane_type_of(j.want));
    if (!matrix_offset(w, &z->src, z->rows, z->cols, z->site, &j.from_at) ||
        !matrix_offset(w, &z->dst, z->rows, z->cols, z->site, &j.to_at))
        return i + 1;
    for (int64_t r = 0; r < z->rows; r++) {
        load_row(w, &j, r);
        if (!z->down)
            sum_along(w, &j, r);
    }
    if (z->down)
        sum_down(w, &j);
    for (int64_t r = 0; r < z->rows; r++)
        store_elements(w, j.to, j.to_at + r * row_step(j.to, &z->dst),
                       j.tile + r * z->cols * j.lane, z->cols);
    return i + 1;
}
