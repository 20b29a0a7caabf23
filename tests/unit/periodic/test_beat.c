/*
 * test_beat.c - one heartbeat, on a real store and real tables, all in one process.
 */
#include "periodic/beat.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "periodic/scene.h"
#include "process/lease_table.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "suites.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define S(n)   ((n)*USEC_PER_SEC)
#define SLOTS  4
#define HOLDS  8
#define WORKER 2             /* its slot and its number */
#define SERIAL 77            /* of its process */
#define SOON   S(1)          /* on the boot clock: when a lease that nobody confirmed ends */
#define GRAIN  USEC_PER_MSEC /* of the lease table's clock */
#define BEAT   S(5)          /* until the next one */

/* A pool whose heartbeater is this test. */
struct pool_scene {
    struct scene scene;
    struct process process;
    struct timekeeper clock;
    struct beat *beat;
    struct job_list jobs; /* what was reserved */
};

static struct pool_scene *begin(void)
{
    struct pool_scene *pool = calloc(1, sizeof *pool);
    struct error err;

    ck_assert_ptr_nonnull(pool);
    pool->scene = scene_open();
    pool->process = (struct process){.config = &pool->scene.config, .pool = POOL};
    pool->process.nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ck_assert_int_ge(pool->process.nudge, 0);
    MUST(lease_table_open(HOLDS, &pool->process.leases, &err));
    MUST(scoreboard_open(SLOTS, 2, &pool->process.scoreboard, &err));
    scoreboard_enter(pool->process.scoreboard, WORKER, "worker 2", WORKER, SERIAL, 4711);
    MUST(beat_new(&pool->process, &pool->beat, &err));
    return pool;
}

static void end(struct pool_scene **at)
{
    struct pool_scene *pool = *at;

    beat_free(&pool->beat);
    job_list_done(&pool->jobs);
    scoreboard_close(&pool->process.scoreboard);
    lease_table_close(&pool->process.leases);
    close(pool->process.nudge);
    scene_close(&pool->scene);
    free(pool);
}

static void send_beat(struct pool_scene *pool)
{
    struct error err;

    MUST(beat_send(pool->beat, pool->scene.store, BEAT, &err));
}

/* A job that was reserved that long ago and is handed out. */
static struct hold hand_out_aged(struct pool_scene *pool, usec_t age, usec_t stop_at,
                                 struct uuid *id_out)
{
    const usec_t then = scene_now(&pool->scene) - age;
    struct held_lease lease = {.queue = QUEUE};
    struct hold hold;

    *id_out = scene_add(&pool->scene, 0, then);
    const struct job *job = scene_take(&pool->scene, LEASE, then, &pool->jobs);
    lease.job = job->id;
    lease.token = job->token;
    lease.ref = job->ref;
    ck_assert(lease_table_hand(pool->process.leases, &lease, stop_at, &hold));
    return hold;
}

/* One whose lease has to be extended by now. */
static struct hold hand_out(struct pool_scene *pool, struct uuid *id_out)
{
    return hand_out_aged(pool, S(10), SOON, id_out);
}

/* One whose lease was for so long when it began. */
static struct hold hand_out_young(struct pool_scene *pool, usec_t age, usec_t lease,
                                  struct uuid *id_out)
{
    return hand_out_aged(pool, age, lease_stop_at(clock_boot() - age + lease, lease), id_out);
}

static void run(struct pool_scene *pool, struct hold hold, const struct uuid *id)
{
    ck_assert(lease_table_start(pool->process.leases, hold, SERIAL));
    scoreboard_show_jobs(pool->process.scoreboard, WORKER, 1, 1, 0);
    scoreboard_set_job(pool->process.scoreboard, WORKER, 0, hold, id, "test:type");
}

static struct hold start(struct pool_scene *pool, struct uuid *id_out)
{
    const struct hold hold = hand_out(pool, id_out);

    run(pool, hold, id_out);
    return hold;
}

/* The last job that was reserved. */
static void settle(struct pool_scene *pool)
{
    scene_settle(&pool->scene, &pool->jobs.items[pool->jobs.count - 1], SETTLE_ACK, 0,
                 scene_now(&pool->scene));
}

static unsigned flags_of(const struct pool_scene *pool, struct hold hold)
{
    return lease_table_flags(pool->process.leases, hold);
}

/* Whether the dispatcher has been nudged since the last time that this was asked. */
static bool was_nudged(const struct pool_scene *pool)
{
    uint64_t count;

    return read(pool->process.nudge, &count, sizeof count) == (ssize_t)sizeof count;
}

static usec_t expiry_of(struct pool_scene *pool, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list list = {0};

    return scene_get(&pool->scene, id, &list)->expires_at;
}

/* ---- leases ---- */

START_TEST(what_is_held_is_extended_and_confirmed_as_of_before_the_question)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;
    const struct hold hold = hand_out(pool, &id);
    const usec_t before = clock_boot(), now = scene_now(&pool->scene);

    send_beat(pool);
    const usec_t stop_at = lease_table_stop_at(pool->process.leases, hold);
    ck_assert_int_gt(stop_at, before + LEASE - LEASE / 3 - GRAIN);
    ck_assert_int_le(stop_at, clock_boot() + LEASE - LEASE / 3);
    ck_assert_int_ge(expiry_of(pool, &id), now + LEASE);
    ck_assert_uint_eq(flags_of(pool, hold), 0);
    ck_assert(!was_nudged(pool));
}
END_TEST

START_TEST(what_has_run_is_extended_until_it_is_settled)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;
    const struct hold hold = start(pool, &id);
    const usec_t now = scene_now(&pool->scene);

    lease_table_finish(pool->process.leases, hold, SERIAL);
    send_beat(pool);
    ck_assert_int_ge(expiry_of(pool, &id), now + LEASE);
}
END_TEST

START_TEST(what_was_taken_back_is_not_extended)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;
    const struct hold hold = hand_out(pool, &id);
    const usec_t expiry = expiry_of(pool, &id);

    ck_assert(lease_table_revoke(pool->process.leases, hold));
    send_beat(pool);
    ck_assert_int_eq(expiry_of(pool, &id), expiry);
}
END_TEST

START_TEST(a_lost_lease_is_passed_on_once)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid lost_id, held_id;
    const struct hold lost = start(pool, &lost_id);

    settle(pool);
    const struct hold held = hand_out(pool, &held_id);
    send_beat(pool);
    ck_assert_uint_eq(flags_of(pool, lost), LEASE_LOST);
    ck_assert_int_eq(lease_table_stop_at(pool->process.leases, lost), SOON);
    ck_assert_uint_eq(flags_of(pool, held), 0);
    ck_assert_int_gt(lease_table_stop_at(pool->process.leases, held), SOON);
    ck_assert(was_nudged(pool));
    send_beat(pool);
    ck_assert(!was_nudged(pool));
}
END_TEST

START_TEST(what_was_settled_when_it_had_run_is_not_lost)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;
    const struct hold hold = start(pool, &id);

    lease_table_finish(pool->process.leases, hold, SERIAL);
    settle(pool);
    send_beat(pool);
    ck_assert_uint_eq(flags_of(pool, hold), 0);
    ck_assert(!was_nudged(pool));
}
END_TEST

static void cancel(struct pool_scene *pool, const struct uuid *id)
{
    enum th_error_code verdict;
    struct error err;

    MUST(store_cancel(pool->scene.store, id, 1, scene_now(&pool->scene), &verdict, &err));
}

START_TEST(a_cancellation_is_passed_on_once)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;
    const struct hold hold = start(pool, &id);

    cancel(pool, &id);
    send_beat(pool);
    ck_assert_uint_eq(flags_of(pool, hold), LEASE_CANCELED);
    ck_assert_int_gt(lease_table_stop_at(pool->process.leases, hold), SOON);
    ck_assert(was_nudged(pool));
    send_beat(pool);
    ck_assert(!was_nudged(pool));
}
END_TEST

/* ---- young leases ---- */

/* Whether the next beat extends it. */
static bool is_extended(struct pool_scene *pool, const struct uuid *id)
{
    const usec_t expiry = expiry_of(pool, id);

    send_beat(pool);
    return expiry_of(pool, id) > expiry;
}

START_TEST(what_is_young_and_not_started_is_left_out)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;
    const struct hold hold = hand_out_young(pool, S(1), LEASE, &id);
    const usec_t stop_at = lease_table_stop_at(pool->process.leases, hold);

    ck_assert(!is_extended(pool, &id));
    ck_assert_int_eq(lease_table_stop_at(pool->process.leases, hold), stop_at);
}
END_TEST

START_TEST(what_is_young_and_has_run_is_left_out)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;
    const struct hold hold = hand_out_young(pool, S(1), LEASE, &id);

    run(pool, hold, &id);
    lease_table_finish(pool->process.leases, hold, SERIAL);
    ck_assert(!is_extended(pool, &id));
}
END_TEST

START_TEST(what_would_be_too_old_by_the_next_beat_is_extended)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;

    hand_out_young(pool, LEASE / 3 - BEAT + GRAIN, LEASE, &id);
    ck_assert(is_extended(pool, &id));
}
END_TEST

/* As when the config of the dispatcher is not ours yet. */
START_TEST(what_was_reserved_with_a_shorter_lease_is_extended)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;

    hand_out_young(pool, 0, LEASE / 2, &id);
    ck_assert(is_extended(pool, &id));
}
END_TEST

START_TEST(a_young_run_is_extended_and_hears_of_its_cancellation)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;
    const struct hold hold = hand_out_young(pool, S(1), LEASE, &id);

    run(pool, hold, &id);
    cancel(pool, &id);
    ck_assert(is_extended(pool, &id));
    ck_assert_uint_eq(flags_of(pool, hold), LEASE_CANCELED);
}
END_TEST

/* By a store that is opened anew: nothing is in it yet. */
static void follow_clock(struct pool_scene *pool)
{
    const struct store_options options = {.migrate = true, .clock = &pool->clock};
    struct error err;

    pool->clock.lease = LEASE;
    store_close(&pool->scene.store);
    MUST(store_open("memory:", &options, &pool->scene.store, &err));
}

START_TEST(nothing_is_left_out_for_a_lease_after_the_clock_was_set)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;

    follow_clock(pool);
    hand_out_young(pool, S(1), LEASE, &id);
    ck_assert(!is_extended(pool, &id));
    pool->clock.low = pool->clock.offset;
    pool->clock.high = pool->clock.offset + LEASE;
    pool->clock.until = clock_boot() + LEASE;
    ck_assert(is_extended(pool, &id));
}
END_TEST

/* ---- what a run has to tell ---- */

static void say(struct pool_scene *pool, int percent, const char *text, const char *output)
{
    const struct bytes bytes = {(const unsigned char *)output, strlen(output)};

    scoreboard_set_progress(pool->process.scoreboard, WORKER, 0, percent, text);
    scoreboard_add_output(pool->process.scoreboard, WORKER, 0, bytes);
}

static void expect_told(struct pool_scene *pool, const struct uuid *id, int percent,
                        const char *text, const char *output)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job *job = scene_get(&pool->scene, id, &list);

    ck_assert_int_eq(job->progress_percent, percent);
    ck_assert_pstr_eq(job->progress_text, text);
    ck_assert_uint_eq(job->output.length, strlen(output));
    ck_assert_mem_eq(job->output.data, output, strlen(output));
    ck_assert_int_eq(job->worker, WORKER);
}

START_TEST(progress_and_output_of_a_run_are_told)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;

    start(pool, &id);
    say(pool, 40, "half of them", "hello\n");
    send_beat(pool);
    expect_told(pool, &id, 40, "half of them", "hello\n");
    say(pool, 80, "nearly", "world\n");
    send_beat(pool);
    expect_told(pool, &id, 80, "nearly", "hello\nworld\n");
}
END_TEST

static void watch(struct pool_scene *pool, const struct uuid *id)
{
    struct watched_job job = {.queue = JOB_QUEUE_DEFAULT};
    const struct watch watch = {.jobs = &job, .count = id ? 1 : 0, .pools = !id};
    const usec_t now = store_now(pool->scene.store);
    struct error err = {0};

    if (id)
        job.id = *id;
    MUST(store_watch(pool->scene.store, &watch, now + USEC_PER_HOUR, now, &err));
}

static void tell_watchers(struct pool_scene *pool)
{
    struct error err = {0};

    MUST(beat_tell_watchers(pool->beat, pool->scene.store, &err));
}

START_TEST(what_somebody_watches_is_told_between_beats)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;

    start(pool, &id);
    say(pool, 1, "begun", "hello\n");
    send_beat(pool);
    ck_assert(!beat_is_watched(pool->beat));
    watch(pool, &id);
    send_beat(pool);
    ck_assert(beat_is_watched(pool->beat));
    say(pool, 40, "half of them", "world\n");
    tell_watchers(pool);
    expect_told(pool, &id, 40, "half of them", "hello\nworld\n");
    say(pool, 41, "a little more", "");
    tell_watchers(pool);
    expect_told(pool, &id, 41, "a little more", "hello\nworld\n");
}
END_TEST

START_TEST(what_nobody_watches_waits_for_the_next_beat)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;

    start(pool, &id);
    say(pool, 1, "begun", "hello\n");
    send_beat(pool);
    say(pool, 40, "half of them", "world\n");
    tell_watchers(pool);
    expect_told(pool, &id, 1, "begun", "hello\n");
    send_beat(pool);
    expect_told(pool, &id, 40, "half of them", "hello\nworld\n");
}
END_TEST

/* There is no store: whoever asked it anything would fail. */
START_TEST(nothing_is_asked_between_beats_while_there_is_no_news)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct error err = {0};
    struct uuid id;

    start(pool, &id);
    watch(pool, &id);
    say(pool, 1, "begun", "hello\n");
    send_beat(pool);
    send_beat(pool);
    MUST(beat_tell_watchers(pool->beat, NULL, &err));
}
END_TEST

START_TEST(what_did_not_arrive_is_told_again)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct error err;
    struct uuid id;

    start(pool, &id);
    say(pool, 40, "half of them", "hello\n");
    pool->process.pool = "no name";
    ck_assert(!beat_send(pool->beat, pool->scene.store, BEAT, &err));
    pool->process.pool = POOL;
    send_beat(pool);
    expect_told(pool, &id, 40, "half of them", "hello\n");
}
END_TEST

START_TEST(a_worker_that_went_on_tells_nothing_of_the_job_before)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid first, second;

    start(pool, &first);
    start(pool, &second);
    say(pool, 40, "half of them", "hello\n");
    send_beat(pool);
    expect_told(pool, &second, 40, "half of them", "hello\n");
    ck_assert_int_eq(scene_get(&pool->scene, &first, &list)->progress_percent, -1);
}
END_TEST

START_TEST(each_of_several_jobs_of_a_worker_tells_its_own)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct scoreboard *board = pool->process.scoreboard;
    struct uuid first, second;

    start(pool, &first);
    const struct hold hold = hand_out(pool, &second);
    ck_assert(lease_table_start(pool->process.leases, hold, SERIAL));
    scoreboard_show_jobs(board, WORKER, 2, 2, 0);
    scoreboard_set_job(board, WORKER, 1, hold, &second, "test:type");
    say(pool, 40, "half of them", "hello\n");
    scoreboard_set_progress(board, WORKER, 1, 7, "just begun");
    scoreboard_add_output(board, WORKER, 1, (struct bytes){(const unsigned char *)"hi\n", 3});
    send_beat(pool);
    expect_told(pool, &first, 40, "half of them", "hello\n");
    expect_told(pool, &second, 7, "just begun", "hi\n");
}
END_TEST

START_TEST(a_worker_cannot_speak_for_the_run_of_another)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct scoreboard *board = pool->process.scoreboard;
    struct uuid id;
    const struct hold hold = start(pool, &id);

    say(pool, 40, "half of them", "hello\n");
    for (size_t liar = WORKER - 1; liar <= WORKER + 1; liar += 2) {
        scoreboard_enter(board, liar, "worker 1", (int)liar, SERIAL - 1, 4710);
        scoreboard_show_jobs(board, liar, 1, 1, 0);
        scoreboard_set_job(board, liar, 0, hold, &id, "test:type");
        scoreboard_set_progress(board, liar, 0, 99, "all of them");
    }
    send_beat(pool);
    expect_told(pool, &id, 40, "half of them", "hello\n");
}
END_TEST

/* ---- the pool ---- */

static void expect_status(struct pool_scene *pool, const char *part)
{
    CLEANUP(pool_list_done) struct pool_list list = {0};
    const struct pool *stored = scene_pool(&pool->scene, POOL, &list);

    ck_assert_ptr_nonnull(stored);
    ck_assert_msg(memmem(stored->status.data, stored->status.length, part, strlen(part)) != NULL,
                  "no %s in %.*s", part, (int)stored->status.length,
                  (const char *)stored->status.data);
}

START_TEST(the_first_beat_registers_the_pool)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    CLEANUP(pool_list_done) struct pool_list list = {0};
    const usec_t before = scene_now(&pool->scene);

    send_beat(pool);
    const struct pool *stored = scene_pool(&pool->scene, POOL, &list);
    ck_assert_ptr_nonnull(stored);
    ck_assert_int_eq(stored->pid, getppid());
    ck_assert_int_ge(stored->started_at, before);
    ck_assert_int_ge(stored->beat_at, before);
    expect_status(pool, "\"name\":\"worker 2\",\"pid\":4711");
}
END_TEST

START_TEST(a_pool_that_was_removed_is_there_again)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    CLEANUP(pool_list_done) struct pool_list first = {0}, second = {0};
    struct error err;

    send_beat(pool);
    const usec_t started_at = scene_pool(&pool->scene, POOL, &first)->started_at;
    MUST(store_pool_remove(pool->scene.store, POOL, &err));
    send_beat(pool);
    ck_assert_int_eq(scene_pool(&pool->scene, POOL, &second)->started_at, started_at);
    expect_status(pool, "\"name\":\"worker 2\"");
}
END_TEST

START_TEST(a_status_is_written_when_it_has_changed)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;

    send_beat(pool);
    scene_register(&pool->scene, POOL, "{\"by\":\"hand\"}", scene_now(&pool->scene));
    send_beat(pool);
    expect_status(pool, "by");
    start(pool, &id);
    send_beat(pool);
    expect_status(pool, "\"type\":\"test:type\"");
}
END_TEST

START_TEST(who_watches_the_pools_sees_their_status_between_beats)
{
    CLEANUP(end) struct pool_scene *pool = begin();
    struct uuid id;

    send_beat(pool);
    watch(pool, NULL);
    send_beat(pool);
    ck_assert(beat_is_watched(pool->beat));
    start(pool, &id);
    tell_watchers(pool);
    expect_status(pool, "\"type\":\"test:type\"");
}
END_TEST

Suite *beat_suite(void)
{
    Suite *suite = suite_create("periodic/beat");
    TCase *leases = tcase_create("leases");
    TCase *young = tcase_create("young");
    TCase *runs = tcase_create("runs");
    TCase *pools = tcase_create("pool");

    tcase_add_test(leases, what_is_held_is_extended_and_confirmed_as_of_before_the_question);
    tcase_add_test(leases, what_has_run_is_extended_until_it_is_settled);
    tcase_add_test(leases, what_was_taken_back_is_not_extended);
    tcase_add_test(leases, a_lost_lease_is_passed_on_once);
    tcase_add_test(leases, what_was_settled_when_it_had_run_is_not_lost);
    tcase_add_test(leases, a_cancellation_is_passed_on_once);
    tcase_add_test(young, what_is_young_and_not_started_is_left_out);
    tcase_add_test(young, what_is_young_and_has_run_is_left_out);
    tcase_add_test(young, what_would_be_too_old_by_the_next_beat_is_extended);
    tcase_add_test(young, what_was_reserved_with_a_shorter_lease_is_extended);
    tcase_add_test(young, a_young_run_is_extended_and_hears_of_its_cancellation);
    tcase_add_test(young, nothing_is_left_out_for_a_lease_after_the_clock_was_set);
    tcase_add_test(runs, progress_and_output_of_a_run_are_told);
    tcase_add_test(runs, what_somebody_watches_is_told_between_beats);
    tcase_add_test(runs, what_nobody_watches_waits_for_the_next_beat);
    tcase_add_test(runs, nothing_is_asked_between_beats_while_there_is_no_news);
    tcase_add_test(runs, what_did_not_arrive_is_told_again);
    tcase_add_test(runs, a_worker_that_went_on_tells_nothing_of_the_job_before);
    tcase_add_test(runs, each_of_several_jobs_of_a_worker_tells_its_own);
    tcase_add_test(runs, a_worker_cannot_speak_for_the_run_of_another);
    tcase_add_test(pools, the_first_beat_registers_the_pool);
    tcase_add_test(pools, a_pool_that_was_removed_is_there_again);
    tcase_add_test(pools, a_status_is_written_when_it_has_changed);
    tcase_add_test(pools, who_watches_the_pools_sees_their_status_between_beats);
    suite_add_tcase(suite, leases);
    suite_add_tcase(suite, young);
    suite_add_tcase(suite, runs);
    suite_add_tcase(suite, pools);
    return suite;
}
