/*
 * test_races.c - every operation against every other one, on the same few jobs, by several
 * processes at once: none of them ever waits for one that waits for it.
 *
 * Whoever waits on a server that finds deadlocks is told after 10 ms here, and the server counts
 * how often that happened. Elsewhere a deadlock is a case that does not end.
 */
#include "base/random.h"
#include "companion.h"
#include "contract.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RACERS     8
#define OPERATIONS 150
#define QUEUES     2
#define IDS        12
#define HELD_MAX   64

struct runner {
    struct store *store;
    const struct uuid *ids; /* of all jobs that are enqueued one by one */
    struct uuid_maker maker;
    uint64_t state; /* of its random numbers */
    usec_t now;
    bool speaks_sql; /* enqueues as producers do, who have to see to the order themselves */
    char pool[32];
    char queues[QUEUES][JOB_NAME_MAX + 1];
};

static unsigned pick(struct runner *runner, unsigned below)
{
    runner->state = runner->state * 6364136223846793005 + 1442695040888963407;
    return (unsigned)(runner->state >> 33) % below;
}

/* One that somebody else's job stood in the way of is no failure. */
static bool may(bool done, const struct error *err)
{
    return done || err->code == TH_E_CONFLICT;
}

/* ---- jobs come in ---- */

static struct job make_job(struct runner *runner, struct uuid id)
{
    static const char *const keys[] = {NULL, "a", "b", "c"};
    static const char *const records[] = {NULL, NULL, "x", "y", "z"};
    struct job job = job_defaults();

    job.id = id;
    job.type = "work";
    job.queue = runner->queues[pick(runner, QUEUES)];
    job.key = keys[pick(runner, COUNT_OF(keys))];
    job.run_at = pick(runner, 3) == 0 ? runner->now + SECONDS(pick(runner, 3)) : 0;
    job.idempotency_key = records[pick(runner, COUNT_OF(records))];
    job.idempotency_expires = runner->now + SECONDS(1);
    return job;
}

static bool enqueue_one(struct runner *runner, struct error *err)
{
    struct job job = make_job(runner, runner->ids[pick(runner, IDS)]);
    struct enqueued enqueued;

    return may(store_enqueue(runner->store, &job, 1, runner->now, &enqueued, err), err);
}

static bool enqueue_batch(struct runner *runner, struct error *err)
{
    struct job jobs[4];
    struct enqueued enqueued[COUNT_OF(jobs)];

    size_t count = runner->speaks_sql ? 1 : COUNT_OF(jobs);

    for (size_t i = 0; i < count; i++)
        jobs[i] = make_job(runner, uuid_make(&runner->maker, NOW));
    return may(store_enqueue(runner->store, jobs, count, runner->now, enqueued, err), err);
}

static bool enqueue_by_clock(struct runner *runner, struct error *err)
{
    struct job job = make_job(runner, uuid_make(&runner->maker, NOW));
    bool stored;

    return may(
        store_cron_enqueue(runner->store, "often", runner->now, &job, runner->now, &stored, err),
        err);
}

/* ---- what pools do ---- */

static struct settlement settle_somehow(struct runner *runner, const struct job *job)
{
    static const unsigned char text[] = "well";
    struct settlement settlement = {
        .job = job->id,
        .queue = job->queue,
        .token = job->token,
        .ref = pick(runner, 5) == 0 ? 0 : job->ref,
        .kind = pick(runner, 2) == 0 ? SETTLE_ACK
                                     : (enum settlement_kind)pick(runner, SETTLE_ASIDE + 1),
        .aside = (enum job_aside)(ASIDE_NO_HANDLER + pick(runner, 2)),
        .aside_since = runner->now,
        .forget = pick(runner, 2) == 0,
        .run_at = pick(runner, 2) == 0 ? runner->now + SECONDS(1) : 0,
        .has_run = true,
        .run = {.pool = runner->pool, .worker = 1, .started_at = runner->now, .exit_code = 0},
    };

    if (pick(runner, 3) == 0)
        settlement.output = (struct bytes){text, sizeof text};
    if (settlement.kind == SETTLE_FAIL || settlement.kind == SETTLE_RETRY)
        settlement.error = "it failed";
    return settlement;
}

/* Of what the pool holds, half. */
static bool list_settlements(struct runner *runner, const struct job_list *held,
                             struct settlement *finished, size_t *count_out)
{
    *count_out = 0;
    for (size_t i = 0; i < held->count && *count_out < HELD_MAX; i++)
        if (pick(runner, 2) == 0)
            finished[(*count_out)++] = settle_somehow(runner, &held->items[i]);
    return true;
}

static bool exchange(struct runner *runner, bool wants, struct error *err)
{
    CLEANUP(job_list_done) struct job_list held = {0};
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct settlement finished[HELD_MAX];
    enum th_error_code verdicts[HELD_MAX];
    struct settlement_list list = {.items = finished};
    struct queue_share shares[QUEUES];
    struct reservation wanted = {.queues = shares,
                                 .queue_count = QUEUES,
                                 .pool = runner->pool,
                                 .lease_for = SECONDS(1 + pick(runner, 5))};
    unsigned first = pick(runner, QUEUES);

    random_bytes(&wanted.batch, sizeof wanted.batch);
    for (size_t i = 0; i < QUEUES; i++)
        shares[i] = (struct queue_share){.queue = runner->queues[(first + i) % QUEUES],
                                         .max = 1 + pick(runner, 3),
                                         .max_running = pick(runner, 3) == 0 ? 4 : 0,
                                         .rate = {pick(runner, 4) == 0 ? 9 : 0, USEC_PER_SEC}};
    if (!store_held(runner->store, runner->pool, &held, err) ||
        !list_settlements(runner, &held, finished, &list.count))
        return false;
    return wants
               ? store_exchange(runner->store, &list, &wanted, 1, runner->now, verdicts, &jobs, err)
               : store_settle(runner->store, &list, runner->now, verdicts, err);
}

static bool exchange_both(struct runner *runner, struct error *err)
{
    return exchange(runner, true, err);
}

static bool settle_alone(struct runner *runner, struct error *err)
{
    return exchange(runner, false, err);
}

static bool beat(struct runner *runner, struct error *err)
{
    CLEANUP(job_list_done) struct job_list held = {0};
    struct lease_beat leases[HELD_MAX];
    struct lease_answer answers[HELD_MAX];
    struct heartbeat heartbeat = {
        .pool = runner->pool, .leases = leases, .lease_for = SECONDS(1 + pick(runner, 5))};
    struct pool_answer told;

    if (!store_held(runner->store, runner->pool, &held, err))
        return false;
    for (size_t i = held.count; i > 0 && heartbeat.lease_count < HELD_MAX; i--)
        leases[heartbeat.lease_count++] =
            (struct lease_beat){.job = held.items[i - 1].id,
                                .queue = held.items[i - 1].queue,
                                .token = held.items[i - 1].token,
                                .ref = held.items[i - 1].ref,
                                .progress_percent = (int)pick(runner, 50) - 25};
    return store_heartbeat(runner->store, &heartbeat, 1, runner->now, answers, &told, err);
}

static bool promote(struct runner *runner, struct error *err)
{
    size_t moved;
    usec_t next;

    return store_promote(runner->store, pick(runner, 2) ? JOB_SCHEDULED : JOB_RETRY, runner->now, 5,
                         &moved, &next, err);
}

static bool reclaim(struct runner *runner, struct error *err)
{
    size_t moved;

    return store_reclaim(runner->store, runner->now, 5, &moved, err);
}

static bool prune(struct runner *runner, struct error *err)
{
    const struct retention keep = {.done = SECONDS(1), .done_max = 3, .dead = SECONDS(1)};
    size_t removed;

    return store_prune(runner->store, &keep, runner->now, 10, &removed, err);
}

/* Each type that is aside comes back, or is given up. */
static bool fetch(struct runner *runner, bool gives_up, struct error *err)
{
    CLEANUP(aside_list_done) struct aside_list types = {0};
    size_t count;

    if (!store_aside(runner->store, NULL, 0, &types, err))
        return false;
    for (size_t i = 0; i < types.count; i++) {
        const struct aside_type *type = &types.items[i];
        const usec_t before = runner->now - SECONDS(pick(runner, 3));
        if (gives_up ? !store_give_up(runner->store, type, before, runner->now, 3, &count, err)
                     : !store_bring_back(runner->store, type, pick(runner, 2) ? before : 0, 3,
                                         &count, err))
            return false;
    }
    return true;
}

static bool bring_back(struct runner *runner, struct error *err)
{
    return fetch(runner, false, err);
}

static bool give_up(struct runner *runner, struct error *err)
{
    return fetch(runner, true, err);
}

static bool come_and_go(struct runner *runner, struct error *err)
{
    CLEANUP(pool_list_done) struct pool_list silent = {0};
    const struct pool pool = {.name = runner->pool, .host = "here", .pid = 1, .started_at = NOW};

    return store_pool_register(runner->store, &pool, runner->now, err) &&
           store_pool_remove_silent(runner->store, runner->now - SECONDS(1), &silent, err);
}

/* ---- what people do ---- */

static void pick_ids(struct runner *runner, struct uuid ids[IDS])
{
    for (size_t i = 0; i < IDS; i++)
        ids[i] = runner->ids[pick(runner, IDS)];
}

static bool cancel(struct runner *runner, struct error *err)
{
    struct uuid ids[IDS];
    enum th_error_code verdicts[IDS];

    pick_ids(runner, ids);
    return store_cancel(runner->store, ids, IDS, runner->now, verdicts, err);
}

static bool requeue(struct runner *runner, struct error *err)
{
    struct uuid ids[IDS];
    enum th_error_code verdicts[IDS];

    pick_ids(runner, ids);
    return store_requeue(runner->store, ids, IDS, 0, runner->now, verdicts, err);
}

static bool run_now(struct runner *runner, struct error *err)
{
    struct uuid ids[IDS];
    enum th_error_code verdicts[IDS];

    pick_ids(runner, ids);
    return store_run_now(runner->store, ids, IDS, runner->now, verdicts, err);
}

static bool remove_some(struct runner *runner, struct error *err)
{
    struct uuid ids[IDS];
    enum th_error_code verdicts[IDS];

    pick_ids(runner, ids);
    return store_remove(runner->store, ids, IDS, verdicts, err);
}

static bool hold_up(struct runner *runner, struct error *err)
{
    const char *queue = runner->queues[pick(runner, QUEUES)];

    return store_pause(runner->store, queue, NULL, runner->now, err) &&
           store_resume(runner->store, queue, err);
}

static bool count_all(struct runner *runner, struct error *err)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};

    return store_stats(runner->store, &stats, err);
}

/* ---- the race ---- */

static bool (*const operations[])(struct runner *runner, struct error *err) = {
    enqueue_one, enqueue_batch, enqueue_by_clock, exchange_both, exchange_both, settle_alone,
    beat,        beat,          promote,          reclaim,       prune,         come_and_go,
    cancel,      requeue,       remove_some,      enqueue_batch, hold_up,       count_all,
    bring_back,  give_up,       run_now,
};

struct race {
    struct uuid ids[IDS];
    char url[BACKEND_URL_SIZE + 64];
    int number;
};

/* Every pool has two of them: one exchanges while the other beats. */
static void run_race(struct companion *parent, const struct scene *scene, const void *context)
{
    const struct race *race = context;
    struct runner runner = {.ids = race->ids, .now = NOW};
    struct error err = {0};

    random_bytes(&runner.state, sizeof runner.state);
    snprintf(runner.pool, sizeof runner.pool, "pool-%d", race->number / 2);
    for (size_t i = 0; i < QUEUES; i++)
        snprintf(runner.queues[i], sizeof runner.queues[i], "%.100s-%zu", scene->queue, i);
    runner.store = child_open(race->url);
    runner.speaks_sql = race->number == 0 && scene_backend()->backdoor->by_sql;
    if (runner.speaks_sql)
        scene_backend()->backdoor->by_sql(runner.store);
    companion_tell(parent, 's');
    companion_hear(parent);
    for (int i = 0; i < OPERATIONS; i++) {
        runner.now += SECONDS(pick(&runner, 3)) / 2;
        child_must(operations[pick(&runner, COUNT_OF(operations))](&runner, &err), &err);
    }
    store_close(&runner.store);
    companion_tell(parent, 'e');
}

START_TEST(operations_that_race_for_the_same_jobs_never_wait_for_each_other_in_a_circle)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const struct backdoor *backdoor = scene_backend()->backdoor;
    struct companion companions[RACERS];
    struct race race;
    char why[256];

    for (size_t i = 0; i < IDS; i++)
        race.ids[i] = uuid_make(&scene.ids, NOW);
    snprintf(race.url, sizeof race.url, "%s%s", scene.url,
             backdoor->deadlocks ? "&options=-c%20deadlock_timeout%3d10ms" : "");
    int64_t before = backdoor->deadlocks ? backdoor->deadlocks(scene.url) : 0;
    for (race.number = 0; race.number < RACERS; race.number++) {
        companions[race.number] = companion_start(&scene, run_race, &race);
        ck_assert_int_eq(companion_hear(&companions[race.number]), 's');
    }
    for (size_t i = 0; i < RACERS; i++)
        companion_tell(&companions[i], 'g');
    for (size_t i = 0; i < RACERS; i++) {
        ck_assert_int_eq(companion_hear(&companions[i]), 'e');
        companion_end(&companions[i]);
    }
    if (backdoor->deadlocks)
        ck_assert_int_eq(backdoor->deadlocks(scene.url) - before, 0);
    scene_reclaim(&scene, NOW + SECONDS(3600));
    ck_assert_msg(backdoor->is_sound(scene.url, why, sizeof why), "%s", why);
}
END_TEST

Suite *races_suite(void)
{
    Suite *suite = suite_create("races");
    TCase *group = contract_group(suite, "races");

    tcase_add_test(group,
                   operations_that_race_for_the_same_jobs_never_wait_for_each_other_in_a_circle);
    return suite;
}
