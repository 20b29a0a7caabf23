/*
 * test_checks.c - what is refused at the door, before the storage is touched.
 */
#include "companion.h"
#include "contract.h"

#include "base/timestamp.h"

#include <assert.h>
#include <string.h>

#define NAME_OF_128                                                                                \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-"                           \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static_assert(sizeof NAME_OF_128 - 1 == JOB_NAME_MAX, "a name as long as allowed");

static void assert_rejected(struct scene *scene, const char *what, struct job job)
{
    AUTO_FREE char *before = scene_snapshot_queue(scene);
    struct enqueued enqueued = {0};
    struct error err = {0};

    ck_assert_msg(!store_enqueue(scene->store, &job, 1, NOW, &enqueued, &err), "%s is not refused",
                  what);
    ASSERT_VERDICT(err.code, TH_E_INVALID);
    ck_assert_msg(err.text[0] != '\0', "a refusal says why");
    assert_queue_unchanged(scene, before);
    ck_assert_msg(!scene_has(scene, &job.id), "a job that was refused is stored");
}

START_TEST(enqueue_rejects_blank_id)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = scene_job(&scene);

    job.id = (struct uuid){{0}};
    assert_rejected(&scene, "a blank id", job);
}
END_TEST

static const char *const blanks[] = {NULL, "", " ", "\t\n"};

START_TEST(enqueue_rejects_blank_type)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = scene_job(&scene);

    job.type = blanks[_i];
    assert_rejected(&scene, "a blank type", job);
}
END_TEST

START_TEST(enqueue_rejects_blank_queue)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = scene_job(&scene);

    job.queue = blanks[_i];
    assert_rejected(&scene, "a blank queue", job);
}
END_TEST

static const char *const bad_names[] = {
    "a b", "a/b", "a*", "a\nb", "m\xc3\xbcll", "a\x7f", NAME_OF_128 "_",
};

START_TEST(enqueue_rejects_names_outside_the_set)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job bad_type = scene_job(&scene), bad_queue = scene_job(&scene);

    bad_type.type = bad_names[_i];
    assert_rejected(&scene, "a bad type", bad_type);
    bad_queue.queue = bad_names[_i];
    assert_rejected(&scene, "a bad queue", bad_queue);
}
END_TEST

/* One field per row; the others are 0, which is absent. */
static const struct {
    const char *rule;
    struct job job;
} bad_numbers[] = {
    {"negative timeout", {.timeout = -1}},
    {"negative attempts", {.attempts = -1}},
    {"negative max_attempts", {.max_attempts = -1}},
    {"negative stalls", {.stalls = -1}},
    {"negative max_stalls", {.max_stalls = -1}},
    {"attempts over max_attempts", {.attempts = 5, .max_attempts = 4}},
    {"stalls over max_stalls", {.stalls = 4, .max_stalls = 3}},
    {"negative priority", {.priority = -1}},
    {"priority over 9", {.priority = 10}},
    {"negative run_at", {.run_at = -1}},
    {"run_at after the year 9999", {.run_at = TIMESTAMP_MAX + 1}},
    {"timeout over a year", {.timeout = JOB_TIMEOUT_MAX + 1}},
    {"the most negative number", {.timeout = INT64_MIN}},
};

static struct job with_numbers_of(struct job job, const struct job *numbers)
{
    job.timeout = numbers->timeout;
    job.attempts = numbers->attempts;
    job.max_attempts = numbers->max_attempts;
    job.stalls = numbers->stalls;
    job.max_stalls = numbers->max_stalls;
    job.priority = numbers->priority;
    job.run_at = numbers->run_at;
    return job;
}

START_TEST(enqueue_rejects_negative_numbers_and_attempts_over_max)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    assert_rejected(&scene, bad_numbers[_i].rule,
                    with_numbers_of(scene_job(&scene), &bad_numbers[_i].job));
}
END_TEST

static const usec_t bad_times[] = {-1, INT64_MIN, TIMESTAMP_MAX + 1, INT64_MAX};

START_TEST(settle_and_requeue_reject_a_run_at_that_enqueue_rejects)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement retry = claim_settlement(&claim, SETTLE_RETRY);
    const struct settlement_list list = {&retry, 1};
    enum th_error_code verdict;
    struct error err = {0};

    retry.run_at = bad_times[_i];
    MUST_FAIL(TH_E_INVALID, store_settle(scene.store, &list, NOW, &verdict, &err));
    scene_finish(&scene, &claim, SETTLE_FAIL, NOW);
    MUST_FAIL(TH_E_INVALID, store_requeue(scene.store, &id, 1, bad_times[_i], NOW, &verdict, &err));
    ASSERT_STATE(&scene, &id, JOB_DEAD);
}
END_TEST

START_TEST(enqueue_validates_before_touching_storage)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct companion blocker = companion_block_store(&scene);
    struct job jobs[2] = {scene_job(&scene), scene_job(&scene)};
    struct enqueued enqueued[2];
    struct error err = {0};

    /* A store that was asked would answer that it is unavailable. */
    jobs[1].type = "";
    MUST_FAIL(TH_E_INVALID, store_enqueue(scene.store, jobs, 2, NOW, enqueued, &err));
    companion_kill(&blocker);
    ck_assert_uint_eq(scene_count(&scene), 0);
}
END_TEST

START_TEST(enqueue_rejects_oversized_payload)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    AUTO_FREE unsigned char *payload = calloc(1, JOB_PAYLOAD_DEFAULT + 1);
    struct job job = scene_job(&scene);

    ck_assert_ptr_nonnull(payload);
    job.encoding = JOB_RAW;
    job.payload = (struct bytes){payload, JOB_PAYLOAD_DEFAULT + 1};
    assert_rejected(&scene, "a payload over 1 MiB", job);
}
END_TEST

START_TEST(the_limit_of_payloads_is_an_option)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    const struct store_options options = {.migrate = true, .max_payload = 10};
    struct job job = scene_job(&scene);
    struct error err = {0};

    store_close(&scene.store);
    MUST(store_open(scene.url, &options, &scene.store, &err));
    job.encoding = JOB_RAW;
    job.payload = (struct bytes){(const unsigned char *)"01234567890", 11};
    assert_rejected(&scene, "a payload over the limit", job);
    job.payload.length = 10;
    ck_assert(!scene_enqueue(&scene, job, NOW).existed);
}
END_TEST

Suite *checks_suite(void)
{
    Suite *suite = suite_create("checks");
    TCase *checks = contract_group(suite, "checks");

    tcase_add_test(checks, enqueue_rejects_blank_id);
    tcase_add_loop_test(checks, enqueue_rejects_blank_type, 0, COUNT_OF(blanks));
    tcase_add_loop_test(checks, enqueue_rejects_blank_queue, 0, COUNT_OF(blanks));
    tcase_add_loop_test(checks, enqueue_rejects_names_outside_the_set, 0, COUNT_OF(bad_names));
    tcase_add_loop_test(checks, enqueue_rejects_negative_numbers_and_attempts_over_max, 0,
                        COUNT_OF(bad_numbers));
    tcase_add_loop_test(checks, settle_and_requeue_reject_a_run_at_that_enqueue_rejects, 0,
                        COUNT_OF(bad_times));
    tcase_add_test(checks, enqueue_validates_before_touching_storage);
    tcase_add_test(checks, enqueue_rejects_oversized_payload);
    tcase_add_test(checks, the_limit_of_payloads_is_an_option);
    return suite;
}
