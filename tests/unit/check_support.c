// check_support.c - memory, text, tables, JSON, threads.
#include "unit.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "support/json.h"
#include "support/parallel.h"

static Arena *arena;

static void set_up(void)
{
    arena = arena_create();
}

static void tear_down(void)
{
    arena_destroy(arena);
}

// ---- arena

START_TEST(objects_are_zeroed_and_aligned)
{
    for (size_t size = 0; size < 3000; size += 7) {
        unsigned char *at = arena_alloc(arena, size, 1);

        ck_assert_uint_eq((uintptr_t)at % 16, 0);
        for (size_t i = 0; i < size; i++)
            ck_assert_uint_eq(at[i], 0);
        memset(at, 0xff, size);
    }
}
END_TEST

START_TEST(released_memory_comes_back_zeroed)
{
    ArenaMark empty = arena_mark(arena), mark;
    char *first = arena_alloc(arena, 100, 1), *again;

    mark = arena_mark(arena);
    for (int i = 0; i < 1000; i++)
        memset(arena_alloc(arena, 1000, 1), 0xff, 1000);
    arena_release(arena, mark);
    again = arena_alloc(arena, 5000, 1);
    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(again[i], 0);
    first[99] = 1;
    arena_release(arena, empty);
    ck_assert_uint_eq(arena_bytes(arena), 0);
}
END_TEST

START_TEST(an_object_may_exceed_a_chunk)
{
    size_t big = 10 << 20;
    char *at = arena_alloc(arena, big, 1);

    at[0] = at[big - 1] = 1;
    ck_assert_uint_ge(arena_bytes(arena), big);
    ck_assert_ptr_nonnull(arena_alloc(arena, 16, 1));
}
END_TEST

// ---- text

START_TEST(slices_stay_inside)
{
    Text t = TEXT("abcdef");

    ck_assert(text_is(text_slice(t, 1, 3), "bc"));
    ck_assert(text_is(text_slice(t, 4, 99), "ef"));
    ck_assert(text_is(text_slice(t, 99, 100), ""));
    ck_assert(text_is(text_slice(t, 4, 2), ""));
    ck_assert(text_is(text_trim(TEXT(" \t x y \r\n")), "x y"));
    ck_assert(text_is(text_trim(TEXT(" \n")), ""));
}
END_TEST

START_TEST(order_is_bytewise)
{
    ck_assert_int_lt(text_compare(TEXT("ab"), TEXT("abc")), 0);
    ck_assert_int_gt(text_compare(TEXT("b"), TEXT("abc")), 0);
    ck_assert_int_eq(text_compare(TEXT(""), (Text){0}), 0);
    ck_assert(text_starts(TEXT("abc"), "ab"));
    ck_assert(!text_starts(TEXT("a"), "ab"));
    ck_assert(text_ends(TEXT("x.npy"), ".npy"));
    ck_assert(!text_ends(TEXT("npy"), ".npy"));
    ck_assert(!text_eq(TEXT("a\0b"), TEXT("a\0c")));
}
END_TEST

static const struct {
    const char *text;
    bool ok;
    int64_t value;
} integers[] = {
    {"0", true, 0}, {"-7", true, -7}, {"+12", true, 12},
    {"9223372036854775807", true, INT64_MAX},
    {"-9223372036854775808", true, INT64_MIN},
    {"9223372036854775808", false, 0}, {"-9223372036854775809", false, 0},
    {"", false, 0}, {"-", false, 0}, {"1 ", false, 0}, {" 1", false, 0},
    {"0x10", false, 0}, {"1_000", false, 0}, {"1.0", false, 0},
};

START_TEST(integers_are_read_whole_or_not)
{
    int64_t v = 0;

    ck_assert_int_eq(text_to_i64(text_of(integers[_i].text), &v),
                     integers[_i].ok);
    if (integers[_i].ok)
        ck_assert_int_eq(v, integers[_i].value);
}
END_TEST

START_TEST(numbers_are_read_whole_or_not)
{
    double v;
    Text part = text_slice(TEXT("2.5e3garbage"), 0, 5);

    ck_assert(text_to_f64(part, &v) && v == 2500);
    ck_assert(text_to_f64(TEXT("-inf"), &v) && v == -INFINITY);
    ck_assert(text_to_f64(TEXT("nan"), &v) && isnan(v));
    ck_assert(text_to_f64(TEXT("0.1000000000000000055511151231257827021181583"
                               "4045410156250000000000000"), &v) && v == 0.1);
    ck_assert(!text_to_f64(TEXT(""), &v));
    ck_assert(!text_to_f64(TEXT("1 "), &v));
    ck_assert(!text_to_f64(TEXT("0x1p3"), &v));
    ck_assert(!text_to_f64(TEXT("1.5.2"), &v));
    ck_assert(!text_to_f64(TEXT("1\0"), &v));
}
END_TEST

START_TEST(distance_counts_edits)
{
    ck_assert_int_eq(text_distance(TEXT("gemm"), TEXT("gemm")), 0);
    ck_assert_int_eq(text_distance(TEXT("gem"), TEXT("gemm")), 1);
    ck_assert_int_eq(text_distance(TEXT("gmem"), TEXT("gemm")), 1);
    ck_assert_int_eq(text_distance(TEXT("kitten"), TEXT("sitting")), 3);
    ck_assert_int_eq(text_distance(TEXT(""), TEXT("abc")), 3);
    ck_assert_int_eq(text_distance(TEXT("abc"), TEXT("")), 3);
}
END_TEST

START_TEST(width_counts_columns)
{
    ck_assert_int_eq(text_width(TEXT("abc")), 3);
    ck_assert_int_eq(text_width(TEXT("\xce\xb1\xce\xb2")), 2);      // αβ
    ck_assert_int_eq(text_width(TEXT("\xe4\xb8\xad")), 2);          // 中
    ck_assert_int_eq(text_width(TEXT("e\xcc\x81")), 1);     // e, acute accent
    ck_assert_int_eq(text_width(TEXT("\xf0\x9f\x98\x80")), 2);      // emoji
    ck_assert_int_eq(text_width(TEXT("\xff\xc0\x80")), 3);  // not UTF-8
}
END_TEST

START_TEST(buffers_grow_and_pad)
{
    TextBuf b = {0};

    ck_assert(text_is(buf_view(&b), ""));
    buf_grouped(&b, 1048576);
    buf_addc(&b, ' ');
    buf_grouped(&b, -123456);
    buf_addc(&b, ' ');
    buf_grouped(&b, 999);
    buf_addc(&b, ' ');
    buf_grouped(&b, INT64_MIN);
    ck_assert(text_is(buf_view(&b), "1,048,576 -123,456 999 "
                                    "-9,223,372,036,854,775,808"));
    buf_clear(&b);
    buf_puts(&b, "first line\n\xce\xb1");
    buf_pad(&b, 4);
    buf_puts(&b, "|");
    buf_pad(&b, 2);
    ck_assert(text_is(buf_view(&b), "first line\n\xce\xb1   |"));
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, "%04d", i);
    ck_assert(text_ends(buf_view(&b), "09980999"));
    buf_release(&b);
    ck_assert_ptr_null(b.at);
}
END_TEST

// ---- map and vec

START_TEST(map_keeps_insertion_order)
{
    Map m = {0};

    ck_assert_ptr_null(map_get(&m, TEXT("1")));
    for (uintptr_t i = 1; i <= 5000; i++)
        map_set(arena, &m, text_format(arena, "%d", (int)i), (void *)i);
    map_set(arena, &m, TEXT("17"), &m);
    ck_assert_int_eq(m.len, 5000);
    for (uintptr_t i = 1; i <= 5000; i++) {
        Text key = text_format(arena, "%d", (int)i);
        void *want = i == 17 ? (void *)&m : (void *)i;

        ck_assert_ptr_eq(map_get(&m, key), want);
        ck_assert(text_eq(m.at[i - 1].key, key));
    }
    ck_assert_ptr_null(map_find(&m, TEXT("5001")));
}
END_TEST

START_TEST(vec_grows)
{
    struct {
        short *at;
        int len, room;
    } v = {0};

    for (int i = 0; i < 10000; i++)
        vec_push(arena, &v, (short)i);
    for (int i = 0; i < 10000; i++)
        ck_assert_int_eq(v.at[i], i);
}
END_TEST

// ---- JSON, read back by cJSON

START_TEST(json_reads_back)
{
    static const double numbers[] = {0, -0.0, 0.1, 1e22, 1 / 3.0, 5e-324,
                                     1.7976931348623157e308, 123456789};
    TextBuf b = {0};
    Json j = json_start(&b, _i);
    cJSON *root, *list;

    json_begin_object(&j);
    json_key(&j, TEXT("a\"\n\x01"));
    json_text(&j, TEXT("\\ \xce\xb1 \xff \t"));
    json_key(&j, TEXT("numbers"));
    json_begin_array(&j);
    for (size_t i = 0; i < countof(numbers); i++)
        json_number(&j, numbers[i]);
    json_number(&j, NAN);
    json_number(&j, -INFINITY);
    json_bool(&j, true);
    json_string(&j, NULL);
    json_int(&j, INT64_MIN);
    json_uint(&j, UINT64_MAX);
    json_begin_object(&j);
    json_end_object(&j);
    json_end_array(&j);
    json_end_object(&j);

    ck_assert_ptr_nonnull(strstr(b.at, "-9223372036854775808"));
    ck_assert_ptr_nonnull(strstr(b.at, "18446744073709551615"));
    ck_assert_int_eq(strchr(b.at, '\n') != NULL, _i);
    root = cJSON_Parse(b.at);
    ck_assert_ptr_nonnull(root);
    ck_assert_str_eq(
        cJSON_GetObjectItem(root, "a\"\n\x01")->valuestring,
        "\\ \xce\xb1 \xef\xbf\xbd \t");
    list = cJSON_GetObjectItem(root, "numbers");
    for (size_t i = 0; i < countof(numbers); i++)
        ck_assert(cJSON_GetArrayItem(list, (int)i)->valuedouble ==
                  numbers[i]);
    ck_assert_str_eq(cJSON_GetArrayItem(list, 8)->valuestring, "nan");
    ck_assert_str_eq(cJSON_GetArrayItem(list, 9)->valuestring, "-inf");
    ck_assert(cJSON_IsTrue(cJSON_GetArrayItem(list, 10)));
    ck_assert(cJSON_IsNull(cJSON_GetArrayItem(list, 11)));
    cJSON_Delete(root);
    buf_release(&b);
}
END_TEST

// ---- threads

enum { ITEMS = 5000 };

typedef struct {
    _Atomic int runs[ITEMS];
    _Atomic int64_t highest;                    // item begun so far
    _Atomic int64_t furthest_back;              // an item begun after a later
    _Atomic int bad_worker, done;
    int stop_at;
} Record;

static void note(void *ctx, int worker, int64_t item)
{
    Record *r = ctx;
    int64_t high = atomic_load(&r->highest);

    atomic_fetch_add(&r->runs[item], 1);
    if (worker < 0 || worker >= parallel_threads())
        atomic_store(&r->bad_worker, 1);
    while (item > high &&
           !atomic_compare_exchange_weak(&r->highest, &high, item))
        ;
    if (high - item > atomic_load(&r->furthest_back))
        atomic_store(&r->furthest_back, high - item);
    if (atomic_fetch_add(&r->done, 1) + 1 == r->stop_at)
        parallel_cancel(2);
}

static const int thread_counts[] = {1, 2, 7};

START_TEST(every_item_runs_once)
{
    Record *r = new (arena, Record);

    parallel_set_threads(thread_counts[_i]);
    ck_assert_int_eq(parallel_threads(), thread_counts[_i]);
    parallel_for(ITEMS, 3, note, r);
    for (int i = 0; i < ITEMS; i++)
        ck_assert_int_eq(r->runs[i], 1);
    ck_assert_int_eq(r->bad_worker, 0);
    if (thread_counts[_i] == 1)
        ck_assert_int_eq(r->furthest_back, 0);
}
END_TEST

START_TEST(items_begin_in_ascending_order)
{
    Record *r = new (arena, Record);

    // One thread: exactly ascending, also with a grain beyond the count.
    parallel_set_threads(1);
    parallel_for(ITEMS, INT64_MAX, note, r);
    ck_assert_int_eq(r->furthest_back, 0);
    parallel_for(0, 1, note, r);
    parallel_for(-5, 1, note, r);
    ck_assert_int_eq(r->done, ITEMS);
}
END_TEST

START_TEST(nothing_begins_after_a_cancel)
{
    Record *r = new (arena, Record);

    parallel_set_threads(thread_counts[_i]);
    r->stop_at = 100;
    parallel_for(ITEMS, 1, note, r);
    ck_assert_int_eq(parallel_cancelled(), 2);
    ck_assert_int_ge(r->done, 100);
    ck_assert_int_lt(r->done, 100 + thread_counts[_i]);
    parallel_cancel_reset();
    ck_assert_int_eq(parallel_cancelled(), 0);
}
END_TEST

static void nested(void *ctx, int worker, int64_t item)
{
    (void)worker;
    (void)item;
    parallel_for(10, 1, note, ctx);
}

START_TEST(a_nested_loop_runs_in_its_caller)
{
    Record *r = new (arena, Record);

    parallel_set_threads(2);
    parallel_for(20, 1, nested, r);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(r->runs[i], 20);
    ck_assert_int_eq(r->bad_worker, 0);
}
END_TEST

START_TEST(the_clock_goes_forward)
{
    double before = time_now();

    ck_assert(time_now() >= before && before > 0);
}
END_TEST

// ---- exit codes

START_TEST(the_first_cause_wins)
{
    static const ExitCode order[] = {
        EXIT_INTERRUPTED, EXIT_USAGE, EXIT_PROGRAM, EXIT_ENVIRONMENT,
        EXIT_NO_DEVICE, EXIT_LIMIT, EXIT_NO_FIT, EXIT_FINDINGS, EXIT_CLEAN,
    };

    for (size_t i = 0; i < countof(order); i++)
        for (size_t j = i; j < countof(order); j++) {
            ck_assert_int_eq(exit_worst(order[i], order[j]), order[i]);
            ck_assert_int_eq(exit_worst(order[j], order[i]), order[i]);
        }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("support");
    TCase *t = tcase_create("support");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, objects_are_zeroed_and_aligned);
    tcase_add_test(t, released_memory_comes_back_zeroed);
    tcase_add_test(t, an_object_may_exceed_a_chunk);
    tcase_add_test(t, slices_stay_inside);
    tcase_add_test(t, order_is_bytewise);
    tcase_add_loop_test(t, integers_are_read_whole_or_not, 0,
                        countof(integers));
    tcase_add_test(t, numbers_are_read_whole_or_not);
    tcase_add_test(t, distance_counts_edits);
    tcase_add_test(t, width_counts_columns);
    tcase_add_test(t, buffers_grow_and_pad);
    tcase_add_test(t, map_keeps_insertion_order);
    tcase_add_test(t, vec_grows);
    tcase_add_loop_test(t, json_reads_back, 0, 2);
    tcase_add_loop_test(t, every_item_runs_once, 0, countof(thread_counts));
    tcase_add_test(t, items_begin_in_ascending_order);
    tcase_add_loop_test(t, nothing_begins_after_a_cancel, 0,
                        countof(thread_counts));
    tcase_add_test(t, a_nested_loop_runs_in_its_caller);
    tcase_add_test(t, the_clock_goes_forward);
    tcase_add_test(t, the_first_cause_wins);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return unit_run(suite());
}
