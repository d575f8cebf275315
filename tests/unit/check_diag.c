// check_diag.c - places in sources and messages with carets.
#include "unit.h"

#include <string.h>
#include <unistd.h>

static Arena *arena;
static SourceSet *sources;
static Diag *diag;
static FILE *printed;

static void set_up(void)
{
    arena = arena_create();
    sources = sources_create();
    printed = unit_capture();
    diag = diag_create(sources, printed, false);
}

static void tear_down(void)
{
    diag_destroy(diag);
    sources_destroy(sources);
    arena_destroy(arena);
}

// The span of `word` in a text that is added as t.tile.
static Span mark(const char *text, const char *word)
{
    uint32_t file = sources_add(sources, "t.tile", text_of(text));
    uint32_t at = (uint32_t)(strstr(text, word) - text);

    return (Span){file, at, at + (uint32_t)strlen(word)};
}

static void expect(const char *want)
{
    Text found = unit_captured(arena, printed);

    ck_assert_str_eq(found.at, want);
}

// ---- sources

START_TEST(places_are_found)
{
    uint32_t f = sources_add(sources, "x", TEXT("ab\n\r\ncd\r\nef"));
    static const struct {
        int offset, line, column;
    } want[] = {{0, 1, 1}, {1, 1, 2}, {2, 1, 3}, {3, 2, 1}, {4, 2, 1},
                {5, 3, 1}, {7, 3, 3}, {8, 3, 3}, {9, 4, 1}, {11, 4, 3}};

    for (size_t i = 0; i < countof(want); i++) {
        Place p = sources_place(sources, f, (uint32_t)want[i].offset);

        ck_assert_int_eq(p.line, want[i].line);
        ck_assert_int_eq(p.column, want[i].column);
    }
    ck_assert_int_eq(sources_get(sources, f)->line_count, 4);
    ck_assert(text_is(sources_line(sources, f, 2), ""));
    ck_assert(text_is(sources_line(sources, f, 3), "cd"));
    ck_assert(text_is(sources_line(sources, f, 5), ""));
    ck_assert(text_is(sources_line(sources, f, 0), ""));
}
END_TEST

START_TEST(a_closing_newline_begins_no_line)
{
    uint32_t f = sources_add(sources, "x", TEXT("ab\ncd\n"));
    uint32_t empty = sources_add(sources, "y", TEXT(""));
    Place p = sources_place(sources, f, 6);

    ck_assert_int_eq(sources_get(sources, f)->line_count, 2);
    ck_assert(p.line == 2 && p.column == 3);
    p = sources_place(sources, empty, 0);
    ck_assert(p.line == 1 && p.column == 1);
}
END_TEST

static const struct {
    const char *bytes;
    size_t len;
    const char *why;                            // NULL: read as `text`
    const char *text;
} contents[] = {
    {"x = 1\n", 6, NULL, "x = 1\n"},
    {"\xef\xbb\xbfx", 4, NULL, "x"},
    {"", 0, NULL, ""},
    {"ab\0cd", 5, "is not text (byte 0x00 at offset 2)", NULL},
    {"\x7f" "ELF\x02\x01\xfe", 7, "is not text (byte 0xfe at offset 6)", NULL},
    {"a\xc3", 2, "is not text (byte 0xc3 at offset 1)", NULL},
    {"\xed\xa0\x80", 3, "is not text (byte 0xed at offset 0)", NULL},
};

START_TEST(files_are_read_as_text_or_refused)
{
    char path[] = "/tmp/tilesim-check-XXXXXX";
    const char *why = NULL;
    int fd = mkstemp(path);
    uint32_t f;

    ck_assert_int_eq(write(fd, contents[_i].bytes, contents[_i].len),
                     contents[_i].len);
    close(fd);
    f = sources_read(sources, path, &why);
    unlink(path);
    if (contents[_i].why) {
        ck_assert_uint_eq(f, 0);
        ck_assert_str_eq(why, contents[_i].why);
    } else {
        ck_assert_uint_ne(f, 0);
        ck_assert(text_is(sources_get(sources, f)->text, contents[_i].text));
        ck_assert_str_eq(sources_get(sources, f)->path, path);
    }
}
END_TEST

START_TEST(a_directory_is_no_source)
{
    const char *why = NULL;

    ck_assert_uint_eq(sources_read(sources, "/tmp", &why), 0);
    ck_assert_str_eq(why, "is a directory");
    ck_assert_uint_eq(sources_read(sources, "/tmp/no/such/file", &why), 0);
    ck_assert_str_eq(why, "No such file or directory");
}
END_TEST

START_TEST(spans_join)
{
    Span a = {1, 5, 7}, b = {1, 2, 3}, other = {2, 0, 1}, none = {0};
    Span j = span_join(a, b);

    ck_assert(j.file == 1 && j.begin == 2 && j.end == 7);
    ck_assert_uint_eq(span_join(none, a).begin, 5);
    ck_assert_uint_eq(span_join(a, none).begin, 5);
    ck_assert_uint_eq(span_join(a, other).file, 1);
}
END_TEST

// ---- carets

START_TEST(carets_stand_under_ascii)
{
    Span at = mark("import x\n    T.gem(As, Bs)\n", "T.gem");

    diag_error(diag, EXIT_PROGRAM, at, "lang-unknown",
               "unknown primitive '%s'", "T.gem");
    expect("t.tile:2:5: error: unknown primitive 'T.gem' [lang-unknown]\n"
           "    2 |     T.gem(As, Bs)\n"
           "      |     ^~~~~\n");
}
END_TEST

START_TEST(carets_stand_under_wide_characters)
{
    Span at = mark("\xce\xb1\xe4\xb8\xad e\xcc\x81 = \xe4\xb8\xad\xce\xb1.x",
                   "\xe4\xb8\xad\xce\xb1");

    diag_error(diag, EXIT_PROGRAM, at, "id", "here");
    expect("t.tile:1:13: error: here [id]\n"
           "    1 | \xce\xb1\xe4\xb8\xad e\xcc\x81 = \xe4\xb8\xad\xce\xb1.x\n"
           "      |         ^~~\n");
}
END_TEST

START_TEST(tabs_are_repeated_under_tabs)
{
    Span at = mark("\tif x:\n\t\tT.gem(a,\tb) # c", "gem(a,\tb)");

    diag_warning(diag, at, "id", "here");
    expect("t.tile:2:5: warning: here [id]\n"
           "    2 | \t\tT.gem(a,\tb) # c\n"
           "      | \t\t  ^~~~~~\t~~\n");
}
END_TEST

START_TEST(a_caret_on_a_tab_stands_alone)
{
    Span at = mark("x\t\ty", "\t\t");

    diag_warning(diag, at, "id", "tabs");
    expect("t.tile:1:2: warning: tabs [id]\n"
           "    1 | x\t\ty\n"
           "      |  ^\n");
}
END_TEST

START_TEST(the_end_of_the_file_has_a_caret)
{
    Span at = mark("f(\n  x,\n", "x");

    at.begin = at.end = 8;
    diag_error(diag, EXIT_PROGRAM, at, "id", "'(' is never closed");
    expect("t.tile:2:5: error: '(' is never closed [id]\n"
           "    2 |   x,\n"
           "      |     ^\n");
}
END_TEST

START_TEST(a_span_of_lines_points_at_the_first)
{
    Span at = mark("y = f(a,\n  b)\n", "f(a,\n  b)");

    diag_error(diag, EXIT_PROGRAM, at, "id", "long");
    expect("t.tile:1:5: error: long [id]\n"
           "    1 | y = f(a,\n"
           "      |     ^~~~\n");
}
END_TEST

START_TEST(control_characters_do_not_reach_the_terminal)
{
    Span at = mark("x = \"\033[31m\" + y", "y");

    diag_error(diag, EXIT_PROGRAM, at, "id", "not '%s'\nbut 'y'", "\033\x7f");
    expect("t.tile:1:15: error: not '?\?'\nbut 'y' [id]\n"
           "    1 | x = \"?[31m\" + y\n"
           "      |               ^\n");
}
END_TEST

START_TEST(long_lines_are_cut_around_the_caret)
{
    TextBuf b = {0};
    Text found;
    Span at;
    const char *line, *caret;

    for (int i = 0; i < 400; i++)
        buf_printf(&b, "%s%d ", i % 5 ? "w" : "\xe4\xb8\xad", i);
    at = mark(b.at, "w222");
    diag_error(diag, EXIT_PROGRAM, at, "id", "here");
    found = unit_captured(arena, printed);
    line = strstr(found.at, "    1 | ");
    caret = strstr(found.at, "      | ");
    ck_assert_ptr_nonnull(line);
    ck_assert_ptr_nonnull(caret);
    ck_assert_int_eq(strncmp(line + 8, "...", 3), 0);
    ck_assert_int_eq(strncmp(caret - 4, "...", 3), 0);
    // The caret stands as many columns in as the word does.
    ck_assert_int_eq(
        text_width((Text){line, (size_t)(strstr(line, "w222") - line)}),
        strchr(caret, '^') - caret);
    ck_assert_int_eq(strncmp(strchr(caret, '^'), "^~~~\n", 5), 0);
    ck_assert_int_lt(text_width((Text){line, (size_t)(caret - line - 1)}),
                     120);
    buf_release(&b);
}
END_TEST

// ---- notes, fixes, counts

START_TEST(notes_and_fixes_follow)
{
    Span at = mark("a = 1\nT.gem(a)", "T.gem");
    Span a = {at.file, 0, 1}, nothing = {at.file, at.end, at.end};

    diag_error(diag, EXIT_PROGRAM, at, "id", "unknown");
    diag_note(diag, a, "'a' is set here");
    diag_note(diag, (Span){0}, "see the manual");
    diag_fix(diag, at, "T.gemm");
    diag_fix(diag, nothing, "m");
    diag_fix(diag, a, "%s", "");
    expect("t.tile:2:1: error: unknown [id]\n"
           "    2 | T.gem(a)\n"
           "      | ^~~~~\n"
           "t.tile:1:1: note: 'a' is set here\n"
           "    1 | a = 1\n"
           "      | ^\n"
           "tilesim: note: see the manual\n"
           "t.tile:2:1: fix: replace 'T.gem' with 'T.gemm'\n"
           "    2 | T.gem(a)\n"
           "      | ^~~~~\n"
           "t.tile:2:6: fix: insert 'm'\n"
           "    2 | T.gem(a)\n"
           "      |      ^\n"
           "t.tile:1:1: fix: remove 'a'\n"
           "    1 | a = 1\n"
           "      | ^\n");
}
END_TEST

START_TEST(a_repeated_message_is_counted)
{
    Span at = mark("abc", "b");
    const DiagEntry *entries;

    for (int i = 0; i < 1000; i++) {
        diag_error(diag, EXIT_FINDINGS, at, "id", "pass %d", i);
        diag_note(diag, at, "a note of it");
    }
    diag_error(diag, EXIT_USAGE, (Span){0}, "opt", "no option '-x'");
    diag_error(diag, EXIT_USAGE, (Span){0}, "opt", "no option '-y'");
    diag_summary(diag);
    ck_assert_int_eq(diag_errors(diag), 3);
    ck_assert_int_eq(diag_exit(diag), EXIT_USAGE);
    ck_assert_int_eq(diag_entries(diag, &entries), 4);
    ck_assert_int_eq(entries[0].count, 1000);
    ck_assert(text_is(entries[1].message, "a note of it"));
    expect("t.tile:1:2: error: pass 0 [id]\n"
           "    1 | abc\n"
           "      |  ^\n"
           "t.tile:1:2: note: a note of it\n"
           "tilesim: error: no option '-x' [opt]\n"
           "tilesim: error: no option '-y' [opt]\n"
           "t.tile:1:2: note: reported 1000 times [id]\n");
}
END_TEST

START_TEST(errors_beyond_the_limit_are_kept_not_shown)
{
    Span at = mark("abcdef", "a");

    diag_limit(diag, 2);
    for (int i = 0; i < 5; i++) {
        at.begin = (uint32_t)i;
        diag_error(diag, EXIT_PROGRAM, at, "id", "e%d", i);
        diag_note(diag, (Span){0}, "n%d", i);
    }
    diag_summary(diag);
    ck_assert_int_eq(diag_errors(diag), 5);
    expect("t.tile:1:1: error: e0 [id]\n"
           "    1 | abcdef\n"
           "      | ^\n"
           "tilesim: note: n0\n"
           "t.tile:1:2: error: e1 [id]\n"
           "    1 | abcdef\n"
           "      |  ^\n"
           "tilesim: note: n1\n"
           "tilesim: note: 3 more messages were not shown; see "
           "--max-errors\n");
}
END_TEST

START_TEST(quiet_keeps_entries)
{
    const DiagEntry *entries;

    ck_assert(!diag_quiet(diag, true));
    diag_error(diag, EXIT_PROGRAM, (Span){0}, "id", "unseen");
    ck_assert(diag_quiet(diag, false));
    ck_assert_int_eq(diag_entries(diag, &entries), 1);
    ck_assert_int_eq(diag_exit(diag), EXIT_PROGRAM);
    expect("");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("diag");
    TCase *t = tcase_create("diag");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, places_are_found);
    tcase_add_test(t, a_closing_newline_begins_no_line);
    tcase_add_loop_test(t, files_are_read_as_text_or_refused, 0,
                        countof(contents));
    tcase_add_test(t, a_directory_is_no_source);
    tcase_add_test(t, spans_join);
    tcase_add_test(t, carets_stand_under_ascii);
    tcase_add_test(t, carets_stand_under_wide_characters);
    tcase_add_test(t, tabs_are_repeated_under_tabs);
    tcase_add_test(t, a_caret_on_a_tab_stands_alone);
    tcase_add_test(t, the_end_of_the_file_has_a_caret);
    tcase_add_test(t, a_span_of_lines_points_at_the_first);
    tcase_add_test(t, control_characters_do_not_reach_the_terminal);
    tcase_add_test(t, long_lines_are_cut_around_the_caret);
    tcase_add_test(t, notes_and_fixes_follow);
    tcase_add_test(t, a_repeated_message_is_counted);
    tcase_add_test(t, errors_beyond_the_limit_are_kept_not_shown);
    tcase_add_test(t, quiet_keeps_entries);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return unit_run(suite());
}
