/*
 * test_model.c - random operations of several processes, some of them killed on the way, and what
 * holds of the store whatever they did:
 *
 *   - every accepted job is there, in exactly one state, and the key table agrees
 *   - the counts of stats are the counts of list
 *   - every job can be brought to its end
 *
 * The seed is printed when a case fails; TH_MODEL_SEED=N runs it again. One process alone does the
 * same each time; several do the same in another order.
 */
#include "base/clock.h"
#include "base/io.h"
#include "base/random.h"
#include "base/text.h"
#include "companion.h"
#include "contract.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROCESSES  4
#define OPERATIONS 400
#define ROUNDS     12
#define HELD_MAX   16
#define KNOWN_MAX  64
#define QUEUES     2

/* One process and what it remembers. */
struct actor {
    struct store *store;
    const struct scene *scene;
    uint64_t state; /* of its random numbers */
    struct uuid_maker ids;
    usec_t now;
    struct job_list held; /* reserved and not settled yet, as far as it knows */
    struct uuid known[KNOWN_MAX];
    size_t known_count;
    char queues[QUEUES][JOB_NAME_MAX + 1];
    int report_fd; /* -1: nobody wants to know */
};

/* xorshift: the same everywhere for the same seed. */
static unsigned pick(struct actor *actor, unsigned below)
{
    actor->state ^= actor->state << 13;
    actor->state ^= actor->state >> 7;
    actor->state ^= actor->state << 17;
    return (unsigned)(actor->state >> 33) % below;
}

static const char *pick_key(struct actor *actor)
{
    static const char *const keys[] = {NULL, NULL, "a", "b", "c"};

    return keys[pick(actor, COUNT_OF(keys))];
}

static struct uuid pick_known(struct actor *actor)
{
    return actor->known[pick(actor, (unsigned)(actor->known_count ? actor->known_count : 1))];
}

static void remember(struct actor *actor, const struct enqueued *enqueued)
{
    size_t at = actor->known_count < KNOWN_MAX ? actor->known_count++ : pick(actor, KNOWN_MAX);

    actor->known[at] = enqueued->id;
    if (actor->report_fd >= 0 && !enqueued->existed && !enqueued->updated)
        child_must(write(actor->report_fd, &enqueued->id, sizeof enqueued->id) ==
                       sizeof enqueued->id,
                   &(struct error){.text = "report"});
}

static struct job make_job(struct actor *actor)
{
    static const char *const idempotency_keys[] = {NULL, NULL, NULL, "x", "y"};
    struct job job = job_defaults();

    job.id = uuid_make(&actor->ids, NOW);
    job.type = "work";
    job.queue = actor->queues[pick(actor, QUEUES)];
    job.key = pick_key(actor);
    job.priority = (int)pick(actor, 3);
    job.run_at = pick(actor, 3) == 0 ? actor->now + SECONDS(pick(actor, 60)) : 0;
    job.idempotency_key = idempotency_keys[pick(actor, COUNT_OF(idempotency_keys))];
    job.idempotency_expires = actor->now + SECONDS(30);
    job.update = (struct keyed_flags){
        .payload = pick(actor, 2) != 0,
        .run_at = (enum update_run_at)pick(actor, 4),
        .retry = pick(actor, 2) != 0,
        .reset_counts = pick(actor, 2) != 0,
    };
    return job;
}

/* ---- the operations ---- */

static bool do_enqueue(struct actor *actor, struct error *err)
{
    struct job jobs[3];
    struct enqueued enqueued[COUNT_OF(jobs)];
    size_t count = 1 + pick(actor, COUNT_OF(jobs));

    for (size_t i = 0; i < count; i++)
        jobs[i] = make_job(actor);
    if (!store_enqueue(actor->store, jobs, count, actor->now, enqueued, err))
        return false;
    for (size_t i = 0; i < count; i++)
        remember(actor, &enqueued[i]);
    return true;
}

static struct settlement settle_somehow(struct actor *actor, const struct job *job)
{
    return (struct settlement){
        .job = job->id,
        .queue = job->queue,
        .token = job->token,
        .ref = pick(actor, 4) == 0 ? 0 : job->ref,
        .kind = (enum settlement_kind)pick(actor, SETTLE_ASIDE + 1),
        .aside = (enum job_aside)(ASIDE_NO_HANDLER + pick(actor, 2)),
        .aside_since = actor->now,
        .counts = pick(actor, 2) != 0,
        .run_at = pick(actor, 2) != 0 ? actor->now + SECONDS(pick(actor, 30)) : 0,
        .error = "it failed",
        .has_run = pick(actor, 2) != 0,
        .run = {.pool = POOL, .worker = 1, .started_at = actor->now, .exit_code = 0},
    };
}

/* Settles some of what was held before, and asks for at most `room` jobs. */
struct trade {
    struct settlement finished[HELD_MAX];
    enum th_error_code verdicts[HELD_MAX];
    struct settlement_list list;
    struct queue_share shares[QUEUES];
    struct reservation wanted;
};

static void make_trade(struct actor *actor, const struct job *jobs, size_t count, unsigned room,
                       struct trade *trade)
{
    trade->list = (struct settlement_list){trade->finished, count};
    trade->wanted = (struct reservation){.queues = trade->shares,
                                         .queue_count = QUEUES,
                                         .pool = POOL,
                                         .lease_for = SECONDS(1 + pick(actor, 20))};
    random_bytes(&trade->wanted.batch, sizeof trade->wanted.batch);
    for (size_t i = 0; i < count; i++)
        trade->finished[i] = settle_somehow(actor, &jobs[i]);
    for (size_t i = 0; i < QUEUES; i++)
        trade->shares[i] =
            (struct queue_share){.queue = actor->queues[i],
                                 .max = pick(actor, room / QUEUES),
                                 .max_running = pick(actor, 4) == 0 ? 5 : 0,
                                 .rate = {pick(actor, 4) == 0 ? 5 : 0, USEC_PER_SEC}};
}

static bool begin(struct actor *actor, struct trade *trade, struct error *err)
{
    return store_exchange_begin(actor->store, &trade->list, &trade->wanted, actor->now,
                                trade->verdicts, &actor->held, err);
}

/* Two at once, and perhaps something else while they are out. */
static bool trade_twice(struct actor *actor, const struct job_list *before, struct error *err)
{
    const size_t half = before->count / 2;
    struct trade first, second;
    usec_t ignored;

    make_trade(actor, before->items, half, HELD_MAX / 2, &first);
    make_trade(actor, before->items + half, before->count - half, HELD_MAX / 2, &second);
    return begin(actor, &first, err) && begin(actor, &second, err) &&
           (pick(actor, 2) == 0 || store_read_clock(actor->store, &ignored, err)) &&
           store_exchange_end(actor->store, err) && store_exchange_end(actor->store, err);
}

static bool do_exchange(struct actor *actor, struct error *err)
{
    CLEANUP(job_list_done) struct job_list before = actor->held;
    struct trade trade;

    actor->held = (struct job_list){0};
    if (store_can_overlap(actor->store) && pick(actor, 2) == 0)
        return trade_twice(actor, &before, err);
    make_trade(actor, before.items, before.count, HELD_MAX, &trade);
    return store_exchange(actor->store, &trade.list, &trade.wanted, actor->now, trade.verdicts,
                          &actor->held, err);
}

static bool do_heartbeat(struct actor *actor, struct error *err)
{
    struct lease_beat leases[HELD_MAX];
    struct lease_answer answers[HELD_MAX];
    struct heartbeat heartbeat = {.pool = POOL,
                                  .leases = leases,
                                  .lease_count = actor->held.count,
                                  .lease_for = SECONDS(1 + pick(actor, 20))};
    bool registered;

    for (size_t i = 0; i < actor->held.count; i++)
        leases[i] = (struct lease_beat){.job = actor->held.items[i].id,
                                        .queue = actor->held.items[i].queue,
                                        .token = actor->held.items[i].token,
                                        .ref = actor->held.items[i].ref,
                                        .progress_percent = (int)pick(actor, 50) - 25};
    return store_heartbeat(actor->store, &heartbeat, actor->now, answers, &registered, err);
}

static bool do_upkeep(struct actor *actor, struct error *err)
{
    enum job_state state = pick(actor, 2) != 0 ? JOB_SCHEDULED : JOB_RETRY;
    size_t moved;
    usec_t next;

    if (pick(actor, 2) != 0)
        return store_reclaim(actor->store, actor->now, 1 + pick(actor, 5), &moved, err);
    return store_promote(actor->store, state, actor->now, 1 + pick(actor, 5), &moved, &next, err);
}

/* Of whatever is aside, some come back or are given up. */
static bool do_aside(struct actor *actor, struct error *err)
{
    const char *const queues[QUEUES] = {actor->queues[0], actor->queues[1]};
    CLEANUP(aside_list_done) struct aside_list types = {0};
    size_t count;

    if (!store_aside(actor->store, queues, pick(actor, 2) != 0 ? QUEUES : 0, &types, err))
        return false;
    if (types.count == 0)
        return true;
    const struct aside_type *type = &types.items[pick(actor, (unsigned)types.count)];
    const usec_t before = actor->now - SECONDS(pick(actor, 20));
    if (pick(actor, 3) == 0)
        return store_give_up(actor->store, type, before, actor->now, 1 + pick(actor, 3), &count,
                             err);
    return store_bring_back(actor->store, type, pick(actor, 3) == 0 ? before : 0,
                            1 + pick(actor, 5), &count, err);
}

static bool do_cancel(struct actor *actor, struct error *err)
{
    struct uuid ids[] = {pick_known(actor), pick_known(actor)};
    enum th_error_code verdicts[COUNT_OF(ids)];

    return store_cancel(actor->store, ids, COUNT_OF(ids), actor->now, verdicts, err);
}

static bool do_requeue(struct actor *actor, struct error *err)
{
    struct uuid ids[] = {pick_known(actor), pick_known(actor)};
    enum th_error_code verdicts[COUNT_OF(ids)];
    usec_t run_at = pick(actor, 2) != 0 ? actor->now + SECONDS(pick(actor, 30)) : 0;

    return store_requeue(actor->store, ids, COUNT_OF(ids), run_at, actor->now, verdicts, err);
}

static bool do_run_now(struct actor *actor, struct error *err)
{
    struct uuid ids[] = {pick_known(actor), pick_known(actor)};
    enum th_error_code verdicts[COUNT_OF(ids)];

    return store_run_now(actor->store, ids, COUNT_OF(ids), actor->now, verdicts, err);
}

/* Whoever reports its jobs is asked afterwards whether they are there. */
static bool do_remove(struct actor *actor, struct error *err)
{
    struct uuid ids[] = {pick_known(actor), pick_known(actor)};
    enum th_error_code verdicts[COUNT_OF(ids)];

    return actor->report_fd >= 0 || store_remove(actor->store, ids, COUNT_OF(ids), verdicts, err);
}

static bool do_prune(struct actor *actor, struct error *err)
{
    const struct retention keep = {.done = SECONDS(1 + pick(actor, 60)),
                                   .done_max = pick(actor, 20),
                                   .dead = SECONDS(1 + pick(actor, 60))};
    size_t removed;

    return actor->report_fd >= 0 ||
           store_prune(actor->store, &keep, actor->now, 1 + pick(actor, 20), &removed, err);
}

static bool (*const operations[])(struct actor *actor, struct error *err) = {
    do_enqueue, do_enqueue, do_exchange, do_exchange, do_heartbeat, do_upkeep,
    do_cancel,  do_run_now, do_requeue,  do_remove,   do_prune,     do_aside,
};

/* The furthest clock of all processes; they share it. */
static _Atomic usec_t *latest;

static void share_time(void)
{
    latest = mmap(NULL, sizeof *latest, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(latest != MAP_FAILED);
    *latest = NOW;
}

static void note_time(usec_t now)
{
    usec_t seen = *latest;

    while (seen < now && !atomic_compare_exchange_weak(latest, &seen, now))
        continue;
}

/* Until `count` operations are done. Clocks of several pools differ a little, and go back too. */
static void act(struct actor *actor, size_t count)
{
    struct error err = {0};

    for (size_t i = 0; i < count; i++) {
        actor->now += SECONDS(pick(actor, 4)) - SECONDS(1);
        note_time(actor->now);
        child_must(operations[pick(actor, COUNT_OF(operations))](actor, &err), &err);
    }
    job_list_done(&actor->held);
}

static struct actor make_actor(const struct scene *scene, uint64_t seed, unsigned number)
{
    struct actor actor = {.scene = scene,
                          .state = (seed + number + 1) * 0x9e3779b97f4a7c15,
                          .now = NOW,
                          .report_fd = -1};

    for (size_t i = 0; i < QUEUES; i++)
        snprintf(actor.queues[i], sizeof actor.queues[i], "%.100s-%zu", scene->queue, i);
    return actor;
}

/* ---- what holds afterwards ---- */

static int64_t count_listed(struct scene *scene, const char *queue, enum job_state state)
{
    struct job_filter filter = {.by_state = true, .state = state, .queue = queue, .limit = 7};
    struct error err = {0};
    int64_t count = 0;

    do {
        CLEANUP(job_list_done) struct job_list page = {0};
        struct job_cursor next;
        MUST(store_list(scene->store, &filter, &page, &next, &err));
        count += (int64_t)page.count;
        for (size_t i = 0; i < page.count; i++)
            ck_assert_int_eq(page.items[i].state, state);
        filter.after = next;
    } while (filter.after.is_set);
    return count;
}

#define WHY_SIZE 256
#define PATIENCE SECONDS(10)

static bool counts_agree(struct scene *scene, char why[WHY_SIZE])
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    struct error err = {0};

    MUST(store_stats(scene->store, &stats, &err));
    for (size_t i = 0; i < stats.count; i++)
        for (int state = 0; state < JOB_STATES; state++)
            if (stats.items[i].jobs[state] !=
                count_listed(scene, stats.items[i].queue, (enum job_state)state)) {
                snprintf(why, WHY_SIZE, "stats and list differ in %s jobs",
                         job_state_name((enum job_state)state));
                return false;
            }
    return true;
}

/* What a killed client had asked for its server may do a moment later, between two of our looks;
 * what is wrong stays wrong. A lease that somebody had locked when it was to be taken back is taken
 * now. */
static void assert_sound(struct scene *scene, uint64_t seed)
{
    const usec_t end = clock_boot() + PATIENCE;
    usec_t now = *latest;
    char why[WHY_SIZE];
    bool is_sound;

    do {
        now += SECONDS(1); /* what was locked at the last look is looked at again a little later */
        scene_reclaim(scene, now);
        is_sound = scene_backend()->backdoor->is_sound(scene->url, why, sizeof why) &&
                   counts_agree(scene, why);
    } while (!is_sound && clock_boot() < end);
    ck_assert_msg(is_sound, "%s, seed %llu", why, (unsigned long long)seed);
}

static void assert_present(struct scene *scene, const struct buffer *ids, uint64_t seed)
{
    struct uuid id;

    for (size_t at = 0; at + sizeof id <= ids->length; at += sizeof id) {
        memcpy(&id, ids->data + at, sizeof id);
        ck_assert_msg(scene_has(scene, &id), "an accepted job is lost, seed %llu",
                      (unsigned long long)seed);
    }
}

static void bring_all_back(struct scene *scene)
{
    CLEANUP(aside_list_done) struct aside_list types = {0};
    struct error err = {0};
    size_t moved;

    MUST(store_aside(scene->store, NULL, 0, &types, &err));
    for (size_t i = 0; i < types.count; i++)
        MUST(store_bring_back(scene->store, &types.items[i], 0, MANY, &moved, &err));
}

/* Long after: nothing is left that cannot be brought to its end. */
static void assert_drains(struct scene *scene, uint64_t seed)
{
    struct actor actor = make_actor(scene, seed, 99);
    usec_t now = NOW + 100 * USEC_PER_DAY;
    size_t reserved = 1;
    struct error err = {0};

    for (int i = 0; i < 100 && reserved > 0; i++, now += LEASE) {
        reserved = 0;
        bring_all_back(scene);
        scene_promote(scene, JOB_SCHEDULED, now);
        scene_promote(scene, JOB_RETRY, now);
        for (size_t q = 0; q < QUEUES; q++) {
            CLEANUP(job_list_done) struct job_list taken = {0};
            struct queue_share share = {.queue = actor.queues[q], .max = 100};
            struct reservation wanted = scene_wants(scene, 100);
            wanted.queues = &share;
            scene_reserve(scene, &wanted, now, &taken);
            reserved += taken.count;
            for (size_t j = 0; j < taken.count; j++) {
                struct claim claim = claim_of(scene, &taken.items[j]);
                claim.queue = taken.items[j].queue;
                scene_finish(scene, &claim, SETTLE_ACK, now);
            }
        }
    }
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    MUST(store_stats(scene->store, &stats, &err));
    for (size_t i = 0; i < stats.count; i++)
        for (int state = 0; state < JOB_DONE; state++)
            ck_assert_msg(stats.items[i].jobs[state] == 0, "a %s job never ends, seed %llu",
                          job_state_name((enum job_state)state), (unsigned long long)seed);
}

static uint64_t choose_seed(void)
{
    const char *given = getenv("TH_MODEL_SEED");
    uint32_t random;
    int64_t seed;

    if (given && text_to_int(given, 0, INT64_MAX, &seed))
        return (uint64_t)seed;
    random_bytes(&random, sizeof random);
    return random;
}

/* ---- the cases ---- */

START_TEST(random_operations_leave_a_sound_store)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    uint64_t seed = choose_seed();
    struct actor actor = make_actor(&scene, seed, 0);

    share_time();
    actor.store = scene.store;
    for (int i = 0; i < ROUNDS; i++) {
        act(&actor, OPERATIONS / 4);
        assert_sound(&scene, seed);
    }
    assert_drains(&scene, seed);
    assert_sound(&scene, seed);
}
END_TEST

struct cast {
    uint64_t seed;
    int report[2];
};

static void perform(struct companion *parent, const struct scene *scene, const void *context)
{
    const struct cast *cast = context;
    struct actor actor = make_actor(scene, cast->seed, (unsigned)getpid());

    actor.store = child_open(scene->url);
    actor.report_fd = cast->report[1];
    companion_tell(parent, 's');
    act(&actor, OPERATIONS);
    store_close(&actor.store);
}

static void wait_a_little(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    clock_sleep((usec_t)(*state >> 40) % (40 * USEC_PER_MSEC));
}

/* All start; each is killed somewhere. */
static void play_round(struct scene *scene, const struct cast *cast, uint64_t *state)
{
    struct companion companions[PROCESSES];

    for (size_t i = 0; i < PROCESSES; i++)
        companions[i] = companion_start(scene, perform, cast);
    for (size_t i = 0; i < PROCESSES; i++) {
        ck_assert_int_eq(companion_hear(&companions[i]), 's');
        wait_a_little(state);
        companion_kill(&companions[i]);
    }
}

START_TEST(random_operations_of_processes_that_are_killed_leave_a_sound_store)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(buffer_done) struct buffer ids = BUFFER((size_t)16 << 20);
    struct cast cast = {.seed = choose_seed()};
    uint64_t state = cast.seed;

    share_time();
    for (int i = 0; i < ROUNDS; i++) {
        struct error err = {0};
        ck_assert_int_eq(pipe2(cast.report, O_CLOEXEC), 0);
        ck_assert_int_gt(fcntl(cast.report[1], F_SETPIPE_SZ, 1 << 20), 0);
        cast.seed++;
        play_round(&scene, &cast, &state);
        close(cast.report[1]);
        MUST(io_read_all(cast.report[0], "accepted jobs", &ids, &err));
        close(cast.report[0]);
        assert_present(&scene, &ids, cast.seed);
        assert_sound(&scene, cast.seed);
    }
    assert_drains(&scene, cast.seed);
    assert_sound(&scene, cast.seed);
}
END_TEST

Suite *model_suite(void)
{
    Suite *suite = suite_create("model");
    TCase *model = contract_group(suite, "model");

    tcase_add_test(model, random_operations_leave_a_sound_store);
    tcase_add_test(model, random_operations_of_processes_that_are_killed_leave_a_sound_store);
    return suite;
}
