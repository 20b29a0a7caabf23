/*
 * test_settlement.c - every outcome to its settlement.
 */
#include "../../vectors/place.h"
#include "base/timestamp.h"
#include "job/settlement.h"
#include "suites.h"

#include <check.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

#define NOW        ((usec_t)1893553445123456) /* 2030-01-02T03:04:05.123456Z */
#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)

static const struct settlement_rules rules = {
    .limits = {.timeout = SECONDS(300), .max_attempts = 4, .max_stalls = 3},
    .retry = {.kind = RETRY_EXPONENTIAL, .base_delay = SECONDS(10), .max_delay = SECONDS(3600)},
};

/* Someone who ran the job for real. */
static struct outcome outcome_of(enum outcome_kind kind)
{
    return (struct outcome){
        .kind = kind,
        .error = "exit code 1",
        .snooze_for = SECONDS(30),
        .run = {.started_at = NOW - SECONDS(2), .exit_code = 1},
    };
}

static const struct {
    const char *rule;
    enum outcome_kind outcome;
    int attempts; /* before this one */
    enum settlement_kind kind;
    bool counts;
    usec_t run_at;
    enum job_reason reason;
    bool has_run;
} decisions[] = {
    {"done is acked", OUTCOME_DONE, 0, SETTLE_ACK, false, 0, REASON_NONE, true},
    {"also after failures", OUTCOME_DONE, 3, SETTLE_ACK, false, 0, REASON_NONE, true},
    {"the first failure waits base_delay", OUTCOME_FAILED, 0, SETTLE_RETRY, true, NOW + SECONDS(10),
     REASON_NONE, true},
    {"the second twice as long", OUTCOME_FAILED, 1, SETTLE_RETRY, true, NOW + SECONDS(20),
     REASON_NONE, true},
    {"the third is the last but one", OUTCOME_FAILED, 2, SETTLE_RETRY, true, NOW + SECONDS(40),
     REASON_NONE, true},
    {"the failure that reaches max_attempts is the last", OUTCOME_FAILED, 3, SETTLE_FAIL, true, 0,
     REASON_EXHAUSTED, true},
    {"one beyond it is no better", OUTCOME_FAILED, 4, SETTLE_FAIL, true, 0, REASON_EXHAUSTED, true},
    {"however far beyond", OUTCOME_FAILED, INT_MAX, SETTLE_FAIL, true, 0, REASON_EXHAUSTED, true},
    {"what cannot get better is not tried again", OUTCOME_PERMANENT, 0, SETTLE_FAIL, true, 0,
     REASON_PERMANENT, true},
    {"nor called exhausted", OUTCOME_PERMANENT, 3, SETTLE_FAIL, true, 0, REASON_PERMANENT, true},
    {"a snooze is not counted", OUTCOME_SNOOZED, 0, SETTLE_SNOOZE, false, NOW + SECONDS(30),
     REASON_NONE, true},
    {"not even at the limit", OUTCOME_SNOOZED, 3, SETTLE_SNOOZE, false, NOW + SECONDS(30),
     REASON_NONE, true},
    {"a release is not counted", OUTCOME_RELEASED, 3, SETTLE_RELEASE, false, 0, REASON_NONE, true},
    {"one that nobody can run now is not counted", OUTCOME_ASIDE, 3, SETTLE_ASIDE, false, 0,
     REASON_NONE, true},
    {"a cancelled job is not counted", OUTCOME_CANCELLED, 3, SETTLE_CANCEL, false, 0, REASON_NONE,
     true},
    {"a type without handler is not the job's fault", OUTCOME_UNHANDLED, 3, SETTLE_FAIL, false, 0,
     REASON_NO_HANDLER, false},
    {"a payload that does not fit never ran", OUTCOME_INVALID, 0, SETTLE_FAIL, false, 0,
     REASON_INVALID_PAYLOAD, false},
    {"a handler that cannot start never ran it", OUTCOME_UNSTARTABLE, 0, SETTLE_FAIL, false, 0,
     REASON_CANNOT_START, false},
};

START_TEST(an_outcome_has_its_settlement)
{
    const struct job job = {.attempts = decisions[_i].attempts};
    const struct outcome outcome = outcome_of(decisions[_i].outcome);
    const struct settlement settlement = settlement_decide(&job, &outcome, &rules, NOW, 0);
    const char *rule = decisions[_i].rule;

    ck_assert_msg(settlement.kind == decisions[_i].kind, "%s, not %s", rule,
                  settlement_kind_name(settlement.kind));
    ck_assert_msg(settlement.counts == decisions[_i].counts, "%s: counts", rule);
    ck_assert_msg(settlement.run_at == decisions[_i].run_at, "%s: run_at is %lld", rule,
                  (long long)settlement.run_at);
    ck_assert_msg(settlement.reason == decisions[_i].reason, "%s: reason", rule);
    ck_assert_msg(settlement.has_run == decisions[_i].has_run, "%s: has_run", rule);
    ck_assert_msg(!settlement.forget, "%s: kept", rule);
    ck_assert_ptr_null(settlement.on_dead);
}
END_TEST

static const struct {
    const char *rule;
    int max_attempts, runs;
} endings[] = {
    {"max_attempts 1 buries the first failure", 1, 1},
    {"2 are one run and one retry", 2, 2},
    {"3 are three runs", 3, 3},
    {"the default is one run and three retries", 4, 4},
};

START_TEST(a_job_that_always_fails_runs_max_attempts_times)
{
    const struct outcome outcome = outcome_of(OUTCOME_FAILED);
    struct settlement_rules own = rules;
    struct job job = {0};
    struct settlement settlement;

    own.limits.max_attempts = endings[_i].max_attempts;
    do {
        settlement = settlement_decide(&job, &outcome, &own, NOW, 0);
        job.attempts += settlement.counts;
    } while (settlement.kind == SETTLE_RETRY && job.attempts < 100);

    ck_assert_msg(job.attempts == endings[_i].runs, "%s, not %d", endings[_i].rule, job.attempts);
    ck_assert_int_eq((int)settlement.kind, SETTLE_FAIL);
    ck_assert_int_eq((int)settlement.reason, REASON_EXHAUSTED);
}
END_TEST

START_TEST(only_an_ack_forgets_and_only_when_told)
{
    struct settlement_rules own = rules;
    const struct outcome outcome = outcome_of((enum outcome_kind)_i);
    const struct job job = {0};

    own.forget_done = true;
    ck_assert_int_eq(settlement_decide(&job, &outcome, &own, NOW, 0).forget, _i == OUTCOME_DONE);
    own.forget_done = false;
    ck_assert(!settlement_decide(&job, &outcome, &own, NOW, 0).forget);
}
END_TEST

START_TEST(what_was_released_or_cancelled_before_it_started_has_not_run)
{
    struct outcome released = outcome_of(OUTCOME_RELEASED);
    struct outcome cancelled = outcome_of(OUTCOME_CANCELLED);
    const struct job job = {0};

    released.run.started_at = cancelled.run.started_at = 0;
    ck_assert(!settlement_decide(&job, &released, &rules, NOW, 0).has_run);
    ck_assert(!settlement_decide(&job, &cancelled, &rules, NOW, 0).has_run);
}
END_TEST

START_TEST(a_settlement_names_its_job_and_proves_its_lease)
{
    const struct job job = {
        .id = {{1, 2, 3}}, .queue = "mail", .token = {{4, 5, 6}}, .ref = 77, .executions = 9};
    const struct outcome outcome = outcome_of((enum outcome_kind)_i);
    const struct settlement settlement = settlement_decide(&job, &outcome, &rules, NOW, 0);

    ck_assert_mem_eq(&settlement.job, &job.id, sizeof job.id);
    ck_assert_str_eq(settlement.queue, "mail");
    ck_assert_mem_eq(&settlement.token, &job.token, sizeof job.token);
    ck_assert_int_eq(settlement.ref, 77);
}
END_TEST

START_TEST(a_settlement_carries_what_the_execution_left)
{
    const struct job job = {.executions = 9};
    struct outcome outcome = outcome_of((enum outcome_kind)_i);

    outcome.result = (struct bytes){(const unsigned char *)"{}", 2};
    outcome.output = (struct bytes){(const unsigned char *)"out", 3};
    outcome.run = (struct job_run){.execution = 1,
                                   .pool = "web-1",
                                   .worker = 3,
                                   .started_at = 5,
                                   .wall = 6,
                                   .user = 7,
                                   .system = 8,
                                   .max_rss_kb = 10,
                                   .outcome = RUN_STALLED,
                                   .exit_code = 11,
                                   .signal = 12};
    const struct settlement settlement = settlement_decide(&job, &outcome, &rules, NOW, 0);

    ck_assert_str_eq(settlement.error, "exit code 1");
    ck_assert_ptr_eq(settlement.result.data, outcome.result.data);
    ck_assert_uint_eq(settlement.result.length, 2);
    ck_assert_ptr_eq(settlement.output.data, outcome.output.data);
    ck_assert_uint_eq(settlement.output.length, 3);
    ck_assert_str_eq(settlement.run.pool, "web-1");
    ck_assert_int_eq(settlement.run.worker, 3);
    ck_assert_int_eq(settlement.run.started_at, 5);
    ck_assert_int_eq(settlement.run.wall, 6);
    ck_assert_int_eq(settlement.run.user, 7);
    ck_assert_int_eq(settlement.run.system, 8);
    ck_assert_int_eq(settlement.run.max_rss_kb, 10);
    ck_assert_int_eq(settlement.run.exit_code, 11);
    ck_assert_int_eq(settlement.run.signal, 12);
    ck_assert_int_eq(settlement.run.execution, 9);
    ck_assert_int_eq((int)settlement.run.outcome, (int)settlement_run_outcome(settlement.kind));
}
END_TEST

/* Its worker went by an offset of the database's clock that is known better by now. */
START_TEST(a_run_began_twenty_microseconds_after_its_end)
{
    const struct job job = {0};
    const struct outcome outcome = {.kind = OUTCOME_DONE, .run = {.started_at = NOW + 20}};
    const struct settlement settlement = settlement_decide(&job, &outcome, &rules, NOW, 0);

    ck_assert_int_eq(settlement.run.started_at, NOW);
}
END_TEST

START_TEST(a_run_has_the_error_of_its_outcome_unless_it_has_its_own)
{
    const struct job job = {0};
    struct outcome outcome = outcome_of(OUTCOME_FAILED);

    ck_assert_str_eq(settlement_decide(&job, &outcome, &rules, NOW, 0).run.error, "exit code 1");
    outcome.run.error = "killed by SIGKILL";
    const struct settlement settlement = settlement_decide(&job, &outcome, &rules, NOW, 0);
    ck_assert_str_eq(settlement.run.error, "killed by SIGKILL");
    ck_assert_str_eq(settlement.error, "exit code 1");
}
END_TEST

START_TEST(a_retry_is_spread_by_chance)
{
    const struct job job = {0};
    const struct outcome outcome = outcome_of(OUTCOME_FAILED);
    struct settlement_rules own = rules;

    own.retry.jitter = 0.5;
    ck_assert_int_eq(settlement_decide(&job, &outcome, &own, NOW, 0).run_at, NOW + SECONDS(5));
    ck_assert_int_eq(settlement_decide(&job, &outcome, &own, NOW, 0.75).run_at,
                     NOW + 12500 * USEC_PER_MSEC);
}
END_TEST

static const struct {
    const char *rule;
    usec_t snooze_for, run_at;
} snoozes[] = {
    {"for as long as asked", 1, NOW + 1},
    {"not at all", 0, NOW},
    {"not into the past", -SECONDS(5), NOW},
    {"not after the last moment", USEC_MAX, TIMESTAMP_MAX},
    {"but up to it", TIMESTAMP_MAX - NOW, TIMESTAMP_MAX},
};

START_TEST(a_snooze_ends_between_now_and_the_last_moment)
{
    const struct job job = {0};
    struct outcome outcome = outcome_of(OUTCOME_SNOOZED);

    outcome.snooze_for = snoozes[_i].snooze_for;
    ck_assert_msg(settlement_decide(&job, &outcome, &rules, NOW, 0).run_at == snoozes[_i].run_at,
                  "%s", snoozes[_i].rule);
}
END_TEST

START_TEST(what_is_set_aside_says_why_and_since_when)
{
    const struct job job = {.due = NOW - 20};
    struct outcome outcome = outcome_of(OUTCOME_ASIDE);

    outcome.aside = ASIDE_CANNOT_START;
    outcome.failing_since = NOW - 10;
    const struct settlement settlement = settlement_decide(&job, &outcome, &rules, NOW, 0);
    ck_assert_int_eq(settlement.aside, ASIDE_CANNOT_START);
    ck_assert_int_eq(settlement.aside_since, NOW - 10);
}
END_TEST

START_TEST(a_retry_ends_at_the_last_moment_at_the_latest)
{
    const usec_t endless[] = {USEC_MAX};
    const struct job job = {0};
    const struct outcome outcome = outcome_of(OUTCOME_FAILED);
    struct settlement_rules own = rules;

    own.retry = (struct retry_policy){.kind = RETRY_LIST, .delays = endless, .delay_count = 1};
    ck_assert_int_eq(settlement_decide(&job, &outcome, &own, NOW, 0).run_at, TIMESTAMP_MAX);
}
END_TEST

START_TEST(limits_that_nobody_resolved_end_the_process)
{
    const struct job job = {0};
    const struct outcome outcome = outcome_of(OUTCOME_FAILED);
    struct settlement_rules own = rules;

    own.limits.max_attempts = 0;
    settlement_decide(&job, &outcome, &own, NOW, 0);
}
END_TEST

START_TEST(an_outcome_of_no_known_kind_ends_the_process)
{
    const struct job job = {0};
    const struct outcome outcome = outcome_of((enum outcome_kind)(OUTCOME_UNSTARTABLE + 1));

    settlement_decide(&job, &outcome, &rules, NOW, 0);
}
END_TEST

static const struct {
    const char *rule;
    int stalls, max_stalls;
    const char *defect;
    enum job_reason reason; /* none: it is run */
    const char *error;
} checks[] = {
    {"a fresh job is run", 0, 3, NULL, REASON_NONE, NULL},
    {"one stall less than allowed is run", 2, 3, NULL, REASON_NONE, NULL},
    {"as many as allowed is the end", 3, 3, NULL, REASON_STALLED,
     "its lease ran out as often as max_stalls allows"},
    {"more is, too", 4, 3, NULL, REASON_STALLED, "its lease ran out as often as max_stalls allows"},
    {"one may be too many", 1, 1, NULL, REASON_STALLED,
     "its lease ran out as often as max_stalls allows"},
    {"a damaged record is never run", 0, 3, "payload is no JSON", REASON_INVALID_PAYLOAD,
     "payload is no JSON"},
    {"the damage is what people must hear of", 3, 3, "payload is no JSON", REASON_INVALID_PAYLOAD,
     "payload is no JSON"},
};

START_TEST(a_job_that_must_not_run_is_settled_instead)
{
    const struct job job = {.id = {{1, 2, 3}},
                            .queue = "mail",
                            .token = {{4, 5, 6}},
                            .ref = 77,
                            .stalls = checks[_i].stalls,
                            .defect = checks[_i].defect};
    const struct job_limits limits = {.max_stalls = checks[_i].max_stalls};
    struct settlement settlement = {.kind = SETTLE_CANCEL, .counts = true};
    const bool instead = settlement_instead_of_run(&job, &limits, &settlement);

    ck_assert_msg(instead == (checks[_i].reason != REASON_NONE), "%s", checks[_i].rule);
    if (!instead)
        return;
    ck_assert_msg(settlement.reason == checks[_i].reason, "%s", checks[_i].rule);
    ck_assert_str_eq(settlement.error, checks[_i].error);
    ck_assert_int_eq((int)settlement.kind, SETTLE_FAIL);
    ck_assert(!settlement.counts && !settlement.has_run && !settlement.forget);
    ck_assert_int_eq(settlement.run.exit_code, JOB_NO_EXIT_CODE);
    ck_assert_mem_eq(&settlement.job, &job.id, sizeof job.id);
    ck_assert_str_eq(settlement.queue, "mail");
    ck_assert_mem_eq(&settlement.token, &job.token, sizeof job.token);
    ck_assert_int_eq(settlement.ref, 77);
}
END_TEST

START_TEST(stall_limits_that_nobody_resolved_end_the_process)
{
    const struct job job = {0};
    const struct job_limits none = {0};
    struct settlement settlement;

    ck_assert(!settlement_instead_of_run(&job, &none, &settlement));
}
END_TEST

/* clang-format off */
static const struct {
    enum th_error_code code;
    bool over;
} verdicts[] = {
    {TH_OK,               true},
    {TH_E_INVALID,        false},
    {TH_E_UNAVAILABLE,    false},
    {TH_E_UNCERTAIN,      false},
    {TH_E_NOT_FOUND,      true},
    {TH_E_NOT_RUNNING,    true},
    {TH_E_LEASE_EXPIRED,  true},
    {TH_E_LEASE_MISMATCH, true},
    {TH_E_CONFLICT,       false},
    {TH_E_SCHEMA,         false},
    {TH_E_NO_MEMORY,      false},
    {TH_E_INTERNAL,       false},
};

static const struct {
    enum settlement_kind kind;
    int number;
    const char *name;
    enum run_outcome run_outcome;
} kinds[] = {
    {SETTLE_ACK,     0, "ack",     RUN_DONE},
    {SETTLE_RETRY,   1, "retry",   RUN_RETRY},
    {SETTLE_FAIL,    2, "fail",    RUN_DEAD},
    {SETTLE_RELEASE, 3, "release", RUN_RELEASED},
    {SETTLE_SNOOZE,  4, "snooze",  RUN_SNOOZED},
    {SETTLE_CANCEL,  5, "cancel",  RUN_CANCELLED},
    {SETTLE_ASIDE,   6, "aside",   RUN_RELEASED},
};
/* clang-format on */

START_TEST(a_settlement_is_over_when_the_job_is_settled_or_not_ours)
{
    ck_assert_int_eq((int)verdicts[_i].code, _i);
    ck_assert_int_eq(settlement_is_over(verdicts[_i].code), verdicts[_i].over);
}
END_TEST

START_TEST(a_kind_keeps_its_number_its_word_and_its_place_in_history)
{
    ck_assert_int_eq((int)kinds[_i].kind, kinds[_i].number);
    ck_assert_str_eq(settlement_kind_name(kinds[_i].kind), kinds[_i].name);
    ck_assert_int_eq((int)settlement_run_outcome(kinds[_i].kind), (int)kinds[_i].run_outcome);
}
END_TEST

START_TEST(only_what_is_given_back_or_set_aside_without_a_run_was_never_started)
{
    for (int kind = SETTLE_ACK; kind <= SETTLE_ASIDE; kind++) {
        const struct settlement unstarted = {.kind = (enum settlement_kind)kind};
        const struct settlement started = {.kind = (enum settlement_kind)kind, .has_run = true};

        ck_assert_int_eq(settlement_is_unstarted(&unstarted),
                         kind == SETTLE_RELEASE || kind == SETTLE_ASIDE);
        ck_assert(!settlement_is_unstarted(&started));
    }
}
END_TEST

/* ---- where it waits ---- */

START_TEST(what_is_given_back_waits_where_its_row_says)
{
    const struct place_vector *vector = &place_vectors[_i];
    const struct settlement settlement = {.kind = vector->kind,
                                          .run_at = place_moment(vector->run_at, NOW)};
    const struct settlement_place place =
        settlement_place(&settlement, NOW - PLACE_BEFORE, NOW - PLACE_BEFORE, NOW);

    ck_assert_msg(place.state == vector->state, "%s: %s", vector->rule,
                  job_state_name(place.state));
    ck_assert_msg(place.run_at == place_moment(vector->stored_run_at, NOW), "%s: run_at",
                  vector->rule);
    ck_assert_msg(place.due == NOW + vector->due, "%s: due", vector->rule);
}
END_TEST

Suite *settlement_suite(void)
{
    Suite *suite = suite_create("job/settlement");
    TCase *decide = pure_case("decide");
    TCase *instead = pure_case("instead");
    TCase *words = pure_case("words");
    TCase *bugs = tcase_create("bugs");
    const int last = OUTCOME_UNSTARTABLE;

    tcase_add_loop_test(decide, an_outcome_has_its_settlement, 0, COUNT_OF(decisions));
    tcase_add_loop_test(decide, a_job_that_always_fails_runs_max_attempts_times, 0,
                        COUNT_OF(endings));
    tcase_add_loop_test(decide, only_an_ack_forgets_and_only_when_told, 0, last + 1);
    tcase_add_test(decide, what_was_released_or_cancelled_before_it_started_has_not_run);
    tcase_add_loop_test(decide, a_settlement_names_its_job_and_proves_its_lease, 0, last + 1);
    tcase_add_loop_test(decide, a_settlement_carries_what_the_execution_left, 0, last + 1);
    tcase_add_test(decide, a_run_began_twenty_microseconds_after_its_end);
    tcase_add_test(decide, a_run_has_the_error_of_its_outcome_unless_it_has_its_own);
    tcase_add_test(decide, a_retry_is_spread_by_chance);
    tcase_add_loop_test(decide, a_snooze_ends_between_now_and_the_last_moment, 0,
                        COUNT_OF(snoozes));
    tcase_add_test(decide, a_retry_ends_at_the_last_moment_at_the_latest);
    tcase_add_test_raise_signal(bugs, limits_that_nobody_resolved_end_the_process, SIGABRT);
    tcase_add_test_raise_signal(bugs, an_outcome_of_no_known_kind_ends_the_process, SIGABRT);
    tcase_add_test(decide, only_what_is_given_back_or_set_aside_without_a_run_was_never_started);
    tcase_add_test(decide, what_is_set_aside_says_why_and_since_when);
    suite_add_tcase(suite, decide);

    tcase_add_loop_test(instead, a_job_that_must_not_run_is_settled_instead, 0, COUNT_OF(checks));
    tcase_add_test_raise_signal(bugs, stall_limits_that_nobody_resolved_end_the_process, SIGABRT);
    suite_add_tcase(suite, instead);

    tcase_add_loop_test(words, a_settlement_is_over_when_the_job_is_settled_or_not_ours, 0,
                        COUNT_OF(verdicts));
    tcase_add_loop_test(words, a_kind_keeps_its_number_its_word_and_its_place_in_history, 0,
                        COUNT_OF(kinds));
    tcase_add_loop_test(words, what_is_given_back_waits_where_its_row_says, 0,
                        COUNT_OF(place_vectors));
    suite_add_tcase(suite, words);
    suite_add_tcase(suite, bugs);
    return suite;
}
