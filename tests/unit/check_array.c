// check_array.c - array files, good and malformed, and atomic output.
#include "unit.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Arena *arena;
static char folder[64];

static void set_up(void)
{
    arena = arena_create();
    strcpy(folder, "/tmp/tilesim-check-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    arena_destroy(arena);
}

static const char *scratch(const char *name)
{
    return text_format(arena, "%s/%s", folder, name).at;
}

static void put(const char *path, const char *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
}

// ---- files that NumPy and safetensors wrote (tools/make-array-data.py)

static const struct {
    const char *file, *dtype;
    int rank;
    int64_t shape[2];
    size_t bytes;
    const char *data;
} good[] = {
    {"f4_2x3.npy", "<f4", 2, {2, 3}, 24,
     "\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40"},
    {"f2_5.npy", "<f2", 1, {5}, 10, "\0\0\0\x3c\0\x40\0\x42\0\x44"},
    {"i8_scalar.npy", "<i8", 0, {0}, 8, "\7\0\0\0\0\0\0\0"},
    {"u1_0x4.npy", "|u1", 2, {0, 4}, 0, ""},
    {"b1_3.npy", "|b1", 1, {3}, 3, "\0\1\1"},
    {"bf16_2x2.npy", "<V2", 2, {2, 2}, 8, "\0\0\x80\x3f\0\x40\x40\x40"},
    {"f8_v2_4.npy", "<f8", 1, {4}, 32,
     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40"
     "\0\0\0\0\0\0\x08\x40"},
    {"f8_v3_4.npy", "<f8", 1, {4}, 32,
     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40"
     "\0\0\0\0\0\0\x08\x40"},
};

static const char *data_path(const char *name)
{
    return unit_path(arena, text_format(arena, "tests/data/array/%s",
                                        name).at);
}

START_TEST(npy_of_numpy_is_read)
{
    const char *why = NULL;
    ArrayFile *f = array_open(arena, data_path(good[_i].file), &why);
    const ArrayView *v;

    ck_assert_msg(f != NULL, "%s", why);
    ck_assert_int_eq(array_count(f), 1);
    v = array_at(f, 0);
    ck_assert_str_eq(v->dtype.at, good[_i].dtype);
    ck_assert_int_eq(v->rank, good[_i].rank);
    for (int i = 0; i < v->rank; i++)
        ck_assert_int_eq(v->shape[i], good[_i].shape[i]);
    ck_assert_uint_eq(v->bytes, good[_i].bytes);
    ck_assert_int_eq(memcmp(v->data, good[_i].data, v->bytes), 0);
    array_close(f);
}
END_TEST

// NumPy's own file is what ours must be, byte for byte (version 1 only).
START_TEST(npy_is_written_as_numpy_does)
{
    const char *why = NULL, *from = data_path(good[_i].file);
    const char *to = scratch("copy.npy");
    ArrayFile *f = array_open(arena, from, &why);
    char *a, *b;
    size_t a_len, b_len;

    ck_assert(npy_write(to, array_at(f, 0), &why));
    array_close(f);
    ck_assert(file_read(from, &a, &a_len, &why));
    ck_assert(file_read(to, &b, &b_len, &why));
    ck_assert_uint_eq(a_len, b_len);
    ck_assert_int_eq(memcmp(a, b, a_len), 0);
    free(a);
    free(b);
}
END_TEST

static void check_four(const char *path)
{
    const char *why = NULL;
    ArrayFile *f = array_open(arena, path, &why);
    const ArrayView *v;

    ck_assert_msg(f != NULL, "%s", why);
    ck_assert_int_eq(array_count(f), 4);
    v = array_find(f, TEXT("q"));
    ck_assert(v && text_is(v->dtype, "F32") && v->rank == 2 &&
              v->shape[0] == 2 && v->shape[1] == 3);
    ck_assert_int_eq(memcmp(v->data, good[0].data, 24), 0);
    v = array_find(f, TEXT("k"));
    ck_assert(v && text_is(v->dtype, "BF16") && v->bytes == 6);
    ck_assert_int_eq(memcmp(v->data, "\0\0\x80\x3f\0\x40", 6), 0);
    v = array_find(f, TEXT("mask"));
    ck_assert(v && text_is(v->dtype, "BOOL") && v->bytes == 2);
    v = array_find(f, TEXT("none"));
    ck_assert(v && text_is(v->dtype, "I32") && v->bytes == 0);
    ck_assert_ptr_null(array_find(f, TEXT("__metadata__")));
    array_close(f);
}

START_TEST(safetensors_are_read_and_written)
{
    const char *why = NULL, *copy = scratch("copy.safetensors");
    ArrayFile *f;

    check_four(data_path("four.safetensors"));
    f = array_open(arena, data_path("four.safetensors"), &why);
    ck_assert(safetensors_write(copy, array_at(f, 0), array_count(f), &why));
    array_close(f);
    check_four(copy);
}
END_TEST

// ---- .npy files that must be refused: header text, bytes of data, reason

static const struct {
    const char *header;
    int data;
    const char *why;
} bad_npy[] = {
    {"", 0, "expected '{'"},
    {"{", 0, "expected a string"},
    {"{'descr", 0, "expected a closing quote"},
    {"{'descr' '<f4'}", 0, "expected ':'"},
    {"{'descr': <f4}", 0, "expected a string"},
    {"{'descr': '<f4', 'fortran_order': False}", 0, "no 'shape'"},
    {"{'descr': '<f4', 'shape': (2,)}", 8, "no 'fortran_order'"},
    {"{'shape': (2,), 'fortran_order': False}", 8, "no 'descr'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8,
     "unknown key 'x'"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
     4, "repeated key 'descr'"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8,
     "expected True or False"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", 8,
     "expected a tuple"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", 8,
     "expected ',' or ')'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}", 8,
     "expected an integer"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8,
     "negative size (-2)"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': "
     "(99999999999999999999,)}", 8, "expected an integer"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': "
     "(4294967296,4294967296)}", 8, "more elements than memory can hold"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': "
     "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}", 4, "more than 16 dimensions"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7,
     "truncated: header promises 8 bytes, 7 are there"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9,
     "overlong: header promises 8 bytes, 9 are there"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", 4,
     "overlong: header promises 0 bytes, 4 are there"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", 8,
     "expected nothing after '}'"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}\0x", 8, NULL},
    {"{'descr': '<f3', 'fortran_order': False, 'shape': (2,)}", 8,
     "dtype '<f3' is not supported"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", 16,
     "dtype '<c8' is not supported"},
    {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", 16,
     "dtype '' is not supported"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", 16,
     "pickled Python objects"},
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8,
     "is big-endian ('>f4')"},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,3)}", 24,
     "Fortran (column-major) order"},
};

// A version 1 file of that header and so many zero bytes.
static void put_npy(const char *path, const char *header, int data)
{
    TextBuf b = {0};
    size_t len = strlen(header);

    buf_add(&b, "\x93NUMPY\1\0", 8);
    buf_addc(&b, (char)(len & 0xff));
    buf_addc(&b, (char)(len >> 8));
    buf_puts(&b, header);
    for (int i = 0; i < data; i++)
        buf_addc(&b, 0);
    put(path, b.at, b.len);
    buf_release(&b);
}

static void expect_refusal(const char *path, const char *reason)
{
    const char *why = NULL;
    ArrayFile *f = array_open(arena, path, &why);

    if (!reason) {
        ck_assert_msg(f != NULL, "%s", why);
        array_close(f);
        return;
    }
    ck_assert_ptr_null(f);
    ck_assert_msg(strstr(why, reason) != NULL, "'%s' is not in '%s'", reason,
                  why);
}

START_TEST(malformed_npy_is_refused)
{
    const char *path = scratch("bad.npy");

    put_npy(path, bad_npy[_i].header, bad_npy[_i].data);
    expect_refusal(path, bad_npy[_i].why);
}
END_TEST

START_TEST(numpy_files_we_do_not_take_say_why)
{
    expect_refusal(data_path("f4_fortran_2x3.npy"),
                   "numpy.ascontiguousarray");
    expect_refusal(data_path("f4_big_3.npy"), "is big-endian ('>f4')");
    expect_refusal(data_path("struct.npy"), "is a structured array");
    expect_refusal(data_path("text.npy"), "dtype '<U2' is not supported");
}
END_TEST

// Cut anywhere, no file is taken and nothing is read beyond its end.
START_TEST(a_cut_file_is_refused)
{
    static const char *const names[] = {"f4_2x3.npy", "f8_v2_4.npy",
                                        "four.safetensors"};
    const char *why = NULL;
    char *at;
    size_t len;

    ck_assert(file_read(data_path(names[_i]), &at, &len, &why));
    for (size_t n = 0; n < len; n++) {
        const char *path = scratch(names[_i]);

        put(path, at, n);
        expect_refusal(path, n == 0 ? "is empty" : "");
    }
    free(at);
}
END_TEST

static const struct {
    const char *bytes;
    size_t len;
    const char *why;
} bad_start[] = {
    {"", 0, "is empty"},
    {"hello, world", 12, "is neither an .npy nor a .safetensors"},
    {"\x93NUMPY\4\0\0\0\0\0", 12, ".npy version 4.0 is not supported"},
    {"\x93NUMPY\1\1\0\0\0\0", 12, ".npy version 1.1 is not supported"},
    {"\x93NUMPY\2\0\xff\xff\xff\xff", 12, "truncated in the .npy header"},
    {"\x93NUMPY", 6, "truncated in the .npy header"},
};

START_TEST(other_files_are_refused)
{
    const char *path = scratch("file");

    put(path, bad_start[_i].bytes, bad_start[_i].len);
    expect_refusal(path, bad_start[_i].why);
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
    put(scratch("x.npy"), "hello, world", 12);
    expect_refusal(scratch("x.npy"), "is not an .npy file");
    expect_refusal(scratch("missing.npy"), "No such file or directory");
    expect_refusal(folder, "is a directory");
    expect_refusal("/dev/null", "is not a regular file");
}
END_TEST

// ---- .safetensors files that must be refused: JSON, bytes of data, reason

#define ONE(dtype, shape, offsets)                                            \
    "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape                            \
    ",\"data_offsets\":" offsets "}}"

static const struct {
    const char *json;
    int data;
    const char *why;
} bad_tensors[] = {
    {ONE("\"F32\"", "[2]", "[0,8]"), 8, NULL},
    {"{}", 0, NULL},
    {"{}", 3, "overlong: 3 bytes follow"},
    {"{", 0, "not valid JSON"},
    {"[]", 0, "not valid JSON"},
    {"{\"a\":1}", 0, "tensor 'a' has no dtype"},
    {ONE("7", "[2]", "[0,8]"), 8, "tensor 'a' has no dtype"},
    {ONE("\"F33\"", "[2]", "[0,8]"), 8, "has dtype 'F33'"},
    {ONE("\"F32\"", "2", "[0,8]"), 8, "tensor 'a' has no shape"},
    {ONE("\"F32\"", "[-2]", "[0,8]"), 8, "no non-negative integer"},
    {ONE("\"F32\"", "[2.5]", "[0,8]"), 8, "no non-negative integer"},
    {ONE("\"F32\"", "[1e300]", "[0,8]"), 8, "no non-negative integer"},
    {ONE("\"F32\"", "[\"2\"]", "[0,8]"), 8, "no non-negative integer"},
    {ONE("\"F32\"", "[4294967296,4294967296]", "[0,8]"), 8,
     "more elements than memory can hold"},
    {ONE("\"F32\"", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]", "[0,8]"), 8,
     "more than 16 dimensions"},
    {ONE("\"F32\"", "[2]", "[0]"), 8, "malformed data_offsets"},
    {ONE("\"F32\"", "[2]", "[8,0]"), 8, "malformed data_offsets"},
    {ONE("\"F32\"", "[2]", "[-8,0]"), 8, "malformed data_offsets"},
    {ONE("\"F32\"", "[2]", "7"), 8, "malformed data_offsets"},
    {ONE("\"F32\"", "[2]", "[0,16]"), 8, "truncated: tensor 'a' ends at"},
    {ONE("\"F32\"", "[2]", "[0,4]"), 8, "has 4 bytes, its shape and dtype "
                                        "need 8"},
    {ONE("\"F32\"", "[2]", "[0,8]"), 9, "overlong: 1 bytes follow"},
    {ONE("\"F32\"", "[1]", "[4,8]"), 8, "follows a gap"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}", 6,
     "tensor 'b' overlaps another"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
     "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}", 4,
     "two tensors are named 'a'"},
};

static void put_tensors(const char *path, const char *json, int data)
{
    TextBuf b = {0};
    size_t len = strlen(json);

    for (int i = 0; i < 8; i++)
        buf_addc(&b, i < 2 ? (char)(len >> 8 * i & 0xff) : 0);
    buf_puts(&b, json);
    for (int i = 0; i < data; i++)
        buf_addc(&b, 0);
    put(path, b.at, b.len);
    buf_release(&b);
}

START_TEST(malformed_safetensors_are_refused)
{
    const char *path = scratch("bad.safetensors");

    put_tensors(path, bad_tensors[_i].json, bad_tensors[_i].data);
    expect_refusal(path, bad_tensors[_i].why);
}
END_TEST

START_TEST(a_huge_or_deep_safetensors_header_is_refused)
{
    const char *path = scratch("bad.safetensors");
    TextBuf b = {0};

    put(path, "\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10);
    expect_refusal(path, "more than the 16 MiB supported");
    put(path, "\x04\0\0\0\0\0\0\0{}", 10);
    expect_refusal(path, "truncated in the .safetensors header");
    for (int i = 0; i < 20000; i++)
        buf_puts(&b, "{\"a\":");
    put_tensors(path, b.at, 0);
    expect_refusal(path, "not valid JSON");
    buf_release(&b);
}
END_TEST

// ---- writing

static void expect_content(const char *path, const char *want)
{
    const char *why = NULL;
    char *at;
    size_t len;

    ck_assert(file_read(path, &at, &len, &why));
    ck_assert(text_is((Text){at, len}, want));
    free(at);
}

// The files in the scratch folder.
static int count_files(void)
{
    FILE *f = popen(text_format(arena, "ls -A %s | wc -l", folder).at, "r");
    int n = -1;

    ck_assert_int_eq(fscanf(f, "%d", &n), 1);
    pclose(f);
    return n;
}

START_TEST(a_file_is_replaced_whole)
{
    const char *path = scratch("out"), *why = NULL;
    struct stat st;

    ck_assert(file_write(path, "first", 5, &why));
    expect_content(path, "first");
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert(file_write(path, "2", 1, &why));
    expect_content(path, "2");
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0640);
    ck_assert_int_eq(count_files(), 1);
}
END_TEST

START_TEST(a_link_stays_a_link)
{
    const char *link = scratch("link"), *why = NULL;
    struct stat st;

    put(scratch("target"), "old", 3);
    ck_assert_int_eq(symlink("target", link), 0);
    ck_assert(file_write(link, "new", 3, &why));
    ck_assert_int_eq(lstat(link, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    expect_content(scratch("target"), "new");
}
END_TEST

START_TEST(a_failed_write_leaves_nothing)
{
    const char *why = NULL;

    ck_assert(!file_write(scratch("no/such/folder"), "x", 1, &why));
    ck_assert_str_eq(why, "No such file or directory");
    ck_assert(!file_write(folder, "x", 1, &why));
    ck_assert_str_eq(why, "is a directory");
    ck_assert(!file_write("/dev/full", "x", 1, &why));
    ck_assert_str_eq(why, "No space left on device");
    ck_assert(file_write("/dev/null", "x", 1, &why));
    ck_assert_int_eq(count_files(), 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("array");
    TCase *t = tcase_create("array");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, npy_of_numpy_is_read, 0, countof(good));
    tcase_add_loop_test(t, npy_is_written_as_numpy_does, 0,
                        countof(good) - 2);
    tcase_add_test(t, safetensors_are_read_and_written);
    tcase_add_loop_test(t, malformed_npy_is_refused, 0, countof(bad_npy));
    tcase_add_test(t, numpy_files_we_do_not_take_say_why);
    tcase_add_loop_test(t, a_cut_file_is_refused, 0, 3);
    tcase_add_loop_test(t, other_files_are_refused, 0, countof(bad_start));
    tcase_add_test(t, what_is_no_file_is_refused);
    tcase_add_loop_test(t, malformed_safetensors_are_refused, 0,
                        countof(bad_tensors));
    tcase_add_test(t, a_huge_or_deep_safetensors_header_is_refused);
    tcase_add_test(t, a_file_is_replaced_whole);
    tcase_add_test(t, a_link_stays_a_link);
    tcase_add_test(t, a_failed_write_leaves_nothing);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return unit_run(suite());
}
