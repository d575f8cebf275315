// diag.c - messages with carets.
//
// gemm.tile:3:5: error: unknown primitive 'T.gem' [lang-unknown-primitive]
//     3 |     T.gem(As, Bs, C)
//       |     ^~~~~
// gemm.tile:3:5: fix: replace 'T.gem' with 'T.gemm'
//
// A message is put together in memory and written at once. What was reported
// is kept as entries, whether printed or not.
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include "support/support_int.h"

enum {
    WIDEST = 100,                               // columns of a source excerpt
    LEAD = 40,                                  // of them before the caret
};

struct Diag {
    const SourceSet *sources;
    FILE *out;
    Arena *arena;
    Map seen;                                   // key -> index in entries + 1
    struct {
        DiagEntry *at;
        int len, room;
    } entries;
    int limit, errors, raised, hidden;
    bool color, quiet, no_warnings;
    bool dropped;                               // the last message was
    bool unseen;                                // ... or kept from print
    ExitCode fresh;                             // see diag_fresh
    Span shown;                                 // the last excerpt
};

Diag *diag_create(const SourceSet *sources, FILE *out, bool color)
{
    Diag *d = xcalloc(1, sizeof *d);

    d->sources = sources;
    d->out = out;
    d->arena = arena_create();
    d->color = color;
    d->limit = 20;
    return d;
}

void diag_destroy(Diag *d)
{
    if (!d)
        return;
    arena_destroy(d->arena);
    free(d);
}

void diag_limit(Diag *d, int max_errors)
{
    d->limit = max_errors;
}

bool diag_quiet(Diag *d, bool quiet)
{
    bool before = d->quiet;

    d->quiet = quiet;
    return before;
}

bool diag_hide_warnings(Diag *d, bool hide)
{
    bool before = d->no_warnings;

    d->no_warnings = hide;
    return before;
}

int diag_errors(const Diag *d)
{
    return d->errors;
}

int diag_raised(const Diag *d)
{
    return d->raised;
}

ExitCode diag_fresh(Diag *d)
{
    ExitCode code = d->fresh;

    d->fresh = EXIT_CLEAN;
    return code;
}

int diag_entries(const Diag *d, const DiagEntry **out)
{
    *out = d->entries.at;
    return d->entries.len;
}

static int precedence(ExitCode code)
{
    static const ExitCode order[] = {
#define EXIT_ROW(id, ...) EXIT_##id,
#include "support/exit.def"
    };
    int i = 0;

    while (i < (int)countof(order) && order[i] != code)
        i++;
    return i;
}

ExitCode exit_worst(ExitCode a, ExitCode b)
{
    return precedence(a) <= precedence(b) ? a : b;
}

ExitCode diag_exit(const Diag *d)
{
    ExitCode worst = EXIT_CLEAN;

    for (int i = 0; i < d->entries.len; i++)
        if (d->entries.at[i].level == DIAG_ERROR)
            worst = exit_worst(worst, d->entries.at[i].exit);
    return worst;
}

// Colours; the table is indexed by DiagLevel.
static const char *const level_color[] = {"\033[1;36m", "\033[1;35m",
                                          "\033[1;31m"};
static const char *const bold = "\033[1m", *const green = "\033[1;32m";

static void put_colored(const Diag *d, TextBuf *b, const char *color,
                        const char *word)
{
    if (d->color)
        buf_puts(b, color);
    buf_puts(b, word);
    if (d->color)
        buf_puts(b, "\033[0m");
}

static void put_place(const Diag *d, TextBuf *b, Span at)
{
    Place p;
    TextBuf where = {0};

    if (!at.file) {
        put_colored(d, b, bold, "tilesim: ");
        return;
    }
    p = sources_place(d->sources, at.file, at.begin);
    buf_printf(&where, "%s:%d:%d: ", sources_get(d->sources, at.file)->path,
               p.line, p.column);
    put_colored(d, b, bold, where.at);
    buf_release(&where);
}

// An excerpt: bytes [from, to) of a line, of which [begin, end) is marked.
typedef struct {
    Text line;
    size_t from, to, begin, end;
} Excerpt;

// The least `from` such that [from, to) takes at most `columns`.
static size_t fit_left(Text line, size_t to, int columns)
{
    size_t from = 0;
    int32_t point;

    while (from < to && text_width(text_slice(line, from, to)) > columns)
        from += (size_t)utf8_decode(line, from, &point);
    return from;
}

static size_t fit_right(Text line, size_t from, int columns)
{
    size_t to = from;
    int32_t point;

    while (to < line.len) {
        size_t n = (size_t)utf8_decode(line, to, &point);

        columns -= utf8_columns(point);
        if (columns < 0)
            break;
        to += n;
    }
    return to;
}

// Only so far before the caret does fit_left need to look.
static Excerpt cut(Excerpt e)
{
    size_t far = e.begin > 8 * LEAD ? e.begin - 8 * LEAD : 0;
    Text near;

    e.from = 0;
    e.to = e.line.len;
    if (e.line.len <= WIDEST || (e.line.len <= 8 * WIDEST &&
                                 text_width(e.line) <= WIDEST))
        return e;
    while (far < e.begin && ((unsigned char)e.line.at[far] & 0xc0) == 0x80)
        far++;
    near = text_slice(e.line, far, e.begin);
    e.from = far + fit_left(near, near.len, LEAD);
    e.to = fit_right(e.line, e.from, WIDEST);
    return e;
}

static Excerpt excerpt(const Diag *d, Span at)
{
    Place p = sources_place(d->sources, at.file, at.begin);
    Excerpt e = {.line = sources_line(d->sources, at.file, p.line)};
    size_t left, len = at.end > at.begin ? at.end - at.begin : 0;

    e.begin = (size_t)p.column - 1;
    left = e.line.len - e.begin;
    e.end = e.begin + (len < left ? len : left);
    return cut(e);
}

static bool is_cut(const Excerpt *e)
{
    return e->from > 0 || e->to < e->line.len;
}

// A text less what would steer the terminal: control characters become '?',
// except those of `keep`.
static void put_visible(TextBuf *b, Text t, const char *keep)
{
    int32_t point;

    for (size_t i = 0; i < t.len;) {
        size_t n = (size_t)utf8_decode(t, i, &point);
        bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);

        if (control && !(point > 0 && strchr(keep, point)))
            buf_addc(b, '?');
        else
            buf_add(b, t.at + i, n);
        i += n;
    }
}

static void put_source(TextBuf *b, const Excerpt *e)
{
    Text shown = text_slice(e->line, e->from, e->to);
    size_t start;

    if (e->from > 0)
        buf_puts(b, "...");
    start = b->len;
    put_visible(b, shown, "\t");
    for (size_t i = start; is_cut(e) && i < b->len; i++)
        if (b->at[i] == '\t')
            b->at[i] = ' ';
    if (e->to < e->line.len)
        buf_puts(b, "...");
}

// Under the line: blanks of the same width (tabs stay tabs), then ^~~~. A '^'
// is narrower than a tab that it marks, so that nothing more can follow it.
static void put_marks(TextBuf *b, const Excerpt *e)
{
    char mark = '^';
    int32_t point;

    if (e->from > 0)
        buf_puts(b, "   ");
    for (size_t i = e->from; i < e->to && i < e->end;) {
        size_t n = (size_t)utf8_decode(e->line, i, &point);
        bool marked = i >= e->begin;
        bool tab = point == '\t' && !is_cut(e);

        if (marked && tab && mark == '^')
            break;
        if (tab)
            buf_addc(b, '\t');
        for (int w = tab ? 0 : utf8_columns(point); w > 0; w--) {
            buf_addc(b, marked ? mark : ' ');
            mark = marked ? '~' : mark;
        }
        i += n;
    }
    if (mark == '^')
        buf_addc(b, '^');
}

static void put_excerpt(Diag *d, TextBuf *b, Span at)
{
    Excerpt e;
    TextBuf marks = {0};
    Place p;

    if (!at.file || (at.file == d->shown.file && at.begin == d->shown.begin &&
                     at.end == d->shown.end))
        return;
    d->shown = at;
    p = sources_place(d->sources, at.file, at.begin);
    e = excerpt(d, at);
    buf_printf(b, "%5d | ", p.line);
    put_source(b, &e);
    buf_puts(b, "\n      | ");
    put_marks(&marks, &e);
    put_colored(d, b, green, buf_view(&marks).at);
    buf_addc(b, '\n');
    buf_release(&marks);
}

static void print(const Diag *d, TextBuf *b)
{
    if (d->out) {
        buf_write(b, d->out);
        fflush(d->out);
    }
    buf_release(b);
}

static const char *level_word(const DiagEntry *e)
{
    static const char *const word[] = {"note: ", "warning: ", "error: "};

    return e->level == DIAG_NOTE && e->id ? "fix: " : word[e->level];
}

static void print_entry(Diag *d, const DiagEntry *e, Text message)
{
    TextBuf b = {0};

    if (e->also)
        put_colored(d, &b, level_color[e->level], "    also: ");
    put_place(d, &b, e->at);
    if (!e->also)
        put_colored(d, &b, level_color[e->level], level_word(e));
    put_visible(&b, message, "\t\n");
    if (e->level != DIAG_NOTE && e->id)
        buf_printf(&b, " [%s]", e->id);
    buf_addc(&b, '\n');
    if (!e->also)
        put_excerpt(d, &b, e->at);
    print(d, &b);
}

static Text format_message(Diag *d, const char *format, va_list args)
{
    TextBuf b = {0};
    Text message;

    buf_vprintf(&b, format, args);
    message = text_copy(d->arena, buf_view(&b));
    buf_release(&b);
    return message;
}

// What makes two messages the same: id and place, or, where there is no
// place, id and words.
static Text key_of(Diag *d, const DiagEntry *e)
{
    if (e->at.file)
        return text_format(d->arena, "%d %s %u %u", e->level, e->id,
                           e->at.file, e->at.begin);
    return text_format(d->arena, "%d %s %.*s", e->level, e->id,
                       TEXT_ARG(e->message));
}

static bool over_limit(const Diag *d)
{
    return d->limit > 0 && d->errors > d->limit;
}

static void add_entry(Diag *d, const DiagEntry *e, Text key)
{
    vec_push(d->arena, &d->entries, *e);
    map_set(d->arena, &d->seen, key, (void *)(uintptr_t)d->entries.len);
    d->errors += e->level == DIAG_ERROR;
    d->shown = (Span){0};
    d->unseen = d->quiet || (d->no_warnings && e->level == DIAG_WARNING);
    if (!d->unseen && over_limit(d))
        d->hidden++;
    else if (!d->unseen)
        print_entry(d, e, e->message);
}

static void report(Diag *d, DiagEntry e, const char *format, va_list args)
{
    ArenaMark mark = arena_mark(d->arena);
    uintptr_t seen;
    Text key;

    e.message = format_message(d, format, args);
    e.count = 1;
    key = key_of(d, &e);
    seen = (uintptr_t)map_get(&d->seen, key);
    d->dropped = seen != 0;
    if (e.level == DIAG_ERROR) {
        d->raised++;
        d->fresh = exit_worst(d->fresh, e.exit);
    }
    if (!seen) {
        add_entry(d, &e, key);
        return;
    }
    d->entries.at[seen - 1].count++;
    arena_release(d->arena, mark);
}

DiagHold diag_hold(Diag *d)
{
    DiagHold hold = {d->entries.len, d->errors, d->raised, d->quiet, d->fresh};

    d->quiet = true;
    return hold;
}

// The same message later is one that nobody expects.
static void forgive_entry(Diag *d, DiagEntry *e)
{
    if (e->level != DIAG_ERROR)
        return;
    map_set(d->arena, &d->seen, key_of(d, e), NULL);
    e->level = DIAG_WARNING;
}

void diag_settle(Diag *d, const DiagHold *hold, bool forgive)
{
    d->quiet = d->unseen = hold->quiet;
    d->shown = (Span){0};
    for (int i = hold->entries; i < d->entries.len; i++)
        if (forgive)
            forgive_entry(d, &d->entries.at[i]);
        else if (!d->quiet && !(d->no_warnings
                                && d->entries.at[i].level == DIAG_WARNING))
            print_entry(d, &d->entries.at[i], d->entries.at[i].message);
    if (!forgive)
        return;
    d->errors = hold->errors;
    d->raised = hold->raised;
    d->fresh = hold->fresh;
}

void diag_error(Diag *d, ExitCode exit, Span at, const char *id,
                const char *format, ...)
{
    DiagEntry e = {.level = DIAG_ERROR, .at = at, .id = id, .exit = exit};
    va_list args;

    va_start(args, format);
    report(d, e, format, args);
    va_end(args);
}

void diag_warning(Diag *d, Span at, const char *id, const char *format, ...)
{
    DiagEntry e = {.level = DIAG_WARNING, .at = at, .id = id};
    va_list args;

    va_start(args, format);
    report(d, e, format, args);
    va_end(args);
}

void diag_also(Diag *d, DiagLevel level, ExitCode exit, Span at,
               const char *id, const char *format, ...)
{
    DiagEntry e = {.level = level, .at = at, .id = id, .exit = exit,
                   .also = true};
    va_list args;

    va_start(args, format);
    report(d, e, format, args);
    va_end(args);
}

static void attach(Diag *d, const DiagEntry *e, Text shown)
{
    if (d->dropped)
        return;
    vec_push(d->arena, &d->entries, *e);
    if (!d->unseen && !d->quiet && !over_limit(d))
        print_entry(d, e, shown);
}

void diag_note(Diag *d, Span at, const char *format, ...)
{
    DiagEntry e = {.level = DIAG_NOTE, .at = at, .count = 1};
    va_list args;

    va_start(args, format);
    e.message = format_message(d, format, args);
    va_end(args);
    attach(d, &e, e.message);
}

// The text a fix replaces, on one line and not too long.
static Text replaced_text(Diag *d, Span at)
{
    enum { LONGEST = 60 };
    Text all, line;
    size_t i = 0;
    int32_t point;

    if (!at.file || at.end <= at.begin)
        return TEXT("");
    all = sources_get(d->sources, at.file)->text;
    line = text_slice(all, at.begin, at.end);
    while (i < line.len && i < LONGEST && line.at[i] != '\n')
        i += (size_t)utf8_decode(line, i, &point);
    return i == line.len ? line
                         : text_format(d->arena, "%.*s...", (int)i, line.at);
}

static Text describe_fix(Diag *d, const DiagEntry *e)
{
    Text old = replaced_text(d, e->at);

    if (!e->at.file)
        return text_format(d->arena, "write '%.*s'", TEXT_ARG(e->message));
    if (!old.len)
        return text_format(d->arena, "insert '%.*s'", TEXT_ARG(e->message));
    if (!e->message.len)
        return text_format(d->arena, "remove '%.*s'", TEXT_ARG(old));
    return text_format(d->arena, "replace '%.*s' with '%.*s'", TEXT_ARG(old),
                       TEXT_ARG(e->message));
}

void diag_fix(Diag *d, Span at, const char *format, ...)
{
    DiagEntry e = {.level = DIAG_NOTE, .at = at, .id = "fix", .count = 1};
    va_list args;

    va_start(args, format);
    e.message = format_message(d, format, args);
    va_end(args);
    attach(d, &e, describe_fix(d, &e));
}

static void print_repeats(const Diag *d, const DiagEntry *e)
{
    TextBuf b = {0};

    put_place(d, &b, e->at);
    put_colored(d, &b, level_color[DIAG_NOTE], "note: ");
    buf_printf(&b, "reported %d times [%s]\n", e->count, e->id);
    print(d, &b);
}

// A parser that reads a place twice says nothing of the program.
static bool is_repeat(const Diag *d, const DiagEntry *e)
{
    bool hidden = d->no_warnings && e->level == DIAG_WARNING;

    return e->count > 1 && !hidden && strncmp(e->id, "syntax", 6) != 0;
}

void diag_summary(Diag *d)
{
    if (d->quiet)
        return;
    for (int i = 0; i < d->entries.len; i++)
        if (is_repeat(d, &d->entries.at[i]))
            print_repeats(d, &d->entries.at[i]);
    if (d->hidden)
        fprintf(d->out, "tilesim: note: %d more %s not shown; see "
                "--max-errors\n", d->hidden,
                d->hidden == 1 ? "message was" : "messages were");
}
