#include "config/config.h"
#include "master/roles.h"
#include "suites.h"

static const struct {
    const char *rule;
    int workers, seats;
} pools[] = {
    {"a small pool may grow by a few", 1, 17}, {"a larger one", 15, 31},
    {"to twice its size", 100, 200},           {"as far as any pool may", 600, 1024},
    {"the largest not at all", 1024, 1024},
};

START_TEST(there_are_seats_for_what_a_reload_may_ask_for)
{
    const struct config config = {.pool = {.num_workers = pools[_i].workers}};

    ck_assert_int_eq(roles_instances(ROLE_WORKER, &config), pools[_i].workers);
    ck_assert_msg(roles_seats(ROLE_WORKER, &config) == pools[_i].seats, "%s, not %d",
                  pools[_i].rule, roles_seats(ROLE_WORKER, &config));
}
END_TEST

START_TEST(a_reaper_that_nobody_wants_has_a_seat_too)
{
    const struct config config = {.pool = {.enable_reaper = _i == 1}};

    ck_assert_int_eq(roles_instances(ROLE_REAPER, &config), _i);
    ck_assert_int_eq(roles_seats(ROLE_REAPER, &config), 1);
    ck_assert_int_eq(roles_seats(ROLE_DISPATCHER, &config), 1);
}
END_TEST

Suite *roles_suite(void)
{
    Suite *suite = suite_create("master/roles");
    TCase *seats = tcase_create("seats");

    tcase_add_loop_test(seats, there_are_seats_for_what_a_reload_may_ask_for, 0, COUNT_OF(pools));
    tcase_add_loop_test(seats, a_reaper_that_nobody_wants_has_a_seat_too, 0, 2);
    suite_add_tcase(suite, seats);
    return suite;
}
