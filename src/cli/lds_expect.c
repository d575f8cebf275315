// lds_expect.c - budgets that a file sets itself.
//
//     # tilesim: expect lds <= 65536 @mi300x
//     # tilesim: expect conflicts <= 0
#include "cli/lds_report.h"

typedef struct {
    Text metric;                        // lds, conflicts, registers
    int64_t most;
    Text target;                        // empty: all
    Span at;
} Expect;

static Text next_word(Text *rest)
{
    size_t n = 0;
    Text word;

    *rest = text_trim(*rest);
    while (n < rest->len && rest->at[n] != ' ' && rest->at[n] != '\t')
        n++;
    word = text_slice(*rest, 0, n);
    *rest = text_slice(*rest, n, rest->len);
    return word;
}

static bool is_metric(Text t)
{
    return text_is(t, "lds") || text_is(t, "conflicts") ||
           text_is(t, "registers");
}

// What comes after "expect"; false after reporting what is wrong with it.
static bool parse(const Cli *c, Text rest, Expect *e)
{
    e->metric = next_word(&rest);
    Text sign = next_word(&rest), most = next_word(&rest);

    e->target = next_word(&rest);
    if (e->target.len && e->target.at[0] == '@')
        e->target = text_slice(e->target, 1, e->target.len);
    if (is_metric(e->metric) && text_is(sign, "<=") &&
        text_to_i64(most, &e->most) && e->most >= 0 &&
        (!e->target.len || device_find(e->target)) && !text_trim(rest).len)
        return true;
    diag_error(c->diag, EXIT_USAGE, e->at, "expect",
               "expected 'expect lds|conflicts|registers <= N [@TARGET]'");
    return false;
}

static int64_t value_of(const LdsReport *r, int t, Text metric)
{
    int64_t most = 0;

    if (text_is(metric, "conflicts"))
        return lds_conflicts(r, t);
    for (int i = 0; i < r->launch_count; i++) {
        const LdsTarget *own = &r->launches[i].target[t];
        int64_t n = text_is(metric, "lds") ? own->bytes : own->registers;
        most = n > most ? n : most;
    }
    return most;
}

static void check(const LdsReport *r, const Expect *e)
{
    for (int t = 0; t < r->device_count; t++) {
        int64_t n = value_of(r, t, e->metric);

        if (e->target.len && !text_is(e->target, r->devices[t]->name))
            continue;
        if (n <= e->most)
            continue;
        diag_error(r->cli->diag, EXIT_FINDINGS, e->at, "budget",
                   "'%.*s' takes %lld of %.*s on %s, %lld more than expected",
                   TEXT_ARG(r->kernel->ir->name), (long long)n,
                   TEXT_ARG(e->metric), r->devices[t]->name,
                   (long long)(n - e->most));
    }
}

void lds_check_budgets(const LdsReport *r, uint32_t file)
{
    const Source *s = sources_get(r->cli->sources, file);

    for (int line = 1; line <= s->line_count; line++) {
        Text whole = sources_line(r->cli->sources, file, line);
        Text rest = text_trim(whole);
        uint32_t at = (uint32_t)(rest.at - s->text.at);
        Expect e = {.at = {file, at, at + (uint32_t)rest.len}};

        if (!rest.len || rest.at[0] != '#')
            continue;
        rest = text_slice(rest, 1, rest.len);
        if (text_is(next_word(&rest), "tilesim:") &&
            text_is(next_word(&rest), "expect") && parse(r->cli, rest, &e))
            check(r, &e);
    }
}
