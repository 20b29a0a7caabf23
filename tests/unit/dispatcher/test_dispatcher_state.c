#include "dispatcher/state.h"
#include "suites.h"

#include <check.h>
#include <signal.h>

/* As in the drawings of state.h; a row is a state to start from. */
/* clang-format off */
static const bool legal[DISPATCHER_STATES][DISPATCHER_STATES] = {
    /*             serving paused draining stopping ended */
    /* serving  */ {false, true,  true,    true,    true},
    /* paused   */ {true,  false, true,    true,    true},
    /* draining */ {false, false, false,   true,    true},
    /* stopping */ {false, false, false,   false,   true},
    /* ended    */ {false, false, false,   false,   false},
};

static const bool legal_for_store[STORE_STATES][STORE_STATES] = {
    /*            unseen answers away */
    /* unseen  */ {false, true,  false},
    /* answers */ {false, false, true},
    /* away    */ {false, true,  false},
};
/* clang-format on */

START_TEST(only_the_changes_of_the_drawing_are_legal)
{
    const enum dispatcher_state from = (enum dispatcher_state)(_i / DISPATCHER_STATES);
    const enum dispatcher_state to = (enum dispatcher_state)(_i % DISPATCHER_STATES);
    struct dispatcher dispatcher = {.state = from};

    ck_assert_msg(dispatcher_state_may_change(from, to) == legal[from][to], "from %d to %d", from,
                  to);
    if (!legal[from][to])
        return;
    dispatcher_enter(&dispatcher, to);
    ck_assert_int_eq(dispatcher.state, to);
}
END_TEST

START_TEST(any_other_change_ends_the_process)
{
    struct dispatcher dispatcher = {.state = (enum dispatcher_state)(_i / DISPATCHER_STATES)};
    const enum dispatcher_state to = (enum dispatcher_state)(_i % DISPATCHER_STATES);

    if (legal[dispatcher.state][to])
        raise(SIGABRT); /* the case above has walked it */
    dispatcher_enter(&dispatcher, to);
}
END_TEST

START_TEST(only_the_changes_of_the_store_are_legal)
{
    const enum store_state from = (enum store_state)(_i / STORE_STATES);
    const enum store_state to = (enum store_state)(_i % STORE_STATES);
    struct dispatcher dispatcher = {.store_state = from};

    ck_assert_msg(store_state_may_change(from, to) == legal_for_store[from][to], "from %d to %d",
                  from, to);
    if (!legal_for_store[from][to])
        return;
    dispatcher_note_store(&dispatcher, to);
    ck_assert_int_eq(dispatcher.store_state, to);
}
END_TEST

START_TEST(any_other_change_of_the_store_ends_the_process)
{
    struct dispatcher dispatcher = {.store_state = (enum store_state)(_i / STORE_STATES)};
    const enum store_state to = (enum store_state)(_i % STORE_STATES);

    if (legal_for_store[dispatcher.store_state][to])
        raise(SIGABRT); /* the case above has walked it */
    dispatcher_note_store(&dispatcher, to);
}
END_TEST

START_TEST(the_first_end_is_the_one_that_counts)
{
    struct dispatcher dispatcher = {.state = (enum dispatcher_state)_i, .exit_code = 7};

    dispatcher_end(&dispatcher, 3);
    ck_assert_int_eq(dispatcher.state, DISPATCHER_ENDED);
    ck_assert_int_eq(dispatcher.exit_code, _i == DISPATCHER_ENDED ? 7 : 3);
    dispatcher_end(&dispatcher, 4);
    ck_assert_int_eq(dispatcher.exit_code, _i == DISPATCHER_ENDED ? 7 : 3);
}
END_TEST

START_TEST(each_chore_is_taken_once)
{
    struct dispatcher dispatcher = {0};

    dispatcher_add(&dispatcher, CHORE_AUDIT);
    dispatcher_add(&dispatcher, CHORE_SEND_REST);
    ck_assert(!dispatcher_take(&dispatcher, CHORE_RECOVER));
    ck_assert(dispatcher_take(&dispatcher, CHORE_AUDIT));
    ck_assert(!dispatcher_take(&dispatcher, CHORE_AUDIT));
    ck_assert(dispatcher_take(&dispatcher, CHORE_SEND_REST));
}
END_TEST

Suite *dispatcher_state_suite(void)
{
    Suite *suite = suite_create("dispatcher/state");
    TCase *cases = tcase_create("states");

    tcase_add_loop_test(cases, only_the_changes_of_the_drawing_are_legal, 0,
                        DISPATCHER_STATES * DISPATCHER_STATES);
    tcase_add_loop_test_raise_signal(cases, any_other_change_ends_the_process, SIGABRT, 0,
                                     DISPATCHER_STATES * DISPATCHER_STATES);
    tcase_add_loop_test(cases, only_the_changes_of_the_store_are_legal, 0,
                        STORE_STATES * STORE_STATES);
    tcase_add_loop_test_raise_signal(cases, any_other_change_of_the_store_ends_the_process, SIGABRT,
                                     0, STORE_STATES * STORE_STATES);
    tcase_add_loop_test(cases, the_first_end_is_the_one_that_counts, 0, DISPATCHER_STATES);
    tcase_add_test(cases, each_chore_is_taken_once);
    suite_add_tcase(suite, cases);
    return suite;
}
