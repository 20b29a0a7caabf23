/*
 * test_backoff.c - delays that double, up to a limit.
 */
#include "base/backoff.h"
#include "suites.h"

static const struct {
    const char *rule;
    usec_t delay, first, longest, expected;
} delays[] = {
    {"who has not waited yet waits for the first", 0, 100, 1000, 100},
    {"then for twice as long", 100, 100, 1000, 200},
    {"and again", 200, 100, 1000, 400},
    {"exactly up to the longest", 500, 100, 1000, 1000},
    {"but no longer", 501, 100, 1000, 1000},
    {"where it stays", 1000, 100, 1000, 1000},
    {"also when the limit was lowered meanwhile", 5000, 100, 1000, 1000},
    {"an odd limit is a limit as well", 500, 100, 1001, 1000},
    {"and is reached", 501, 100, 1001, 1001},
    {"the first is limited too", 0, 2000, 1000, 1000},
    {"and nothing overflows", USEC_MAX - 1, 100, USEC_MAX, USEC_MAX},
};

START_TEST(a_delay_doubles_up_to_the_longest)
{
    const usec_t next = backoff_next(delays[_i].delay, delays[_i].first, delays[_i].longest);

    ck_assert_msg(next == delays[_i].expected, "%s, not %lld", delays[_i].rule, (long long)next);
}
END_TEST

Suite *backoff_suite(void)
{
    Suite *suite = suite_create("base/backoff");
    TCase *doubling = pure_case("doubling");

    tcase_add_loop_test(doubling, a_delay_doubles_up_to_the_longest, 0, COUNT_OF(delays));
    suite_add_tcase(suite, doubling);
    return suite;
}
