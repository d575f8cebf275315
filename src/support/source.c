// source.c - the files of a run and where a byte of them is.
#include "support/support.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support_int.h"

enum { LARGEST_SOURCE = 64 << 20 };             // offsets are 32 bits

struct SourceSet {
    Arena *arena;
    Source **at;                                // [0] is unused
    int len, room;
};

SourceSet *sources_create(void)
{
    SourceSet *s = xcalloc(1, sizeof *s);

    s->arena = arena_create();
    vec_push(s->arena, s, NULL);
    return s;
}

void sources_destroy(SourceSet *s)
{
    if (!s)
        return;
    arena_destroy(s->arena);
    free(s);
}

static int count_lines(Text t)
{
    int lines = t.len && t.at[t.len - 1] == '\n' ? 0 : 1;

    for (size_t i = 0; i < t.len; i++)
        lines += t.at[i] == '\n';
    return lines;
}

static void find_lines(Arena *a, Source *src)
{
    int line = 1;

    src->line_count = count_lines(src->text);
    src->line_starts = new_array(a, uint32_t, (size_t)src->line_count);
    for (size_t i = 0; i < src->text.len; i++)
        if (src->text.at[i] == '\n' && line < src->line_count)
            src->line_starts[line++] = (uint32_t)i + 1;
}

uint32_t sources_add(SourceSet *s, const char *name, Text text)
{
    Source *src = new (s->arena, Source);

    if (text.len > LARGEST_SOURCE)
        BUG("sources_add: %zu bytes", text.len);
    src->path = text_cstr(s->arena, text_of(name));
    src->text = text_copy(s->arena, text);
    find_lines(s->arena, src);
    vec_push(s->arena, s, src);
    return (uint32_t)(s->len - 1);
}

// The offset of the first byte that no text has, or its length.
static size_t find_binary(Text t)
{
    size_t i = 0;
    int32_t point;

    while (i < t.len) {
        size_t n = (size_t)utf8_decode(t, i, &point);

        if (point <= 0)
            return i;
        i += n;
    }
    return i;
}

static const char *refuse_binary(Arena *a, Text t, size_t at)
{
    return text_format(a, "is not text (byte 0x%02x at offset %zu)",
                       (unsigned char)t.at[at], at).at;
}

static uint32_t add_checked(SourceSet *s, const char *path, Text t,
                            const char **why)
{
    size_t bad = find_binary(t);

    if (t.len > LARGEST_SOURCE) {
        *why = "is larger than 64 MiB, too large for a program";
        return 0;
    }
    if (bad < t.len) {
        *why = refuse_binary(s->arena, t, bad);
        return 0;
    }
    if (text_starts(t, "\xef\xbb\xbf"))
        t = text_slice(t, 3, t.len);
    return sources_add(s, path, t);
}

uint32_t sources_read(SourceSet *s, const char *path, const char **why)
{
    bool standard = strcmp(path, "-") == 0;
    char *at;
    size_t len;
    uint32_t file;

    if (standard ? !fd_read(STDIN_FILENO, &at, &len, why)
                 : !file_read_unpacked(path, &at, &len, why))
        return 0;
    file = add_checked(s, standard ? "<stdin>" : path, (Text){at, len}, why);
    free(at);
    return file;
}

const Source *sources_get(const SourceSet *s, uint32_t file)
{
    if (file == 0 || file >= (uint32_t)s->len)
        BUG("there is no source file %u", file);
    return s->at[file];
}

Span span_join(Span a, Span b)
{
    if (a.file == 0 || a.file != b.file)
        return a.file ? a : b;
    if (b.begin < a.begin)
        a.begin = b.begin;
    if (b.end > a.end)
        a.end = b.end;
    return a;
}

// The last line that starts at or before `offset`.
static int line_at(const Source *src, uint32_t offset)
{
    int low = 0, high = src->line_count;

    while (high - low > 1) {
        int middle = low + (high - low) / 2;

        if (src->line_starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

Place sources_place(const SourceSet *s, uint32_t file, uint32_t offset)
{
    const Source *src = sources_get(s, file);
    int line = line_at(src, offset);
    size_t within = offset - src->line_starts[line - 1];
    size_t len = sources_line(s, file, line).len;

    return (Place){line, (int)(within < len ? within : len) + 1};
}

Text sources_line(const SourceSet *s, uint32_t file, int line)
{
    const Source *src = sources_get(s, file);
    size_t from, to;

    if (line < 1 || line > src->line_count)
        return TEXT("");
    from = src->line_starts[line - 1];
    to = line < src->line_count ? src->line_starts[line] : src->text.len;
    if (to > from && src->text.at[to - 1] == '\n')
        to--;
    if (to > from && src->text.at[to - 1] == '\r')
        to--;
    return text_slice(src->text, from, to);
}
