// mismatch.c - reads a wrong output like a diff: where, how much, what it
// looks like.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/verdict.h"

void flat_to_index(const Tensor *t, int64_t flat, int64_t *index)
{
    for (int d = t->rank - 1; d >= 0; d--) {
        index[d] = t->shape[d] ? flat % t->shape[d] : 0;
        flat /= t->shape[d] ? t->shape[d] : 1;
    }
}

// ---- elements ---------------------------------------------------------------

typedef struct {
    const OutputVerdict *o;
    const Tensor *right;        // what it is held against
    const CompareSums *sums;
    const char *got, *ref;
    size_t bytes, ref_bytes;
    double limit, floor;        // relative and absolute part of a tolerance
} Reader;

static double got_at(const Reader *r, int64_t i)
{
    return num_get_f64(r->o->dtype, r->got + i * r->bytes);
}

static double ref_at(const Reader *r, int64_t i)
{
    return num_get_f64(r->right->dtype, r->ref + i * r->ref_bytes);
}

static bool differs(double got, double ref, double rel, double floor)
{
    if (isnan(got) || isnan(ref))
        return isnan(got) != isnan(ref);
    if (isinf(got) || isinf(ref))
        return got != ref;
    return fabs(got - ref) > rel * fabs(ref) + floor;
}

static Reader reader(const LaunchCase *c, const OutputVerdict *o)
{
    int64_t n = tensor_count(&o->got);
    const CompareSums *sums = o->against_file ? &o->file_sums : &o->sums;
    double rms = n ? sqrt(sums->ref2 / n) : 0;
    const Tensor *right = o->against_file ? &c->expects[o->param] : &o->ref;
    double limit = o->against_file ? o->expect_limit : o->rounding_limit;
    return (Reader){.o = o, .right = right, .sums = sums,
                    .got = tensor_data(&o->got),
                    .ref = tensor_data(right),
                    .bytes = dtype_bytes(o->dtype, 1),
                    .ref_bytes = dtype_bytes(right->dtype, 1),
                    .limit = limit, .floor = limit * rms};
}

static void extend_box(Mismatch *m, const Tensor *t, int64_t flat)
{
    int64_t index[TENSOR_MAX_RANK];
    flat_to_index(t, flat, index);
    for (int d = 0; d < t->rank; d++) {
        if (m->count == 1 || index[d] < m->first[d])
            m->first[d] = index[d];
        if (m->count == 1 || index[d] > m->last[d])
            m->last[d] = index[d];
    }
}

static void scan(const Reader *r, Mismatch *m, const uint8_t *writes)
{
    const Tensor *t = &r->o->got;
    int64_t n = tensor_count(t);
    m->total = n;
    m->first_flat = -1;
    for (int64_t i = 0; i < n; i++) {
        double g = got_at(r, i), f = ref_at(r, i);
        m->unwritten += writes && writes[i] == 0;
        m->nan_count += isnan(g) && !isnan(f);
        if (!differs(g, f, r->limit, r->floor))
            continue;
        m->count++;
        extend_box(m, t, i);
        if (m->first_flat < 0) {
            m->first_flat = i;
            m->expected = f;
            m->found = g;
        }
    }
}

// Errors too even for one element to stand out: report the worst one.
static void fall_back_to_worst(const Reader *r, Mismatch *m)
{
    int64_t at = r->sums->worst_at;
    if (m->first_flat >= 0 || at < 0)
        return;
    m->first_flat = at;
    m->expected = ref_at(r, at);
    m->found = got_at(r, at);
}

// ---- patterns ---------------------------------------------------------------

static void say(Mismatch *m, const char *format, ...) PRINTF_LIKE(2, 3);
static void say(Mismatch *m, const char *format, ...)
{
    va_list args;
    if (m->pattern[0])
        return;
    va_start(args, format);
    vsnprintf(m->pattern, sizeof m->pattern, format, args);
    va_end(args);
}

static void guess_unwritten(const OutputVerdict *o, Mismatch *m)
{
    if (m->unwritten == 0)
        return;
    if (m->unwritten == m->total)
        say(m, "nothing was ever written to %.*s", TEXT_ARG(o->name));
    else if (m->unwritten >= m->count * 9 / 10)
        say(m, "%lld elements were never written",
            (long long)m->unwritten);
}

static void guess_nan(const Reader *r, Mismatch *m)
{
    int64_t index[TENSOR_MAX_RANK], n = tensor_count(&r->o->got);
    if (m->nan_count == 0)
        return;
    for (int64_t i = 0; i < n; i++) {
        if (!isnan(got_at(r, i)) || isnan(ref_at(r, i)))
            continue;
        flat_to_index(&r->o->got, i, index);
        TextBuf b = {0};
        for (int d = 0; d < r->o->got.rank; d++)
            buf_printf(&b, "%s%lld", d ? "," : "", (long long)index[d]);
        say(m, "%lld NaN, the first at [%.*s]", (long long)m->nan_count,
            (int)b.len, b.at);
        buf_release(&b);
        return;
    }
}

// got = c * ref for one c: least squares, then what it leaves over.
static void guess_factor(const Reader *r, Mismatch *m)
{
    double gr = 0, rr = 0, gg = 0;
    int64_t n = tensor_count(&r->o->got);
    for (int64_t i = 0; i < n; i++) {
        double g = got_at(r, i), f = ref_at(r, i);
        if (!isfinite(g) || !isfinite(f))
            return;
        gr += g * f;
        rr += f * f;
        gg += g * g;
    }
    if (rr == 0)
        return;
    double c = gr / rr, left = gg - c * gr;
    double error = r->o->against_file ? r->o->expect_got_rel
                                      : r->o->rounding_rel;
    if (gg == 0)
        say(m, "every element is 0");
    else if (left < 0 || sqrt(left / rr) < 0.05 * error)
        say(m, "every element is %.4g times what is expected", c);
}

static double row_distance(const Reader *r, int64_t a, int64_t b, int64_t each)
{
    double d2 = 0, f2 = 0;
    for (int64_t i = 0; i < each; i++) {
        double f = ref_at(r, b * each + i);
        double d = got_at(r, a * each + i) - f;
        d2 += d * d;
        f2 += f * f;
    }
    return f2 > 0 ? sqrt(d2 / f2) : INFINITY;
}

// Is the first wrong row another row of the reference?
static void guess_rows(const Reader *r, Mismatch *m)
{
    const Tensor *t = &r->o->got;
    int64_t each = t->rank ? t->shape[t->rank - 1] : 0;
    if (each < 4 || m->first_flat < 0)
        return;
    int64_t rows = tensor_count(t) / each, row = m->first_flat / each;
    int64_t from = row > 256 ? row - 256 : 0;
    int64_t to = row + 256 < rows ? row + 256 : rows;
    for (int64_t other = from; other < to; other++)
        if (other != row && row_distance(r, row, other, each) < 1e-2) {
            say(m, "row %lld is what row %lld should be (rows exchanged?)",
                (long long)row, (long long)other);
            return;
        }
}

static const char *ordinal_dim(const Tensor *t, int d, char *room, size_t size)
{
    if (d == t->rank - 1)
        return "columns";
    if (d == t->rank - 2)
        return "rows";
    snprintf(room, size, "dimension %d", d);
    return room;
}

// All in the last part of one dimension: a tail.
static void guess_tail(const OutputVerdict *o, Mismatch *m)
{
    const Tensor *t = &o->got;
    char room[32];
    if (m->count == 0)
        return;
    for (int d = t->rank - 1; d >= 0; d--)
        if (m->first[d] > 0 && m->last[d] == t->shape[d] - 1
            && t->shape[d] - m->first[d] <= t->shape[d] / 2) {
            say(m, "only the last %s: from %lld on (a tail)",
                ordinal_dim(t, d, room, sizeof room), (long long)m->first[d]);
            return;
        }
}

static void guess_even(const OutputVerdict *o, Mismatch *m)
{
    if (m->count > m->total / 2)
        say(m, "everywhere, an even error over rows and columns");
    else if (m->count == 0)
        say(m, "no single element stands out: the error is spread evenly");
    (void)o;
}

// ---- which block ------------------------------------------------------------

// The arguments once more, with copies of all that the kernel writes.
typedef struct {
    LaunchCase *c;
    KernelArg *args;
    uint8_t **writes;           // of `param` alone
    int param;
    int64_t flat;
} Search;

static bool copy_args(Search *s)
{
    int n = s->c->kernel->ir->param_count;
    for (int i = 0; i < n; i++) {
        const Tensor *t = launch_before(s->c, i);
        s->args[i] = s->c->args[i];
        s->args[i].tensor.storage = NULL;
        if (s->args[i].is_scalar)
            continue;
        if (!s->c->is_output[i])
            s->args[i].tensor = tensor_retain(t);
        else if (!tensor_cast(&s->args[i].tensor, t, t->dtype, false))
            return false;
    }
    int64_t count = tensor_count(&s->args[s->param].tensor);
    s->writes[s->param] = xcalloc(count + 1, 1);
    return true;
}

static void release_search(Search *s)
{
    for (int i = 0; i < s->c->kernel->ir->param_count; i++)
        if (!s->args[i].is_scalar && s->args[i].tensor.storage)
            tensor_release(&s->args[i].tensor);
    free(s->writes[s->param]);
    free(s->writes);
    free(s->args);
}

// Do blocks [from, from + count) of the last launch store the element?
static bool stored_by(Search *s, int64_t from, int64_t count, InterpResult *out)
{
    int64_t *blocks = xcalloc(count + 1, sizeof *blocks);
    for (int64_t i = 0; i < count; i++)
        blocks[i] = from + i;
    s->writes[s->param][s->flat] = 0;
    InterpOptions run = {.blocks = blocks, .block_count = count,
                         .max_findings = 1};
    *out = kernel_run(s->c->kernel, CODE_AS_WRITTEN, s->args, s->writes, &run);
    free(blocks);
    return s->writes[s->param][s->flat] > 0;
}

// Halves the blocks of the last launch until one is left.
static bool find_block(Search *s, int64_t block[3])
{
    InterpResult r;
    int64_t grid[3] = {0}, from = 0, count;
    bool earlier = stored_by(s, 0, 0, &r);  // by an earlier launch
    if (r.launches >= 1)
        memcpy(grid, r.grid[r.launches - 1], sizeof grid);
    interp_result_release(&r);
    count = grid[0] * grid[1] * grid[2];
    if (count < 1 || earlier)
        return false;
    while (count > 1) {
        int64_t half = count / 2;
        bool hit = stored_by(s, from, half, &r);
        interp_result_release(&r);
        from += hit ? 0 : half;
        count = hit ? half : count - half;
    }
    bool found = stored_by(s, from, 1, &r);
    interp_result_release(&r);
    block[0] = from % grid[0];
    block[1] = from / grid[0] % grid[1];
    block[2] = from / grid[0] / grid[1];
    return found;
}

// The block whose stores reach element `flat` of parameter `param`. Nothing
// in `c` changes.
static bool mismatch_block(LaunchCase *c, int param, int64_t flat,
                           int64_t block[3])
{
    int n = c->kernel->ir->param_count;
    Search s = {.c = c, .param = param, .flat = flat};
    s.args = xcalloc(n + 1, sizeof *s.args);
    s.writes = xcalloc(n + 1, sizeof *s.writes);
    bool found = copy_args(&s) && find_block(&s, block);
    release_search(&s);
    return found;
}

void mismatch_find(Host *h, LaunchCase *c, OutputVerdict *o,
                   const uint8_t *writes)
{
    Mismatch *m = &o->mismatch;
    Reader r = reader(c, o);
    scan(&r, m, writes);
    fall_back_to_worst(&r, m);
    guess_unwritten(o, m);
    guess_nan(&r, m);
    guess_factor(&r, m);
    guess_tail(o, m);
    guess_rows(&r, m);
    guess_even(o, m);
    bool quiet = diag_quiet(h->options.diag, true);
    m->block[0] = -1;
    m->never_stored = writes && m->first_flat >= 0
                      && writes[m->first_flat] == 0;
    if (m->first_flat >= 0 && !m->never_stored
        && !mismatch_block(c, o->param, m->first_flat, m->block))
        m->block[0] = -1;
    diag_quiet(h->options.diag, quiet);
}
