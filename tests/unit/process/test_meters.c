/*
 * test_meters.c - what a pool has done, as numbers that only grow.
 */
#include "process/meters.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "process/meters_text.h"
#include "suites.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOW (1000 * RECENT_RUNS_SPAN)

static struct meters *open_meters(void)
{
    struct meters *meters = NULL;
    struct error err;

    ck_assert_msg(meters_open(&meters, &err), "%s", err.text);
    return meters;
}

static void run_type(struct meters *meters, const char *type, enum run_outcome outcome, usec_t wall)
{
    const struct meters_run run = {
        .type = type, .queue = "default", .outcome = outcome, .now = NOW, .wall = wall, .wait = 7};

    meters_add_run(meters, &run);
}

static void expect_line(const struct meters *meters, const char *line)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER((size_t)1 << 20);
    char whole[256];

    meters_write(meters, &out);
    snprintf(whole, sizeof whole, "\n%s\n", line);
    ck_assert_msg(strstr(buffer_str(&out), whole) != NULL, "no line '%s' in\n%s", line,
                  buffer_str(&out));
}

/* Ends in the middle of everything. */
static int live_and_die(void (*live)(struct meters *meters), struct meters *meters)
{
    const pid_t pid = fork();
    int status;

    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        live(meters);
        raise(SIGKILL);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void count_everything(struct meters *meters)
{
    run_type(meters, "mail", RUN_DONE, 1000);
    run_type(meters, "mail", RUN_RETRY, 2000000);
    meters_add_refusal(meters);
    meters_add_lost_lease(meters);
    meters_add_restart(meters, "gate");
    meters_add_enqueued(meters, "default", 100);
    meters_add_store_work(meters, STORE_EXCHANGE, 0);
    meters_add_store_error(meters, TH_E_SCHEMA);
    meters_add_request(meters, "/api/jobs/{id}", 404, 3);
    meters_add_request(meters, NULL, 499, 3);
}

/* clang-format off */
static const char *const counted[] = {
    "taskharbor_attempts_total{type=\"mail\",outcome=\"done\"} 1",
    "taskharbor_attempts_total{type=\"mail\",outcome=\"retry\"} 1",
    "taskharbor_attempts_total{type=\"mail\",outcome=\"dead\"} 0",
    "taskharbor_run_seconds_bucket{type=\"mail\",le=\"0.001\"} 1", /* its bound belongs to it */
    "taskharbor_run_seconds_bucket{type=\"mail\",le=\"1\"} 1",
    "taskharbor_run_seconds_bucket{type=\"mail\",le=\"2.5\"} 2",
    "taskharbor_run_seconds_bucket{type=\"mail\",le=\"3600\"} 2",
    "taskharbor_run_seconds_bucket{type=\"mail\",le=\"+Inf\"} 2",
    "taskharbor_run_seconds_sum{type=\"mail\"} 2.001000",
    "taskharbor_run_seconds_count{type=\"mail\"} 2",
    "taskharbor_wait_seconds_sum{queue=\"default\"} 0.000014",
    "taskharbor_settlements_refused_total 1",
    "taskharbor_leases_lost_total 1",
    "taskharbor_process_restarts_total{process=\"gate\"} 1",
    "taskharbor_enqueued_total{queue=\"default\"} 100",
    "taskharbor_store_seconds_count{operation=\"exchange\"} 1",
    "taskharbor_store_errors_total{code=\"schema\"} 1",
    "taskharbor_store_errors_total{code=\"unavailable\"} 0",
    "taskharbor_http_requests_total{route=\"/api/jobs/{id}\",status=\"404\"} 1",
    "taskharbor_http_requests_total{route=\"other\",status=\"other\"} 1",
    "taskharbor_http_seconds_sum{route=\"other\"} 0.000003",
};
/* clang-format on */

START_TEST(what_a_process_counted_outlives_it)
{
    struct meters *meters = open_meters();

    ck_assert_int_eq(live_and_die(count_everything, meters), SIGKILL);
    expect_line(meters, counted[_i]);
    meters_close(&meters);
}
END_TEST

START_TEST(the_next_process_goes_on_counting)
{
    struct meters *meters = open_meters();

    live_and_die(count_everything, meters);
    live_and_die(count_everything, meters);
    expect_line(meters, "taskharbor_attempts_total{type=\"mail\",outcome=\"done\"} 2");
    expect_line(meters,
                "taskharbor_http_requests_total{route=\"/api/jobs/{id}\",status=\"404\"} 2");
    meters_close(&meters);
}
END_TEST

START_TEST(types_after_the_first_200_are_counted_together)
{
    struct meters *meters = open_meters();
    char type[32];

    for (int i = 0; i < 250; i++) {
        snprintf(type, sizeof type, "type-%d", i);
        run_type(meters, type, RUN_DONE, 10);
    }
    expect_line(meters, "taskharbor_attempts_total{type=\"type-199\",outcome=\"done\"} 1");
    expect_line(meters, "taskharbor_attempts_total{type=\"other\",outcome=\"done\"} 50");
    meters_close(&meters);
}
END_TEST

static void count_run_in_worker(struct meters *meters)
{
    struct error err;

    if (meters_restrict(meters, &err))
        run_type(meters, "mail", RUN_DONE, 10);
}

static void count_request_in_door(struct meters *meters)
{
    struct error err;

    if (meters_restrict_door(meters, &err))
        meters_add_request(meters, "/health", 200, 3);
}

static void count_run_in_door(struct meters *meters)
{
    struct error err;

    if (meters_restrict_door(meters, &err))
        run_type(meters, "mail", RUN_DONE, 10);
}

static void count_restart_in_door(struct meters *meters)
{
    struct error err;

    if (meters_restrict_door(meters, &err))
        meters_add_restart(meters, "gate");
}

/* Whoever may not write never comes to its end. The sanitizers may end it otherwise than SIGSEGV.
 */
START_TEST(a_worker_writes_nothing_and_a_door_its_own_only)
{
    struct meters *meters = open_meters();

    ck_assert_int_ne(live_and_die(count_run_in_worker, meters), SIGKILL);
    ck_assert_int_eq(live_and_die(count_request_in_door, meters), SIGKILL);
    ck_assert_int_ne(live_and_die(count_run_in_door, meters), SIGKILL);
    ck_assert_int_ne(live_and_die(count_restart_in_door, meters), SIGKILL);
    expect_line(meters, "taskharbor_http_requests_total{route=\"/health\",status=\"200\"} 1");
    meters_close(&meters);
}
END_TEST

START_TEST(what_ran_lately_is_listed)
{
    struct meters *meters = open_meters();
    struct recent_sum sum;
    const char *type;
    size_t position = 0;

    run_type(meters, "mail", RUN_DONE, 10);
    run_type(meters, "image", RUN_DEAD, 10);
    ck_assert(meters_next_recent(meters, NOW, &position, &type, &sum));
    ck_assert_str_eq(type, "mail");
    ck_assert_uint_eq(sum.done, 1);
    ck_assert(meters_next_recent(meters, NOW, &position, &type, &sum));
    ck_assert_str_eq(type, "image");
    ck_assert_uint_eq(sum.failed, 1);
    ck_assert(!meters_next_recent(meters, NOW, &position, &type, &sum));
    position = 0;
    ck_assert(!meters_next_recent(meters, NOW + RECENT_RUNS_SPAN, &position, &type, &sum));
    meters_close(&meters);
}
END_TEST

START_TEST(without_meters_nothing_is_counted)
{
    count_everything(NULL);
}
END_TEST

Suite *meters_suite(void)
{
    Suite *suite = suite_create("process/meters");
    TCase *counts = tcase_create("counts");

    tcase_add_loop_test(counts, what_a_process_counted_outlives_it, 0, COUNT_OF(counted));
    tcase_add_test(counts, the_next_process_goes_on_counting);
    tcase_add_test(counts, types_after_the_first_200_are_counted_together);
    tcase_add_test(counts, a_worker_writes_nothing_and_a_door_its_own_only);
    tcase_add_test(counts, what_ran_lately_is_listed);
    tcase_add_test(counts, without_meters_nothing_is_counted);
    suite_add_tcase(suite, counts);
    return suite;
}
