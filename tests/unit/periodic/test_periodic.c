/*
 * test_periodic.c - the loop of a process that makes passes; the master is this test.
 */
#include "periodic/periodic.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "periodic/scene.h"
#include "process/known_clocks.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "suites.h"

#include <sys/eventfd.h>
#include <unistd.h>

#define AWAY "sqlite:/dev/null/jobs.db" /* no file can be there */

/* A service whose passes do what a case says, and which asks itself to exit after the last. */
struct service {
    struct process process;
    struct known_clocks *known_clocks;
    struct config config;
    int master; /* the other end of its control socket */
    int passes, leaves;
    int failures; /* of the first passes */
    enum th_error_code failure;
    int wanted;                     /* passes, then exit */
    bool says_due;                  /* that a job may be due, in its first pass */
    bool leave_fails, saw_own_jobs; /* the handle of the pass before was used again */
    bool retires;                   /* is asked to make room for the next one, not to exit */
    enum slot_state states[16];     /* at the start of each pass */
    usec_t pause;                   /* between passes */
    int glances;                    /* times it was asked whether a pass is wanted: not the first */
};

static void begin(struct service *service, const char *backend)
{
    struct process *process = &service->process;
    struct error err;
    int ends[2];

    MUST(message_pair(ends, &err));
    service->master = ends[0];
    service->config.pool.migrate = true;
    *process = (struct process){.name = "service",
                                .config = &service->config,
                                .backend = backend,
                                .control = ends[1],
                                .due = -1};
    MUST(scoreboard_open(1, 1, &process->scoreboard, &err));
    MUST(known_clocks_open(1, &service->known_clocks, &err));
    process->known_clock = known_clocks_of(service->known_clocks, 0);
    scoreboard_enter(process->scoreboard, 0, "service", 0, 1, getpid());
    MUST(process_begin(process, &err));
}

static void end(struct service *service)
{
    loop_close(&service->process.loop);
    known_clocks_close(&service->known_clocks);
    scoreboard_close(&service->process.scoreboard);
    close(service->process.control);
    close(service->master);
}

static void ask_to_exit(const struct service *service)
{
    const struct order order = {.kind = service->retires ? ORDER_RETIRE : ORDER_EXIT};
    struct error err;

    ck_assert_int_eq(order_send(service->master, &order, -1, &err), DELIVERY_DONE);
}

/* A job is the mark that this handle has been here: `memory:` is a store of its own for each. */
static bool leave_mark(struct store *store)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    struct uuid_maker ids = {0};
    struct job job = job_defaults();
    struct enqueued enqueued;
    struct error err;

    MUST(store_stats(store, &stats, &err));
    job.id = uuid_make(&ids, store_now(store));
    job.type = "test:type";
    MUST(store_enqueue(store, &job, 1, store_now(store), &enqueued, &err));
    return stats.count > 0;
}

/* Twice: one pass heeds both. */
static void say_due(const struct service *service)
{
    const uint64_t one = 1;

    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(write(service->process.due, &one, sizeof one), sizeof one);
}

static bool pass(void *context, struct store *store, usec_t *next_out, struct error *err)
{
    struct service *service = context;
    struct slot slot;

    ck_assert(scoreboard_read(service->process.scoreboard, 0, &slot));
    ck_assert_uint_lt((size_t)service->passes, COUNT_OF(service->states));
    service->states[service->passes++] = slot.state;
    service->saw_own_jobs = leave_mark(store);
    *next_out = clock_boot() + service->pause;
    if (service->says_due && service->passes == 1)
        say_due(service);
    if (service->passes == service->wanted)
        ask_to_exit(service);
    return service->passes > service->failures || error_set(err, service->failure, "made to fail");
}

static bool leave(void *context, struct store *store, struct error *err)
{
    struct service *service = context;

    ck_assert_ptr_nonnull(store);
    service->leaves++;
    return !service->leave_fails || error_set(err, TH_E_UNAVAILABLE, "made to fail");
}

static bool is_wanted(void *context)
{
    struct service *service = context;

    return ++service->glances > 1;
}

static int run(struct service *service, usec_t max_silence)
{
    const struct periodic periodic = {
        .pass = pass,
        .leave = leave,
        .is_wanted = service->pause > 0 && !service->says_due ? is_wanted : NULL,
        .max_silence = max_silence,
        .context = service};

    return periodic_run(&service->process, &periodic);
}

static bool has_reported_ready(const struct service *service)
{
    struct report report;
    struct error err;

    return report_receive(service->master, &report, &err) == DELIVERY_DONE &&
           report.kind == REPORT_READY;
}

START_TEST(it_makes_passes_until_it_is_asked_to_exit)
{
    CLEANUP(end) struct service service = {.wanted = 3};
    struct slot slot;

    begin(&service, "memory:");
    ck_assert_int_eq(run(&service, 0), PROCESS_OK);
    ck_assert_int_eq(service.passes, 3);
    ck_assert(service.saw_own_jobs);
    ck_assert_int_eq(service.leaves, 1);
    ck_assert_int_eq(service.states[0], SLOT_STARTING);
    ck_assert_int_eq(service.states[1], SLOT_IDLE);
    ck_assert(scoreboard_read(service.process.scoreboard, 0, &slot));
    ck_assert_int_eq(slot.state, SLOT_STOPPING);
    ck_assert_int_eq(slot.jobs_done, 3);
}
END_TEST

START_TEST(one_that_makes_room_for_the_next_one_says_no_last_words)
{
    CLEANUP(end) struct service service = {.wanted = 3, .retires = true};

    begin(&service, "memory:");
    ck_assert_int_eq(run(&service, 0), PROCESS_RETIRED);
    ck_assert_int_eq(service.passes, 3);
    ck_assert_int_eq(service.leaves, 0);
}
END_TEST

START_TEST(a_pass_that_is_wanted_comes_before_its_time)
{
    CLEANUP(end) struct service service = {.wanted = 2, .pause = USEC_PER_DAY};

    begin(&service, "memory:");
    ck_assert_int_eq(run(&service, 0), PROCESS_OK);
    ck_assert_int_eq(service.passes, 2);
    ck_assert_int_eq(service.glances, 2);
}
END_TEST

/* Nothing else would make the second pass. */
START_TEST(a_job_that_may_be_due_soon_brings_a_pass)
{
    CLEANUP(end)
    struct service service = {.wanted = 2, .pause = USEC_PER_DAY, .says_due = true};

    begin(&service, "memory:");
    service.process.due = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ck_assert_int_ge(service.process.due, 0);
    ck_assert_int_eq(run(&service, 0), PROCESS_OK);
    ck_assert_int_eq(service.passes, 2);
    close(service.process.due);
}
END_TEST

START_TEST(it_is_ready_once)
{
    CLEANUP(end) struct service service = {.wanted = 3};

    begin(&service, "memory:");
    ck_assert_int_eq(run(&service, 0), PROCESS_OK);
    ck_assert(has_reported_ready(&service));
    ck_assert(!has_reported_ready(&service));
}
END_TEST

START_TEST(a_store_that_comes_back_is_opened_anew)
{
    CLEANUP(end)
    struct service service = {.wanted = 3, .failures = 2, .failure = TH_E_UNAVAILABLE};

    begin(&service, "memory:");
    ck_assert_int_eq(run(&service, 0), PROCESS_OK);
    ck_assert_int_eq(service.passes, 3);
    ck_assert(!service.saw_own_jobs);
    ck_assert_int_eq(service.states[1], SLOT_WAITING);
    ck_assert(has_reported_ready(&service));
}
END_TEST

/* The delays of an outage grow; ten of them are more than twenty seconds. */
START_TEST(who_may_not_be_silent_does_not_wait_for_long)
{
    CLEANUP(end)
    struct service service = {.wanted = 11, .failures = 10, .failure = TH_E_UNAVAILABLE};
    const usec_t before = clock_boot();

    begin(&service, "memory:");
    ck_assert_int_eq(run(&service, 10 * USEC_PER_MSEC), PROCESS_OK);
    ck_assert_int_eq(service.passes, 11);
    ck_assert_int_lt(clock_boot() - before, 20 * USEC_PER_SEC);
}
END_TEST

START_TEST(a_failure_that_cannot_pass_ends_the_process)
{
    CLEANUP(end)
    struct service service = {.wanted = 3, .failures = 1, .failure = TH_E_INTERNAL};

    begin(&service, "memory:");
    ck_assert_int_eq(run(&service, 0), PROCESS_FAILED);
    ck_assert_int_eq(service.passes, 1);
    ck_assert(!has_reported_ready(&service));
}
END_TEST

START_TEST(a_store_that_nobody_can_open_is_not_tried_again)
{
    CLEANUP(end) struct service service = {.wanted = 1};

    begin(&service, "nothing:at/all");
    ck_assert_int_eq(run(&service, 0), PROCESS_UNUSABLE);
    ck_assert_int_eq(service.passes, 0);
}
END_TEST

START_TEST(it_can_be_asked_to_exit_while_the_store_is_away)
{
    CLEANUP(end) struct service service = {.wanted = 1};

    begin(&service, AWAY);
    ask_to_exit(&service);
    ck_assert_int_eq(run(&service, 0), PROCESS_OK);
    ck_assert_int_eq(service.passes, 0);
    ck_assert_int_eq(service.leaves, 0);
}
END_TEST

START_TEST(a_store_that_went_away_gets_one_more_try)
{
    CLEANUP(end)
    struct service service = {.wanted = 1, .failures = 1, .failure = TH_E_UNAVAILABLE};

    begin(&service, "memory:");
    ck_assert_int_eq(run(&service, 0), PROCESS_OK);
    ck_assert_int_eq(service.passes, 1);
    ck_assert_int_eq(service.leaves, 1);
}
END_TEST

START_TEST(last_words_that_fail_are_a_failure)
{
    CLEANUP(end) struct service service = {.wanted = 1, .leave_fails = true};

    begin(&service, "memory:");
    ck_assert_int_eq(run(&service, 0), PROCESS_FAILED);
    ck_assert_int_eq(service.leaves, 1);
}
END_TEST

Suite *periodic_suite(void)
{
    Suite *suite = suite_create("periodic/periodic");
    TCase *life = tcase_create("life");
    TCase *outages = tcase_create("outages");

    tcase_add_test(life, it_makes_passes_until_it_is_asked_to_exit);
    tcase_add_test(life, one_that_makes_room_for_the_next_one_says_no_last_words);
    tcase_add_test(life, a_pass_that_is_wanted_comes_before_its_time);
    tcase_add_test(life, a_job_that_may_be_due_soon_brings_a_pass);
    tcase_add_test(life, it_is_ready_once);
    tcase_add_test(life, a_failure_that_cannot_pass_ends_the_process);
    tcase_add_test(life, last_words_that_fail_are_a_failure);
    tcase_add_test(outages, a_store_that_comes_back_is_opened_anew);
    tcase_add_test(outages, who_may_not_be_silent_does_not_wait_for_long);
    tcase_add_test(outages, a_store_that_nobody_can_open_is_not_tried_again);
    tcase_add_test(outages, it_can_be_asked_to_exit_while_the_store_is_away);
    tcase_add_test(outages, a_store_that_went_away_gets_one_more_try);
    suite_add_tcase(suite, life);
    suite_add_tcase(suite, outages);
    return suite;
}
