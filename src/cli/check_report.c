// check_report.c - which findings are told, and how.
//
// A comment in the source, on the line of a finding or alone on the line
// before it, silences it:   # tilesim: ignore[uninit-read] filled by the host
// The reason is for the reader; without one the comment does not count.
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

static _Noreturn void no_such(const Cli *c, const char *option, Text name)
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
    cli_usage(c, "%s '%.*s': there is no such check or finding; did you mean "
              "'%s'?", option, TEXT_ARG(name), near);
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

static void warn(const Cli *c, CheckWishes *w, Text t)
{
    CheckLevel level = CHECK_WARNING;
    FindingId id;
    Text name = t;

    if (text_starts(t, "no-"))
        level = CHECK_OFF, name = rest_of(t, "no-");
    else if (text_starts(t, "error="))
        level = CHECK_ERROR, name = rest_of(t, "error=");
    if (!finding_find(name, &id))
        no_such(c, "-W", name);
    w->level[id] = level;
    if (level != CHECK_OFF)
        w->groups |= 1u << finding_info(id)->group;
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

// ---- suppression ------------------------------------------------------------

// Does `list`, the text between the brackets, name the finding?
static bool names(Text list, const char *slug)
{
    for (size_t i = 0; i <= list.len;) {
        const char *comma = memchr(list.at + i, ',', list.len - i);
        size_t end = comma ? (size_t)(comma - list.at) : list.len;

        if (text_is(text_trim(text_slice(list, i, end)), slug))
            return true;
        i = end + 1;
    }
    return false;
}

static const char *find_text(Text t, const char *what)
{
    for (size_t i = 0; i < t.len; i++)
        if (text_starts(text_slice(t, i, t.len), what))
            return t.at + i;
    return NULL;
}

// The comment's list and reason; false: there is none on this line.
static bool comment_of(Text line, Text *list, Text *reason)
{
    static const char head[] = "tilesim: ignore[";
    const char *hash = memchr(line.at, '#', line.len);
    const char *at = hash ? find_text(line, head) : NULL, *end;

    if (!at || at < hash)
        return false;
    at += strlen(head);
    end = memchr(at, ']', (size_t)(line.at + line.len - at));
    if (!end)
        return false;
    *list = (Text){at, (size_t)(end - at)};
    *reason = text_trim((Text){end + 1,
                               (size_t)(line.at + line.len - end - 1)});
    return true;
}

static bool silences(const CheckReport *r, Span at, int line, const char *slug,
                     bool alone)
{
    Text text, list, reason;

    if (line < 1)
        return false;
    text = sources_line(r->cli->sources, at.file, line);
    if (!comment_of(text, &list, &reason) || !names(list, slug) ||
        (alone && text_trim(text).at[0] != '#'))
        return false;
    if (!reason.len)
        diag_warning(r->cli->diag, at, "check-no-reason",
                     "the comment that ignores '%s' gives no reason, and does "
                     "not count: # tilesim: ignore[%s] why", slug, slug);
    return reason.len > 0;
}

static bool is_silenced(const CheckReport *r, const CheckFinding *f)
{
    const char *slug = finding_info(f->id)->slug;
    int line;

    if (!f->at.file)
        return false;
    line = sources_place(r->cli->sources, f->at.file, f->at.begin).line;
    return silences(r, f->at, line, slug, false) ||
           silences(r, f->at, line - 1, slug, true);
}

// ---- one finding ------------------------------------------------------------

static void put_line(const Cli *c, const CheckFinding *f, CheckLevel level)
{
    Place p = sources_place(c->sources, f->at.file, f->at.begin);

    printf("%s:%d:%d: %s: %.*s [%s]\n",
           sources_get(c->sources, f->at.file)->path, p.line, p.column,
           level == CHECK_ERROR ? "error" : "warning", TEXT_ARG(f->message),
           finding_info(f->id)->slug);
}

static void tell(CheckReport *r, const CheckFinding *f, CheckLevel level)
{
    Diag *d = r->cli->diag;
    const char *slug = finding_info(f->id)->slug;
    bool quiet = diag_quiet(d, r->one_line || r->json != NULL);

    if (level == CHECK_ERROR)
        diag_error(d, EXIT_FINDINGS, f->at, slug, "%.*s",
                   TEXT_ARG(f->message));
    else
        diag_warning(d, f->at, slug, "%.*s", TEXT_ARG(f->message));
    if (f->count > 1 && f->id != FINDING_OUTPUT_UNWRITTEN)
        diag_note(d, f->at, "%lld times in all", (long long)f->count);
    for (int i = 0; i < f->note_count; i++)
        diag_note(d, f->notes[i].at.file ? f->notes[i].at : f->at, "%.*s",
                  TEXT_ARG(f->notes[i].text));
    if (f->fix.len)
        diag_note(d, f->at, "to do: %.*s", TEXT_ARG(f->fix));
    diag_quiet(d, quiet);
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

static void report_one(CheckReport *r, const KernelObject *k,
                       const CheckFinding *f)
{
    CheckLevel level = r->wishes.level[f->id];
    const char *word = level == CHECK_ERROR ? "error" : "warning";

    if (level == CHECK_OFF)
        return;
    if (is_silenced(r, f)) {
        r->suppressed++;
        return;
    }
    if (level == CHECK_ERROR)
        r->wrong |= 1u << finding_info(f->id)->group;
    if (is_known(r, f)) {
        tell(r, f, level);      // which only counts
        return;
    }
    *(level == CHECK_ERROR ? &r->errors : &r->warnings) += 1;
    if (level == CHECK_ERROR && r->kept)
        vec_push(r->cli->arena, r->kept, *f);
    tell(r, f, level);
    if (r->json)
        check_finding_json(r->json, r->cli, k, f, level);
    else if (r->one_line)
        put_line(r->cli, f, level);
    if (r->sarif && level != CHECK_ERROR)   // errors are in the log's end
        sarif_result(r->sarif, finding_info(f->id)->slug, word, f->at,
                     f->message);
}

void check_report(CheckReport *r, const KernelObject *k,
                  const CheckFindings *found)
{
    for (int i = 0; i < found->len; i++)
        report_one(r, k, &found->at[i]);
}
