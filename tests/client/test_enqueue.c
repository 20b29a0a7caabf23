/*
 * test_enqueue.c - th_enqueue() and th_enqueue_many(): what is stored, and what is refused.
 */
#include "base/cleanup.h"
#include "scene.h"
#include "suites.h"

#include <string.h>

#define ID "0193f0a2-7c1d-7abc-8def-0123456789ab"

START_TEST(a_type_is_enough)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_new_job job = TH_NEW_JOB("email:send");
    struct th_receipt receipt;

    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &receipt, &scene.failure));
    ck_assert_int_eq(receipt.state, TH_STATE_READY);
    ck_assert(!receipt.existed && !receipt.updated);

    struct th_job_info *stored = scene_get(&scene, receipt.id);

    ck_assert_str_eq(stored->id, receipt.id);
    ck_assert_str_eq(stored->type, "email:send");
    ck_assert_str_eq(stored->queue, "default");
    ck_assert_int_eq(stored->state, TH_STATE_READY);
    ck_assert_int_eq(stored->priority, 5);
    ck_assert_int_eq(stored->encoding, TH_ENCODING_JSON);
    ck_assert_mem_eq(stored->payload, "null", 4);
    ck_assert_uint_eq(stored->payload_size, 4);
    ck_assert_int_eq(stored->progress_percent, -1);
    ck_assert_int_eq(stored->exit_code, -1);
    ck_assert_int_gt(stored->created_at, 0);
    ck_assert_int_eq(stored->max_attempts, 0);
    ck_assert_ptr_null(stored->key);
    ck_assert_ptr_null(stored->reason);
    ck_assert_uint_eq(stored->run_count, 0);
    th_job_info_free(stored);
}
END_TEST

START_TEST(every_field_comes_back)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_new_job job = TH_NEW_JOB("report:build");
    struct th_receipt receipt;

    job.id = ID;
    job.queue = "reports";
    job.payload = "{\"n\": 12345678901234567890123}";
    job.priority = 0;
    job.run_at = th_now(scene.client) + TH_SECONDS(3600);
    job.timeout = TH_SECONDS(30);
    job.max_attempts = 7;
    job.max_stalls = 2;
    job.key = "k";
    job.idempotency_key = "i";
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &receipt, &scene.failure));
    ck_assert_str_eq(receipt.id, ID);
    ck_assert_int_eq(receipt.state, TH_STATE_SCHEDULED);

    struct th_job_info *stored = scene_get(&scene, ID);

    ck_assert_str_eq(stored->queue, "reports");
    ck_assert_uint_eq(stored->payload_size, strlen(job.payload));
    ck_assert_mem_eq(stored->payload, job.payload, stored->payload_size);
    ck_assert_int_eq(stored->priority, 0);
    ck_assert_int_eq(stored->run_at, job.run_at);
    ck_assert_int_eq(stored->timeout, job.timeout);
    ck_assert_int_eq(stored->max_attempts, 7);
    ck_assert_int_eq(stored->max_stalls, 2);
    ck_assert_str_eq(stored->key, "k");
    ck_assert_str_eq(stored->idempotency_key, "i");
    th_job_info_free(stored);
}
END_TEST

static const struct {
    const char *rule;
    const char *payload;
    size_t size;
    enum th_encoding encoding;
    const char *stored;
    size_t stored_size;
} payloads[] = {
    {"JSON is text unless told otherwise", "[1]", TH_TEXT, TH_ENCODING_JSON, "[1]", 3},
    {"JSON with a size ends there", "[1]xyz", 3, TH_ENCODING_JSON, "[1]", 3},
    {"JSON without a payload is null", NULL, TH_TEXT, TH_ENCODING_JSON, "null", 4},
    {"raw bytes may be zero", "a\0b", 3, TH_ENCODING_RAW, "a\0b", 3},
    {"raw text ends at its NUL", "a b", TH_TEXT, TH_ENCODING_RAW, "a b", 3},
    {"raw may be empty", "", 0, TH_ENCODING_RAW, "", 0},
    {"raw without a payload is empty", NULL, 0, TH_ENCODING_RAW, "", 0},
};

START_TEST(a_payload_comes_back_as_it_was)
{
    CLEANUP(scene_done) struct scene scene = scene_open(SCENE_SQLITE);
    struct th_new_job job = TH_NEW_JOB("x");
    struct th_receipt receipt;

    job.payload = payloads[_i].payload;
    job.payload_size = payloads[_i].size;
    job.encoding = payloads[_i].encoding;
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &receipt, &scene.failure));

    struct th_job_info *stored = scene_get(&scene, receipt.id);

    ck_assert_msg(stored->encoding == payloads[_i].encoding &&
                      stored->payload_size == payloads[_i].stored_size &&
                      memcmp(stored->payload, payloads[_i].stored, stored->payload_size) == 0,
                  "%s", payloads[_i].rule);
    th_job_info_free(stored);
}
END_TEST

START_TEST(a_receipt_and_a_failure_are_optional)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_new_job job = TH_NEW_JOB("x");

    ck_assert(th_enqueue(scene.client, &job, NULL, NULL));
    ck_assert(!th_enqueue(scene.client, NULL, NULL, NULL));
}
END_TEST

START_TEST(many_are_stored_in_their_order)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_new_job jobs[] = {TH_NEW_JOB("a"), TH_NEW_JOB("b"), TH_NEW_JOB("c")};
    struct th_receipt receipts[COUNT_OF(jobs)];
    struct th_filter filter = TH_FILTER;
    struct th_page *page;

    filter.oldest_first = 1;
    scene_assert_worked(
        &scene, th_enqueue_many(scene.client, jobs, COUNT_OF(jobs), receipts, &scene.failure));
    scene_assert_worked(&scene, th_list(scene.client, &filter, &page, &scene.failure));
    ck_assert_uint_eq(page->count, COUNT_OF(jobs));
    for (size_t i = 0; i < page->count; i++) {
        ck_assert_str_eq(page->jobs[i]->type, jobs[i].type);
        ck_assert_str_eq(page->jobs[i]->id, receipts[i].id);
    }
    th_page_free(page);
}
END_TEST

START_TEST(one_bad_job_and_none_of_them_is_stored)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_new_job jobs[] = {TH_NEW_JOB("a"), TH_NEW_JOB("b"), TH_NEW_JOB("c")};
    struct th_receipt receipts[COUNT_OF(jobs)];
    struct th_page *page;

    jobs[1].payload = "{\"a\":1,}";
    ck_assert(!th_enqueue_many(scene.client, jobs, COUNT_OF(jobs), receipts, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "job 2: payload is not JSON: line 1, column ");
    ck_assert_ptr_nonnull(strstr(scene.failure.text, "(use raw for other bytes)"));
    ck_assert_str_eq(receipts[0].id, "");

    scene_assert_worked(&scene, th_list(scene.client, NULL, &page, &scene.failure));
    ck_assert_uint_eq(page->count, 0);
    th_page_free(page);
}
END_TEST

START_TEST(none_of_them_is_a_success)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);

    scene_assert_worked(&scene, th_enqueue_many(scene.client, NULL, 0, NULL, &scene.failure));
}
END_TEST

START_TEST(an_idempotency_key_stores_once)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_new_job job = TH_NEW_JOB("x");
    struct th_receipt first, second;

    job.idempotency_key = "once";
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &first, &scene.failure));
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &second, &scene.failure));
    ck_assert(!first.existed && second.existed);
    ck_assert_str_eq(first.id, second.id);
}
END_TEST

START_TEST(the_window_of_an_idempotency_key_is_an_option)
{
    CLEANUP(scene_done) struct scene scene = scene_make(_i);
    struct th_options options = TH_OPTIONS;
    struct th_new_job job = TH_NEW_JOB("x");
    struct th_receipt first, second;

    options.idempotency_window = 1;
    scene_assert_worked(&scene, th_open(scene.url, &options, &scene.client, &scene.failure));
    job.idempotency_key = "once";
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &first, &scene.failure));
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &second, &scene.failure));
    ck_assert(!second.existed);
    ck_assert_str_ne(first.id, second.id);
}
END_TEST

START_TEST(the_same_id_again_is_a_repetition)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_new_job job = TH_NEW_JOB("x");
    struct th_receipt receipt;

    job.id = ID;
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, NULL, &scene.failure));
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &receipt, &scene.failure));
    ck_assert(receipt.existed);
    ck_assert_str_eq(receipt.id, ID);
}
END_TEST

START_TEST(a_key_updates_the_waiting_job_as_the_flags_say)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_new_job job = TH_NEW_JOB("x");
    struct th_receipt first, second;

    job.key = "k";
    job.payload = "1";
    job.max_attempts = 3;
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &first, &scene.failure));
    job.payload = "2";
    job.max_attempts = 9;
    job.update_payload = 0;
    job.run_at = th_now(scene.client) + TH_SECONDS(3600);
    job.update_run_at = TH_UPDATE_IF_EARLIER;
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &second, &scene.failure));
    ck_assert(second.updated && !second.existed);
    ck_assert_str_eq(second.id, first.id);

    struct th_job_info *stored = scene_get(&scene, first.id);

    ck_assert_mem_eq(stored->payload, "1", 1);
    ck_assert_int_eq(stored->max_attempts, 9);
    ck_assert_int_eq(stored->state, TH_STATE_READY);
    th_job_info_free(stored);
}
END_TEST

START_TEST(a_key_of_another_type_is_a_conflict)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_new_job job = TH_NEW_JOB("x");

    job.key = "k";
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, NULL, &scene.failure));
    job.type = "y";
    ck_assert(!th_enqueue(scene.client, &job, NULL, &scene.failure));
    scene_assert_failure(&scene, TH_E_CONFLICT, "");
}
END_TEST

Suite *enqueue_suite(void)
{
    Suite *suite = suite_create("client/enqueue");
    TCase *enqueue = tcase_create("enqueue");

    tcase_add_loop_test(enqueue, a_type_is_enough, 0, SCENE_BACKENDS);
    tcase_add_loop_test(enqueue, every_field_comes_back, 0, SCENE_BACKENDS);
    tcase_add_loop_test(enqueue, a_payload_comes_back_as_it_was, 0, (int)COUNT_OF(payloads));
    tcase_add_loop_test(enqueue, a_receipt_and_a_failure_are_optional, 0, SCENE_BACKENDS);
    tcase_add_loop_test(enqueue, many_are_stored_in_their_order, 0, SCENE_BACKENDS);
    tcase_add_loop_test(enqueue, one_bad_job_and_none_of_them_is_stored, 0, SCENE_BACKENDS);
    tcase_add_loop_test(enqueue, none_of_them_is_a_success, 0, SCENE_BACKENDS);
    suite_add_tcase(suite, enqueue);

    TCase *again = tcase_create("again");

    tcase_add_loop_test(again, an_idempotency_key_stores_once, 0, SCENE_BACKENDS);
    tcase_add_loop_test(again, the_window_of_an_idempotency_key_is_an_option, 0, SCENE_BACKENDS);
    tcase_add_loop_test(again, the_same_id_again_is_a_repetition, 0, SCENE_BACKENDS);
    tcase_add_loop_test(again, a_key_updates_the_waiting_job_as_the_flags_say, 0, SCENE_BACKENDS);
    tcase_add_loop_test(again, a_key_of_another_type_is_a_conflict, 0, SCENE_BACKENDS);
    suite_add_tcase(suite, again);
    return suite;
}
