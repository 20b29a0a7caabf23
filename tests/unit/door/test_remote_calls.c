/*
 * test_remote_calls.c - what doors and the gate say of jobs: it arrives as it was sent, and what
 * nobody sends is refused.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "door/claim_call.h"
#include "door/enqueue_call.h"
#include "door/lease_calls.h"
#include "door/pack.h"
#include "door/remote_lease.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static struct arena arena;
static struct buffer pack = BUFFER(PACK_MAX);
static struct error err;

static void setup(void)
{
    arena = (struct arena){0};
    buffer_clear(&pack);
}

static void teardown(void)
{
    arena_done(&arena);
    buffer_done(&pack);
}

static struct bytes packed(void)
{
    return (struct bytes){(const unsigned char *)buffer_str(&pack), pack.length};
}

static const char *const tags[] = {"one", "two"};

static struct job a_job(void)
{
    struct job job = job_defaults();

    memset(&job.id, 7, sizeof job.id);
    memset(&job.token, 9, sizeof job.token);
    job.type = "mail";
    job.queue = "out";
    job.pool = "http.w";
    job.payload = (struct bytes){(const unsigned char *)"{}", 2};
    job.headers = "{\"a\":1}";
    job.tags = (struct tags){tags, 2};
    job.key = "k";
    job.update.run_at = UPDATE_RUN_AT_NEVER;
    job.run_at = 5000000;
    job.timeout = 60;
    job.attempts = 2;
    job.executions = 3;
    job.state = JOB_RUNNING;
    job.started_at = 100;
    job.expires_at = 200;
    job.last_error = "ouch";
    job.ref = -4;
    return job;
}

START_TEST(jobs_to_be_stored_arrive_as_they_were_sent)
{
    struct job job = a_job();
    usec_t delay = -1;
    const struct enqueue_call sent = {&job, &delay, 1};
    struct enqueue_call got;

    enqueue_call_pack(&pack, &sent);
    ck_assert_msg(enqueue_call_unpack(packed(), &arena, &got, &err), "%s", err.text);
    ck_assert_uint_eq(got.count, 1);
    ck_assert_int_eq(got.delays[0], -1);
    ck_assert_str_eq(got.jobs[0].type, "mail");
    ck_assert_str_eq(got.jobs[0].headers, job.headers);
    ck_assert_uint_eq(got.jobs[0].tags.count, 2);
    ck_assert_str_eq(got.jobs[0].tags.names[1], "two");
    ck_assert_int_eq(got.jobs[0].update.run_at, UPDATE_RUN_AT_NEVER);
    ck_assert_int_eq(got.jobs[0].run_at, job.run_at);
    ck_assert_ptr_null(got.jobs[0].idempotency_key);
}
END_TEST

START_TEST(a_claimed_job_arrives_with_its_lease)
{
    struct job job = a_job();
    const struct claim_answer sent = {&job, 1, REMOTE_QUIET};
    struct claim_answer got;

    claim_answer_pack(&pack, &sent);
    ck_assert_msg(claim_answer_unpack(packed(), &arena, &got, &err), "%s", err.text);
    ck_assert_int_eq(got.state, REMOTE_QUIET);
    ck_assert_uint_eq(got.count, 1);
    ck_assert(lease_token_equal(&got.jobs[0].token, &job.token));
    ck_assert_int_eq(got.jobs[0].ref, -4);
    ck_assert_int_eq(got.jobs[0].executions, 3);
    ck_assert_int_eq(got.jobs[0].expires_at, 200);
    ck_assert_str_eq(got.jobs[0].last_error, "ouch");
    ck_assert_str_eq(got.jobs[0].pool, "http.w");
}
END_TEST

START_TEST(a_claim_arrives_and_so_does_that_nobody_got_it)
{
    static const char *const queues[] = {"a", "b"};
    struct claim_call sent = {
        .pool = "http.w", .host = "::1", .queues = queues, .queue_count = 2, .max = 3, .wait = 7};
    struct claim_call got;
    struct batch_token batch;
    const char *pool;

    memset(&sent.batch, 5, sizeof sent.batch);
    claim_call_pack(&pack, &sent);
    ck_assert_msg(claim_call_unpack(packed(), &arena, &got, &err), "%s", err.text);
    ck_assert_uint_eq(got.queue_count, 2);
    ck_assert_str_eq(got.queues[1], "b");
    ck_assert_uint_eq(got.type_count, 0);
    ck_assert_int_eq(got.wait, 7);
    ck_assert_mem_eq(&got.batch, &sent.batch, sizeof got.batch);
    buffer_clear(&pack);
    unclaim_call_pack(&pack, "http.w", &sent.batch);
    ck_assert(unclaim_call_unpack(packed(), &pool, &batch, &err));
    ck_assert_str_eq(pool, "http.w");
    ck_assert_mem_eq(&batch, &sent.batch, sizeof batch);
}
END_TEST

START_TEST(what_a_worker_says_arrives_as_it_was_sent)
{
    const struct job job = a_job();
    const struct settle_call sent = {
        .lease = remote_lease_of(&job, 30), .kind = OUTCOME_FAILED, .error = "no", .retry_in = 12};
    struct settle_call got;
    const struct beat_call told = {.lease = sent.lease, .progress_percent = -1};
    struct beat_call heard;

    settle_call_pack(&pack, &sent);
    ck_assert_msg(settle_call_unpack(packed(), &got, &err), "%s", err.text);
    ck_assert_int_eq(got.kind, OUTCOME_FAILED);
    ck_assert_int_eq(got.retry_in, 12);
    ck_assert_str_eq(got.error, "no");
    ck_assert_str_eq(got.lease.queue, "out");
    ck_assert_ptr_null(got.result.data);
    buffer_clear(&pack);
    beat_call_pack(&pack, &told);
    ck_assert_msg(beat_call_unpack(packed(), &heard, &err), "%s", err.text);
    ck_assert_int_eq(heard.progress_percent, -1);
    ck_assert_int_eq(heard.lease.lease_for, 30);
}
END_TEST

/* ---- what a worker keeps ---- */

START_TEST(a_lease_is_a_text_and_back)
{
    const struct job job = a_job();
    const struct remote_lease lease = remote_lease_of(&job, 30);
    struct remote_lease got;

    remote_lease_write(&pack, &lease);
    remote_lease_read(buffer_str(&pack), &job.id, &arena, &got);
    ck_assert(!got.is_foreign);
    ck_assert_str_eq(got.pool, "http.w");
    ck_assert_str_eq(got.type, "mail");
    ck_assert(lease_token_equal(&got.token, &job.token));
    ck_assert_int_eq(got.ref, -4);
    ck_assert_int_eq(got.lease_for, 30);
}
END_TEST

START_TEST(a_text_that_is_cut_or_of_another_job_is_foreign)
{
    const struct job job = a_job();
    const struct remote_lease lease = remote_lease_of(&job, 30);
    const struct uuid other = {{1}};
    struct remote_lease got;

    remote_lease_write(&pack, &lease);
    remote_lease_read(buffer_str(&pack), &other, &arena, &got);
    ck_assert(got.is_foreign && !got.pool);
    ck_assert_int_eq(uuid_compare(&got.job, &other), 0);
    for (size_t length = 0; length < pack.length; length++) {
        remote_lease_read(arena_text_of(&arena, pack.data, length), &job.id, &arena, &got);
        ck_assert_msg(got.is_foreign, "%zu of its bytes", length);
    }
}
END_TEST

/* ---- what nobody sends ---- */

START_TEST(what_was_cut_is_refused)
{
    struct job job = a_job();
    usec_t delay = 1;
    const struct enqueue_call call = {&job, &delay, 1};
    struct enqueue_call got;

    enqueue_call_pack(&pack, &call);
    for (size_t length = 0; length < pack.length; length++) {
        const struct bytes part = {(const unsigned char *)pack.data, length};

        ck_assert(!enqueue_call_unpack(part, &arena, &got, &err));
        ck_assert_int_eq(err.code, TH_E_INTERNAL);
    }
}
END_TEST

START_TEST(names_that_no_store_takes_are_refused)
{
    static const char *const queues[] = {"a b"};
    const struct claim_call call = {
        .pool = "http.w", .host = "", .queues = queues, .queue_count = 1, .max = 1};
    struct claim_call got;

    claim_call_pack(&pack, &call);
    ck_assert(!claim_call_unpack(packed(), &arena, &got, &err));
}
END_TEST

START_TEST(a_worker_cannot_say_what_only_a_pool_may)
{
    const struct job job = a_job();
    const struct settle_call sent = {.lease = remote_lease_of(&job, 30), .kind = OUTCOME_ASIDE};
    struct settle_call got;

    settle_call_pack(&pack, &sent);
    ck_assert(!settle_call_unpack(packed(), &got, &err));
}
END_TEST

Suite *remote_calls_suite(void)
{
    Suite *suite = suite_create("door/remote_calls");
    TCase *calls = tcase_create("calls");

    tcase_add_checked_fixture(calls, setup, teardown);
    tcase_add_test(calls, jobs_to_be_stored_arrive_as_they_were_sent);
    tcase_add_test(calls, a_claimed_job_arrives_with_its_lease);
    tcase_add_test(calls, a_claim_arrives_and_so_does_that_nobody_got_it);
    tcase_add_test(calls, what_a_worker_says_arrives_as_it_was_sent);
    tcase_add_test(calls, a_lease_is_a_text_and_back);
    tcase_add_test(calls, a_text_that_is_cut_or_of_another_job_is_foreign);
    tcase_add_test(calls, what_was_cut_is_refused);
    tcase_add_test(calls, names_that_no_store_takes_are_refused);
    tcase_add_test(calls, a_worker_cannot_say_what_only_a_pool_may);
    suite_add_tcase(suite, calls);
    return suite;
}
