// lds_conflicts.c - every access of a launch on a target, and what it costs.
#include "cli/lds_report.h"
#include "cli/report.h"
#include "cli/json_keys.h"

// ---- words -----------------------------------------------------------------

static const char *grouped(const LdsReport *r, int64_t n)
{
    TextBuf b = {0};
    const char *out;

    buf_grouped(&b, n);
    out = text_cstr(r->cli->arena, buf_view(&b));
    buf_release(&b);
    return out;
}

static Text name_of(const CountAccess *a)
{
    return a->move->buffer ? a->move->buffer->name : TEXT("(reduction)");
}

static const char *way_of(const CountAccess *a)
{
    static const char *const ways[] = {"read", "write", "update"};
    return ways[a->move->way];
}

// A number of cases that costs `total` in `count` executions.
static void put_each(TextBuf *b, const LdsReport *r, int64_t total,
                     int64_t count)
{
    if (!count)
        buf_puts(b, "-");
    else if (total % count)
        buf_printf(b, "%.2f", (double)total / (double)count);
    else
        buf_puts(b, grouped(r, total / count));
}

static void right(TextBuf *b, size_t line, int column, const TextBuf *text)
{
    report_column(b, line, column - (int)text->len);
    buf_text(b, buf_view(text));
}

static void right_number(TextBuf *b, size_t line, int column, int64_t n)
{
    TextBuf t = {0};

    buf_grouped(&t, n);
    right(b, line, column, &t);
    buf_release(&t);
}

// ---- shared memory ---------------------------------------------------------

enum {
    COL_NAME = 2, COL_OP = 25, COL_LANES = 50, COL_WAYS = 55, COL_EACH = 66,
    COL_RUNS = 78, COL_EXTRA = 92, COL_SHARE = 98,
};

static void put_place(TextBuf *b, const LdsReport *r, const CountAccess *a)
{
    buf_printf(b, "  %.*s %s", TEXT_ARG(name_of(a)), way_of(a));
    if (lds_line(r->cli, a->move->at))
        buf_printf(b, " :%d", lds_line(r->cli, a->move->at));
}

// The lanes of the worst pass that meet in its worst bank.
static void put_worst(TextBuf *b, const CountAccess *a, const Device *d)
{
    BankPass passes[BANK_PASSES], *worst = passes;
    BankWord words[BANK_WORDS];
    int n = bank_passes(d, &a->worst, passes), bank = 0;

    for (int i = 1; i < n; i++)
        if (passes[i].ways > worst->ways)
            worst = &passes[i];
    if (worst->ways < 2)        // a copy whose lanes meet elsewhere
        return;
    n = bank_words(d, &a->worst, worst, words);
    for (int i = 0; i < n; i++)
        if (words[i].way == worst->ways - 1)
            bank = words[i].bank;
    buf_puts(b, "      lanes");
    for (int i = 0; i < n; i++)
        if (words[i].bank == bank)
            buf_printf(b, " %d", __builtin_ctzll(words[i].lanes));
    buf_printf(b, " meet in bank %d of %d\n", bank, worst->banks);
}

static void put_shared(TextBuf *b, const LdsReport *r, const CountAccess *a,
                       const CountSum *all, const Device *d)
{
    size_t line = b->len;
    TextBuf t = {0};

    put_place(b, r, a);
    report_column(b, line, COL_OP);
    buf_puts(b, a->instruction);
    if (a->passes_by || a->unknown) {
        report_column(b, line, COL_LANES - 4);
        if (a->passes_by)
            buf_puts(b, "no LSU access\n");
        else
            buf_printf(b, "not counted: %s\n", a->unknown);
        return;
    }
    right_number(b, line, COL_LANES, a->lanes);
    right_number(b, line, COL_WAYS, a->ways);
    put_each(&t, r, a->sum.conflicts, a->sum.executions);
    right(b, line, COL_EACH, &t);
    buf_release(&t);
    right_number(b, line, COL_RUNS, a->sum.executions);
    right_number(b, line, COL_EXTRA, a->sum.conflicts);
    buf_printf(&t, "%.0f %%", all->cycles ? 100.0 * (double)a->sum.cycles /
                                                (double)all->cycles : 0.0);
    right(b, line, COL_SHARE, &t);
    buf_release(&t);
    buf_printf(b, "  %s\n", a->sum.executions
                                ? basis_name(a->conflicts_basis) : "-");
    if (a->ways > 1 && a->sum.conflicts && a->worst.active)
        put_worst(b, a, d);
}

typedef struct {
    int column;
    const char *word;
} Head;

static void put_heads(TextBuf *b, const char *title, const Head *heads,
                      size_t n)
{
    size_t line = b->len;

    buf_puts(b, title);
    report_column(b, line, COL_OP);
    buf_puts(b, "instruction");
    for (size_t i = 0; i < n; i++) {
        TextBuf t = {0};

        buf_puts(&t, heads[i].word);
        right(b, line, heads[i].column, &t);
        buf_release(&t);
    }
    buf_puts(b, "  basis\n");
}

static void put_shared_head(TextBuf *b)
{
    static const Head heads[] = {
        {COL_LANES, "lanes"}, {COL_WAYS, "ways"}, {COL_EACH, "conflicts"},
        {COL_RUNS, "x times"}, {COL_EXTRA, "= cycles"}, {COL_SHARE, "share"},
    };

    put_heads(b, "  shared memory", heads, countof(heads));
}

static Basis worst_basis(const CountLaunch *l, bool conflicts)
{
    Basis basis = BASIS_NONE;

    for (int i = 0; i < l->count; i++) {
        const CountAccess *a = &l->at[i];

        if (!a->is_shared || !a->sum.issues)
            continue;
        basis = basis_worse(basis, conflicts ? a->conflicts_basis
                                             : a->cycles_basis);
        basis = basis_worse(basis, a->counters_basis);
    }
    return basis;
}

typedef enum { BY_LOAD, BY_STORE, BY_ATOMIC, BY_COPY, BY_COUNT } CounterKind;

static CounterKind kind_of(const CountAccess *a)
{
    if (a->move->kind == MOVE_CP_ASYNC)
        return BY_COPY;
    return a->move->way == MOVE_LOAD    ? BY_LOAD
           : a->move->way == MOVE_STORE ? BY_STORE
                                        : BY_ATOMIC;
}

// cp.async.cg: counters of L1 do not see it.
static bool passes_l1(const CountAccess *a)
{
    return a->move->kind == MOVE_CP_ASYNC && a->move->bytes == 16;
}

static CountSum sum_of(const CountLaunch *l, CounterKind kind)
{
    CountSum s = {0};

    for (int i = 0; i < l->count; i++) {
        const CountAccess *a = &l->at[i];

        if (!a->is_shared || kind_of(a) != kind || passes_l1(a))
            continue;
        s.conflicts += a->sum.conflicts;
        s.issues += a->sum.issues;
        s.cycles += a->sum.cycles;
    }
    return s;
}

typedef struct {
    const char *name;
    int64_t value;
    Basis basis;
} CounterRow;

enum { MOST_COUNTERS = 6 };

// The vendor's names, as its profiler sums them over all blocks.
static int counter_rows(const CountLaunch *l, const Device *d,
                        CounterRow out[MOST_COUNTERS])
{
    static const char *const nvidia[BY_COUNT] = {
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts",
    };
    Basis conflicts = worst_basis(l, true), cycles = worst_basis(l, false);
    int64_t wavefronts = 0;
    int n = 0;

    if (!l->shared.issues)
        return 0;
    if (d->vendor == VENDOR_AMD) {
        out[n++] = (CounterRow){"SQ_LDS_BANK_CONFLICT", l->shared.conflicts,
                                conflicts};
        out[n++] = (CounterRow){"SQ_LDS_IDX_ACTIVE", l->shared.cycles, cycles};
        out[n++] = (CounterRow){"SQ_INSTS_LDS", l->shared.issues, cycles};
        return n;
    }
    for (CounterKind k = BY_LOAD; k < BY_COUNT; k++) {
        CountSum s = sum_of(l, k);

        wavefronts += s.cycles;
        if (s.issues)
            out[n++] = (CounterRow){nvidia[k], s.conflicts, conflicts};
    }
    out[n++] = (CounterRow){"l1tex__data_pipe_lsu_wavefronts_mem_shared",
                            wavefronts, cycles};
    return n;
}

static void put_counters(TextBuf *b, const CountLaunch *l, const Device *d)
{
    CounterRow rows[MOST_COUNTERS];
    int n = counter_rows(l, d, rows);

    for (int i = 0; i < n; i++) {
        size_t line = b->len;

        buf_printf(b, "  %s", rows[i].name);
        right_number(b, line, COL_EXTRA, rows[i].value);
        report_column(b, line, COL_SHARE + 2);
        buf_printf(b, "%s\n", basis_name(rows[i].basis));
    }
    if (l->unknown)
        buf_printf(b, "  %d access%s above %s not counted and not in the "
                   "sums\n", l->unknown, l->unknown == 1 ? "" : "es",
                   l->unknown == 1 ? "is" : "are");
}

// ---- global memory ---------------------------------------------------------

static int sector_of(const Device *d)
{
    return d->vendor == VENDOR_AMD ? 64 : 32;
}

static void put_global(TextBuf *b, const LdsReport *r, const CountAccess *a,
                       const Device *d)
{
    size_t line = b->len;
    int64_t moved = a->sum.sectors * sector_of(d);
    TextBuf t = {0};

    put_place(b, r, a);
    report_column(b, line, COL_OP);
    buf_puts(b, a->instruction);
    if (a->passes_by || a->unknown) {
        report_column(b, line, COL_LANES - 4);
        if (a->passes_by)
            buf_puts(b, "whole boxes, no LSU access\n");
        else
            buf_printf(b, "not counted: %s\n", a->unknown);
        return;
    }
    right_number(b, line, COL_EACH, a->sum.bytes);
    right_number(b, line, COL_RUNS + 2, moved);
    if (moved)
        buf_printf(&t, "%.0f %%", 100.0 * (double)a->sum.bytes / (double)moved);
    else
        buf_puts(&t, "-");
    right(b, line, COL_SHARE, &t);
    buf_release(&t);
    buf_printf(b, "  %s\n", a->sum.executions ? basis_name(a->sectors_basis)
                                              : "-");
}

static void put_global_head(TextBuf *b)
{
    static const Head heads[] = {
        {COL_EACH, "bytes asked"}, {COL_RUNS + 2, "bytes moved"},
        {COL_SHARE, "useful"},
    };

    put_heads(b, "  global memory", heads, countof(heads));
}

// ---- both ------------------------------------------------------------------

static int count_of(const CountLaunch *l, bool shared)
{
    int n = 0;

    for (int i = 0; i < l->count; i++)
        n += l->at[i].is_shared == shared;
    return n;
}

static void put_way(TextBuf *b, const LdsReport *r)
{
    static const char *const words[] = {
        "", "executions by closed expressions",
        "executions by a walk through the control flow",
        "executions by a full run",
    };

    buf_printf(b, "%s%s", words[r->counts.way],
               r->counts.by_data ? "; they depend on data" : "");
}

void lds_conflicts_text(TextBuf *b, const LdsReport *r, const LdsLaunch *l,
                        int target)
{
    const CountLaunch *c = l->target[target].counts;
    const Device *d = r->devices[target];

    buf_printf(b, "\naccesses on %s: ", d->name);
    if (r->counts.unknown) {
        buf_printf(b, "not counted: %s\n", r->counts.unknown);
        return;
    }
    put_way(b, r);
    buf_puts(b, c->count ? "\n" : "; there are none\n");
    if (count_of(c, true)) {
        put_shared_head(b);
        for (int i = 0; i < c->count; i++)
            if (c->at[i].is_shared)
                put_shared(b, r, &c->at[i], &c->shared, d);
        put_counters(b, c, d);
    }
    if (!count_of(c, false))
        return;
    put_global_head(b);
    for (int i = 0; i < c->count; i++)
        if (!c->at[i].is_shared)
            put_global(b, r, &c->at[i], d);
}

// ---- for machines ----------------------------------------------------------

static void json_shared(Json *j, const CountAccess *a)
{
    key_int(j, "lanes", a->lanes);
    key_int(j, "ways", a->ways);
    key_int(j, "passes", a->sum.passes);
    key_int(j, "cycles", a->sum.cycles);
    key_int(j, "conflicts", a->sum.conflicts);
    key_string(j, "cycles_basis", basis_name(a->cycles_basis));
    key_string(j, "conflicts_basis", basis_name(a->conflicts_basis));
}

static void json_access(Json *j, const LdsReport *r, const CountAccess *a,
                        const Device *d)
{
    json_begin_object(j);
    json_key(j, TEXT("buffer"));
    json_text(j, name_of(a));
    if (lds_line(r->cli, a->move->at))
        key_int(j, "line", lds_line(r->cli, a->move->at));
    key_string(j, "space", a->is_shared ? "shared" : "global");
    key_string(j, "way", way_of(a));
    key_string(j, "instruction", a->instruction);
    if (a->unknown || r->counts.unknown)
        key_string(j, "not_counted",
                   a->unknown ? a->unknown : r->counts.unknown);
    json_key(j, TEXT("lsu"));
    json_bool(j, !a->passes_by);
    if (a->move->merged) {
        json_key(j, TEXT("merged"));
        json_bool(j, true);
    }
    if (!a->unknown && !r->counts.unknown)
        key_int(j, "executions", a->sum.executions);
    if (a->unknown || r->counts.unknown || a->passes_by) {
        json_end_object(j);
        return;
    }
    key_int(j, "issues", a->sum.issues);
    key_int(j, "bytes", a->sum.bytes);
    if (a->is_shared) {
        json_shared(j, a);
    } else {
        key_int(j, "bytes_moved", a->sum.sectors * sector_of(d));
        key_string(j, "bytes_basis", basis_name(a->sectors_basis));
    }
    json_end_object(j);
}

void lds_conflicts_json(Json *j, const LdsReport *r, const CountLaunch *l,
                        const Device *d)
{
    CounterRow rows[MOST_COUNTERS];
    int n = r->counts.unknown ? 0 : counter_rows(l, d, rows);

    if (!r->counts.unknown) {
        key_string(j, "executions_from", count_way_name(r->counts.way));
        json_key(j, TEXT("data_dependent"));
        json_bool(j, r->counts.by_data);
    }
    json_key(j, TEXT("accesses"));
    json_begin_array(j);
    for (int i = 0; i < l->count; i++)
        json_access(j, r, &l->at[i], d);
    json_end_array(j);
    json_key(j, TEXT("counters"));
    json_begin_object(j);
    for (int i = 0; i < n; i++)
        key_int(j, rows[i].name, rows[i].value);
    json_end_object(j);
}
