// check_support.c - memory, text, sources, diagnostics, files, threads.
#include "unit.h"

START_TEST(map_returns_what_was_set)
{
    Arena *a = arena_create();
    Map m = {0};

    ck_assert_ptr_null(map_get(&m, TEXT("x")));
    map_set(a, &m, TEXT("x"), a);
    ck_assert_ptr_eq(map_get(&m, TEXT("x")), a);
    arena_destroy(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("support");
    TCase *t = tcase_create("map");

    tcase_add_test(t, map_returns_what_was_set);
    suite_add_tcase(s, t);
    return unit_run(s);
}
