#include "master/pulse.h"
#include "suites.h"

#include <check.h>

#define LIMIT (60 * USEC_PER_SEC)
#define START (1000 * USEC_PER_SEC)

START_TEST(a_count_that_moves_is_well)
{
    struct pulse pulse = {0};

    for (int64_t i = 0; i < 100; i++)
        ck_assert(!pulse_stands_still(&pulse, 7, i, START + i * 10 * USEC_PER_SEC, LIMIT));
}
END_TEST

START_TEST(a_count_that_stands_still_for_the_limit_hangs)
{
    struct pulse pulse = {0};

    ck_assert(!pulse_stands_still(&pulse, 7, 5, START, LIMIT));
    ck_assert(!pulse_stands_still(&pulse, 7, 5, START + LIMIT - 1, LIMIT));
    ck_assert(pulse_stands_still(&pulse, 7, 5, START + LIMIT, LIMIT));
}
END_TEST

START_TEST(the_next_process_is_not_blamed_for_the_last_one)
{
    struct pulse pulse = {0};

    ck_assert(!pulse_stands_still(&pulse, 7, 5, START, LIMIT));
    ck_assert(!pulse_stands_still(&pulse, 8, 5, START + LIMIT, LIMIT));
    ck_assert(!pulse_stands_still(&pulse, 8, 5, START + LIMIT + 1, LIMIT));
}
END_TEST

Suite *pulse_suite(void)
{
    Suite *suite = suite_create("master/pulse");
    TCase *cases = tcase_create("pulse");

    tcase_add_test(cases, a_count_that_moves_is_well);
    tcase_add_test(cases, a_count_that_stands_still_for_the_limit_hangs);
    tcase_add_test(cases, the_next_process_is_not_blamed_for_the_last_one);
    suite_add_tcase(suite, cases);
    return suite;
}
