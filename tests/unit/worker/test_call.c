/*
 * test_call.c - what a function of a plugin says and returns, and what it means for its job.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "process/process.h"
#include "suites.h"
#include "worker/call.h"
#include "worker/plugins.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BASE_DELAY (10 * USEC_PER_SEC)

static enum stop_reason wanted_stop;
static char heard[64];
static struct call call;
static struct handler_report report;
static struct error err;

static enum stop_reason want_stop(void *context)
{
    (void)context;
    return wanted_stop;
}

static void hear_progress(void *context, int percent, const char *text)
{
    (void)context;
    snprintf(heard, sizeof heard, "%d %s", percent, text);
}

static void hear_line(void *context, bool is_error, struct bytes line, uint64_t dropped)
{
    (void)context;
    snprintf(heard, sizeof heard, "%d %.*s %d", is_error, (int)line.length, (const char *)line.data,
             (int)dropped);
}

static struct handler_place place = {.wants_stop = want_stop};
static const struct handler_job job = {
    .id = "id",
    .type = "type",
    .queue = "queue",
    .pool_id = "pool",
    .attempt = 2,
    .max_attempts = 4,
    .headers = "{\"a\":1}",
    .execution = 7,
    .timeout = 30 * USEC_PER_SEC,
    .output_size = TAIL_SIZE,
    .started_at = USEC_PER_SEC,
    .worker = 3,
};
static const struct handler_listener listener = {.line = hear_line, .progress = hear_progress};

/* A worker without plugins catches nothing of what is printed. */
static void open_plugins(void)
{
    static const struct config config;
    static const struct process process = {.config = &config};

    ck_assert_msg(plugins_open(&process, &place.plugins, &err), "%s", err.text);
}

static void begin(void)
{
    open_plugins();
    wanted_stop = STOP_NONE;
    place.until = 0;
    heard[0] = '\0';
    call_init_for_job(&call, "thumbnail", &place, &job, &listener, BASE_DELAY);
}

static void end(void)
{
    handler_report_done(&report);
    call_done(&call);
    plugins_close(&place.plugins);
}

static void judge(enum th_outcome outcome)
{
    ck_assert_msg(call_report(&call, outcome, &report, &err), "%s", err.text);
    ck_assert(!report.could_not_start);
}

static const struct {
    const char *rule;
    enum th_outcome said;
    enum stop_reason stop;
    const char *error; /* that it set; NULL: none */
    enum outcome_kind kind;
    const char *job_error, *run_error;
} outcomes[] = {
    {"done", TH_DONE, STOP_NONE, NULL, OUTCOME_DONE, NULL, NULL},
    {"done in spite of an error", TH_DONE, STOP_NONE, "e", OUTCOME_DONE, NULL, NULL},
    {"done in spite of a wish to stop", TH_DONE, STOP_CANCEL, NULL, OUTCOME_DONE, NULL, NULL},
    {"failed", TH_RETRY, STOP_NONE, "e", OUTCOME_FAILED, "e", "e"},
    {"failed and silent", TH_RETRY, STOP_NONE, NULL, OUTCOME_FAILED,
     "plugin thumbnail gave no reason", "plugin thumbnail gave no reason"},
    {"dead", TH_DEAD, STOP_NONE, "e", OUTCOME_PERMANENT, "e", "e"},
    {"dead in spite of a wish to stop", TH_DEAD, STOP_DRAIN, "e", OUTCOME_PERMANENT, "e", "e"},
    {"stopped on request", TH_RETRY, STOP_CANCEL, NULL, OUTCOME_CANCELLED, NULL,
     "stopped on request"},
    {"stopped, with its own words", TH_RETRY, STOP_DRAIN, "e", OUTCOME_RELEASED, NULL,
     "stopped with its pool: e"},
    {"stopped without a lease", TH_RETRY, STOP_LOST_LEASE, NULL, OUTCOME_RELEASED, NULL,
     "stopped after its lease was lost"},
    {"timed out", TH_RETRY, STOP_TIMEOUT, NULL, OUTCOME_FAILED,
     "timed out after 30s in plugin thumbnail", "timed out after 30s in plugin thumbnail"},
    {"put off", TH_SNOOZE, STOP_NONE, NULL, OUTCOME_SNOOZED, NULL, NULL},
    {"put off, and why", TH_SNOOZE, STOP_NONE, "e", OUTCOME_SNOOZED, NULL, "e"},
    {"no outcome", (enum th_outcome)4, STOP_NONE, "e", OUTCOME_FAILED,
     "plugin thumbnail returned 4, which is not an outcome",
     "plugin thumbnail returned 4, which is not an outcome"},
};

START_TEST(what_is_returned_decides_and_a_failure_may_be_a_stop)
{
    wanted_stop = outcomes[_i].stop;
    if (outcomes[_i].error)
        th_error(&call.context, "%s", outcomes[_i].error);
    judge(outcomes[_i].said);

    ck_assert_msg(report.outcome.kind == outcomes[_i].kind, "%s", outcomes[_i].rule);
    ck_assert_msg(text_equal(report.outcome.error, outcomes[_i].job_error), "%s, not %s",
                  outcomes[_i].rule, report.outcome.error);
    ck_assert_msg(text_equal(report.outcome.run.error, outcomes[_i].run_error), "%s, not %s",
                  outcomes[_i].rule, report.outcome.run.error);
}
END_TEST

START_TEST(a_job_that_is_simply_done_allocates_nothing)
{
    judge(TH_DONE);
    ck_assert_ptr_null(report.arena.blocks);
    ck_assert_int_eq(report.outcome.run.execution, 7);
    ck_assert_int_eq(report.outcome.run.worker, 3);
    ck_assert_int_eq(report.outcome.run.exit_code, JOB_NO_EXIT_CODE);
    ck_assert_int_eq(report.progress_percent, -1);
}
END_TEST

START_TEST(it_is_cancelled_when_somebody_wants_it_to_stop_or_its_time_is_up)
{
    ck_assert(!th_cancelled(&call.context));
    place.until = clock_boot() + USEC_PER_HOUR;
    ck_assert(!th_cancelled(&call.context));
    place.until = clock_boot();
    ck_assert(th_cancelled(&call.context));
    ck_assert_int_eq(call_stop(&call), STOP_TIMEOUT);
    wanted_stop = STOP_CANCEL;
    ck_assert_int_eq(call_stop(&call), STOP_CANCEL);
}
END_TEST

static const struct {
    int percent;
    const char *text, *heard;
} progresses[] = {{40, "resizing", "40 resizing"}, {-3, NULL, "0 "}, {300, "\xff-\xc3", "100 ?-?"}};

START_TEST(progress_is_passed_on_within_its_range_and_as_text)
{
    th_progress(&call.context, progresses[_i].percent, progresses[_i].text);
    ck_assert_str_eq(heard, progresses[_i].heard);
    judge(TH_DONE);
    snprintf(heard, sizeof heard, "%d %s", report.progress_percent, report.progress_text);
    ck_assert_str_eq(heard, progresses[_i].heard);
}
END_TEST

START_TEST(the_last_result_that_fits_counts)
{
    static const char large[JOB_RESULT_MAX + 1];

    ck_assert(th_result(&call.context, "first", 5));
    ck_assert(th_result(&call.context, "sec\0nd", 6));
    ck_assert(!th_result(&call.context, large, sizeof large));
    judge(TH_DONE);
    ck_assert_uint_eq(report.outcome.result.length, 6);
    ck_assert_mem_eq(report.outcome.result.data, "sec\0nd", 6);
}
END_TEST

START_TEST(an_empty_result_is_a_result)
{
    ck_assert(th_result(&call.context, NULL, 0));
    judge(TH_DONE);
    ck_assert_ptr_nonnull(report.outcome.result.data);
}
END_TEST

START_TEST(lines_are_passed_on_and_kept)
{
    th_log(&call.context, "line %d", 1);
    ck_assert_str_eq(heard, "0 line 1 0");
    th_log(&call.context, "%s", "line \xfe");
    judge(TH_DONE);
    ck_assert_uint_eq(report.outcome.output.length, 14);
    ck_assert_mem_eq(report.outcome.output.data, "line 1\nline ?\n", 14);
}
END_TEST

static const struct {
    const char *rule;
    double seconds;
    usec_t expected;
} snoozes[] = {
    {"seconds", 30, 30 * USEC_PER_SEC},
    {"and parts of them", 0.25, USEC_PER_SEC / 4},
    {"not at all", 0, 0},
    {"never backwards", -5, 0},
    {"what is no number is nothing", NAN, 0},
    {"a year at most", HUGE_VAL, 365 * USEC_PER_DAY},
};

START_TEST(a_snooze_is_as_long_as_it_was_said)
{
    th_snooze(&call.context, snoozes[_i].seconds);
    judge(TH_SNOOZE);
    ck_assert_msg(report.outcome.snooze_for == snoozes[_i].expected, "%s", snoozes[_i].rule);
}
END_TEST

START_TEST(a_snooze_of_no_length_waits_base_delay)
{
    judge(TH_SNOOZE);
    ck_assert_int_eq(report.outcome.snooze_for, BASE_DELAY);
}
END_TEST

START_TEST(of_a_long_error_both_ends_are_kept)
{
    char text[CALL_ERROR_SIZE * 2];

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    th_error(&call.context, "%s", text);
    judge(TH_DEAD);
    ck_assert_uint_le(strlen(report.outcome.error), GIST_MAX);
    ck_assert_ptr_nonnull(strstr(report.outcome.error, " bytes left out ...]\n"));
}
END_TEST

START_TEST(a_job_is_shown_as_it_is)
{
    const struct th_job seen = call_job(&call);

    ck_assert_str_eq(seen.id, "id");
    ck_assert_str_eq(seen.payload, ""); /* there is none, and that is no reason to crash */
    ck_assert_uint_eq(seen.payload_size, 0);
    ck_assert_int_eq(seen.attempt, 2);
    ck_assert_int_eq(seen.max_attempts, 4);
    ck_assert_int_eq(seen.execution, 7);
    ck_assert_int_eq(seen.deadline, 31);
    ck_assert_str_eq(seen.headers, "{\"a\":1}");
}
END_TEST

Suite *call_suite(void)
{
    Suite *suite = suite_create("worker/call");
    TCase *cases = tcase_create("call");

    tcase_add_checked_fixture(cases, begin, end);
    tcase_add_loop_test(cases, what_is_returned_decides_and_a_failure_may_be_a_stop, 0,
                        COUNT_OF(outcomes));
    tcase_add_test(cases, a_job_that_is_simply_done_allocates_nothing);
    tcase_add_test(cases, it_is_cancelled_when_somebody_wants_it_to_stop_or_its_time_is_up);
    tcase_add_loop_test(cases, progress_is_passed_on_within_its_range_and_as_text, 0,
                        COUNT_OF(progresses));
    tcase_add_test(cases, the_last_result_that_fits_counts);
    tcase_add_test(cases, an_empty_result_is_a_result);
    tcase_add_test(cases, lines_are_passed_on_and_kept);
    tcase_add_loop_test(cases, a_snooze_is_as_long_as_it_was_said, 0, COUNT_OF(snoozes));
    tcase_add_test(cases, a_snooze_of_no_length_waits_base_delay);
    tcase_add_test(cases, of_a_long_error_both_ends_are_kept);
    tcase_add_test(cases, a_job_is_shown_as_it_is);
    suite_add_tcase(suite, cases);
    return suite;
}
