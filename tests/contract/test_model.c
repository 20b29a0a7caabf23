/*
 * test_model.c - random moves of several processes, some of them killed on the way, and what holds
 * of the store whatever they did:
 *
 *   - every accepted job is there, in exactly one state, and the key table agrees
 *   - the counts of stats are the counts of list
 *   - every job can be brought to its end
 *
 * moves.c has what they do, trade.c what they do with their leases, and actor.c what they know of
 * them. The seed is printed when a case fails; TH_MODEL_SEED=N runs it again. One process alone
 * does the same each time; several do the same in another order.
 */
#include "base/clock.h"
#include "base/io.h"
#include "base/random.h"
#include "base/text.h"
#include "companion.h"
#include "contract.h"
#include "moves.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES 4
#define MOVES     400
#define ROUNDS    12

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
    usec_t now = actor_latest();
    char why[WHY_SIZE];
    bool is_sound;

    do {
        now += SECONDS(1); /* what was locked at the last look is looked at again a little later */
        actor_note_time(now);
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
    struct actor actor = actor_make(scene, seed, 99);
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

/* Each once, whoever else's lease it shared. */
static void assert_done(struct scene *scene, const struct actor *actor)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    struct error err = {0};

    MUST(store_stats(scene->store, &stats, &err));
    for (size_t i = 0; i < stats.count; i++)
        for (size_t q = 0; q < QUEUES; q++)
            ck_assert_msg(strcmp(stats.items[i].queue, actor->queues[q]) != 0 ||
                              stats.items[i].done_total == actor->done[q],
                          "%lld done jobs are not counted, seed %llu",
                          (long long)(actor->done[q] - stats.items[i].done_total),
                          (unsigned long long)actor->seed);
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

START_TEST(random_moves_leave_a_sound_store)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    uint64_t seed = choose_seed();
    struct actor actor = actor_make(&scene, seed, 0);

    actor_share_time();
    actor.store = scene.store;
    actor.is_alone = true;
    for (int i = 0; i < ROUNDS; i++) {
        moves_make(&actor, MOVES / 4);
        assert_done(&scene, &actor);
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
    struct actor actor = actor_make(scene, cast->seed, (unsigned)getpid());

    actor.store = child_open(scene->url);
    actor.report_fd = cast->report[1];
    companion_tell(parent, 's');
    moves_make(&actor, MOVES);
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

START_TEST(random_moves_of_processes_that_are_killed_leave_a_sound_store)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(buffer_done) struct buffer ids = BUFFER((size_t)16 << 20);
    struct cast cast = {.seed = choose_seed()};
    uint64_t state = cast.seed;

    actor_share_time();
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

    tcase_add_test(model, random_moves_leave_a_sound_store);
    tcase_add_test(model, random_moves_of_processes_that_are_killed_leave_a_sound_store);
    return suite;
}
