/*
 * test_state.c - every pair of state and event, and the words that are stored.
 */
#include "job/state.h"
#include "suites.h"

#include <check.h>
#include <signal.h>
#include <string.h>

/* The table of state.h once more, as a picture: x where an event may happen. */
/* clang-format off */
static const struct {
    enum job_event event;
    const char *name;
    const char *legal;
} events[] = {
    /*                            scheduled ready blocked running retry done dead cancelled */
    {EVENT_DUE,     "due",     "x...x..."},
    {EVENT_RESERVE, "reserve", ".x......"},
    {EVENT_ACK,     "ack",     "...x...."},
    {EVENT_RETRY,   "retry",   "...x...."},
    {EVENT_FAIL,    "fail",    "...x...."},
    {EVENT_RELEASE, "release", "...x...."},
    {EVENT_SNOOZE,  "snooze",  "...x...."},
    {EVENT_ASIDE,   "aside",   "...x...."},
    {EVENT_CANCEL,  "cancel",  "xxxxx..."},
    {EVENT_EXPIRE,  "expire",  "...x...."},
    {EVENT_UNBLOCK, "unblock", "..x....."},
    {EVENT_MERGE,   "merge",   "..x....."},
    {EVENT_UPDATE,  "update",  "xxx.x..."},
    {EVENT_RUN,     "run",     "x...x..."},
    {EVENT_REVIVE,  "revive",  "......xx"},
    {EVENT_REMOVE,  "remove",  ".....xxx"},
};

static const struct {
    enum job_state state;
    int number;
    const char *name;
    bool waiting, ended;
} states[] = {
    {JOB_SCHEDULED, 0, "scheduled", true,  false},
    {JOB_READY,     1, "ready",     true,  false},
    {JOB_BLOCKED,   2, "blocked",   true,  false},
    {JOB_RUNNING,   3, "running",   false, false},
    {JOB_RETRY,     4, "retry",     true,  false},
    {JOB_DONE,      5, "done",      false, true},
    {JOB_DEAD,      6, "dead",      false, true},
    {JOB_CANCELLED, 7, "cancelled", false, true},
};
/* clang-format on */

_Static_assert(COUNT_OF(events) == JOB_EVENTS, "every event is walked");
_Static_assert(COUNT_OF(states) == JOB_STATES, "every state is walked");

START_TEST(a_pair_is_legal_exactly_when_the_table_has_it)
{
    const size_t state = (size_t)_i % JOB_STATES;
    const size_t event = (size_t)_i / JOB_STATES;
    const bool legal = events[event].legal[state] == 'x';

    ck_assert_uint_eq(strlen(events[event].legal), JOB_STATES);
    ck_assert_msg(job_state_allows(states[state].state, events[event].event) == legal,
                  "%s of a %s job is %s", events[event].name, states[state].name,
                  legal ? "legal" : "not legal");
}
END_TEST

START_TEST(a_state_keeps_its_number_and_its_name)
{
    enum job_state parsed = (enum job_state) - 1;

    ck_assert_int_eq((int)states[_i].state, states[_i].number);
    ck_assert_str_eq(job_state_name(states[_i].state), states[_i].name);
    ck_assert(job_state_parse(states[_i].name, &parsed));
    ck_assert_int_eq((int)parsed, states[_i].number);
}
END_TEST

START_TEST(a_job_waits_runs_or_has_ended)
{
    ck_assert_int_eq(job_state_is_waiting(states[_i].state), states[_i].waiting);
    ck_assert_int_eq(job_state_has_ended(states[_i].state), states[_i].ended);
}
END_TEST

static const char *const no_states[] = {NULL, "", "Ready", "ready ", "read", "readyx", "running\n"};

START_TEST(what_is_no_state_is_not_parsed)
{
    enum job_state state = JOB_BLOCKED;

    ck_assert(!job_state_parse(no_states[_i], &state));
    ck_assert_int_eq((int)state, JOB_BLOCKED);
}
END_TEST

static const struct {
    const char *rule;
    usec_t due, now;
    enum job_state expected;
} moments[] = {
    {"a moment ahead is scheduled", 1000, 999, JOB_SCHEDULED},
    {"at the moment itself it is ready", 1000, 1000, JOB_READY},
    {"a moment ago is ready", 1000, 1001, JOB_READY},
    {"no moment at all is ready", 0, 1, JOB_READY},
};

START_TEST(a_job_is_ready_from_its_due_moment_on)
{
    ck_assert_msg(job_state_when_due(moments[_i].due, moments[_i].now) == moments[_i].expected,
                  "%s", moments[_i].rule);
}
END_TEST

START_TEST(what_is_due_before_anybody_would_look_is_due_soon)
{
    ck_assert(job_state_is_due_soon(1000, 1000));
    ck_assert(job_state_is_due_soon(1000 + JOB_SOON, 1000));
    ck_assert(!job_state_is_due_soon(1001 + JOB_SOON, 1000));
    ck_assert(job_state_is_due_soon(0, 1000));
}
END_TEST

START_TEST(a_number_that_is_no_state_ends_the_process)
{
    job_state_name((enum job_state)JOB_STATES);
}
END_TEST

Suite *state_suite(void)
{
    Suite *suite = suite_create("job/state");
    TCase *pairs = pure_case("pairs");
    TCase *words = pure_case("words");
    TCase *bugs = tcase_create("bugs");

    tcase_add_loop_test(pairs, a_pair_is_legal_exactly_when_the_table_has_it, 0,
                        JOB_STATES * JOB_EVENTS);
    tcase_add_loop_test(pairs, a_job_is_ready_from_its_due_moment_on, 0, COUNT_OF(moments));
    tcase_add_test(pairs, what_is_due_before_anybody_would_look_is_due_soon);
    suite_add_tcase(suite, pairs);

    tcase_add_loop_test(words, a_state_keeps_its_number_and_its_name, 0, JOB_STATES);
    tcase_add_loop_test(words, a_job_waits_runs_or_has_ended, 0, JOB_STATES);
    tcase_add_loop_test(words, what_is_no_state_is_not_parsed, 0, COUNT_OF(no_states));
    tcase_add_test_raise_signal(bugs, a_number_that_is_no_state_ends_the_process, SIGABRT);
    suite_add_tcase(suite, words);
    suite_add_tcase(suite, bugs);
    return suite;
}
