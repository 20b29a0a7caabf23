/*
 * test_resident.c - programs that stay, and behave or do not: tests/fixtures/resident.py.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "process/account.h"
#include "process/loop.h"
#include "suites.h"
#include "worker/execution.h"
#include "worker/output.h"
#include "worker/resident.h"
#include "worker/resident_line.h"
#include "worker/tail.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_TIME   (600 * USEC_PER_SEC)
#define SHORT_GRACE (50 * USEC_PER_MSEC)
#define ID          "0193f0a2-7c1d-7abc-8def-0123456789ab"
#define PROGRAM     TH_SOURCE_DIR "/tests/fixtures/resident.py"

static const char *const fixture[] = {"/usr/bin/python3", PROGRAM, NULL};
static const char *const dies[] = {"/usr/bin/python3", PROGRAM, "--die", NULL};
static const char *const deaf[] = {"/usr/bin/python3", PROGRAM, "--deaf", NULL};
static const char *const hasty[] = {"/usr/bin/python3", PROGRAM, "--hasty", NULL};
static const char *const missing[] = {"/nowhere/x", NULL};

static struct loop *loop;
static struct handler_place place;
static struct resident *resident;
static struct resident_plan plan;
static struct arena arena;
static struct account account;
static struct error err;
static struct handler_job job;
static struct handler_listener listener;
static struct handler_report report;
static struct buffer heard = BUFFER(4 << 20);

static void hear_line(void *context, bool is_error, struct bytes line, uint64_t dropped)
{
    (void)context;
    ck_assert(is_error && dropped == 0);
    buffer_printf(&heard, "%.*s|", (int)line.length, (const char *)line.data);
}

static void hear_progress(void *context, int percent, const char *text)
{
    (void)context;
    buffer_printf(&heard, "%d %s|", percent, text);
}

static void begin(void)
{
    ck_assert_msg(loop_open(&loop, &err), "%s", err.text);
    place.loop = loop;
    ck_assert_msg(execution_open(loop, &place.execution, &err), "%s", err.text);
    ck_assert_msg(account_find(NULL, &arena, &account, &err), "%s", err.text);
    plan = (struct resident_plan){
        .name = "report:*",
        .argv = fixture,
        .concurrency = 1,
        .command = {.account = &account, .umask = SPAWN_KEEP},
    };
    job = (struct handler_job){
        .id = ID,
        .type = "report:build",
        .queue = "reports",
        .pool_id = "web-1.x7",
        .attempt = 1,
        .max_attempts = 4,
        .execution = 1,
        .payload_is_json = true,
        .timeout = LONG_TIME,
        .output_size = TAIL_SIZE,
        .kill_grace = LONG_TIME,
        .started_at = 5,
        .worker = 3,
    };
    listener = (struct handler_listener){.line = hear_line, .progress = hear_progress};
    ck_assert_msg(resident_open(&plan, &place, &resident, &err), "%s", err.text);
}

static void finish(void)
{
    resident_close(&resident);
    ck_assert_msg(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a process is left behind");
    handler_report_done(&report);
    buffer_done(&heard);
    arena_done(&arena);
    execution_close(&place.execution);
    loop_close(&loop);
}

static const struct outcome *run_bytes(struct bytes payload)
{
    handler_report_done(&report);
    job.payload = payload;
    ck_assert_msg(resident_run(resident, &plan, &job, &listener, &report, &err), "%s", err.text);
    return &report.outcome;
}

static const struct outcome *run(const char *payload)
{
    return run_bytes((struct bytes){(const unsigned char *)payload, strlen(payload)});
}

static const char *result(void)
{
    const struct bytes bytes = report.outcome.result;

    return bytes.data ? arena_text_of(&arena, (const char *)bytes.data, bytes.length) : "";
}

/* Of a job that ended well. */
static const char *result_of(const char *payload)
{
    const struct outcome *outcome = run(payload);

    ck_assert_msg(outcome->kind == OUTCOME_DONE, "%s: %s", payload,
                  outcome->error ? outcome->error : "?");
    return result();
}

static const char *pid_of_program(void)
{
    const char *shown = strstr(result_of("{\"do\":\"show\"}"), "\"pid\": ");

    ck_assert(shown);
    return arena_text_of(&arena, shown, strcspn(shown, ","));
}

/* clang-format off */
static const struct {
    const char *rule;
    const char *payload;
    enum outcome_kind kind;
    const char *result, *error, *run_error, *heard;
    usec_t snooze_for; /* seconds */
} answers[] = {
    {"it answers", "{\"do\":\"answer\",\"with\":{\"a\":[1]}}", OUTCOME_DONE, "{\"a\": [1]}", NULL, NULL, "", 0},
    {"without a result", "{\"do\":\"answer\"}", OUTCOME_DONE, "", NULL, NULL, "", 0},
    {"it fails", "{\"do\":\"fail\",\"with\":{\"error\":\"no luck\"}}", OUTCOME_FAILED, "", "no luck", "no luck", "", 0},
    {"without saying why", "{\"do\":\"fail\"}", OUTCOME_FAILED, "", "failed without a word", "failed without a word", "", 0},
    {"for good", "{\"do\":\"fail\",\"with\":{\"error\":\"gone\",\"retry\":false}}", OUTCOME_PERMANENT, "", "gone", "gone", "", 0},
    {"for now", "{\"do\":\"fail\",\"with\":{\"error\":\"busy\",\"snooze\":\"30s\"}}", OUTCOME_SNOOZED, "", NULL, "busy", "", 30},
    {"it tells how far it is", "{\"do\":\"progress\"}", OUTCOME_DONE, "", NULL, NULL, "40 resizing|80 |", 0},
    {"stderr is passed on", "{\"do\":\"grumble\"}", OUTCOME_DONE, "", NULL, NULL, "oh no|this is hard|", 0},
    {"blank lines are nothing", "{\"do\":\"raw\",\"with\":\"\\n \\r\\n{\\\"id\\\":\\\"ID\\\",\\\"ok\\\":true}\\n\"}", OUTCOME_DONE, "", NULL, NULL, "", 0},
};
/* clang-format on */

START_TEST(every_answer_has_its_outcome)
{
    const char *before = pid_of_program();
    const struct outcome *outcome = run(answers[_i].payload);

    ck_assert_msg(outcome->kind == answers[_i].kind, "%s, not %d", answers[_i].rule, outcome->kind);
    ck_assert_msg(text_equal(outcome->error, answers[_i].error), "%s: %s", answers[_i].rule,
                  outcome->error);
    ck_assert_msg(text_equal(outcome->run.error, answers[_i].run_error), "%s", answers[_i].rule);
    ck_assert_str_eq(result(), answers[_i].result);
    ck_assert_str_eq(buffer_str(&heard), answers[_i].heard);
    ck_assert_int_eq(outcome->snooze_for, answers[_i].snooze_for * USEC_PER_SEC);
    ck_assert_int_eq(outcome->run.exit_code, JOB_NO_EXIT_CODE);
    ck_assert_int_eq(outcome->run.started_at, 5);
    ck_assert_int_gt(outcome->run.wall, 0);
    ck_assert(!report.could_not_start);
    ck_assert_msg(text_equal(pid_of_program(), before), "and the program stays");
}
END_TEST

START_TEST(the_last_progress_is_kept)
{
    run("{\"do\":\"progress\"}");
    ck_assert_int_eq(report.progress_percent, 80);
    ck_assert_str_eq(report.progress_text, "");
    run("{\"do\":\"answer\"}");
    ck_assert_int_eq(report.progress_percent, -1);
}
END_TEST

START_TEST(what_it_prints_on_stderr_is_the_output_of_its_job_alone)
{
    const struct outcome *outcome = run("{\"do\":\"grumble\"}");

    ck_assert_uint_eq(outcome->output.length, strlen("oh no\nthis is hard\n"));
    ck_assert_uint_eq(report.output_bytes, outcome->output.length);
    ck_assert_ptr_null(run("{\"do\":\"answer\"}")->output.data);
}
END_TEST

START_TEST(a_run_has_the_cpu_time_that_its_job_took)
{
    result_of("{\"do\":\"burn\"}");
    ck_assert_int_ge(report.outcome.run.user, 50 * USEC_PER_MSEC);
    result_of("{\"do\":\"answer\"}");
    ck_assert_int_lt(report.outcome.run.user, 50 * USEC_PER_MSEC);
}
END_TEST

START_TEST(it_gets_what_the_handler_says_and_no_job_in_its_environment)
{
    const struct command_variable env[] = {{"COLOUR", "red"}};

    plan.command.env = env;
    plan.command.env_count = 1;
    plan.command.cwd = "/";
    const char *shown = result_of("{\"do\":\"show\"}");
    ck_assert(strstr(shown, "\"COLOUR\": \"red\""));
    ck_assert(strstr(shown, "\"TH_POOL_ID\": \"web-1.x7\""));
    ck_assert(strstr(shown, "\"PATH\": \"" COMMAND_PATH "\""));
    ck_assert(!strstr(shown, "TH_JOB_ID") && !strstr(shown, "TH_ATTEMPT"));
    ck_assert_msg(strstr(shown, "\"fds\": [\"0\", \"1\", \"2\", \"3\"]"),
                  "three, and the folder that it reads: %s", shown);
}
END_TEST

START_TEST(a_payload_that_is_no_json_comes_as_base64)
{
    job.payload_is_json = false;
    run_bytes((struct bytes){(const unsigned char *)"a\0\n\xff", 4});
    ck_assert_str_eq(result(), "\"61000aff\"");
}
END_TEST

#define LARGE ((size_t)3 << 20)

START_TEST(a_large_payload_arrives_whole)
{
    char *payload = malloc(LARGE + 64);
    const int head = snprintf(payload, 64, "{\"do\":\"count\",\"with\":\"");

    memset(payload + head, 'x', LARGE);
    strncpy(payload + head + LARGE, "\"}", 3);
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(result_of(payload), "3145728");
    free(payload);
}
END_TEST

/* clang-format off */
static const struct {
    const char *rule;
    const char *payload;
    const char *error; /* what it starts with */
} faults[] = {
    {"no JSON", "{\"do\":\"raw\",\"with\":\"Loading...\\n\"}",
     "resident report:* wrote a line that is not an answer: line 1, column 1: expected an object: Loading..."},
    {"a line for another job", "{\"do\":\"raw\",\"with\":\"{\\\"id\\\":\\\"x\\\",\\\"ok\\\":true}\\n\"}",
     "resident report:* wrote a line that is not an answer: is for a job that it does not have: 'x': {\"id\":"},
    {"a member that cannot be", "{\"do\":\"raw\",\"with\":\"{\\\"id\\\":\\\"ID\\\",\\\"ok\\\":7}\\n\"}",
     "resident report:* wrote a line that is not an answer: 'ok' is neither true nor false: {\"id\":"},
    {"a line without an end", "{\"do\":\"flood\"}",
     "resident report:* wrote a line that is not an answer: longer than 262144 bytes"},
    {"no stdout", "{\"do\":\"close_stdout\"}", "resident report:* closed its stdin or stdout"},
    {"it dies", "{\"do\":\"crash\"}",
     "resident report:* was killed by SIGSEGV before it answered: about to crash"},
    {"it exits", "{\"do\":\"leave\",\"with\":3}",
     "resident report:* exited with code 3 before it answered: goodbye"},
    {"with a good code, too", "{\"do\":\"leave\",\"with\":0}",
     "resident report:* exited with code 0 before it answered: goodbye"},
};
/* clang-format on */

START_TEST(a_fault_fails_the_job_and_the_next_gets_a_new_program)
{
    const char *before = pid_of_program();
    const struct outcome *outcome = run(faults[_i].payload);

    ck_assert_msg(outcome->kind == OUTCOME_FAILED, "%s, not %d", faults[_i].rule, outcome->kind);
    ck_assert_msg(text_starts_with(outcome->error, faults[_i].error), "%s, not %s", faults[_i].rule,
                  outcome->error);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert(!report.could_not_start);
    ck_assert_msg(!text_equal(pid_of_program(), before), "%s", faults[_i].rule);
}
END_TEST

/* So that it is dead before all is heard. Whoever reaps it afterwards still can. */
static void listen_to_the_dead(void *context, struct bytes data)
{
    siginfo_t info;

    (void)context;
    (void)data;
    ck_assert(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0 || errno == ECHILD);
}

START_TEST(the_last_words_of_one_that_dies_are_heard)
{
    listener.line = NULL;
    listener.output = listen_to_the_dead;
    ck_assert(strstr(run("{\"do\":\"lament\"}")->error, "x\nlast words"));
}
END_TEST

START_TEST(a_result_over_the_limit_is_a_fault)
{
    char *payload = malloc(2 * JOB_RESULT_MAX);
    const int head = snprintf(payload, 64, "{\"do\":\"answer\",\"with\":\"");

    memset(payload + head, 'x', JOB_RESULT_MAX);
    strncpy(payload + head + JOB_RESULT_MAX, "\"}", 3);
    const struct outcome *outcome = run(payload);
    ck_assert_int_eq(outcome->kind, OUTCOME_FAILED);
    ck_assert_msg(strstr(outcome->error, "the result has 65538 bytes; 65536 are allowed"), "%s",
                  outcome->error);
    free(payload);
}
END_TEST

static const char *const ends_after_answer[] = {
    "{\"do\":\"answer_and_leave\"}",
    "{\"do\":\"answer_and_crash\"}",
    "{\"do\":\"answer_twice\"}",
};

START_TEST(what_it_does_after_its_answer_harms_no_job)
{
    for (int i = 0; i < 20; i++) {
        const char *pid = result_of(ends_after_answer[_i]);

        ck_assert(!strstr(pid_of_program(), pid));
    }
}
END_TEST

/* It is heard while it has the next one. */
START_TEST(a_late_second_answer_does_not_fail_the_next_job)
{
    const char *before = pid_of_program();

    result_of("{\"do\":\"answer_late\"}");
    job.id = "01939b2e-0000-7000-8000-000000000002";
    ck_assert_str_eq(result_of("{\"do\":\"answer\",\"with\":2}"), "2");
    ck_assert_str_eq(pid_of_program(), before);
}
END_TEST

START_TEST(one_that_closes_its_stdin_fails_the_job_that_it_cannot_get)
{
    result_of("{\"do\":\"close_stdin\"}");
    const struct outcome *outcome = run("{\"do\":\"answer\"}");

    ck_assert_int_eq(outcome->kind, OUTCOME_FAILED);
    ck_assert_msg(text_starts_with(outcome->error, "resident report:* closed its stdin or stdout"),
                  "%s", outcome->error);
    result_of("{\"do\":\"answer\"}");
}
END_TEST

START_TEST(what_it_leaves_behind_is_killed_with_it)
{
    job.timeout = 300 * USEC_PER_MSEC;
    job.kill_grace = SHORT_GRACE;
    run("{\"do\":\"sleep\"}");
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

static const char *const endless[] = {"{\"do\":\"sleep\"}", "{\"do\":\"resist\"}",
                                      "{\"do\":\"flood_progress\"}"};

START_TEST(a_timeout_ends_it)
{
    job.timeout = 300 * USEC_PER_MSEC;
    job.kill_grace = SHORT_GRACE;
    listener.progress = NULL;
    const struct outcome *outcome = run(endless[_i]);

    ck_assert_int_eq(outcome->kind, OUTCOME_FAILED);
    ck_assert_str_eq(outcome->error, "timed out after 300ms");
    ck_assert_int_ne(outcome->run.signal, 0);
    ck_assert_int_ge(outcome->run.wall, job.timeout);
    job.timeout = LONG_TIME;
    result_of("{\"do\":\"answer\"}");
}
END_TEST

START_TEST(one_that_does_not_read_is_no_obstacle)
{
    char *payload = calloc(1, LARGE);

    result_of("{\"do\":\"stop_reading\"}");
    memset(payload, '1', LARGE - 1);
    job.timeout = 100 * USEC_PER_MSEC;
    job.kill_grace = SHORT_GRACE;
    ck_assert_str_eq(run(payload)->error, "timed out after 100ms");
    plan.argv = deaf;
    ck_assert_str_eq(run(payload)->error, "timed out after 100ms");
    free(payload);
}
END_TEST

START_TEST(what_it_has_not_read_of_a_job_is_not_given_to_it_with_the_next)
{
    char *payload = calloc(1, LARGE);

    plan.argv = hasty;
    job.kill_grace = SHORT_GRACE;
    memset(payload, '1', LARGE - 1);
    const char *first = result_of(payload);
    ck_assert_str_ne(result_of(payload), first);
    free(payload);
}
END_TEST

START_TEST(a_megabyte_on_stderr_is_bounded)
{
    listener.line = NULL;
    run("{\"do\":\"flood_errors\"}");
    ck_assert_uint_eq(report.outcome.output.length, TAIL_SIZE);
    ck_assert_uint_eq(report.output_bytes, (uint64_t)14 << 20);
}
END_TEST

static enum stop_reason reason;

static void stop_it(void *context, int percent, const char *text)
{
    (void)context;
    (void)percent;
    (void)text;
    resident_stop(resident, reason, SHORT_GRACE);
}

static const struct {
    enum stop_reason stop;
    enum outcome_kind kind;
    const char *error;
} stops[] = {
    {STOP_CANCEL, OUTCOME_CANCELLED, "stopped on request"},
    {STOP_LOST_LEASE, OUTCOME_RELEASED, "stopped after its lease was lost"},
    {STOP_DRAIN, OUTCOME_RELEASED, "stopped with its pool"},
};

START_TEST(a_stop_ends_it_and_its_job)
{
    listener.progress = stop_it;
    reason = stops[_i].stop;
    for (int i = 0; i < 4; i++) {
        const struct outcome *outcome = run(i % 2 ? "{\"do\":\"sleep\"}" : "{\"do\":\"resist\"}");

        ck_assert_int_eq(outcome->kind, stops[_i].kind);
        ck_assert_ptr_null(outcome->error);
        ck_assert_str_eq(outcome->run.error, stops[_i].error);
        ck_assert_msg(!report.could_not_start, "and is no reason to wait");
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    }
}
END_TEST

START_TEST(a_stop_that_comes_after_the_answer_changes_nothing)
{
    const char *before = pid_of_program();

    resident_stop(resident, STOP_CANCEL, 0);
    ck_assert_str_eq(pid_of_program(), before);
}
END_TEST

START_TEST(what_cannot_be_started_is_not_the_jobs_fault)
{
    plan.argv = missing;
    for (int i = 0; i < 3; i++) {
        const struct outcome *outcome = run("{}");

        ck_assert(report.could_not_start);
        ck_assert_int_eq(outcome->kind, OUTCOME_RELEASED);
        ck_assert_str_eq(outcome->error, "exec /nowhere/x: No such file or directory");
    }
    plan.argv = fixture;
    result_of("{\"do\":\"answer\"}");
}
END_TEST

START_TEST(one_that_dies_before_it_reads_is_not_the_jobs_fault_and_waits_longer_each_time)
{
    plan.argv = dies;
    for (int i = 0; i < 2; i++) {
        const struct outcome *outcome = run("{}");

        ck_assert(report.could_not_start);
        ck_assert_int_eq(outcome->kind, OUTCOME_RELEASED);
        ck_assert_int_eq(outcome->run.started_at, 0);
        ck_assert_str_eq(outcome->error, "resident report:* exited with code 1 before it read its "
                                         "job: no such module");
    }
    run("{}");
    ck_assert(report.could_not_start);
    ck_assert_msg(text_starts_with(report.outcome.error, "resident report:* died 2 times before it "
                                                         "answered: next start in "),
                  "%s", report.outcome.error);
}
END_TEST

START_TEST(one_that_every_job_kills_waits_as_well)
{
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(run("{\"do\":\"crash\"}")->kind, OUTCOME_FAILED);
    run("{\"do\":\"crash\"}");
    ck_assert(report.could_not_start);
}
END_TEST

START_TEST(one_that_some_jobs_kill_does_not)
{
    for (int i = 0; i < 4; i++) {
        result_of("{\"do\":\"answer\"}");
        ck_assert_int_eq(run("{\"do\":\"crash\"}")->kind, OUTCOME_FAILED);
    }
}
END_TEST

START_TEST(many_jobs_are_done_by_one_program)
{
    for (int i = 0; i < 500; i++)
        result_of("{\"do\":\"answer\"}");
    ck_assert(strstr(result_of("{\"do\":\"show\"}"), "\"jobs\": 500"));
}
END_TEST

Suite *resident_suite(void)
{
    Suite *suite = suite_create("worker/resident");
    TCase *jobs = tcase_create("jobs");
    TCase *ends = tcase_create("ends");

    tcase_add_checked_fixture(jobs, begin, finish);
    tcase_set_timeout(jobs, 60);
    tcase_add_loop_test(jobs, every_answer_has_its_outcome, 0, COUNT_OF(answers));
    tcase_add_test(jobs, the_last_progress_is_kept);
    tcase_add_test(jobs, what_it_prints_on_stderr_is_the_output_of_its_job_alone);
    tcase_add_test(jobs, a_run_has_the_cpu_time_that_its_job_took);
    tcase_add_test(jobs, it_gets_what_the_handler_says_and_no_job_in_its_environment);
    tcase_add_test(jobs, a_payload_that_is_no_json_comes_as_base64);
    tcase_add_test(jobs, a_large_payload_arrives_whole);
    tcase_add_test(jobs, a_megabyte_on_stderr_is_bounded);
    tcase_add_test(jobs, many_jobs_are_done_by_one_program);
    suite_add_tcase(suite, jobs);

    tcase_add_checked_fixture(ends, begin, finish);
    tcase_set_timeout(ends, 60);
    tcase_add_loop_test(ends, a_fault_fails_the_job_and_the_next_gets_a_new_program, 0,
                        COUNT_OF(faults));
    tcase_add_test(ends, the_last_words_of_one_that_dies_are_heard);
    tcase_add_test(ends, a_result_over_the_limit_is_a_fault);
    tcase_add_loop_test(ends, what_it_does_after_its_answer_harms_no_job, 0,
                        COUNT_OF(ends_after_answer));
    tcase_add_test(ends, a_late_second_answer_does_not_fail_the_next_job);
    tcase_add_test(ends, one_that_closes_its_stdin_fails_the_job_that_it_cannot_get);
    tcase_add_test(ends, what_it_leaves_behind_is_killed_with_it);
    tcase_add_loop_test(ends, a_timeout_ends_it, 0, COUNT_OF(endless));
    tcase_add_test(ends, one_that_does_not_read_is_no_obstacle);
    tcase_add_test(ends, what_it_has_not_read_of_a_job_is_not_given_to_it_with_the_next);
    tcase_add_loop_test(ends, a_stop_ends_it_and_its_job, 0, COUNT_OF(stops));
    tcase_add_test(ends, a_stop_that_comes_after_the_answer_changes_nothing);
    tcase_add_test(ends, what_cannot_be_started_is_not_the_jobs_fault);
    tcase_add_test(ends,
                   one_that_dies_before_it_reads_is_not_the_jobs_fault_and_waits_longer_each_time);
    tcase_add_test(ends, one_that_every_job_kills_waits_as_well);
    tcase_add_test(ends, one_that_some_jobs_kill_does_not);
    suite_add_tcase(suite, ends);
    return suite;
}
