/*
 * test_overlap.c - exchanges in two steps: several are out at once. For backends that can.
 */
#include "companion.h"
#include "contract.h"

#include <poll.h>

#define HALF 20 /* enough to share a lease */
#define BOTH ((size_t)2 * HALF)
#define SOON (SECONDS(1) / 2)

/* One exchange, and all that it needs until it ends. */
struct trip {
    struct settlement settlement;
    struct settlement_list finished;
    enum th_error_code verdict;
    struct queue_share share;
    struct reservation wanted;
    struct job_list taken;
};

static void trip_done(struct trip *trip)
{
    job_list_done(&trip->taken);
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

static void end(struct scene *scene)
{
    struct error err = {0};

    MUST(store_exchange_end(scene->store, &err));
}

static void assert_taken(const struct trip *trip, const struct uuid *ids, size_t count)
{
    ck_assert_uint_eq(trip->taken.count, count);
    for (size_t i = 0; i < count; i++)
        ASSERT_SAME_ID(&trip->taken.items[i].id, &ids[i]);
}

START_TEST(they_are_made_in_the_order_of_their_beginning)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(trip_done) struct trip first = {0};
    CLEANUP(trip_done) struct trip second = {0};
    struct uuid ids[BOTH];

    if (!store_can_overlap(scene.store))
        return;
    scene_add_many(&scene, BOTH, ids);
    begin(&scene, &first, HALF);
    begin(&scene, &second, HALF);
    end(&scene);
    assert_taken(&first, ids, HALF);
    ck_assert_uint_eq(second.taken.count, 0);
    end(&scene);
    assert_taken(&second, ids + HALF, HALF);
}
END_TEST

START_TEST(each_gets_its_own_verdicts)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(trip_done) struct trip first = {0};
    CLEANUP(trip_done) struct trip second = {0};
    struct uuid ids[3];

    if (!store_can_overlap(scene.store))
        return;
    scene_add_many(&scene, COUNT_OF(ids), ids);
    const struct claim done = scene_take(&scene, NOW), failed = scene_take(&scene, NOW);
    struct settlement refused = claim_settlement(&done, SETTLE_ACK);

    refused.token.bytes[0] ^= 1;
    begin_with(&scene, &first, refused, 0);
    begin_with(&scene, &second, claim_settlement(&failed, SETTLE_FAIL), 1);
    end(&scene);
    end(&scene);
    ASSERT_VERDICT(first.verdict, TH_E_LEASE_MISMATCH);
    ASSERT_VERDICT(second.verdict, TH_OK);
    assert_taken(&second, ids + 2, 1);
    ASSERT_STATE(&scene, &ids[0], JOB_RUNNING);
    ASSERT_STATE(&scene, &ids[1], JOB_DEAD);
}
END_TEST

START_TEST(other_calls_wait_for_them_and_take_nothing_away)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(trip_done) struct trip first = {0};
    CLEANUP(trip_done) struct trip second = {0};
    struct uuid ids[BOTH];

    if (!store_can_overlap(scene.store))
        return;
    scene_add_many(&scene, BOTH, ids);
    begin(&scene, &first, HALF);
    begin(&scene, &second, HALF);
    ASSERT_STATE(&scene, &ids[BOTH - 1], JOB_RUNNING);
    ck_assert_int_eq(store_exchange_fd(scene.store), -1);
    end(&scene);
    end(&scene);
    assert_taken(&first, ids, HALF);
    assert_taken(&second, ids + HALF, HALF);
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
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();
    CLEANUP(trip_done) struct trip first = {0};
    CLEANUP(trip_done) struct trip second = {0};
    struct uuid ids[2];

    if (!store_can_overlap(scene.store))
        return;
    scene_add_many(&scene, COUNT_OF(ids), ids);
    begin(&scene, &first, 1);
    begin(&scene, &second, 1);
    while (scene_state(&other, &ids[1]) != JOB_RUNNING)
        continue;
    ck_assert(is_coming(&scene));
    end(&scene);
    ck_assert(is_coming(&scene));
    end(&scene);
    assert_taken(&second, ids + 1, 1);
}
END_TEST

/* Somebody's open transaction has the job. */
START_TEST(one_that_goes_the_long_way_minds_no_other)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(trip_done) struct trip first = {0};
    CLEANUP(trip_done) struct trip second = {0};
    const struct backdoor *backdoor = scene_backend()->backdoor;
    struct uuid ids[2];

    if (!store_can_overlap(scene.store) || !backdoor->cancel)
        return;
    scene_add_many(&scene, COUNT_OF(ids), ids);
    const struct claim claim = scene_take(&scene, NOW);
    void *transaction = backdoor->cancel(scene.url, &claim.id);

    begin_with(&scene, &first, claim_settlement(&claim, SETTLE_ACK), 0);
    begin(&scene, &second, 1);
    end(&scene);
    end(&scene);
    backdoor->commit(transaction);
    if (first.verdict != TH_OK) /* in a batch nobody has to wait for it */
        ASSERT_VERDICT(first.verdict, TH_E_UNAVAILABLE);
    assert_taken(&second, ids + 1, 1);
}
END_TEST

START_TEST(all_fail_when_the_backend_goes_away)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(trip_done) struct trip first = {0};
    CLEANUP(trip_done) struct trip second = {0};
    struct error err = {0};

    if (!store_can_overlap(scene.store))
        return;
    scene_add(&scene);
    scene.deadline = SOON;
    struct companion blocker = companion_block_store(&scene);

    begin(&scene, &first, 1);
    begin(&scene, &second, 1);
    const bool worked = store_exchange_end(scene.store, &err);
    const bool worked_too = store_exchange_end(scene.store, &err);
    companion_kill(&blocker);
    ck_assert(!worked && !worked_too);
    ASSERT_VERDICT(err.code, TH_E_UNCERTAIN); /* when we gave up, the first was still under way */
    ck_assert_uint_eq(first.taken.count + second.taken.count, 0);
    ck_assert_uint_eq(scene_count(&scene), 1);
}
END_TEST

START_TEST(a_store_can_be_closed_while_they_are_out)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(trip_done) struct trip first = {0};
    CLEANUP(trip_done) struct trip second = {0};
    struct uuid ids[2];

    if (!store_can_overlap(scene.store))
        return;
    scene_add_many(&scene, COUNT_OF(ids), ids);
    begin(&scene, &first, 1);
    begin(&scene, &second, 1);
    scene_reopen(&scene);
    ck_assert_uint_eq(first.taken.count, 0);
}
END_TEST

Suite *overlap_suite(void)
{
    Suite *suite = suite_create("overlap");
    TCase *cases = contract_group(suite, "overlap");

    tcase_add_test(cases, they_are_made_in_the_order_of_their_beginning);
    tcase_add_test(cases, each_gets_its_own_verdicts);
    tcase_add_test(cases, other_calls_wait_for_them_and_take_nothing_away);
    tcase_add_test(cases, an_answer_that_was_read_with_the_one_before_is_known);
    tcase_add_test(cases, one_that_goes_the_long_way_minds_no_other);
    tcase_add_test(cases, all_fail_when_the_backend_goes_away);
    tcase_add_test(cases, a_store_can_be_closed_while_they_are_out);
    return suite;
}
