// spans.c - where things come from: the programs' text and a table of places,
// so that a dump alone is enough to point at the source again.
//
//     source "fa.tile" {
//     |# first line
//     |second line
//     }
//     spans {
//       1/12:5+30 = 12:9+4 - 13:5+7
//     }
//
// A place is file/line:column+bytes; the file is left out when it is that of
// the place before, "=" is the place before, "-" is nowhere. Places stand in
// the order of each_in_kernel. A line that begins with "\" instead of "|" ends
// without a newline.
#include <string.h>

#include "ir/text_int.h"

// ---- printing ---------------------------------------------------------------

typedef struct {
    Arena *arena;
    TextBuf *out;
    const SourceSet *sources;
    struct { uint32_t *at; int len, room; } files;  // number i + 1 in the text
    Span before;
    int in_line;
} SpanPrinter;

static int file_number(const SpanPrinter *p, uint32_t file)
{
    for (int i = 0; i < p->files.len; i++)
        if (p->files.at[i] == file)
            return i + 1;
    return 0;
}

static void note_file(void *ctx, Span *at)
{
    SpanPrinter *p = ctx;
    if (at->file && !file_number(p, at->file))
        vec_push(p->arena, &p->files, at->file);
}

static bool same_span(Span a, Span b)
{
    return a.file == b.file &&
           (!a.file || (a.begin == b.begin && a.end == b.end));
}

static void print_place(void *ctx, Span *at)
{
    SpanPrinter *p = ctx;
    buf_puts(p->out, p->in_line ? " " : "  ");
    if (same_span(*at, p->before)) {
        buf_addc(p->out, '=');
    } else if (!at->file) {
        buf_addc(p->out, '-');
    } else {
        Place place = sources_place(p->sources, at->file, at->begin);
        if (at->file != p->before.file)
            buf_printf(p->out, "%d/", file_number(p, at->file));
        buf_printf(p->out, "%d:%d+%u", place.line, place.column,
                   at->end - at->begin);
    }
    p->before = *at;
    p->in_line = (p->in_line + 1) % 8;
    if (!p->in_line)
        buf_addc(p->out, '\n');
}

static void print_source(TextBuf *out, const Source *src)
{
    Text rest = src->text;
    buf_puts(out, "source ");
    print_string(out, text_of(src->path));
    buf_puts(out, " {\n");
    while (rest.len) {
        const char *end = memchr(rest.at, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.at) : rest.len;
        buf_addc(out, end ? '|' : '\\');
        buf_text(out, text_slice(rest, 0, n));
        buf_addc(out, '\n');
        rest = text_slice(rest, end ? n + 1 : n, rest.len);
    }
    buf_puts(out, "}\n");
}

void spans_print(TextBuf *out, const SourceSet *sources, const IrKernel *k)
{
    Arena *a = arena_create();
    SpanPrinter p = {.arena = a, .out = out, .sources = sources};
    VarList vars = vars_of(a, k);
    for (int i = 0; i < vars.len; i++)
        note_file(&p, &vars.at[i]->at);
    each_in_kernel(k, &(Each){.ctx = &p, .span = note_file});
    for (int i = 0; i < p.files.len; i++)
        print_source(out, sources_get(sources, p.files.at[i]));
    buf_puts(out, "spans {\n");
    for (int i = 0; i < vars.len; i++)
        print_place(&p, &vars.at[i]->at);
    each_in_kernel(k, &(Each){.ctx = &p, .span = print_place});
    if (p.in_line)
        buf_addc(out, '\n');
    buf_puts(out, "}\n");
    arena_destroy(a);
}

// ---- reading ----------------------------------------------------------------

// The lines of a source, from the newline behind the "{" ahead.
static bool source_text(Reader *r, TextBuf *out)
{
    size_t i = r->pos;
    if (i >= r->text.len || r->text.at[i++] != '\n')
        return reader_fail(r, "expected a new line after '{'");
    while (i < r->text.len && r->text.at[i] != '}') {
        char mark = r->text.at[i++];
        if (mark != '|' && mark != '\\')
            return reader_fail(r, "a line of a source must begin with '|'");
        const char *end = memchr(r->text.at + i, '\n', r->text.len - i);
        size_t n = end ? (size_t)(end - r->text.at) - i : r->text.len - i;
        buf_add(out, r->text.at + i, n);
        i += n + (end != NULL);
        if (mark == '|')
            buf_addc(out, '\n');
    }
    r->pos = i;
    reader_next(r);
    return reader_need(r, "}");
}

typedef struct {
    uint32_t file;
} KnownFile;

// The number of a source with this path and text; one text read twice from
// one dump is one source.
static uint32_t add_source(Reader *r, Map *files, Text path, Text text)
{
    TextBuf key = {0};
    buf_printf(&key, "%.*s:%016llx", TEXT_ARG(path),
               (unsigned long long)text_hash(text));
    Text name = text_copy(r->arena, buf_view(&key));
    buf_release(&key);
    KnownFile *known = map_get(files, name);
    if (known && text_eq(sources_get(r->sources, known->file)->text, text))
        return known->file;
    known = new(r->arena, KnownFile);
    known->file = sources_add(r->sources, text_cstr(r->arena, path), text);
    map_set(r->arena, files, name, known);
    return known->file;
}

bool read_source(Reader *r, Map *files)
{
    TextBuf text = {0};
    Text path = reader_string(r);
    bool good = reader_is(r, "{") ? source_text(r, &text)
                                  : reader_need(r, "{");
    if (good) {
        uint32_t file = add_source(r, files, path, buf_view(&text));
        vec_push(r->arena, &r->files, file);
    }
    buf_release(&text);
    return good;
}

typedef struct {
    Reader *r;
    Span before;
} SpanReader;

// A number of the table; none of them has a suffix.
static bool span_number(Reader *r, int64_t *out)
{
    return reader_int(r, 0, UINT32_MAX, out);
}

static bool place_span(Reader *r, uint32_t file, int64_t line, int64_t column,
                       int64_t bytes, Span *out)
{
    const Source *src = file ? sources_get(r->sources, file) : NULL;
    if (!src || line < 1 || line > src->line_count || column < 1)
        return reader_fail(r, "there is no such place");
    uint64_t begin =
        (uint64_t)src->line_starts[line - 1] + (uint64_t)column - 1;
    if (begin + (uint64_t)bytes > src->text.len)
        return reader_fail(r, "this place ends beyond its file");
    *out = (Span){file, (uint32_t)begin, (uint32_t)(begin + (uint64_t)bytes)};
    return true;
}

// place: "=" | "-" | [file "/"] line ":" column "+" bytes
static void take_place(void *ctx, Span *at)
{
    SpanReader *s = ctx;
    Reader *r = s->r;
    int64_t line, column, bytes;
    uint32_t file = s->before.file;
    if (r->failed)
        return;
    if (reader_take(r, "=")) {
        *at = s->before;
        return;
    }
    *at = (Span){0};
    if (reader_take(r, "-")) {
        s->before = *at;
        return;
    }
    if (!span_number(r, &line))
        return;
    if (reader_take(r, "/")) {
        if (line < 1 || line > r->files.len) {
            reader_fail(r, "there is no source %lld", (long long)line);
            return;
        }
        file = r->files.at[line - 1];
        if (!span_number(r, &line))
            return;
    }
    if (reader_need(r, ":") && span_number(r, &column) && reader_need(r, "+") &&
        span_number(r, &bytes) &&
        place_span(r, file, line, column, bytes, at))
        s->before = *at;
}

bool read_spans(Reader *r)
{
    SpanReader s = {.r = r};
    if (!reader_need(r, "{"))
        return false;
    VarList vars = vars_of(r->arena, r->k);
    for (int i = 0; i < vars.len; i++)
        take_place(&s, &vars.at[i]->at);
    each_in_kernel(r->k, &(Each){.ctx = &s, .span = take_place});
    return !r->failed && reader_need(r, "}");
}
