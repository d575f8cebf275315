// check_report.c - which findings are told, and how.
#include "cli/check_report.h"

#include <limits.h>
#include <string.h>

// ---- --only and -W ----------------------------------------------------------

static bool group_find(Text name, CheckGroup *out)
{
    for (int i = 0; i < CHECK_GROUP_COUNT; i++)
        if (text_is(name, check_group_name((CheckGroup)i)) &&
            check_group_exists((CheckGroup)i)) {
            *out = (CheckGroup)i;
            return true;
        }
    return false;
}

Text check_nearest(Text name)
{
    const char *near = "uninit-read";
    int best = INT_MAX;

    for (int i = 0; i < FINDING_COUNT + CHECK_GROUP_COUNT; i++) {
        const char *word = i < FINDING_COUNT
                               ? finding_info((FindingId)i)->slug
                               : check_group_name(i - FINDING_COUNT);
        bool begins = strncmp(word, name.at, name.len) == 0;
        int far = begins ? 0 : text_distance(name, text_of(word));
        bool there = i < FINDING_COUNT ||
                     check_group_exists((CheckGroup)(i - FINDING_COUNT));

        if (far < best && there) {
            best = far;
            near = word;
        }
    }
    return name.len && best <= (int)name.len / 2 ? text_of(near) : TEXT("");
}

static _Noreturn void no_such(const Cli *c, const char *option, Text name)
{
    Text near = check_nearest(name);

    if (!name.len)
        cli_usage(c, "%s: the name of a check or finding is missing", option);
    if (!near.len)
        cli_usage(c, "%s '%.*s': there is no such check or finding; 'tilesim "
                  "explain findings' lists them", option, TEXT_ARG(name));
    cli_usage(c, "%s '%.*s': there is no such check or finding; did you mean "
              "'%.*s'?", option, TEXT_ARG(name), TEXT_ARG(near));
}

static void only(const Cli *c, CheckWishes *w, OptionId o, Text list)
{
    for (int i = 0; i < FINDING_COUNT; i++)
        w->level[i] = CHECK_OFF;
    w->groups = 0;
    for (size_t i = 0; i <= list.len;) {
        const char *comma = memchr(list.at + i, ',', list.len - i);
        size_t end = comma ? (size_t)(comma - list.at) : list.len;
        Text name = text_trim(text_slice(list, i, end));
        CheckGroup group;
        FindingId id;
        bool one = finding_find(name, &id);

        if (!one && !group_find(name, &group))
            no_such(c, o == OPT_ONLY ? "--only" : "--check", name);
        for (int f = 0; f < FINDING_COUNT; f++)
            if (one ? f == (int)id
                    : finding_info((FindingId)f)->group == group)
                w->level[f] = finding_info((FindingId)f)->level;
        w->groups |= 1u << (one ? finding_info(id)->group : group);
        i = end + 1;
    }
}

static Text rest_of(Text t, const char *head)
{
    return text_slice(t, strlen(head), t.len);
}

static void set_level(CheckWishes *w, FindingId id, CheckLevel level)
{
    w->level[id] = level;
    if (level != CHECK_OFF)
        w->groups |= 1u << finding_info(id)->group;
}

// -WNAME, -Wno-NAME, -Werror=NAME, of a finding or of all that a check has;
// -Werror is for all warnings.
static void warn(const Cli *c, CheckWishes *w, Text t)
{
    CheckLevel level = CHECK_WARNING;
    CheckGroup group;
    FindingId id;
    Text name = t;

    if (text_is(t, "error")) {
        for (int i = 0; i < FINDING_COUNT; i++)
            if (w->level[i] == CHECK_WARNING)
                w->level[i] = CHECK_ERROR;
        return;
    }
    if (text_starts(t, "no-"))
        level = CHECK_OFF, name = rest_of(t, "no-");
    else if (text_starts(t, "error="))
        level = CHECK_ERROR, name = rest_of(t, "error=");
    if (finding_find(name, &id)) {
        set_level(w, id, level);
        return;
    }
    if (!group_find(name, &group))
        no_such(c, "-W", name);
    for (int i = 0; i < FINDING_COUNT; i++)
        if (finding_info((FindingId)i)->group == group)
            set_level(w, (FindingId)i, level);
}

void check_wishes(const Cli *c, OptionId o, CheckWishes *w)
{
    const TextList *list = &c->values[OPT_WARN];

    w->groups = CHECK_ALL;
    for (int i = 0; i < FINDING_COUNT; i++)
        w->level[i] = finding_info((FindingId)i)->level;
    if (!text_is(cli_text(c, o, "all"), "all"))
        only(c, w, o, cli_text(c, o, ""));
    for (int i = 0; i < list->len; i++)
        warn(c, w, list->at[i]);
}

void check_default_wishes(CheckWishes *w)
{
    static const FindingId cheap[] = {
        FINDING_UNINIT, FINDING_INDEX_RANGE, FINDING_INDEX_OVERFLOW,
        FINDING_OUTPUT_UNWRITTEN, FINDING_OUTPUT_CONFLICT};

    *w = (CheckWishes){0};
    for (size_t i = 0; i < countof(cheap); i++) {
        w->level[cheap[i]] = CHECK_WARNING;
        w->groups |= 1u << finding_info(cheap[i])->group;
    }
}

// ---- causes -----------------------------------------------------------------

// The cause of a finding as it was told, or NULL.
static const ToldCause *told_cause(const CheckReport *r, const CheckFinding *f)
{
    for (int i = 0; i < r->causes.len; i++) {
        const CheckCause *c = &r->causes.at[i].cause;

        if (c->id == f->cause.id && c->at.file == f->cause.at.file &&
            c->at.begin == f->cause.at.begin)
            return &r->causes.at[i];
    }
    return NULL;
}

// Of what was told now, the first of a cause.
static const ToldCause *new_cause(CheckReport *r, const CheckFinding *f)
{
    vec_push(r->cli->arena, &r->causes, ((ToldCause){f->cause, f->id, f->at}));
    return &r->causes.at[r->causes.len - 1];
}

static bool is_same_place(const CheckFinding *x, const CheckFinding *y)
{
    return x->id == y->id && x->at.file == y->at.file &&
           x->at.begin == y->at.begin;
}

// ---- one finding ------------------------------------------------------------

typedef struct {
    const CheckFindings *found; // of the launch
    const CheckFinding *f;
    CheckLevel level;
    const ToldCause *cause;     // that was told before; or NULL
} Telling;

static void put_line(const Cli *c, const Telling *t)
{
    const CheckFinding *f = t->f;
    Place p = sources_place(c->sources, f->at.file, f->at.begin);

    printf("%s:%d:%d: %s: %.*s [%s]\n",
           sources_get(c->sources, f->at.file)->path, p.line, p.column,
           t->cause                   ? "note: also"
           : t->level == CHECK_ERROR  ? "error"
                                      : "warning",
           TEXT_ARG(f->message), finding_info(f->id)->slug);
}

// Of other buffers at the same place.
static void tell_others(const CheckReport *r, const Telling *t)
{
    for (const CheckFinding *f = t->f + 1;
         f < t->found->at + t->found->len; f++)
        if (is_same_place(t->f, f) && !text_eq(t->f->message, f->message))
            diag_note(r->cli->diag, f->at, "and %.*s", TEXT_ARG(f->message));
}

static void tell_all(const CheckReport *r, const Telling *t)
{
    Diag *d = r->cli->diag;
    const CheckFinding *f = t->f;
    const char *slug = finding_info(f->id)->slug;

    if (t->level == CHECK_ERROR)
        diag_error(d, EXIT_FINDINGS, f->at, slug, "%.*s",
                   TEXT_ARG(f->message));
    else
        diag_warning(d, f->at, slug, "%.*s", TEXT_ARG(f->message));
    if (f->count > 1 && f->id != FINDING_OUTPUT_UNWRITTEN)
        diag_note(d, f->at, "%lld times in all", (long long)f->count);
    for (int i = 0; i < f->note_count; i++)
        diag_note(d, f->notes[i].at.file ? f->notes[i].at : f->at, "%.*s",
                  TEXT_ARG(f->notes[i].text));
    tell_others(r, t);
    if (f->fix.len)
        diag_note(d, f->at, "to do: %.*s", TEXT_ARG(f->fix));
}

// Below its cause, which may have been told by an earlier launch.
static void tell_also(const CheckReport *r, const Telling *t)
{
    const Cli *c = r->cli;
    bool near = t->cause == &r->causes.at[r->causes.len - 1];
    Place p = sources_place(c->sources, t->cause->at.file,
                            t->cause->at.begin);
    Text far = near ? TEXT("")
                    : text_format(c->arena, ", by the cause of [%s] in line %d",
                                  finding_info(t->cause->id)->slug, p.line);

    diag_also(c->diag, t->level == CHECK_ERROR ? DIAG_ERROR : DIAG_WARNING,
              t->level == CHECK_ERROR ? EXIT_FINDINGS : EXIT_CLEAN, t->f->at,
              finding_info(t->f->id)->slug, "%.*s%.*s",
              TEXT_ARG(t->f->message), TEXT_ARG(far));
}

static void tell(const CheckReport *r, const Telling *t)
{
    bool quiet = diag_quiet(r->cli->diag, r->one_line || r->json != NULL);

    if (t->cause)
        tell_also(r, t);
    else
        tell_all(r, t);
    diag_quiet(r->cli->diag, quiet);
}

static bool is_known(const CheckReport *r, const CheckFinding *f)
{
    const DiagEntry *at;
    int n = diag_entries(r->cli->diag, &at);

    for (int i = 0; i < n; i++)
        if (at[i].id && at[i].at.file == f->at.file &&
            at[i].at.begin == f->at.begin &&
            !strcmp(at[i].id, finding_info(f->id)->slug))
            return true;
    return false;
}

// A result of the log: the cause, with its other places and what follows.
static void log_cause(const CheckReport *r, const Telling *t)
{
    const CheckFinding *f = t->f;
    Arena *a = r->cli->arena;
    SarifPlace *other = new_array(a, SarifPlace,
                                  f->note_count + t->found->len + 1);
    int n = 0;

    for (int i = 0; i < f->note_count; i++)
        other[n++] = (SarifPlace){f->notes[i].at, f->notes[i].text};
    for (const CheckFinding *x = f + 1;
         x < t->found->at + t->found->len && x->also; x++)
        if (r->wishes.level[x->id] != CHECK_OFF) {
            other[n++] = (SarifPlace){
                x->at, text_format(a, "also: %.*s [%s]", TEXT_ARG(x->message),
                                   finding_info(x->id)->slug)};
        }
    sarif_result_with(r->sarif, finding_info(f->id)->slug,
                      t->level == CHECK_ERROR ? "error" : "warning", f->at,
                      f->message, other, n);
}

static void put_finding(CheckReport *r, const KernelObject *k, const Telling *t)
{
    const ToldCause *cause = t->cause ? t->cause : new_cause(r, t->f);

    if (r->json)
        check_finding_json(r->json, r->cli, k, t->f, t->level,
                           (int)(cause - r->causes.at) + 1);
    else if (r->one_line)
        put_line(r->cli, t);
    if (r->sarif && !t->cause)
        log_cause(r, t);
    if (r->sarif)
        sarif_told(r->sarif, finding_info(t->f->id)->slug, t->f->at);
}

static void report_one(CheckReport *r, const KernelObject *k,
                       const CheckFindings *found, const CheckFinding *f)
{
    Telling t = {found, f, r->wishes.level[f->id], told_cause(r, f)};

    if (t.level == CHECK_OFF)
        return;
    if (check_is_silenced(r, f)) {
        r->suppressed++;
        return;
    }
    if (t.level == CHECK_ERROR)
        r->wrong |= 1u << finding_info(f->id)->group;
    if (is_known(r, f)) {
        tell(r, &t);            // which only counts
        return;
    }
    *(t.level == CHECK_ERROR ? &r->errors : &r->warnings) += 1;
    if (t.level == CHECK_ERROR && r->kept)
        vec_push(r->cli->arena, r->kept, *f);
    tell(r, &t);
    put_finding(r, k, &t);
}

void check_report(CheckReport *r, const KernelObject *k,
                  const CheckFindings *found)
{
    for (int i = 0; i < found->len; i++)
        report_one(r, k, found, &found->at[i]);
}
