/*
 * test_enqueue.c - what was let in is stored, whole and in order, or not at all.
 */
#include "bring.h"
#include "contract.h"

#include "base/timestamp.h"

#include <assert.h>
#include <string.h>

#define NAME_OF_128                                                                                \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-"                           \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define MEBIBYTE ((size_t)1 << 20)

static_assert(sizeof NAME_OF_128 - 1 == JOB_NAME_MAX, "a name as long as allowed");

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

/* The caller frees it. Every byte there is, NUL first. */
static unsigned char *binary(size_t length)
{
    unsigned char *data = malloc(length);

    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; i < length; i++)
        data[i] = (unsigned char)(i % 251 + i / 251 % 5);
    return data;
}

static struct job job_with_every_field(struct scene *scene, struct bytes payload)
{
    struct job job = scene_job(scene);

    job.type = NAME_OF_128;
    job.encoding = JOB_RAW;
    job.payload = payload;
    job.priority = 9;
    job.run_at = NOW + 1;
    job.timeout = SECONDS(7) + 654321;
    job.max_attempts = 7;
    job.max_stalls = 8;
    job.attempts = 5;
    job.stalls = 6;
    job.key = "Schl\xc3\xbcssel \xe9\x8d\xb5 \xf0\x9f\x94\x91 '\"\\%_;--";
    job.update = (struct keyed_flags){false, UPDATE_RUN_AT_IF_LATER, false, true};
    job.idempotency_key = "\xc3\xa9 unique: {}[]*?";
    job.idempotency_expires = NOW + USEC_PER_DAY + 1;
    return job;
}

static void assert_as_enqueued(const struct job *stored, const struct job *job)
{
    ck_assert_str_eq(stored->type, job->type);
    ck_assert_str_eq(stored->queue, job->queue);
    ck_assert_int_eq(stored->encoding, job->encoding);
    ck_assert_uint_eq(stored->payload.length, job->payload.length);
    ck_assert_mem_eq(stored->payload.data, job->payload.data, job->payload.length);
    ck_assert_int_eq(stored->priority, job->priority);
    ASSERT_TIME(stored->run_at, job->run_at);
    ASSERT_TIME(stored->timeout, job->timeout);
    ck_assert_int_eq(stored->max_attempts, job->max_attempts);
    ck_assert_int_eq(stored->max_stalls, job->max_stalls);
    ck_assert_int_eq(stored->attempts, job->attempts);
    ck_assert_int_eq(stored->stalls, job->stalls);
    ck_assert_pstr_eq(stored->key, job->key);
    ck_assert_pstr_eq(stored->idempotency_key, job->idempotency_key);
    if (job->key)
        ck_assert_int_eq(keyed_flags_pack(stored->update), keyed_flags_pack(job->update));
}

static void assert_nothing_happened_yet(const struct job *stored)
{
    ASSERT_TIME(stored->created_at, NOW);
    ASSERT_TIME(stored->started_at, 0);
    ASSERT_TIME(stored->ended_at, 0);
    ASSERT_TIME(stored->failed_at, 0);
    ASSERT_TIME(stored->expires_at, 0);
    ASSERT_TIME(stored->cancel_requested_at, 0);
    ck_assert_int_eq(stored->executions, 0);
    ck_assert_int_eq(stored->progress_percent, -1);
    ck_assert_int_eq(stored->exit_code, JOB_NO_EXIT_CODE);
    ck_assert_int_eq(stored->reason, REASON_NONE);
    ck_assert(uuid_is_nil(&stored->merged_into));
    ck_assert_ptr_null(stored->pool);
    ck_assert_ptr_null(stored->last_error);
    ck_assert_ptr_null(stored->result.data);
    ck_assert_uint_eq(stored->run_count, 0);
}

START_TEST(enqueue_persists_every_field)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    AUTO_FREE unsigned char *payload = binary(MEBIBYTE);
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = job_with_every_field(&scene, (struct bytes){payload, MEBIBYTE});

    struct enqueued enqueued = scene_enqueue(&scene, job, NOW);
    ASSERT_SAME_ID(&enqueued.id, &job.id);
    ck_assert_int_eq(enqueued.state, JOB_SCHEDULED);
    ck_assert(!enqueued.existed && !enqueued.updated);

    scene_reopen(&scene);
    const struct job *stored = scene_get(&scene, &job.id, &list);
    ck_assert_int_eq(stored->state, JOB_SCHEDULED);
    ASSERT_TIME(stored->due, job.run_at);
    assert_as_enqueued(stored, &job);
    assert_nothing_happened_yet(stored);
}
END_TEST

START_TEST(enqueue_keeps_absent_what_is_absent)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = scene_job(&scene);

    job.encoding = JOB_RAW;
    job.payload = bytes_of("");
    job.priority = 0;
    scene_enqueue(&scene, job, NOW);
    const struct job *stored = scene_get(&scene, &job.id, &list);
    assert_as_enqueued(stored, &job);
    assert_nothing_happened_yet(stored);
    ck_assert_int_eq(stored->state, JOB_READY);
    ASSERT_TIME(stored->due, NOW);
}
END_TEST

/* The smallest moment, one that no double can hold, and the last one. */
static const usec_t moments[] = {TIMESTAMP_2000, ((usec_t)1 << 53) + 1, NOW + 1, TIMESTAMP_MAX};

START_TEST(enqueue_takes_a_payload_without_bytes_or_address)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = scene_job(&scene);

    job.encoding = JOB_RAW;
    job.payload = (struct bytes){0};
    scene_enqueue(&scene, job, NOW);
    ck_assert_uint_eq(scene_get(&scene, &job.id, &list)->payload.length, 0);
}
END_TEST

START_TEST(enqueue_keeps_moments_exact_to_the_microsecond)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = scene_job(&scene);

    job.run_at = moments[_i];
    job.timeout = JOB_TIMEOUT_MAX - 1;
    scene_enqueue(&scene, job, NOW);
    const struct job *stored = scene_get(&scene, &job.id, &list);
    ASSERT_TIME(stored->run_at, moments[_i]);
    ASSERT_TIME(stored->due, moments[_i]);
    ASSERT_TIME(stored->timeout, JOB_TIMEOUT_MAX - 1);
}
END_TEST

START_TEST(what_is_reserved_has_every_field)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    AUTO_FREE unsigned char *payload = binary(MEBIBYTE);
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = job_with_every_field(&scene, (struct bytes){payload, MEBIBYTE});
    struct reservation wanted = scene_wants(&scene, 1);

    job.run_at = NOW;
    scene_enqueue(&scene, job, NOW);
    scene_reserve(&scene, &wanted, NOW, &list);
    ck_assert_uint_eq(list.count, 1);
    ASSERT_SAME_ID(&list.items[0].id, &job.id);
    assert_as_enqueued(&list.items[0], &job);
    ck_assert_ptr_null(list.items[0].defect);
}
END_TEST

START_TEST(enqueue_ready_is_reservable_immediately)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct enqueued enqueued = scene_enqueue(&scene, scene_job(&scene), NOW);

    ck_assert_int_eq(enqueued.state, JOB_READY);
    struct claim claim = scene_take(&scene, NOW);
    ASSERT_SAME_ID(&claim.id, &enqueued.id);
}
END_TEST

START_TEST(enqueue_batch_is_ordered)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct reservation wanted = scene_wants(&scene, MANY);
    struct uuid ids[20];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    scene_reserve(&scene, &wanted, NOW, &list);
    ck_assert_uint_eq(list.count, COUNT_OF(ids));
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        ASSERT_SAME_ID(&list.items[i].id, &ids[i]);
}
END_TEST

START_TEST(enqueue_batch_with_an_invalid_job_stores_none)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job jobs[3] = {scene_job(&scene), scene_job(&scene), scene_job(&scene)};
    struct enqueued enqueued[3];
    struct error err = {0};

    jobs[2].timeout = -1;
    MUST_FAIL(TH_E_INVALID, store_enqueue(scene.store, jobs, 3, NOW, enqueued, &err));
    ck_assert_uint_eq(scene_count(&scene), 0);
}
END_TEST

START_TEST(enqueue_batch_that_meets_a_conflict_stores_none)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought waiting = bring(&scene, JOB_READY);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    struct job jobs[3] = {scene_job(&scene), scene_job(&scene), scene_job(&scene)};
    struct enqueued enqueued[3];
    struct error err = {0};

    /* Only the store can know that a job of another type has the key. */
    jobs[1].idempotency_key = "taken back";
    jobs[1].idempotency_expires = NOW + USEC_PER_DAY;
    jobs[2].key = waiting.key;
    MUST_FAIL(TH_E_CONFLICT, store_enqueue(scene.store, jobs, 3, NOW, enqueued, &err));
    assert_queue_unchanged(&scene, before);

    /* The idempotency record went with its job. */
    struct enqueued again = scene_enqueue(&scene, jobs[1], NOW);
    ck_assert(!again.existed);
}
END_TEST

START_TEST(enqueue_of_a_stored_id_changes_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = scene_job(&scene);

    scene_enqueue(&scene, job, NOW);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    job.priority = 1;
    job.payload = bytes_of("\"other\"");
    struct enqueued again = scene_enqueue(&scene, job, NOW + 1);
    ck_assert(again.existed && !again.updated);
    ASSERT_SAME_ID(&again.id, &job.id);
    assert_queue_unchanged(&scene, before);
}
END_TEST

START_TEST(enqueue_stores_an_id_once_within_a_batch)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job jobs[2] = {scene_job(&scene), scene_job(&scene)};
    struct enqueued enqueued[2];
    struct error err = {0};

    jobs[1].id = jobs[0].id;
    MUST(store_enqueue(scene.store, jobs, 2, NOW, enqueued, &err));
    ck_assert(!enqueued[0].existed && enqueued[1].existed);
    ck_assert_uint_eq(scene_count(&scene), 1);
}
END_TEST

static struct enqueued enqueue_given(struct scene *scene, struct job job, struct scene *elsewhere)
{
    job.id_is_given = true;
    job.queue = elsewhere->queue;
    return scene_enqueue(scene, job, NOW + 1);
}

/* Redis ran it twice. */
START_TEST(enqueue_of_an_id_that_is_in_another_queue_changes_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();
    struct job job = scene_job(&scene);

    scene_add(&other); /* so that both queues are there */
    scene_enqueue(&scene, job, NOW);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    AUTO_FREE char *before_there = scene_snapshot_queue(&other);
    for (int keys = 0; keys < 3; keys++) {
        job.key = keys == 1 ? "key" : NULL;
        job.idempotency_key = keys == 2 ? "once" : NULL;
        job.idempotency_expires = LATER;
        struct enqueued again = enqueue_given(&scene, job, &other);
        ck_assert(again.existed && !again.updated);
        ck_assert_int_eq(again.state, JOB_READY);
        ASSERT_SAME_ID(&again.id, &job.id);
        assert_queue_unchanged(&scene, before);
        assert_queue_unchanged(&other, before_there);
    }
    struct claim claim = scene_take(&scene, NOW + 1);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW + 1);
    ck_assert_int_eq(enqueue_given(&scene, job, &other).state, JOB_DONE);
}
END_TEST

START_TEST(enqueue_stores_an_id_once_within_a_batch_for_two_queues)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();
    struct job jobs[3] = {scene_job(&scene), scene_job(&scene), scene_job(&other)};
    struct enqueued enqueued[3];
    struct error err = {0};

    jobs[1].queue = other.queue;
    jobs[1].id = jobs[0].id;
    jobs[1].key = "key";
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        jobs[i].id_is_given = true;
    MUST(store_enqueue(scene.store, jobs, 3, NOW, enqueued, &err));
    ck_assert(!enqueued[0].existed && enqueued[1].existed && !enqueued[2].existed);
    ASSERT_SAME_ID(&enqueued[1].id, &jobs[0].id);
    ck_assert_int_eq(enqueued[1].state, JOB_READY);
    ck_assert_uint_eq(scene_count(&scene), 1);
    ck_assert_uint_eq(scene_count(&other), 1);
}
END_TEST

START_TEST(queues_are_isolated)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();
    struct uuid id = scene_add(&scene);

    scene_take_nothing(&other, NOW);
    ck_assert_uint_eq(scene_count(&other), 0);
    ASSERT_STATE(&scene, &id, JOB_READY);
    struct claim claim = scene_take(&scene, NOW);
    ASSERT_SAME_ID(&claim.id, &id);
}
END_TEST

START_TEST(namespaces_are_isolated)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open_fresh();
    struct uuid id = scene_add(&scene);

    memcpy(other.queue, scene.queue, sizeof other.queue);
    scene_take_nothing(&other, NOW);
    ck_assert(!scene_has(&other, &id));
    ck_assert_uint_eq(scene_count(&other), 0);
    ASSERT_STATE(&scene, &id, JOB_READY);
}
END_TEST

static void end_damaged(struct scene *scene, const struct job *job)
{
    struct settlement settlement;

    ck_assert_msg(job->defect != NULL, "the store handed out a damaged job as sound");
    ck_assert(settlement_instead_of_run(job, &job_limits_default, &settlement));
    ck_assert_int_eq(settlement.kind, SETTLE_FAIL);
    ASSERT_VERDICT(scene_settle(scene, &settlement, NOW), TH_OK);
}

START_TEST(stored_corrupt_record_goes_to_dlq_not_loop)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    CLEANUP(job_list_done) struct job_list ended = {0};
    struct reservation wanted = scene_wants(&scene, MANY);
    struct uuid ids[3];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    scene_backend()->backdoor->damage_job(scene.url, &ids[1]);
    scene_reserve(&scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, 3);
    ck_assert_ptr_null(taken.items[0].defect);
    ck_assert_ptr_null(taken.items[2].defect);
    end_damaged(&scene, &taken.items[1]);

    const struct job *dead = scene_get(&scene, &ids[1], &ended);
    ck_assert_int_eq(dead->state, JOB_DEAD);
    ck_assert_int_eq(dead->reason, REASON_INVALID_PAYLOAD);
    ck_assert_uint_eq(scene_count(&scene), 3);
    scene_take_nothing(&scene, NOW);
}
END_TEST

Suite *enqueue_suite(void)
{
    Suite *suite = suite_create("enqueue");
    TCase *storing = contract_group(suite, "storing");

    tcase_add_test(storing, enqueue_persists_every_field);
    tcase_add_test(storing, enqueue_keeps_absent_what_is_absent);
    tcase_add_loop_test(storing, enqueue_keeps_moments_exact_to_the_microsecond, 0,
                        COUNT_OF(moments));
    tcase_add_test(storing, enqueue_takes_a_payload_without_bytes_or_address);
    tcase_add_test(storing, what_is_reserved_has_every_field);
    tcase_add_test(storing, enqueue_ready_is_reservable_immediately);
    tcase_add_test(storing, enqueue_batch_is_ordered);
    tcase_add_test(storing, enqueue_batch_with_an_invalid_job_stores_none);
    tcase_add_test(storing, enqueue_batch_that_meets_a_conflict_stores_none);
    tcase_add_test(storing, enqueue_of_a_stored_id_changes_nothing);
    tcase_add_test(storing, enqueue_stores_an_id_once_within_a_batch);
    tcase_add_test(storing, enqueue_of_an_id_that_is_in_another_queue_changes_nothing);
    tcase_add_test(storing, enqueue_stores_an_id_once_within_a_batch_for_two_queues);
    tcase_add_test(storing, queues_are_isolated);
    tcase_add_test(storing, namespaces_are_isolated);
    tcase_add_test(storing, stored_corrupt_record_goes_to_dlq_not_loop);
    return suite;
}
