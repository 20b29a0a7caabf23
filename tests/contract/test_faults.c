/*
 * test_faults.c - handles that are closed, backends that are away, processes that are killed.
 */
#include "base/clock.h"
#include "companion.h"
#include "contract.h"

#include <string.h>

#define BATCHES 30
#define BATCH   25

START_TEST(close_is_idempotent)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct store *never_opened = NULL;

    store_close(&scene.store);
    ck_assert_ptr_null(scene.store);
    store_close(&scene.store);
    store_close(&never_opened);
}
END_TEST

START_TEST(later_calls_fail_closed)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct job job = scene_job(&scene);
    struct reservation wanted = scene_wants(&scene, 1);
    const struct settlement_list nothing = {0};
    const struct job_filter filter = {.limit = 1};
    const struct heartbeat heartbeat = {.pool = POOL, .lease_for = LEASE};
    const struct pool pool = {.name = POOL, .host = "host", .started_at = NOW};
    const struct retention keep = {0};
    struct cron_past past;
    struct queue_stats_list stats = {0};
    struct pool_list pools = {0};
    struct pool_answer told;
    enum th_error_code verdict;
    struct store_schema schema;
    struct enqueued enqueued;
    struct job_cursor next;
    struct error err = {0};
    size_t moved;
    usec_t moment;
    bool flag;
    int fd;

    store_close(&scene.store);
    struct store *closed = scene.store;
    MUST_FAIL(TH_E_INVALID, store_schema(closed, &schema, &err));
    MUST_FAIL(TH_E_INVALID, store_read_clock(closed, &moment, &err));
    MUST_FAIL(TH_E_INVALID, store_enqueue(closed, &job, 1, NOW, &enqueued, &err));
    MUST_FAIL(TH_E_INVALID, store_reserve(closed, &wanted, NOW, &jobs, &err));
    MUST_FAIL(TH_E_INVALID, store_held(closed, POOL, &jobs, &err));
    MUST_FAIL(TH_E_INVALID, store_settle(closed, &nothing, NOW, &verdict, &err));
    MUST_FAIL(TH_E_INVALID,
              store_exchange(closed, &nothing, &wanted, 1, NOW, &verdict, &jobs, &err));
    MUST_FAIL(TH_E_INVALID, store_heartbeat(closed, &heartbeat, 1, NOW, NULL, &told, &err));
    MUST_FAIL(TH_E_INVALID, store_promote(closed, JOB_SCHEDULED, NOW, 1, &moved, &moment, &err));
    MUST_FAIL(TH_E_INVALID, store_reclaim(closed, NOW, 1, &moved, &err));
    MUST_FAIL(TH_E_INVALID, store_prune(closed, &keep, NOW, 1, &moved, &err));
    MUST_FAIL(TH_E_INVALID, store_pool_register(closed, &pool, NOW, &err));
    MUST_FAIL(TH_E_INVALID, store_pools(closed, &pools, &err));
    MUST_FAIL(TH_E_INVALID, store_pool_remove(closed, POOL, &err));
    MUST_FAIL(TH_E_INVALID, store_pool_want(closed, POOL, POOL_WANT_QUIET, NULL, NOW, &err));
    MUST_FAIL(TH_E_INVALID, store_pool_remove_silent(closed, NOW, &pools, &err));
    MUST_FAIL(TH_E_INVALID, store_stats(closed, &stats, &err));
    MUST_FAIL(TH_E_INVALID, store_cron_enqueue(closed, "cron", NOW, &job, NOW, &flag, &err));
    MUST_FAIL(TH_E_INVALID, store_cron_last(closed, "cron", NOW, &past, &err));
    MUST_FAIL(TH_E_INVALID, store_cron_pause(closed, "cron", NULL, NOW, &err));
    MUST_FAIL(TH_E_INVALID, store_cron_resume(closed, "cron", NOW, &err));
    MUST_FAIL(TH_E_INVALID, store_cron_mark(closed, "cron", NOW, NOW, &err));
    MUST_FAIL(TH_E_INVALID, store_wait_fd(closed, &fd, &err));
    MUST_FAIL(TH_E_INVALID, store_wait(closed, 0, &flag, &err));
    MUST_FAIL(TH_E_INVALID, store_get(closed, &job.id, &jobs, &err));
    MUST_FAIL(TH_E_INVALID, store_list(closed, &filter, &jobs, &next, &err));
    MUST_FAIL(TH_E_INVALID, store_cancel(closed, &job.id, 1, NOW, &verdict, &err));
    MUST_FAIL(TH_E_INVALID, store_run_now(closed, &job.id, 1, NOW, &verdict, &err));
    MUST_FAIL(TH_E_INVALID, store_requeue(closed, &job.id, 1, 0, NOW, &verdict, &err));
    MUST_FAIL(TH_E_INVALID, store_remove(closed, &job.id, 1, &verdict, &err));
    MUST_FAIL(TH_E_INVALID, store_pause(closed, scene.queue, NULL, NOW, &err));
    MUST_FAIL(TH_E_INVALID, store_resume(closed, scene.queue, &err));
    MUST_FAIL(TH_E_INVALID, store_hide_queue(closed, scene.queue, &err));
    MUST_FAIL(TH_E_INVALID, store_count_before(closed, &job, 1, &moved, &err));
    ck_assert_uint_eq(jobs.count, 0);
}
END_TEST

/* The last one is the backend's own. */
static const char *const bad_urls[] = {"", "nosuch:", "nosuch:place", "jobs.db", NULL};

START_TEST(open_bad_address_fails_cleanly)
{
    const struct store_options options = {.migrate = true};
    const char *url = bad_urls[_i] ? bad_urls[_i] : scene_backend()->bad_url;
    struct store *store = (struct store *)&options; /* anything but NULL */
    struct error err = {0};

    ck_assert_msg(!store_open(url, &options, &store, &err), "%s was opened", url);
    ck_assert_ptr_null(store);
    ck_assert(err.code == TH_E_INVALID || err.code == TH_E_UNAVAILABLE);
    ck_assert_msg(err.text[0] != '\0', "it does not say why");
}
END_TEST

START_TEST(the_database_has_a_clock)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct error err = {0};
    usec_t first = 0, second = 0;

    MUST(store_read_clock(scene.store, &first, &err));
    MUST(store_read_clock(scene.store, &second, &err));
    ck_assert_int_gt(first, 0);
    ck_assert_int_ge(second, first);
    ck_assert_int_ge(store_now(scene.store), first - USEC_PER_MIN);
}
END_TEST

/* ---- killed ---- */

/* A batch of jobs with ids that everybody knows. */
static void make_batch(const struct scene *scene, const struct uuid *ids, struct job *jobs)
{
    for (size_t i = 0; i < BATCH; i++) {
        jobs[i] = job_defaults();
        jobs[i].id = ids[i];
        jobs[i].type = "work";
        jobs[i].queue = scene->queue;
    }
}

static void enqueue_batches(struct companion *parent, const struct scene *scene,
                            const void *context)
{
    const struct uuid *ids = context;
    struct store *store = child_open(scene->url);
    struct enqueued enqueued[BATCH];
    struct job jobs[BATCH];
    struct error err = {0};

    for (size_t i = 0; i < BATCHES; i++) {
        make_batch(scene, ids + i * BATCH, jobs);
        companion_tell(parent, 'b');
        child_must(store_enqueue(store, jobs, BATCH, NOW, enqueued, &err), &err);
    }
}

/* Each batch was stored whole before, or not at all; now it is. */
static size_t repeat_batches(struct scene *scene, const struct uuid *ids)
{
    struct enqueued enqueued[BATCH];
    struct job jobs[BATCH];
    struct error err = {0};
    size_t existed = 0;

    for (size_t i = 0; i < BATCHES; i++) {
        make_batch(scene, ids + i * BATCH, jobs);
        MUST(store_enqueue(scene->store, jobs, BATCH, NOW, enqueued, &err));
        for (size_t k = 0; k < BATCH; k++) {
            ck_assert_msg(enqueued[k].existed == enqueued[0].existed, "half a batch was stored");
            ASSERT_SAME_ID(&enqueued[k].id, &jobs[k].id);
        }
        existed += enqueued[0].existed;
    }
    return existed;
}

static const unsigned killed_after[] = {1, 2, 7, 15, 25};

START_TEST(enqueue_killed_half_way_is_safe_to_repeat)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[BATCHES * BATCH];

    for (size_t i = 0; i < COUNT_OF(ids); i++)
        ids[i] = uuid_make(&scene.ids, NOW);
    struct companion producer = companion_start(&scene, enqueue_batches, ids);
    for (unsigned i = 0; i < killed_after[_i]; i++)
        ck_assert_int_eq(companion_hear(&producer), 'b');
    companion_kill(&producer);

    /* Whoever announces a batch has the answer for the one before. */
    ck_assert_uint_ge(repeat_batches(&scene, ids), killed_after[_i] - 1);
    ck_assert_uint_eq(scene_count(&scene), BATCHES * BATCH);
    ck_assert_uint_eq(repeat_batches(&scene, ids), BATCHES);
    ck_assert_uint_eq(scene_count(&scene), BATCHES * BATCH);
}
END_TEST

static void settle_once(struct companion *parent, const struct scene *scene, const void *context)
{
    struct settlement settlement = claim_settlement(context, SETTLE_ACK);
    struct store *store = child_open(scene->url);
    const struct settlement_list finished = {&settlement, 1};
    enum th_error_code verdict;
    struct error err = {0};

    settlement.queue = scene->queue;
    companion_tell(parent, 's');
    child_must(store_settle(store, &finished, NOW, &verdict, &err), &err);
    companion_hear(parent);
}

START_TEST(settlement_killed_half_way_is_safe_to_repeat)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct companion settler = companion_start(&scene, settle_once, &claim);

    ck_assert_int_eq(companion_hear(&settler), 's');
    if (_i % 2 == 1)
        companion_await_sleep(&settler);
    companion_kill(&settler);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW + 1);
    ASSERT_STATE(&scene, &id, JOB_DONE);
    ck_assert_int_eq(scene_stats(&scene).done_total, 1);
}
END_TEST

/* ---- away ---- */

/* Nothing was changed, or the backend cannot say so. */
#define MUST_BE_BLOCKED(call)                                                                      \
    do {                                                                                           \
        ck_assert_msg(!(call), "it was let through");                                              \
        if (err.code != TH_E_UNAVAILABLE)                                                          \
            ASSERT_VERDICT(err.code, scene_backend()->blocked);                                    \
    } while (0)

#define SOON (SECONDS(1) / 2)

START_TEST(enqueue_while_the_backend_is_away_fails_and_changes_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct job job = scene_job(&scene);
    struct enqueued enqueued;
    struct error err = {0};

    scene.deadline = SOON;
    struct companion blocker = companion_block_store(&scene);
    MUST_BE_BLOCKED(store_enqueue(scene.store, &job, 1, NOW, &enqueued, &err));
    companion_kill(&blocker);
    ck_assert_uint_eq(scene_count(&scene), 0);
    ck_assert(!scene_enqueue(&scene, job, NOW).existed);
}
END_TEST

START_TEST(exchange_while_the_backend_is_away_fails_and_changes_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct uuid ids[2];
    struct error err = {0};
    enum th_error_code verdict;

    scene_add_many(&scene, COUNT_OF(ids), ids);
    struct claim claim = scene_take(&scene, NOW);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    scene.deadline = SOON;
    struct companion blocker = companion_block_store(&scene);
    const struct settlement ack = claim_settlement(&claim, SETTLE_ACK);
    const struct settlement_list finished = {&ack, 1};
    struct reservation wanted = scene_wants(&scene, 1);

    MUST_BE_BLOCKED(
        store_exchange(scene.store, &finished, &wanted, 1, NOW, &verdict, &taken, &err));
    ck_assert_uint_eq(taken.count, 0);
    companion_kill(&blocker);
    assert_queue_unchanged(&scene, before);
    MUST(store_exchange(scene.store, &finished, &wanted, 1, NOW, &verdict, &taken, &err));
    ASSERT_VERDICT(verdict, TH_OK);
    ck_assert_uint_eq(taken.count, 1);
}
END_TEST

static void enqueue_when_told(struct companion *parent, const struct scene *scene,
                              const void *context)
{
    struct store *store = child_open(scene->url);
    struct job job = *(const struct job *)context;
    struct enqueued enqueued;
    struct error err = {0};

    job.queue = scene->queue;
    companion_tell(parent, 'o');
    companion_hear(parent);
    companion_tell(parent, 'e');
    child_must(store_enqueue(store, &job, 1, NOW, &enqueued, &err), &err);
}

static void enqueue_in_vain(struct companion *parent, const struct scene *scene,
                            const void *context)
{
    struct store *store = child_open(scene->url);
    struct job job = *(const struct job *)context;
    struct enqueued enqueued;
    struct error err = {0};

    job.queue = scene->queue;
    companion_tell(parent, 'o');
    companion_hear(parent);
    companion_tell(parent, 'e');
    child_must(!store_enqueue(store, &job, 1, NOW, &enqueued, &err), &err);
}

START_TEST(a_call_waits_for_a_backend_that_comes_back)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct job job = scene_job(&scene);
    struct companion producer = companion_start(&scene, enqueue_when_told, &job);

    ck_assert_int_eq(companion_hear(&producer), 'o');
    struct companion blocker = companion_block_store(&scene);
    companion_tell(&producer, 'g');
    ck_assert_int_eq(companion_hear(&producer), 'e');
    companion_await_sleep(&producer);
    companion_kill(&blocker);
    companion_end(&producer);
    ASSERT_STATE(&scene, &job.id, JOB_READY);
}
END_TEST

/* P11, also for the one whose turn comes when somebody before it has waited in vain: what it had
 * waited until then counts. */
START_TEST(a_call_ends_in_time_however_many_wait_before_it)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct job job = scene_job(&scene), first = scene_job(&scene);
    struct companion producer = companion_start(&scene, enqueue_in_vain, &first);
    struct enqueued enqueued;
    struct error err = {0};

    ck_assert_int_eq(companion_hear(&producer), 'o');
    struct companion blocker = companion_block_store(&scene);
    companion_tell(&producer, 'g');
    ck_assert_int_eq(companion_hear(&producer), 'e');
    companion_await_sleep(&producer);
    /* Not a wait for anything: so far apart are the two deadlines, for us to get its turn. */
    clock_sleep(SECONDS(1) / 10);
    usec_t start = clock_boot();
    MUST_BE_BLOCKED(store_enqueue(scene.store, &job, 1, NOW, &enqueued, &err));
    ck_assert_int_lt(clock_boot() - start, SECONDS(9)); /* it would be 9.9, counted anew */
    companion_end(&producer);
    companion_kill(&blocker);
}
END_TEST

static void reserve_in_vain(struct companion *parent, const struct scene *scene,
                            const void *context)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct store_options options = {.deadline = SECONDS(1) / 5};
    const struct queue_share share = {.queue = scene->queue, .max = 1};
    const struct reservation wanted = {.queues = &share,
                                       .queue_count = 1,
                                       .pool = POOL,
                                       .batch = batch_fresh(),
                                       .lease_for = SECONDS(1)};
    struct store *store = NULL;
    struct error err = {0};

    (void)context;
    child_must(store_open(scene->url, &options, &store, &err), &err);
    companion_tell(parent, 'o');
    companion_hear(parent);
    const usec_t start = clock_boot();
    child_must(!store_reserve(store, &wanted, NOW, &taken, &err), &err);
    /* Any other store waits for 5 s. */
    companion_tell(parent, clock_boot() - start < SECONDS(4) ? 'i' : 'l');
    store_close(&store);
}

/* Whoever reserves for a short lease must not be answered after its end. */
START_TEST(a_call_ends_within_the_deadline_of_its_store)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    struct companion pool = companion_start(&scene, reserve_in_vain, NULL);

    ck_assert_int_eq(companion_hear(&pool), 'o');
    struct companion blocker = companion_block_store(&scene);
    companion_tell(&pool, 'g');
    ck_assert_int_eq(companion_hear(&pool), 'i');
    companion_end(&pool);
    companion_kill(&blocker);
    ASSERT_STATE(&scene, &id, JOB_READY);
}
END_TEST

Suite *faults_suite(void)
{
    Suite *suite = suite_create("faults");
    TCase *handle = contract_group(suite, "handle");
    TCase *killed = contract_group(suite, "killed");
    TCase *away = contract_group(suite, "away");

    tcase_add_test(handle, close_is_idempotent);
    tcase_add_test(handle, later_calls_fail_closed);
    tcase_add_loop_test(handle, open_bad_address_fails_cleanly, 0, COUNT_OF(bad_urls));
    tcase_add_test(handle, the_database_has_a_clock);

    tcase_add_loop_test(killed, enqueue_killed_half_way_is_safe_to_repeat, 0,
                        COUNT_OF(killed_after));
    tcase_add_loop_test(killed, settlement_killed_half_way_is_safe_to_repeat, 0, 6);

    tcase_add_test(away, enqueue_while_the_backend_is_away_fails_and_changes_nothing);
    tcase_add_test(away, exchange_while_the_backend_is_away_fails_and_changes_nothing);
    tcase_add_test(away, a_call_waits_for_a_backend_that_comes_back);
    tcase_add_test(away, a_call_ends_in_time_however_many_wait_before_it);
    tcase_add_test(away, a_call_ends_within_the_deadline_of_its_store);

    return suite;
}
