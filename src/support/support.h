// support.h - what every layer stands on: memory, text, sources, diagnostics.
//
// Three words for failure: `diag` reports a fault of the user's program and
// goes on, `fatal` a fault of the world (exit 6, or 4 for a limit), `BUG` a
// fault of ours. Text is always pointer and length; nothing here relies on a
// closing NUL, though text_cstr() and arena copies add one for libc's sake.
#ifndef SUPPORT_SUPPORT_H
#define SUPPORT_SUPPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define countof(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

// Exit codes of the command line; exit.def holds name, number and meaning.
typedef enum {
#define EXIT_ROW(id, code, doc) EXIT_##id = code,
#include "support/exit.def"
} ExitCode;

// fail.c - the two ways to stop.

// Prints "tilesim: ..." and exits with `code` (EXIT_ENVIRONMENT, EXIT_LIMIT).
_Noreturn void fatal(ExitCode code, const char *format, ...) PRINTF_LIKE(2, 3);
_Noreturn void bug_at(const char *file, int line, const char *format, ...)
    PRINTF_LIKE(3, 4);
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)

// malloc family that never returns NULL; sizes are overflow-checked.
void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t count, size_t size);

// arena.c - memory with one lifetime. Objects come zeroed and 16-byte aligned.
typedef struct Arena Arena;
typedef struct {
    void *chunk;
    size_t used;
} ArenaMark;

Arena *arena_create(void);
void arena_destroy(Arena *a);
void *arena_alloc(Arena *a, size_t count, size_t size);
ArenaMark arena_mark(Arena *a);
void arena_release(Arena *a, ArenaMark mark);   // frees all allocated since
size_t arena_bytes(const Arena *a);
#define new(a, T) ((T *)arena_alloc(a, 1, sizeof(T)))
#define new_array(a, T, n) ((T *)arena_alloc(a, n, sizeof(T)))

// text.c - length-counted text.
typedef struct {
    const char *at;
    size_t len;
} Text;

#define TEXT(lit) ((Text){"" lit, sizeof(lit) - 1})
#define TEXT_ARG(t) (int)(t).len, (t).at        // for "%.*s"

Text text_of(const char *cstr);
bool text_eq(Text a, Text b);
bool text_is(Text a, const char *cstr);
int text_compare(Text a, Text b);               // bytewise order
bool text_starts(Text a, const char *prefix);
bool text_ends(Text a, const char *suffix);
Text text_slice(Text t, size_t from, size_t to);
Text text_trim(Text t);                         // ASCII blanks at both ends
Text text_copy(Arena *a, Text t);               // NUL-terminated copy
const char *text_cstr(Arena *a, Text t);
Text text_format(Arena *a, const char *format, ...) PRINTF_LIKE(2, 3);
bool text_to_i64(Text t, int64_t *out);         // decimal, sign; false: not one
bool text_to_f64(Text t, double *out);          // the whole text or false
int text_distance(Text a, Text b);              // edits, for "did you mean"
// The word that is nearest to `name` of those tried, or none (length 0).
typedef struct {
    Text name, word;
    int distance;
} NearWord;
void near_try(NearWord *n, Text word);
uint64_t text_hash(Text t);
// Columns a terminal needs for the UTF-8 text `t`; a tab counts 1.
int text_width(Text t);
// The code point at byte `i` of `t`, and its length in bytes; a byte that is
// not UTF-8 is point -1 of length 1.
int utf8_decode(Text t, size_t i, int32_t *point);

// A growing text owned by the caller (malloc); {0} is valid and empty.
typedef struct {
    char *at;
    size_t len, room;
} TextBuf;

void buf_release(TextBuf *b);
// Writes what the buffer holds; an empty one writes nothing.
void buf_write(const TextBuf *b, FILE *out);
void buf_clear(TextBuf *b);
void buf_add(TextBuf *b, const char *bytes, size_t n);
void buf_addc(TextBuf *b, char c);
void buf_puts(TextBuf *b, const char *cstr);
void buf_text(TextBuf *b, Text t);
void buf_printf(TextBuf *b, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(TextBuf *b, const char *format, va_list args);
void buf_pad(TextBuf *b, int width);            // blanks up to column `width`
Text buf_view(const TextBuf *b);
// "1,048,576": thousands separated, for tables people read.
void buf_grouped(TextBuf *b, int64_t n);

// vec.c - a growing array in an arena:
//     struct { Ast **at; int len, room; } v = {0};
//     vec_push(arena, &v, node);
#define vec_push(a, v, x)                                                     \
    (*(((v)->len == (v)->room                                                 \
            ? vec_grow_(a, (void **)&(v)->at, &(v)->room, sizeof *(v)->at)    \
            : (void)0),                                                       \
       &(v)->at[(v)->len++]) = (x))
void vec_grow_(Arena *a, void **at, int *room, size_t size);

// map.c - text to pointer, insertion-ordered, in an arena.
typedef struct MapEntry {
    Text key;
    void *value;
    uint64_t hash;
} MapEntry;
typedef struct {
    MapEntry *at;                               // entries in insertion order
    int len, room;
    int *slots;
    int slot_count;
} Map;

void *map_get(const Map *m, Text key);          // NULL when absent
MapEntry *map_find(const Map *m, Text key);
void map_set(Arena *a, Map *m, Text key, void *value);

// source.c - the files of a run and where a byte of them is.
typedef struct {
    uint32_t file;                              // 0: nowhere
    uint32_t begin, end;                        // byte offsets, end exclusive
} Span;

typedef struct {
    const char *path;                           // as the user gave it
    Text text;
    uint32_t *line_starts;
    int line_count;
} Source;

typedef struct SourceSet SourceSet;

SourceSet *sources_create(void);
void sources_destroy(SourceSet *s);
// Reads a file whole ("-": standard input), less a byte order mark. Returns
// its number, or 0 with `*why` set to a sentence
// ("is a directory", "is not text (byte 0x00 at offset 12)", strerror's).
uint32_t sources_read(SourceSet *s, const char *path, const char **why);
uint32_t sources_add(SourceSet *s, const char *name, Text text);
const Source *sources_get(const SourceSet *s, uint32_t file);
Span span_join(Span a, Span b);
typedef struct {
    int line, column;                           // 1-based; column in bytes
} Place;
// The end of a text is the place after the last character of its last line.
Place sources_place(const SourceSet *s, uint32_t file, uint32_t offset);
// Without its line end; lines end with \n or \r\n.
Text sources_line(const SourceSet *s, uint32_t file, int line);

// diag.c - messages with carets. One Diag per run; not thread-safe by design:
// workers collect plain findings that are reported after the parallel region.
typedef enum { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR } DiagLevel;

typedef struct Diag Diag;

typedef struct {
    DiagLevel level;
    Span at;
    const char *id;                             // "lang-unknown-primitive"
    Text message;
    int count;                                  // same place and message
    ExitCode exit;
    bool also;                                  // has the cause of another
} DiagEntry;

// `out` NULL: messages are kept and shown nowhere.
Diag *diag_create(const SourceSet *sources, FILE *out, bool color);
void diag_destroy(Diag *d);
void diag_limit(Diag *d, int max_errors);       // default 20; 0: no limit
// Errors carry the exit code they cause. Printing is immediate; a message for
// the same place and id is printed once and counted. Notes belong to the
// message before them and are dropped with it.
void diag_error(Diag *d, ExitCode exit, Span at, const char *id,
                const char *format, ...) PRINTF_LIKE(5, 6);
void diag_warning(Diag *d, Span at, const char *id, const char *format, ...)
    PRINTF_LIKE(4, 5);
void diag_note(Diag *d, Span at, const char *format, ...) PRINTF_LIKE(3, 4);
// An error or a warning with the cause of one that was told: a line under it.
void diag_also(Diag *d, DiagLevel level, ExitCode exit, Span at,
               const char *id, const char *format, ...) PRINTF_LIKE(6, 7);
// A replacement the user can apply, shown under the last message.
void diag_fix(Diag *d, Span at, const char *format, ...) PRINTF_LIKE(3, 4);
int diag_errors(const Diag *d);
int diag_raised(const Diag *d);                 // the same, with repeated ones
// The exit code of everything reported so far, by the order 2 3 6 77 4 5 1.
ExitCode diag_exit(const Diag *d);
ExitCode exit_worst(ExitCode a, ExitCode b);
// For --json. A note has no id, a fix is a note with id "fix" whose message is
// the replacement; both follow what they belong to.
int diag_entries(const Diag *d, const DiagEntry **out);
// Once, at the end of a run: what was reported more than once or not shown.
void diag_summary(Diag *d);
// Silences printing (entries are still kept); returns the previous setting.
bool diag_quiet(Diag *d, bool quiet);
// Holds back what is reported, for who may expect it (pytest.raises). Settling
// prints it, or forgives it: errors become warnings that were not printed.
typedef struct {
    int entries, errors, raised;
    bool quiet;
    ExitCode fresh;
} DiagHold;
DiagHold diag_hold(Diag *d);
void diag_settle(Diag *d, const DiagHold *hold, bool forgive);
// Warnings, and notes to them, are kept and not printed; returns the previous
// setting.
bool diag_hide_warnings(Diag *d, bool hide);
// The worst exit code of the errors since the last call, repeated ones too.
ExitCode diag_fresh(Diag *d);

// file.c - files and atomic output.
// Whole file into malloc'd memory; false with `*why` set.
bool file_read(const char *path, char **at, size_t *len, const char **why);
// Writes to a temporary sibling, fsyncs, renames over `path`. What is no
// regular file (/dev/stdout, a pipe) is written directly.
bool file_write(const char *path, const void *at, size_t len, const char **why);
typedef struct {
    const void *at;
    size_t len;
} FilePiece;
// The same, of several pieces one after the other.
bool file_write_pieces(const char *path, const FilePiece *pieces, int count,
                       const char **why);

// gunzip.c - files that may be packed by gzip, told by their first bytes.
bool gunzip(const char *at, size_t len, TextBuf *out, const char **why);
bool file_read_unpacked(const char *path, char **at, size_t *len,
                        const char **why);

// array_file.c - .npy and .safetensors. Data stays in file byte order
// (little-endian); dtype is NumPy's or safetensors' word ("<f4", "BF16").
typedef struct {
    Text name;                                  // empty in a .npy
    Text dtype;
    int rank;
    int64_t shape[16];
    const void *data;
    size_t bytes;
} ArrayView;

typedef struct ArrayFile ArrayFile;

// Maps the file; every size in it is checked against the real length. NULL
// with `*why` set ("truncated: header promises 8,192 bytes, 8,000 are there").
// Names, views and `*why` live in `a`; the data, which may lie unaligned,
// until array_close.
ArrayFile *array_open(Arena *a, const char *path, const char **why);
int array_count(const ArrayFile *f);
const ArrayView *array_at(const ArrayFile *f, int i);
const ArrayView *array_find(const ArrayFile *f, Text name);
void array_close(ArrayFile *f);
bool npy_write(const char *path, const ArrayView *view, const char **why);
bool safetensors_write(const char *path, const ArrayView *views, int count,
                       const char **why);

// time.c
double time_now(void);                          // seconds, monotonic
#endif
