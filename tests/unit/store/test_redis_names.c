#include "store/redis/parts/names.h"

#include "base/cleanup.h"
#include "suites.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

START_TEST(names_are_kept_once_and_in_order)
{
    static const char *const added[] = {"mail", "default", "zoo", "mail", "a", "invoices", "a"};
    static const char *const kept[] = {"a", "default", "invoices", "mail", "zoo"};
    CLEANUP(redis_names_done) struct redis_names names = {0};

    ck_assert(!redis_names_have(&names, "mail"));
    for (size_t i = 0; i < COUNT_OF(added); i++)
        ck_assert(redis_names_add(&names, added[i]));
    ck_assert_uint_eq(names.count, COUNT_OF(kept));
    for (size_t i = 0; i < COUNT_OF(kept); i++) {
        ck_assert_str_eq(names.items[i], kept[i]);
        ck_assert(redis_names_have(&names, kept[i]));
    }
    ck_assert(!redis_names_have(&names, "mai"));
    ck_assert(!redis_names_have(&names, "mails"));
}
END_TEST

START_TEST(a_thousand_names_are_found)
{
    CLEANUP(redis_names_done) struct redis_names names = {0};
    char name[16];

    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "q%d", i * 7919 % 1000);
        ck_assert(redis_names_add(&names, name));
    }
    ck_assert_uint_eq(names.count, 1000);
    for (size_t i = 1; i < names.count; i++)
        ck_assert_int_lt(strcmp(names.items[i - 1], names.items[i]), 0);
    ck_assert(redis_names_have(&names, "q999"));
    ck_assert(!redis_names_have(&names, "q1000"));
}
END_TEST

Suite *redis_names_suite(void)
{
    Suite *suite = suite_create("store/redis_names");
    TCase *group = tcase_create("redis_names");

    tcase_add_test(group, names_are_kept_once_and_in_order);
    tcase_add_test(group, a_thousand_names_are_found);
    suite_add_tcase(suite, group);
    return suite;
}
