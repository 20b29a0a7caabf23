/*
 * test_idempotency.c - one enqueue, however often it is sent.
 */
#include "bring.h"
#include "companion.h"
#include "contract.h"

#include <string.h>

#define RACERS 32
#define EXPIRY (NOW + USEC_PER_DAY)

static struct job job_named(struct scene *scene, const char *idempotency_key)
{
    struct job job = scene_job(scene);

    job.idempotency_key = idempotency_key;
    job.idempotency_expires = EXPIRY;
    return job;
}

/* It is answered with the first id and changes nothing. */
static void assert_duplicate(struct scene *scene, const char *key, const struct uuid *first,
                             usec_t now)
{
    AUTO_FREE char *before = scene_snapshot_queue(scene);
    struct enqueued again = scene_enqueue(scene, job_named(scene, key), now);

    ck_assert_msg(again.existed && !again.updated, "a duplicate was stored");
    ASSERT_SAME_ID(&again.id, first);
    assert_queue_unchanged(scene, before);
}

START_TEST(idem_first_returns_existed_false)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = job_named(&scene, "once");
    struct enqueued first = scene_enqueue(&scene, job, NOW);

    ck_assert(!first.existed && !first.updated);
    ASSERT_SAME_ID(&first.id, &job.id);
    ck_assert_int_eq(first.state, JOB_READY);
}
END_TEST

START_TEST(idem_duplicate_returns_existing_id_existed_true)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct enqueued first = scene_enqueue(&scene, job_named(&scene, "once"), NOW);
    struct enqueued again = scene_enqueue(&scene, job_named(&scene, "once"), NOW);

    ck_assert(again.existed && !again.updated);
    ASSERT_SAME_ID(&again.id, &first.id);
    ck_assert_int_eq(again.state, JOB_READY);
}
END_TEST

START_TEST(idem_duplicate_with_other_payload_type_run_at_does_not_mutate)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct enqueued first = scene_enqueue(&scene, job_named(&scene, "once"), NOW);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    struct job other = job_named(&scene, "once");

    other.type = "other";
    other.payload = (struct bytes){(const unsigned char *)"[1]", 3};
    other.priority = 0;
    other.run_at = LATER;
    other.timeout = SECONDS(1);
    other.max_attempts = 9;
    struct enqueued again = scene_enqueue(&scene, other, NOW + 1);
    ck_assert(again.existed && !again.updated);
    ASSERT_SAME_ID(&again.id, &first.id);
    assert_queue_unchanged(&scene, before);
}
END_TEST

START_TEST(idem_duplicate_creates_no_second_runnable_copy)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct enqueued first = scene_enqueue(&scene, job_named(&scene, "once"), NOW);

    scene_enqueue(&scene, job_named(&scene, "once"), NOW);
    struct claim claim = scene_take(&scene, NOW);
    ASSERT_SAME_ID(&claim.id, &first.id);
    scene_take_nothing(&scene, NOW);
    ck_assert_uint_eq(scene_count(&scene), 1);
}
END_TEST

START_TEST(idem_duplicate_within_a_batch_is_stored_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job jobs[3] = {job_named(&scene, "a"), job_named(&scene, "b"), job_named(&scene, "a")};
    struct enqueued enqueued[3];
    struct error err = {0};

    MUST(store_enqueue(scene.store, jobs, 3, NOW, enqueued, &err));
    ck_assert(!enqueued[0].existed && !enqueued[1].existed && enqueued[2].existed);
    ASSERT_SAME_ID(&enqueued[2].id, &enqueued[0].id);
    ck_assert_uint_eq(scene_count(&scene), 2);
}
END_TEST

START_TEST(idem_same_key_other_queue_is_new)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();

    scene_enqueue(&scene, job_named(&scene, "once"), NOW);
    struct job job = job_named(&other, "once");
    struct enqueued enqueued = scene_enqueue(&other, job, NOW);
    ck_assert(!enqueued.existed);
    ASSERT_SAME_ID(&enqueued.id, &job.id);
    ck_assert_uint_eq(scene_count(&other), 1);
}
END_TEST

/* Only the whole key counts. */
static const char *const different_keys[] = {"once ", " once", "Once", "onc", "once%", "o_ce", "*"};

START_TEST(idem_other_key_is_new)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    scene_enqueue(&scene, job_named(&scene, "once"), NOW);
    ck_assert(!scene_enqueue(&scene, job_named(&scene, different_keys[_i]), NOW).existed);
    ck_assert_uint_eq(scene_count(&scene), 2);
}
END_TEST

static const char *const blank_keys[] = {NULL, "", "   ", "\t\n"};

START_TEST(idem_blank_or_space_key_never_dedupes)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};

    struct enqueued first = scene_enqueue(&scene, job_named(&scene, blank_keys[_i]), NOW);
    struct enqueued second = scene_enqueue(&scene, job_named(&scene, blank_keys[_i]), NOW);
    ck_assert(!first.existed && !second.existed);
    ck_assert_uint_eq(scene_count(&scene), 2);
    ck_assert_ptr_null(scene_get(&scene, &first.id, &list)->idempotency_key);
}
END_TEST

static void enqueue_once(struct racer *racer)
{
    struct uuid_maker ids = {0};
    struct job job = job_defaults();
    struct enqueued enqueued;
    struct error err = {0};

    job.id = uuid_make(&ids, NOW);
    job.type = "work";
    job.queue = racer->scene->queue;
    job.idempotency_key = "raced for";
    job.idempotency_expires = EXPIRY;
    child_must(store_enqueue(racer->store, &job, 1, NOW, &enqueued, &err), &err);
    race_report(racer, &enqueued, sizeof enqueued);
}

START_TEST(idem_concurrent_enqueue_has_one_winner)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(buffer_done) struct buffer reports = {0};
    struct enqueued answers[RACERS];
    size_t winners = 0;

    race(&scene, RACERS, enqueue_once, NULL, &reports);
    ck_assert_uint_eq(reports.length, sizeof answers);
    memcpy(answers, reports.data, sizeof answers);
    for (size_t i = 0; i < RACERS; i++) {
        winners += !answers[i].existed;
        ASSERT_SAME_ID(&answers[i].id, &answers[0].id);
    }
    ck_assert_uint_eq(winners, 1);
    ck_assert_uint_eq(scene_count(&scene), 1);
    ASSERT_STATE(&scene, &answers[0].id, JOB_READY);
}
END_TEST

START_TEST(idem_holds_while_inflight_done_dlq_and_cancelled)
{
    static const enum settlement_kind ends[] = {SETTLE_ACK, SETTLE_FAIL, SETTLE_CANCEL};
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct enqueued first = scene_enqueue(&scene, job_named(&scene, "once"), NOW);
    struct claim claim = scene_take(&scene, NOW);

    assert_duplicate(&scene, "once", &first.id, NOW);
    scene_finish(&scene, &claim, ends[_i], NOW);
    assert_duplicate(&scene, "once", &first.id, NOW);
}
END_TEST

START_TEST(idem_ends_at_its_expiry_and_not_before)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct enqueued first = scene_enqueue(&scene, job_named(&scene, "once"), NOW);
    struct job late = job_named(&scene, "once");

    assert_duplicate(&scene, "once", &first.id, EXPIRY - 1);
    late.idempotency_expires = EXPIRY + USEC_PER_DAY;
    struct enqueued second = scene_enqueue(&scene, late, EXPIRY);
    ck_assert(!second.existed);
    ASSERT_SAME_ID(&second.id, &late.id);
    assert_duplicate(&scene, "once", &second.id, EXPIRY + USEC_PER_DAY - 1);
}
END_TEST

START_TEST(idem_window_is_not_prolonged_by_duplicates)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job duplicate = job_named(&scene, "once");

    scene_enqueue(&scene, job_named(&scene, "once"), NOW);
    duplicate.idempotency_expires = EXPIRY + USEC_PER_DAY;
    ck_assert(scene_enqueue(&scene, duplicate, EXPIRY - 1).existed);
    ck_assert(!scene_enqueue(&scene, job_named(&scene, "once"), EXPIRY).existed);
}
END_TEST

START_TEST(idem_key_reusable_after_purge)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct enqueued first = scene_enqueue(&scene, job_named(&scene, "once"), NOW);
    struct claim claim = scene_take(&scene, NOW);

    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    ASSERT_VERDICT(scene_remove(&scene, &first.id), TH_OK);
    struct job job = job_named(&scene, "once");
    struct enqueued second = scene_enqueue(&scene, job, NOW);
    ck_assert(!second.existed);
    ASSERT_SAME_ID(&second.id, &job.id);
}
END_TEST

/* Only somebody who removes the job says that it may come again. */
START_TEST(idem_outlives_a_job_that_retention_took)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct enqueued first = scene_enqueue(&scene, job_named(&scene, "once"), NOW);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement ack = claim_settlement(&claim, SETTLE_ACK);

    ack.forget = true;
    ASSERT_VERDICT(scene_settle(&scene, &ack, NOW), TH_OK);
    ck_assert(!scene_has(&scene, &first.id));
    assert_duplicate(&scene, "once", &first.id, NOW + 1);
}
END_TEST

START_TEST(idem_is_looked_at_before_key)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = job_named(&scene, "once");

    job.key = "key";
    scene_enqueue(&scene, job, NOW);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    struct job again = job_named(&scene, "once");
    again.key = "key";
    again.priority = 0;
    struct enqueued enqueued = scene_enqueue(&scene, again, NOW + 1);
    ck_assert_msg(enqueued.existed && !enqueued.updated, "a duplicate updated its job");
    ASSERT_SAME_ID(&enqueued.id, &job.id);
    assert_queue_unchanged(&scene, before);
}
END_TEST

/* Otherwise a repeated enqueue would undo what a third one updated in between. */
START_TEST(idem_holds_for_an_enqueue_that_updated_another_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought waiting = bring(&scene, JOB_READY);
    struct job update = bring_twin(&scene, &waiting);

    update.idempotency_key = "once";
    update.idempotency_expires = EXPIRY;
    ck_assert(scene_enqueue(&scene, update, NOW).updated);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    update.priority = 0;
    struct enqueued again = scene_enqueue(&scene, update, NOW + 1);
    ck_assert(again.existed && !again.updated);
    ASSERT_SAME_ID(&again.id, &waiting.id);
    assert_queue_unchanged(&scene, before);
}
END_TEST

Suite *idempotency_suite(void)
{
    Suite *suite = suite_create("idempotency");
    TCase *group = contract_group(suite, "idempotency");

    tcase_add_test(group, idem_first_returns_existed_false);
    tcase_add_test(group, idem_duplicate_returns_existing_id_existed_true);
    tcase_add_test(group, idem_duplicate_with_other_payload_type_run_at_does_not_mutate);
    tcase_add_test(group, idem_duplicate_creates_no_second_runnable_copy);
    tcase_add_test(group, idem_duplicate_within_a_batch_is_stored_once);
    tcase_add_test(group, idem_same_key_other_queue_is_new);
    tcase_add_loop_test(group, idem_other_key_is_new, 0, COUNT_OF(different_keys));
    tcase_add_loop_test(group, idem_blank_or_space_key_never_dedupes, 0, COUNT_OF(blank_keys));
    tcase_add_test(group, idem_concurrent_enqueue_has_one_winner);
    tcase_add_loop_test(group, idem_holds_while_inflight_done_dlq_and_cancelled, 0, 3);
    tcase_add_test(group, idem_ends_at_its_expiry_and_not_before);
    tcase_add_test(group, idem_window_is_not_prolonged_by_duplicates);
    tcase_add_test(group, idem_key_reusable_after_purge);
    tcase_add_test(group, idem_outlives_a_job_that_retention_took);
    tcase_add_test(group, idem_is_looked_at_before_key);
    tcase_add_test(group, idem_holds_for_an_enqueue_that_updated_another_job);
    return suite;
}
