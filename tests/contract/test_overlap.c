/*
 * test_overlap.c - exchanges in two steps: several are out at once. For backends that can.
 */
#include "companion.h"
#include "contract.h"

#include <poll.h>
#include <stdlib.h>

#define HALF 20 /* enough to share a lease */
#define BOTH ((size_t)2 * HALF)
#define SOON (SECONDS(1) / 2)
#define LONG (60 * USEC_PER_SEC)

/* One exchange, and all that it needs until it ends. */
struct trip {
    struct settlement settlement;
    struct settlement_list finished;
    enum th_error_code verdict;
    struct queue_share share;
    struct reservation wanted;
    struct job_list taken;
};

/* Two of them, and the jobs that there are for them. */
struct pair {
    struct scene scene;
    struct trip first, second;
    struct uuid ids[BOTH];
};

/* On the heap: what is wanted points to the scene's queue. NULL: the backend cannot. */
static struct pair *pair_open(struct scene scene, size_t jobs)
{
    struct pair *pair = NULL;

    if (!store_can_overlap(scene.store)) {
        scene_close(&scene);
        return NULL;
    }
    pair = calloc(1, sizeof *pair);
    ck_assert_ptr_nonnull(pair);
    pair->scene = scene;
    scene_add_many(&pair->scene, jobs, pair->ids);
    return pair;
}

static void pair_close(struct pair **pair)
{
    if (!*pair)
        return;
    job_list_done(&(*pair)->first.taken);
    job_list_done(&(*pair)->second.taken);
    scene_close(&(*pair)->scene);
    free(*pair);
}

static void begin(struct scene *scene, struct trip *trip, size_t max)
{
    struct error err = {0};

    trip->wanted = scene_wants(scene, max);
    trip->share = scene->share;
    trip->wanted.queues = &trip->share;
    MUST(store_exchange_begin(scene->store, &trip->finished, &trip->wanted, NOW, &trip->verdict,
                              &trip->taken, &err));
}

static void begin_with(struct scene *scene, struct trip *trip, struct settlement settlement,
                       size_t max)
{
    trip->settlement = settlement;
    trip->finished = (struct settlement_list){&trip->settlement, 1};
    trip->verdict = TH_E_INTERNAL;
    begin(scene, trip, max);
}

/* Each of them wants so many. */
static void begin_both(struct pair *pair, size_t max)
{
    begin(&pair->scene, &pair->first, max);
    begin(&pair->scene, &pair->second, max);
}

static void end(struct scene *scene)
{
    struct error err = {0};

    MUST(store_exchange_end(scene->store, &err));
}

static void end_both(struct pair *pair)
{
    end(&pair->scene);
    end(&pair->scene);
}

static void assert_taken(const struct trip *trip, const struct uuid *ids, size_t count)
{
    ck_assert_uint_eq(trip->taken.count, count);
    for (size_t i = 0; i < count; i++)
        ASSERT_SAME_ID(&trip->taken.items[i].id, &ids[i]);
}

START_TEST(they_are_made_in_the_order_of_their_beginning)
{
    CLEANUP(pair_close) struct pair *pair = pair_open(scene_open(), BOTH);

    if (!pair)
        return;
    begin_both(pair, HALF);
    end(&pair->scene);
    assert_taken(&pair->first, pair->ids, HALF);
    ck_assert_uint_eq(pair->second.taken.count, 0);
    end(&pair->scene);
    assert_taken(&pair->second, pair->ids + HALF, HALF);
}
END_TEST

START_TEST(each_gets_its_own_verdicts)
{
    CLEANUP(pair_close) struct pair *pair = pair_open(scene_open(), 3);

    if (!pair)
        return;
    const struct claim done = scene_take(&pair->scene, NOW), failed = scene_take(&pair->scene, NOW);
    struct settlement refused = claim_settlement(&done, SETTLE_ACK);

    refused.token.bytes[0] ^= 1;
    begin_with(&pair->scene, &pair->first, refused, 0);
    begin_with(&pair->scene, &pair->second, claim_settlement(&failed, SETTLE_FAIL), 1);
    end_both(pair);
    ASSERT_VERDICT(pair->first.verdict, TH_E_LEASE_MISMATCH);
    ASSERT_VERDICT(pair->second.verdict, TH_OK);
    assert_taken(&pair->second, pair->ids + 2, 1);
    ASSERT_STATE(&pair->scene, &pair->ids[0], JOB_RUNNING);
    ASSERT_STATE(&pair->scene, &pair->ids[1], JOB_DEAD);
}
END_TEST

START_TEST(other_calls_wait_for_them_and_take_nothing_away)
{
    CLEANUP(pair_close) struct pair *pair = pair_open(scene_open(), BOTH);

    if (!pair)
        return;
    begin_both(pair, HALF);
    ASSERT_STATE(&pair->scene, &pair->ids[BOTH - 1], JOB_RUNNING);
    ck_assert_int_eq(store_exchange_fd(pair->scene.store), -1);
    end_both(pair);
    assert_taken(&pair->first, pair->ids, HALF);
    assert_taken(&pair->second, pair->ids + HALF, HALF);
}
END_TEST

/* Whoever hears a ring tells the server that it may ring again. */
START_TEST(a_ring_that_is_heard_meanwhile_takes_nothing_away)
{
    CLEANUP(pair_close) struct pair *pair = pair_open(scene_open(), BOTH);
    CLEANUP(scene_close) struct scene other = scene_open();
    struct uuid id;
    struct error err = {0};
    bool rang = true;

    if (!pair)
        return;
    while (rang)
        MUST(store_wait(pair->scene.store, 0, &rang, &err));
    scene_add_many(&other, 1, &id);
    begin_both(pair, HALF);
    MUST(store_wait(pair->scene.store, LONG, &rang, &err));
    ck_assert(rang);
    end_both(pair);
    assert_taken(&pair->first, pair->ids, HALF);
    assert_taken(&pair->second, pair->ids + HALF, HALF);
}
END_TEST

static bool is_coming(const struct scene *scene)
{
    struct pollfd socket = {.fd = store_exchange_fd(scene->store), .events = POLLIN};

    return socket.fd < 0 || poll(&socket, 1, 10 * 1000) == 1;
}

/* Or whoever sleeps until it comes sleeps for ever. */
START_TEST(an_answer_that_was_read_with_the_one_before_is_known)
{
    CLEANUP(pair_close) struct pair *pair = pair_open(scene_open(), 2);
    CLEANUP(scene_close) struct scene other = scene_open();

    if (!pair)
        return;
    begin_both(pair, 1);
    while (scene_state(&other, &pair->ids[1]) != JOB_RUNNING)
        continue;
    ck_assert(is_coming(&pair->scene));
    end(&pair->scene);
    ck_assert(is_coming(&pair->scene));
    end(&pair->scene);
    assert_taken(&pair->second, pair->ids + 1, 1);
}
END_TEST

/* Somebody's open transaction has the job. */
START_TEST(one_that_goes_the_long_way_minds_no_other)
{
    CLEANUP(pair_close) struct pair *pair = pair_open(scene_open(), 2);
    const struct backdoor *backdoor = scene_backend()->backdoor;

    if (!pair || !backdoor->cancel)
        return;
    const struct claim claim = scene_take(&pair->scene, NOW);
    void *transaction = backdoor->cancel(pair->scene.url, &claim.id);

    begin_with(&pair->scene, &pair->first, claim_settlement(&claim, SETTLE_ACK), 0);
    begin(&pair->scene, &pair->second, 1);
    end_both(pair);
    backdoor->commit(transaction);
    if (pair->first.verdict != TH_OK) /* in a batch nobody has to wait for it */
        ASSERT_VERDICT(pair->first.verdict, TH_E_UNAVAILABLE);
    assert_taken(&pair->second, pair->ids + 1, 1);
}
END_TEST

START_TEST(what_the_server_has_to_be_told_first_is_told)
{
    CLEANUP(pair_close) struct pair *pair = pair_open(scene_open(), 2);
    const struct backdoor *backdoor = scene_backend()->backdoor;

    if (!pair || !backdoor->forget_scripts)
        return;
    const struct claim claim = scene_take(&pair->scene, NOW);

    backdoor->forget_scripts(pair->scene.url);
    begin_with(&pair->scene, &pair->first, claim_settlement(&claim, SETTLE_ACK), 0);
    begin(&pair->scene, &pair->second, 1);
    end_both(pair);
    ASSERT_VERDICT(pair->first.verdict, TH_OK);
    assert_taken(&pair->second, pair->ids + 1, 1);
}
END_TEST

START_TEST(all_fail_when_the_backend_goes_away)
{
    CLEANUP(pair_close) struct pair *pair = pair_open(scene_open_fresh(), 1);
    struct error err = {0};

    if (!pair)
        return;
    pair->scene.deadline = SOON;
    struct companion blocker = companion_block_store(&pair->scene);

    begin_both(pair, 1);
    const bool worked = store_exchange_end(pair->scene.store, &err);
    const bool worked_too = store_exchange_end(pair->scene.store, &err);
    companion_kill(&blocker);
    ck_assert(!worked && !worked_too);
    ASSERT_VERDICT(err.code, TH_E_UNCERTAIN); /* when we gave up, the first was still under way */
    ck_assert_uint_eq(pair->first.taken.count + pair->second.taken.count, 0);
    ck_assert_uint_eq(scene_count(&pair->scene), 1);
}
END_TEST

START_TEST(a_store_can_be_closed_while_they_are_out)
{
    CLEANUP(pair_close) struct pair *pair = pair_open(scene_open(), 2);

    if (!pair)
        return;
    begin_both(pair, 1);
    scene_reopen(&pair->scene);
    ck_assert_uint_eq(pair->first.taken.count, 0);
}
END_TEST

Suite *overlap_suite(void)
{
    Suite *suite = suite_create("overlap");
    TCase *cases = contract_group(suite, "overlap");

    tcase_add_test(cases, they_are_made_in_the_order_of_their_beginning);
    tcase_add_test(cases, each_gets_its_own_verdicts);
    tcase_add_test(cases, other_calls_wait_for_them_and_take_nothing_away);
    tcase_add_test(cases, a_ring_that_is_heard_meanwhile_takes_nothing_away);
    tcase_add_test(cases, an_answer_that_was_read_with_the_one_before_is_known);
    tcase_add_test(cases, one_that_goes_the_long_way_minds_no_other);
    tcase_add_test(cases, what_the_server_has_to_be_told_first_is_told);
    tcase_add_test(cases, all_fail_when_the_backend_goes_away);
    tcase_add_test(cases, a_store_can_be_closed_while_they_are_out);
    return suite;
}
