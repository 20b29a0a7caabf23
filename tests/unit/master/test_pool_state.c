#include "master/pool_state.h"
#include "suites.h"

#include <check.h>

#define STATES (POOL_STOPPING + 1)

/* The table of pool_state.h. */
static const bool legal[STATES][STATES] = {
    [POOL_STARTING] = {[POOL_RUNNING] = true, [POOL_DRAINING] = true, [POOL_STOPPING] = true},
    [POOL_RUNNING] = {[POOL_DRAINING] = true, [POOL_STOPPING] = true},
    [POOL_DRAINING] = {[POOL_STOPPING] = true},
};

START_TEST(a_pool_changes_only_as_the_table_says)
{
    const enum pool_state from = (enum pool_state)(_i / STATES);
    const enum pool_state to = (enum pool_state)(_i % STATES);

    ck_assert_msg(pool_state_may_become(from, to) == legal[from][to], "%s to %s",
                  pool_state_name(from), pool_state_name(to));
}
END_TEST

Suite *pool_state_suite(void)
{
    Suite *suite = suite_create("master/pool_state");
    TCase *changes = tcase_create("changes");

    tcase_add_loop_test(changes, a_pool_changes_only_as_the_table_says, 0, STATES * STATES);
    suite_add_tcase(suite, changes);
    return suite;
}
