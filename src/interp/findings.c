// findings.c - what workers noticed, in people's words.
//
// Each site has one counter per worker; a worker's first occurrence is in its
// lowest block, because blocks are handed out in ascending order. The merge
// takes sums and the lowest block, so it does not depend on the threads.
#include "interp/interp_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void report(Worker *w, int site, int64_t count, int dim, int64_t index,
            int64_t extent)
{
    Finding *f;

    if (site < 0)
        return;
    f = &w->finding[site];
    if (!f->count)
        *f = (Finding){.launch = w->launch,
                       .block = w->block,
                       .dim = dim,
                       .index = index,
                       .extent = extent};
    f->count += count;
}

void report_threads(Worker *w, int site, const Finding *what)
{
    Finding *f = &w->finding[site];
    int64_t count = f->count + 1;

    if (!f->count) {
        *f = *what;
        f->launch = w->launch;
        f->block = w->block;
    }
    f->count = count;
}

static bool is_earlier(const Finding *a, const Finding *b)
{
    return a->launch != b->launch ? a->launch < b->launch : a->block < b->block;
}

static void merge(Finding *into, const Finding *f)
{
    int64_t count = into->count + f->count;

    if (!f->count)
        return;
    if (!into->count || is_earlier(f, into))
        *into = *f;
    into->count = count;
}

// ---- messages ------------------------------------------------------------

static void print_block(const Run *run, const Finding *f, char *out,
                        size_t room)
{
    const Launch *l;
    const int64_t *grid;
    int64_t b = f->block;

    *out = '\0';
    if (f->launch < 0 || f->launch >= run->code->launch_count)
        return;
    l = &run->code->launch[f->launch];
    grid = run->result->grid[f->launch];
    snprintf(out, room, ", in block (%" PRId64, grid[0] ? b % grid[0] : b);
    for (int d = 1; d < l->grid_rank; d++) {
        size_t used = strlen(out);

        b = grid[d - 1] ? b / grid[d - 1] : 0;
        snprintf(out + used, room - used, ", %" PRId64,
                 grid[d] ? b % grid[d] : b);
    }
    snprintf(out + strlen(out), room - strlen(out), ")");
}

static void print_bounds(const Run *run, const Site *s, const Finding *f,
                         const char *block, char *out, size_t room)
{
    const CodeBuffer *b = &run->code->buffer[s->buffer];

    snprintf(out, room,
             "%s index %" PRId64 " of dimension %d of '%.*s' (%s), which has "
             "%" PRId64 " elements there%s",
             s->store ? "writes to" : "reads", f->index, f->dim,
             TEXT_ARG(b->name), b->scope, f->extent, block);
}

// "warp 0", "warps 0 to 3, 7"
static void print_warps(TextBuf *out, uint64_t warps)
{
    const char *between = " ";

    buf_puts(out, warps & (warps - 1) ? "warps" : "warp");
    for (int k = 0; k < 64; k++) {
        int end = k;

        if (!(warps >> k & 1))
            continue;
        while (end + 1 < 64 && warps >> (end + 1) & 1)
            end++;
        buf_printf(out, "%s%d", between, k);
        if (end > k)
            buf_printf(out, "%s%d", end > k + 1 ? " to " : ", ", end);
        between = ", ";
        k = end;
    }
}

// dim: how many lanes of warp `index` came; 0: the warps wait for others.
static void print_meeting(const Site *s, const Finding *f, TextBuf *out)
{
    if (f->dim) {
        buf_printf(out,
                   "%.*s is reached by %d of the %" PRId64 " threads of warp "
                   "%" PRId64 " that it waits for; the others cannot arrive",
                   TEXT_ARG(s->message), f->dim, f->extent, f->index);
        return;
    }
    print_warps(out, f->warps);
    buf_printf(out, " wait%s for ever at %.*s",
               f->warps & (f->warps - 1) ? "" : "s", TEXT_ARG(s->message));
    if (f->ended) {
        buf_puts(out, "; ");
        print_warps(out, f->ended);
        buf_printf(out, " %s not come",
                   f->ended & (f->ended - 1) ? "do" : "does");
    }
}

static void print_stuck(const Run *run, const Site *s, const Finding *f,
                        TextBuf *out)
{
    print_warps(out, f->warps);
    buf_printf(out, " wait%s for ever", f->warps & (f->warps - 1) ? "" : "s");
    if (s->buffer < 0) {
        buf_printf(out, " at %.*s: not all threads of the grid come",
                   TEXT_ARG(s->message));
        return;
    }
    buf_printf(out,
               " for parity %" PRId64 " of barrier '%.*s[%" PRId64 "]', which "
               "is in phase %" PRId64 " (parity %" PRId64 ") with %" PRId64
               " arrivals",
               f->extent, TEXT_ARG(run->code->buffer[s->buffer].name), f->index,
               f->phase, f->phase & 1, f->pending);
    if (f->bytes)
        buf_printf(out, " and %" PRId64 " bytes", f->bytes);
    buf_puts(out, " to come");
}

static void print_threads(const Run *run, const Site *s, const Finding *f,
                          const char *block, char *out, size_t room)
{
    TextBuf b = {0};

    if (s->kind == SITE_MEET)
        print_meeting(s, f, &b);
    else
        print_stuck(run, s, f, &b);
    snprintf(out, room, "%.*s%s", TEXT_ARG(buf_view(&b)), block);
    buf_release(&b);
}

static void print_message(const Run *run, const Site *s, const Finding *f,
                          char *out, size_t room)
{
    char block[100];

    print_block(run, f, block, sizeof block);
    switch (s->kind) {
    case SITE_BOUNDS:
        print_bounds(run, s, f, block, out, room);
        break;
    case SITE_DIVISION:
        snprintf(out, room, "integer division by zero%s", block);
        break;
    case SITE_ASSERT:
        snprintf(out, room, "assertion fails%s%.*s%s",
                 s->message.len ? ": " : "", TEXT_ARG(s->message), block);
        break;
    case SITE_POINTER:
        snprintf(out, room,
                 "no tensor holds the %" PRId64 " bytes of '%.*s' from its "
                 "address on%s",
                 f->extent, TEXT_ARG(run->code->buffer[s->buffer].name), block);
        break;
    case SITE_AGREE:
        snprintf(out, room,
                 "threads have different values where they need one in "
                 "common%s",
                 block);
        break;
    case SITE_MEET:
    case SITE_STUCK:
        print_threads(run, s, f, block, out, room);
        break;
    case SITE_SPACE:
        snprintf(out, room, "a loop has more iterations than can be run%s",
                 block);
        break;
    }
}

static const char *id_of(SiteKind kind)
{
    switch (kind) {
    case SITE_BOUNDS:
        return "out-of-bounds";
    case SITE_DIVISION:
        return "division-by-zero";
    case SITE_ASSERT:
        return "assert";
    case SITE_SPACE:
        return "loop-size";
    case SITE_POINTER:
        return "bad-pointer";
    case SITE_AGREE:
        return "threads-differ";
    case SITE_MEET:
    case SITE_STUCK:
        return "threads-stuck";
    }
    return "finding";
}

// ---- collecting ----------------------------------------------------------

static int compare(const void *a, const void *b)
{
    const InterpFinding *x = a, *y = b;

    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->at.begin != y->at.begin)
        return x->at.begin < y->at.begin ? -1 : 1;
    return strcmp(x->message, y->message);
}

static void add(Run *run, int site, const Finding *f)
{
    InterpResult *r = run->result;
    const Site *s = &run->code->site[site];
    InterpFinding *out = &r->findings[r->finding_count++];

    *out = (InterpFinding){.at = s->at,
                           .id = id_of(s->kind),
                           .launch = f->launch,
                           .block = f->block,
                           .count = f->count};
    print_message(run, s, f, out->message, sizeof out->message);
    r->finding_total += f->count;
}

void collect_findings(Run *run)
{
    InterpResult *r = run->result;
    int kept = run->options->max_findings > 0 ? run->options->max_findings : 20;

    r->findings =
        xcalloc((size_t)run->code->site_count + 1, sizeof *r->findings);
    for (int s = 0; s < run->code->site_count; s++) {
        Finding all = run->host.finding[s];

        for (int i = 0; i < run->worker_count; i++)
            merge(&all, &run->workers[i].finding[s]);
        if (all.count)
            add(run, s, &all);
    }
    qsort(r->findings, (size_t)r->finding_count, sizeof *r->findings, compare);
    if (r->finding_count > kept)
        r->finding_count = kept;
}
