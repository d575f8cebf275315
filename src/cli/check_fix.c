// check_fix.c - repairs of a source where only one can be meant.
//
// A tile that a T.gemm adds to and nobody cleared: T.clear before the product,
// or before one of the loops around it; a grid that leaves rows out: T.ceildiv
// for // in T.Kernel. Each candidate is run under the checks and held against
// the reference. Where two of them pass, none is certain.
#include "cli/check_fix.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_EDITS = 64, MOST_PLACES = 8, MOST_CLEARS = 3, MOST_TRIALS = 64 };

typedef struct {
    size_t at, length;              // of the source as it was
    Text text;                      // what comes there
} Edit;

typedef struct {
    Arena *arena;
    Text source;
    Edit edits[MOST_EDITS];
    int count;
    int errors;                     // left
    CheckAgain *again;
    void *ctx;
} Repair;

// ---- text ---------------------------------------------------------------------

static bool has(Text t, size_t at, const char *word)
{
    size_t n = strlen(word);

    return at + n <= t.len && memcmp(t.at + at, word, n) == 0;
}

static bool is_letter(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t line_begin(Text t, size_t at)
{
    while (at && t.at[at - 1] != '\n')
        at--;
    return at;
}

static size_t indent_at(Text t, size_t line)
{
    size_t n = 0;

    while (line + n < t.len && t.at[line + n] == ' ')
        n++;
    return n;
}

// Of the line where the statement with byte `at` begins: no bracket is open.
static size_t statement_begin(Text t, size_t at)
{
    size_t begin = 0;
    int depth = 0;

    for (size_t i = 0; i < at; i++) {
        char c = t.at[i];

        if (c == '#')
            while (i + 1 < at && t.at[i + 1] != '\n')
                i++;
        depth += (c == '(' || c == '[' || c == '{') -
                 (c == ')' || c == ']' || c == '}');
        if (c == '\n' && depth == 0)
            begin = i + 1;
    }
    return begin;
}

static int by_edit(const void *x, const void *y)
{
    const Edit *a = x, *b = y;

    return (a->at > b->at) - (a->at < b->at);
}

static Text edited(Repair *r, const Edit *more, int n)
{
    Edit all[2 * MOST_EDITS];
    TextBuf b = {0};
    size_t from = 0;
    Text out;

    for (int i = 0; i < r->count + n; i++)
        all[i] = i < r->count ? r->edits[i] : more[i - r->count];
    qsort(all, (size_t)(r->count + n), sizeof *all, by_edit);
    for (int i = 0; i < r->count + n; i++) {
        buf_add(&b, r->source.at + from, all[i].at - from);
        buf_text(&b, all[i].text);
        from = all[i].at + all[i].length;
    }
    buf_add(&b, r->source.at + from, r->source.len - from);
    out = text_copy(r->arena, buf_view(&b));
    buf_release(&b);
    return out;
}

// ---- trials -------------------------------------------------------------------

// Fewer findings; and right, as far as anybody can say while others are left.
static bool passes(Repair *r, const Edit *e, int n, CheckTrial *t)
{
    *t = r->again(r->ctx, edited(r, e, n));
    return t->ran && t->errors < r->errors && (t->errors || !t->judged || t->right);
}

static void take(Repair *r, const Edit *e, int n, const CheckTrial *t)
{
    memcpy(r->edits + r->count, e, (size_t)n * sizeof *e);
    r->count += n;
    r->errors = t->errors;
}

// ---- a tile that was not cleared ----------------------------------------------

// Before the product, and before each loop around it within the kernel.
static int places_for(Text t, size_t at, size_t *place)
{
    size_t line = statement_begin(t, at), indent;
    int n = 0;

    if (!has(t, line + indent_at(t, line), "T.gemm("))
        return 0;
    place[n++] = line;
    indent = indent_at(t, line);
    while (line && n < MOST_PLACES) {
        size_t word;

        line = line_begin(t, line - 1);
        word = line + indent_at(t, line);
        if (word >= t.len || t.at[word] == '\n' || t.at[word] == '#' ||
            word - line >= indent)
            continue;
        indent = word - line;
        if (has(t, word, "with T.Kernel") || has(t, word, "def "))
            break;
        if (has(t, word, "for ") || has(t, word, "while "))
            place[n++] = line;
    }
    return n;
}

static Edit clear_line(const Repair *r, size_t line, Text name)
{
    TextBuf b = {0};
    Edit e = {.at = line};

    buf_printf(&b, "%*sT.clear(%.*s)\n", (int)indent_at(r->source, line), "",
               TEXT_ARG(name));
    e.text = text_copy(r->arena, buf_view(&b));
    buf_release(&b);
    return e;
}

typedef struct {
    Text name;
    size_t place[MOST_PLACES];
    int count;
} Clear;

static int clears_of(const Repair *r, uint32_t file, const CheckFindings *found,
                     Clear *out)
{
    int n = 0;

    for (int i = 0; i < found->len && n < MOST_CLEARS; i++) {
        const CheckFinding *f = &found->at[i];

        if (f->id != FINDING_UNINIT || f->at.file != file || !f->tile.len)
            continue;
        out[n].name = f->tile;
        out[n].count = places_for(r->source, f->at.begin, out[n].place);
        n += out[n].count > 0;
    }
    return n;
}

// All of them together, at each choice of places: one alone must pass.
static int clear_tiles(Repair *r, uint32_t file, const CheckFindings *found)
{
    Clear clear[MOST_CLEARS];
    int n = clears_of(r, file, found, clear), choices = 1, good = 0;
    Edit best[MOST_CLEARS];
    CheckTrial best_trial = {0};

    for (int i = 0; i < n; i++)
        choices *= clear[i].count;
    if (n == 0 || choices > MOST_TRIALS)
        return 0;
    for (int c = 0; c < choices; c++) {
        Edit e[MOST_CLEARS];
        CheckTrial t;

        for (int i = 0, rest = c; i < n; rest /= clear[i++].count)
            e[i] = clear_line(r, clear[i].place[rest % clear[i].count],
                              clear[i].name);
        if (!passes(r, e, n, &t) || (choices > 1 && !t.judged))
            continue;
        memcpy(best, e, sizeof best);
        best_trial = t;
        good++;
    }
    if (good != 1)
        return 0;
    take(r, best, n, &best_trial);
    return n;
}

// ---- a grid that is too small -------------------------------------------------

static bool is_part(char c)
{
    return is_letter(c) || is_digit(c) || c == '.';
}

// A // B of two names or numbers around byte `at` of the sign.
static bool divide_at(Repair *r, size_t at, Edit *e)
{
    Text t = r->source;
    size_t a = at, b = at + 2, a_end, b_begin;
    TextBuf words = {0};

    while (a && t.at[a - 1] == ' ')
        a--;
    a_end = a;
    while (a && is_part(t.at[a - 1]))
        a--;
    while (b < t.len && t.at[b] == ' ')
        b++;
    b_begin = b;
    while (b < t.len && is_part(t.at[b]))
        b++;
    if (a == a_end || b == b_begin)
        return false;
    buf_printf(&words, "T.ceildiv(%.*s, %.*s)", (int)(a_end - a), t.at + a,
               (int)(b - b_begin), t.at + b_begin);
    *e = (Edit){a, b - a, text_copy(r->arena, buf_view(&words))};
    buf_release(&words);
    return true;
}

static bool round_up(Repair *r, const CheckFinding *f)
{
    static const char word[] = "T.Kernel(";
    Edit e[4];
    CheckTrial t;
    int n = 0, depth = 0;
    size_t i = f->at.begin;

    while (i < r->source.len && !has(r->source, i, word))
        i++;
    for (i += sizeof word - 2; i < r->source.len && n < 4; i++) {
        depth += (r->source.at[i] == '(') - (r->source.at[i] == ')');
        if (depth == 0)
            break;
        if (has(r->source, i, "//") && divide_at(r, i, &e[n]))
            n++, i++;
    }
    if (n == 0 || n == 4 || !passes(r, e, n, &t))
        return false;
    take(r, e, n, &t);
    return true;
}

// ---- all ----------------------------------------------------------------------

Text check_repair(Arena *a, const SourceSet *sources, uint32_t file,
                  const CheckFindings *found, int errors, CheckAgain *again,
                  void *ctx, int *fixed)
{
    Repair r = {.arena = a,
                .source = sources_get(sources, file)->text,
                .errors = errors,
                .again = again,
                .ctx = ctx};

    *fixed = 0;
    for (int i = 0; i < found->len && r.count < MOST_EDITS / 2; i++)
        if (found->at[i].at.file == file &&
            found->at[i].id == FINDING_OUTPUT_UNWRITTEN)
            *fixed += round_up(&r, &found->at[i]);
    *fixed += clear_tiles(&r, file, found);
    return edited(&r, NULL, 0);
}
