// lds_advice.c - the smallest changes with which a kernel fits.
//
// Smaller tiles, fewer stages, queries in registers: every change, then every
// pair and triple, is staged and planned again, and only what then fits on all
// targets is advised. What does nothing on a target is not offered, for it
// does not help there.
#include "cli/lds_advice.h"

#include <string.h>

enum { SINGLES = 24, MOST_TRIED = 400, SMALLEST_TILE = 16 };

typedef struct {
    Session *s;
    const LdsReport *r;
    const IrConfig *config;
    Text source;
    LdsChange single[SINGLES];
    int count;
    int tried;
    Arena *scratch;                     // of one attempt's plans
    LdsAdvice *out;
    int found, room;
} Search;

// ---- what could be changed -------------------------------------------------

static void add(Search *w, LdsChange c)
{
    if (w->count < SINGLES)
        w->single[w->count++] = c;
}

typedef struct {
    const IrBuffer *buffer;
    int copies, others;                 // that fill it, and all else
    int operands;                       // gemms that read it on the left
} Users;

static bool count_users(void *ctx, IrStmt *s)
{
    Users *u = ctx;

    for (int i = 0; s->kind == STMT_TILE && i < s->operand_count; i++) {
        const IrRegion *r = s->operand[i].kind == OPERAND_REGION
                                ? s->operand[i].region : NULL;

        if (!r || r->buffer != u->buffer)
            continue;
        if (s->op == OP_COPY && i == 1 &&
            s->operand[0].region->buffer->scope == SCOPE_GLOBAL)
            u->copies++;
        else if (s->op == OP_GEMM && i == 0)
            u->operands++;
        else
            u->others++;
    }
    if (s->kind == STMT_STORE && s->buffer == u->buffer)
        u->others++;
    return true;
}

static bool count_load(void *ctx, IrExpr *e)
{
    Users *u = ctx;

    u->others += e->kind == EXPR_LOAD && e->buffer == u->buffer;
    return true;
}

// Filled once from global memory, and read by gemms as the left operand only:
// as well kept in registers.
static bool is_query(const Search *w, const IrBuffer *b)
{
    Users u = {.buffer = b};

    if (b->scope != SCOPE_SHARED || b->layout || b->rank != 2)
        return false;
    ir_walk(w->r->kernel->ir->body, count_users, count_load, &u);
    return u.copies == 1 && u.operands > 0 && !u.others;
}

// "alloc_shared" in the statement that makes a buffer.
static void add_query(Search *w, const IrBuffer *b)
{
    static const char word[] = "alloc_shared";
    size_t n = sizeof word - 1, end = b->at.begin + 200;

    if (b->at.file != w->s->file)
        return;
    for (size_t i = b->at.begin; i < end && i + n <= w->source.len; i++)
        if (memcmp(w->source.at + i, word, n) == 0) {
            add(w, (LdsChange){CHANGE_WORD, b->name, TEXT("alloc_shared"),
                               TEXT("alloc_fragment"), (uint32_t)i,
                               lds_line(w->r->cli, b->at)});
            return;
        }
}

static bool is_tile_name(Text name)
{
    return text_starts(name, "block_") || text_starts(name, "BLOCK_");
}

static void add_values(Search *w, int argument)
{
    Text name = w->config->argument_names[argument];
    Text value = w->config->argument_values[argument];
    Arena *a = w->r->cli->arena;
    int64_t n;

    if (!text_to_i64(value, &n))
        return;
    if (text_is(name, "num_stages"))
        for (int64_t to = n - 1; to >= 1; to--)
            add(w, (LdsChange){CHANGE_ARGUMENT, name, value,
                               text_format(a, "%lld", (long long)to), 0, 0});
    for (int64_t to = n / 2; is_tile_name(name) && to >= SMALLEST_TILE; to /= 2)
        add(w, (LdsChange){CHANGE_ARGUMENT, name, value,
                           text_format(a, "%lld", (long long)to), 0, 0});
}

// Warps side by side over the columns hold the same rows of a left operand, each
// all of them; over the rows, a part each.
static void add_policy(Search *w)
{
    Text word = TEXT("GemmWarpPolicy.FullCol");
    bool found = false;

    for (size_t i = 0; i + word.len <= w->source.len && !found; i++)
        found = memcmp(w->source.at + i, word.at, word.len) == 0;
    if (found)
        add(w, (LdsChange){CHANGE_WORDS, TEXT("policy"), word,
                           TEXT("GemmWarpPolicy.FullRow"), 0, 0});
}

static void find_singles(Search *w)
{
    const IrKernel *ir = w->r->kernel->ir;

    for (int i = 0; i < ir->buffer_count; i++)
        if (is_query(w, ir->buffers[i]))
            add_query(w, ir->buffers[i]);
    for (int i = 0; i < w->config->argument_count; i++)
        if (text_is(w->config->argument_names[i], "num_stages"))
            add_values(w, i);
    for (int i = w->config->argument_count - 1; i >= 0; i--)
        if (!text_is(w->config->argument_names[i], "num_stages"))
            add_values(w, i);
    add_policy(w);
}

// ---- attempts --------------------------------------------------------------

static Module *changed_module(Search *w, const LdsAdvice *a)
{
    bool any = false;
    Module *m = NULL;
    LdsAdvice words = {0};
    uint32_t file;

    for (int i = 0; i < a->count; i++)
        if (a->change[i].kind != CHANGE_ARGUMENT) {
            words.change[words.count++] = a->change[i];
            any = true;
        }
    if (!any)
        return w->s->host->module;
    file = sources_add(w->r->cli->sources, w->s->path,
                       lds_patched(w->r->cli->arena, w->source, &words));
    return lang_run_file(w->s->host->lang, file, TEXT("lds_advice"), &m) ? m
                                                                         : NULL;
}

static KernelObject *stage(Search *w, const LdsAdvice *a)
{
    int n = w->config->argument_count;
    NamedText *d = new_array(w->r->cli->arena, NamedText, n + 1);
    CaseOptions o = {.defines = d, .define_count = n};
    Text factory = w->r->kernel->factory;
    Module *m = changed_module(w, a);
    Candidate c;

    for (int i = 0; i < n; i++) {
        d[i] = (NamedText){w->config->argument_names[i],
                           w->config->argument_values[i]};
        for (int k = 0; k < a->count; k++)
            if (a->change[k].kind == CHANGE_ARGUMENT &&
                text_eq(a->change[k].name, d[i].name))
                d[i].value = a->change[k].to;
    }
    if (!m || !launch_choose(w->s->host, m, factory, &c))
        return NULL;
    return launch_make(w->s->host, &c, &o);
}

// Plans for one target; false: it does not fit, or no thread has so many
// registers.
static bool fits_on(Search *w, IrKernel *ir, int t, LdsAdvice *a)
{
    const Device *d = w->r->devices[t];
    IrKernel k = *ir;
    const Plan *p;
    bool before = true, refused = false;

    for (int i = 0; i < w->r->launch_count; i++) {
        before &= w->r->launches[i].target[t].fits;
        refused |= w->r->plan[t]->launches[i].refused != NULL;
    }
    k.arena = w->scratch;
    p = plan_build(w->scratch, &k, d, PLAN_TILELANG);
    for (int i = 0; p && i < p->launch_count; i++) {
        LdsTarget n = lds_target(p, &p->launches[i]);

        if (!n.fits || (n.plan->refused && !refused) ||
            (n.registers > d->regs_thread && !before))
            return false;
        if (i && n.bytes <= a->bytes[t])
            continue;
        a->bytes[t] = n.bytes;
        a->registers[t] = n.registers;
        a->blocks[t] = n.occupancy.blocks;
    }
    return p != NULL;
}

static bool attempt(Search *w, LdsAdvice *a)
{
    Diag *d = w->r->cli->diag;
    DiagHold hold = diag_hold(d);
    ArenaMark mark = arena_mark(w->scratch);
    KernelObject *k = w->tried++ < MOST_TRIED ? stage(w, a) : NULL;
    bool ok = k != NULL;

    for (int t = 0; ok && t < w->r->device_count; t++)
        ok = fits_on(w, k->ir, t, a);
    arena_release(w->scratch, mark);
    diag_settle(d, &hold, true);
    return ok;
}

// All sets of `left` more changes from the i-th on; one value an argument.
static void try_sets(Search *w, LdsAdvice *a, int i, int left)
{
    if (!left) {
        LdsAdvice now = *a;

        if (w->found < w->room && attempt(w, &now))
            w->out[w->found++] = now;
        return;
    }
    for (; i < w->count && w->found < w->room; i++) {
        bool taken = false;

        for (int k = 0; k < a->count; k++)
            taken |= text_eq(a->change[k].name, w->single[i].name);
        if (taken)
            continue;
        a->change[a->count++] = w->single[i];
        try_sets(w, a, i + 1, left - 1);
        a->count--;
    }
}

// Of the values of one argument the first that fits is the smallest change.
static void drop_larger(Search *w)
{
    int kept = 0;

    for (int i = 0; i < w->found; i++) {
        bool larger = false;

        for (int j = 0; j < kept && !larger; j++) {
            larger = true;
            for (int k = 0; k < w->out[i].count; k++)
                larger &= text_eq(w->out[i].change[k].name,
                                  w->out[j].change[k].name);
        }
        if (!larger)
            w->out[kept++] = w->out[i];
    }
    w->found = kept;
}

int lds_advise(Session *s, const LdsReport *r, LdsAdvice *out, int room)
{
    Search w = {.s = s, .r = r, .config = &r->kernel->ir->config, .out = out};
    LdsAdvice none = {0}, all[SINGLES] = {0};

    if (r->fits || s->is_ir || !r->kernel->factory.len)
        return 0;
    w.source = sources_get(r->cli->sources, s->file)->text;
    w.scratch = arena_create();
    w.out = all;
    w.room = SINGLES;
    find_singles(&w);
    for (int n = 1; n <= ADVICE_CHANGES && !w.found; n++)
        try_sets(&w, &none, 0, n);
    drop_larger(&w);
    arena_destroy(w.scratch);
    for (int i = 0; i < w.found && i < room; i++)
        out[i] = all[i];
    return w.found < room ? w.found : room;
}

// ---- report ----------------------------------------------------------------

static void put_change(TextBuf *b, const LdsChange *c)
{
    if (c->kind == CHANGE_WORD)
        buf_printf(b, "%.*s in a fragment (:%d)", TEXT_ARG(c->name), c->line);
    else if (c->kind == CHANGE_WORDS)
        buf_puts(b, "FullRow for FullCol");
    else
        buf_printf(b, "%.*s=%.*s", TEXT_ARG(c->name), TEXT_ARG(c->to));
}

void lds_advice_line(TextBuf *b, const LdsAdvice *a)
{
    for (int k = 0; k < a->count; k++) {
        buf_puts(b, k ? ", " : "");
        put_change(b, &a->change[k]);
    }
}

void lds_advice_text(TextBuf *b, const LdsReport *r)
{
    const LdsAdvice *a = r->advice;
    int count = r->advice_count;

    if (r->fits)
        return;
    if (!count) {
        buf_puts(b, "\nno smaller tile, fewer stages or operand in registers "
                    "was found with which it fits\n");
        return;
    }
    buf_puts(b, "\nfits, each planned again (--fix N prints the patch)\n");
    for (int i = 0; i < count; i++) {
        buf_printf(b, "  %d  ", i + 1);
        lds_advice_line(b, &a[i]);
        for (int t = 0; t < r->device_count; t++) {
            buf_printf(b, "%s%s ", t ? "   " : "\n       ",
                       r->devices[t]->name);
            buf_grouped(b, a[i].bytes[t]);
            buf_printf(b, " bytes, %d registers of fragments%s, %d block%s",
                       a[i].registers[t],
                       a[i].registers[t] > r->devices[t]->regs_thread
                           ? " (spills)" : "",
                       a[i].blocks[t], a[i].blocks[t] == 1 ? "" : "s");
        }
        buf_addc(b, '\n');
    }
}

void lds_advice_json(Json *j, const LdsReport *r)
{
    const LdsAdvice *a = r->advice;

    json_key(j, TEXT("advice"));
    json_begin_array(j);
    for (int i = 0; i < r->advice_count; i++) {
        json_begin_object(j);
        json_key(j, TEXT("changes"));
        json_begin_array(j);
        for (int k = 0; k < a[i].count; k++) {
            TextBuf b = {0};

            put_change(&b, &a[i].change[k]);
            json_text(j, buf_view(&b));
            buf_release(&b);
        }
        json_end_array(j);
        json_key(j, TEXT("bytes"));
        json_begin_object(j);
        for (int t = 0; t < r->device_count; t++) {
            json_key(j, text_of(r->devices[t]->name));
            json_int(j, a[i].bytes[t]);
        }
        json_end_object(j);
        json_end_object(j);
    }
    json_end_array(j);
}
