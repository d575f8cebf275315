// check_comments.c - comments in the source that silence findings.
//
// On the line of a finding, or alone on the line before it:
//     # tilesim: ignore[uninit-read] filled by the host
// The reason is for the reader; without one the comment does not count. One
// that cannot be read, or names what is no finding, is warned of.
#include "cli/check_report.h"

#include <string.h>

static const char head[] = "tilesim: ignore";

// ---- reading ----------------------------------------------------------------

static const char *find_text(Text t, const char *what)
{
    for (size_t i = 0; i < t.len; i++)
        if (text_starts(text_slice(t, i, t.len), what))
            return t.at + i;
    return NULL;
}

typedef struct {
    Text all;                   // from the word `tilesim` on
    Text list, reason;
    bool reads;                 // there are brackets
} Comment;

// False: there is none on this line.
static bool comment_of(Text line, Comment *c)
{
    const char *hash = memchr(line.at, '#', line.len);
    const char *at = hash ? find_text(line, head) : NULL;
    const char *past = line.at + line.len, *end;

    if (!at || at < hash)
        return false;
    *c = (Comment){.all = {at, (size_t)(past - at)}};
    at += strlen(head);
    end = at < past && *at == '[' ? memchr(at, ']', (size_t)(past - at)) : NULL;
    if (!end)
        return true;
    c->reads = true;
    c->list = (Text){at + 1, (size_t)(end - at - 1)};
    c->reason = text_trim((Text){end + 1, (size_t)(past - end - 1)});
    return true;
}

// The names between the brackets, one after the other.
static bool next_name(Text list, size_t *from, Text *name)
{
    const char *comma;
    size_t end;

    if (!list.at || *from > list.len)
        return false;
    comma = memchr(list.at + *from, ',', list.len - *from);
    end = comma ? (size_t)(comma - list.at) : list.len;
    *name = text_trim(text_slice(list, *from, end));
    *from = end + 1;
    return true;
}

static bool names(Text list, const char *slug)
{
    Text name;

    for (size_t at = 0; next_name(list, &at, &name);)
        if (text_is(name, slug))
            return true;
    return false;
}

// ---- silence ----------------------------------------------------------------

static void use(CheckReport *r, uint32_t file, int line)
{
    for (int i = 0; i < r->used.len; i++)
        if (r->used.at[i].file == file && r->used.at[i].line == line)
            return;
    vec_push(r->cli->arena, &r->used, ((CommentPlace){file, line}));
}

static bool silences(CheckReport *r, Span at, int line, const char *slug,
                     bool alone)
{
    Comment c;
    Text text;

    if (line < 1)
        return false;
    text = sources_line(r->cli->sources, at.file, line);
    if (!comment_of(text, &c) || !names(c.list, slug) ||
        (alone && text_trim(text).at[0] != '#'))
        return false;
    use(r, at.file, line);
    if (!c.reason.len)
        diag_warning(r->cli->diag, at, "check-no-reason",
                     "the comment that ignores '%s' gives no reason, and does "
                     "not count: # tilesim: ignore[%s] why", slug, slug);
    return c.reason.len > 0;
}

bool check_is_silenced(CheckReport *r, const CheckFinding *f)
{
    const char *slug = finding_info(f->id)->slug;
    int line;

    if (!f->at.file)
        return false;
    line = sources_place(r->cli->sources, f->at.file, f->at.begin).line;
    return silences(r, f->at, line, slug, false) ||
           silences(r, f->at, line - 1, slug, true);
}

// ---- what is wrong with them ------------------------------------------------

static void check_name(const CheckReport *r, Span at, Text name)
{
    Text near = check_nearest(name);
    Text hint = near.len ? text_format(r->cli->arena, "; did you mean '%.*s'?",
                                       TEXT_ARG(near))
                         : TEXT("");
    FindingId id;

    if (!finding_find(name, &id))
        diag_warning(r->cli->diag, at, "check-no-such",
                     "this comment ignores '%.*s', which is no finding%.*s",
                     TEXT_ARG(name), TEXT_ARG(hint));
}

static void check_comment(const CheckReport *r, Span at, const Comment *c)
{
    Text name;

    if (!c->reads) {
        diag_warning(r->cli->diag, at, "check-no-such", "this comment ignores "
                     "nothing: # tilesim: ignore[ID] why");
        return;
    }
    for (size_t from = 0; next_name(c->list, &from, &name);)
        check_name(r, at, name);
}

// Whether a line's comment names a finding that was looked for.
static bool is_looked_for(const CheckReport *r, const Comment *c)
{
    for (int i = 0; i < FINDING_COUNT; i++)
        if (r->wishes.level[i] != CHECK_OFF &&
            names(c->list, finding_info((FindingId)i)->slug))
            return true;
    return false;
}

static bool is_used(const CheckReport *r, uint32_t file, int line)
{
    for (int i = 0; i < r->used.len; i++)
        if (r->used.at[i].file == file && r->used.at[i].line == line)
            return true;
    return false;
}

int check_comments(const CheckReport *r, uint32_t file)
{
    Text all = sources_get(r->cli->sources, file)->text;
    int unused = 0, line = 0;

    for (size_t i = 0; i < all.len;) {
        const char *end = memchr(all.at + i, '\n', all.len - i);
        size_t next = end ? (size_t)(end - all.at) : all.len;
        Comment c;

        line++;
        if (comment_of(text_slice(all, i, next), &c)) {
            size_t at = (size_t)(c.all.at - all.at);

            check_comment(r, (Span){.file = file, .begin = (uint32_t)at,
                                    .end = (uint32_t)(at + c.all.len)}, &c);
            unused += is_looked_for(r, &c) && !is_used(r, file, line);
        }
        i = next + 1;
    }
    return unused;
}
