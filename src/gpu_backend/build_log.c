// build_log.c - what a compiler printed: errors at the program's lines, and
// what its assembler says that kernels need.
#define _GNU_SOURCE                             // memmem
#include <string.h>

#include "gpu_backend/toolchain_int.h"

static bool next_line(Text *rest, Text *line)
{
    const char *end;

    if (!rest->len)
        return false;
    end = memchr(rest->at, '\n', rest->len);
    size_t len = end ? (size_t)(end - rest->at) : rest->len;
    *line = text_slice(*rest, 0, len);
    *rest = text_slice(*rest, end ? len + 1 : len, rest->len);
    return true;
}

static const char *find(Text t, const char *what)
{
    return memmem(t.at, t.len, what, strlen(what));
}

static Text after(Text t, const char *what)
{
    const char *at = find(t, what);

    return at ? text_slice(t, (size_t)(at - t.at) + strlen(what), t.len)
              : (Text){0};
}

static int64_t number_at(Text t)
{
    size_t digits = 0;
    int64_t n = 0;

    t = text_trim(t);
    while (digits < t.len && t.at[digits] >= '0' && t.at[digits] <= '9')
        digits++;
    return text_to_i64(text_slice(t, 0, digits), &n) ? n : -1;
}

// ---- errors -----------------------------------------------------------------

static Text source_line(Text source, int64_t line)
{
    Text at = {0};

    for (int64_t i = 0; i < line; i++)
        if (!next_line(&source, &at))
            return (Text){0};
    return at;
}

// "// fa.tile:31" at the end of a generated line: the line of the program
static int64_t program_line(const GpuSource *s, Text line)
{
    const char *path = sources_get(s->sources, s->file)->path;
    const char *slash = strrchr(path, '/');
    TextBuf mark = {0};
    int64_t n;

    buf_printf(&mark, "// %s:", slash ? slash + 1 : path);
    n = number_at(after(line, mark.at));
    buf_release(&mark);
    return n;
}

// The statement that generated line `line` belongs to: the nearest mark at or
// above it.
static Span program_span(const GpuSource *s, int64_t line)
{
    const Source *file;

    if (!s->file)
        return (Span){0};
    file = sources_get(s->sources, s->file);
    for (; line > 0; line--) {
        int64_t n = program_line(s, source_line(s->source, line));
        if (n <= 0 || n > file->line_count)
            continue;
        Text t = sources_line(s->sources, s->file, (int)n);
        Text bare = text_trim(t);
        uint32_t begin = (uint32_t)(bare.at - file->text.at);
        return (Span){s->file, begin, begin + (uint32_t)bare.len};
    }
    return (Span){0};
}

// "fa.cu(12): error: ...", of clang ".../fa.hip:12:3: error: ..." or, of the
// assembler, "ptxas fa.ptx, line 3; error"
static bool error_line(const GpuSource *s, Text line, int64_t *at, Text *words)
{
    TextBuf mark = {0};

    buf_printf(&mark, "%s(", s->name);
    *at = number_at(after(line, mark.at));
    if (*at < 0) {
        buf_clear(&mark);
        buf_printf(&mark, "%s:", s->name);
        *at = number_at(after(line, mark.at));
    }
    buf_release(&mark);
    *words = after(line, "error: ");
    if (!words->len)
        *words = after(line, "error   : ");
    if (!words->len && find(line, "fatal"))
        *words = line;
    return words->len > 0;
}

void build_report(Diag *d, const GpuSource *s, const char *toolchain, Text log)
{
    Text rest = log, line, words;
    int reported = 0;
    int64_t at;

    while (reported < 5 && next_line(&rest, &line)) {
        if (!error_line(s, line, &at, &words))
            continue;
        reported++;
        diag_error(d, EXIT_ENVIRONMENT, program_span(s, at), "gpu-compile",
                   "%s refuses what was generated here: %.*s", toolchain,
                   TEXT_ARG(words));
        if (at > 0) {
            Text wrong = text_trim(source_line(s->source, at));
            diag_note(d, (Span){0}, "%s:%lld: %.*s", s->name, (long long)at,
                      TEXT_ARG(wrong));
        }
    }
    if (!reported)
        diag_error(d, EXIT_ENVIRONMENT, (Span){0}, "gpu-compile",
                   "%s refuses the generated source: %.*s", toolchain,
                   TEXT_ARG(text_slice(log, 0, log.len < 2000 ? log.len
                                                              : 2000)));
    diag_note(d, (Span){0}, "--keep keeps the source, --emit %s prints it",
              s->form == GPU_HSACO ? "hip" : "cuda");
}

// ---- what kernels need ------------------------------------------------------

// ptxas -v has a few lines a kernel: its name, "0 bytes stack frame, 4 bytes
// spill stores, 8 bytes spill loads", "Used 168 registers, ..., 128 bytes smem".
void build_usage(Arena *a, Text log, GpuBuilt *out)
{
    Text rest = log, line;
    struct {
        GpuUsage *at;
        int len, room;
    } list = {0};

    while (next_line(&rest, &line)) {
        Text name = after(line, "Compiling entry function '");
        const char *quote = name.len ? memchr(name.at, '\'', name.len) : NULL;
        if (quote) {
            GpuUsage u = {
                .symbol = text_copy(a, text_slice(name, 0, quote - name.at))};
            vec_push(a, &list, u);
        }
        if (!list.len)
            continue;
        GpuUsage *u = &list.at[list.len - 1];
        Text spill = after(line, "bytes stack frame, ");
        if (spill.len) {
            u->spills = number_at(spill);
            u->spills += number_at(after(spill, "spill stores, "));
        }
        Text used = after(line, "Used ");
        if (used.len && find(used, "registers"))
            u->registers = (int)number_at(used);
        const char *smem = used.len ? find(used, " bytes smem") : NULL;
        while (smem && smem > used.at && smem[-1] >= '0' && smem[-1] <= '9')
            smem--;
        if (smem)
            u->static_shared = number_at(
                text_slice(used, (size_t)(smem - used.at), used.len));
    }
    out->usage = list.at;
    out->usage_count = list.len;
}
