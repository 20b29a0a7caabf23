/*
 * test_request.c - what callers get wrong, and callers of older and newer headers.
 */
#include "base/cleanup.h"
#include "scene.h"
#include "suites.h"

#include <string.h>

#define WITH_SIZE(...)                                                                             \
    {                                                                                              \
        .size = sizeof(struct th_new_job), __VA_ARGS__                                             \
    }
#define TEN          "0123456789"
#define HUNDRED      TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONGEST_NAME HUNDRED TEN TEN "01234567"

static const struct {
    const char *text; /* that the failure begins with */
    struct th_new_job job;
} bad_jobs[] = {
    {"job: size is 0: initialise it with TH_NEW_JOB", {.type = "x"}},
    {"job: size is ", {.size = SIZE_MAX, .type = "x"}},
    {"type is blank", WITH_SIZE(.type = NULL)},
    {"type is blank", WITH_SIZE(.type = "")},
    {"type 'a b' has a character", WITH_SIZE(.type = "a b")},
    {"type '0123", WITH_SIZE(.type = LONGEST_NAME "8")},
    {"id 'nonsense' is not the id of a job", WITH_SIZE(.type = "x", .id = "nonsense")},
    {"id '00000000-0000-0000-0000-000000000000' is not",
     WITH_SIZE(.type = "x", .id = "00000000-0000-0000-0000-000000000000")},
    {"queue is blank", WITH_SIZE(.type = "x", .queue = "")},
    {"queue 'a/b' has", WITH_SIZE(.type = "x", .queue = "a/b")},
    {"payload is not JSON: line 1, column 6: ",
     WITH_SIZE(.type = "x", .payload = "{\"a\":}", .payload_size = TH_TEXT)},
    {"payload is not JSON: line 1, column 1: ", WITH_SIZE(.type = "x", .payload = "")},
    {"payload is 31 bytes long: use at most 30",
     WITH_SIZE(.type = "x", .payload = TEN TEN TEN "1", .payload_size = TH_TEXT)},
    {"payload is 31 bytes long", WITH_SIZE(.type = "x", .payload = TEN TEN TEN "1",
                                           .payload_size = 31, .encoding = TH_ENCODING_RAW)},
    {"payload is NULL, but payload_size is 3", WITH_SIZE(.type = "x", .payload_size = 3)},
    {"encoding 7 does not exist", WITH_SIZE(.type = "x", .encoding = (enum th_encoding)7)},
    {"priority is out of range", WITH_SIZE(.type = "x", .priority = -1)},
    {"priority is out of range", WITH_SIZE(.type = "x", .priority = 10)},
    {"run_at is out of range", WITH_SIZE(.type = "x", .run_at = -1)},
    {"run_at is out of range", WITH_SIZE(.type = "x", .run_at = TH_FOREVER)},
    {"timeout is out of range", WITH_SIZE(.type = "x", .timeout = -1)},
    {"timeout is out of range", WITH_SIZE(.type = "x", .timeout = TH_FOREVER)},
    {"max_attempts is out of range", WITH_SIZE(.type = "x", .max_attempts = -1)},
    {"max_stalls is out of range", WITH_SIZE(.type = "x", .max_stalls = -1)},
    {"key is blank", WITH_SIZE(.type = "x", .key = "")},
    {"key is 300 bytes long", WITH_SIZE(.type = "x", .key = HUNDRED HUNDRED HUNDRED)},
    {"key is not valid UTF-8", WITH_SIZE(.type = "x", .key = "\xff")},
    {"idempotency_key is 300 bytes long",
     WITH_SIZE(.type = "x", .idempotency_key = HUNDRED HUNDRED HUNDRED)},
    {"headers are not a JSON object", WITH_SIZE(.type = "x", .headers = "[]")},
    {"tags is NULL, but tag_count is 1", WITH_SIZE(.type = "x", .tag_count = 1)},
    {"tag is blank", WITH_SIZE(.type = "x", .tags = (const char *const[]){NULL}, .tag_count = 1)},
    {"tags are 9: use at most 8",
     WITH_SIZE(.type = "x", .tags = (const char *const[]){NULL}, .tag_count = 9)},
    {"update_run_at 9 does not exist",
     WITH_SIZE(.type = "x", .update_run_at = (enum th_update_run_at)9)},
};

START_TEST(a_field_that_is_wrong_is_named)
{
    CLEANUP(scene_done) struct scene scene = scene_make(0);
    struct th_options options = TH_OPTIONS;

    options.max_payload = 30;
    scene_assert_worked(&scene, th_open(scene.url, &options, &scene.client, &scene.failure));
    ck_assert_msg(!th_enqueue(scene.client, &bad_jobs[_i].job, NULL, &scene.failure),
                  "not refused: %s", bad_jobs[_i].text);
    scene_assert_failure(&scene, TH_E_INVALID, bad_jobs[_i].text);
}
END_TEST

START_TEST(the_longest_name_and_a_blank_idempotency_key_are_fine)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);
    struct th_new_job job = TH_NEW_JOB(LONGEST_NAME);

    job.idempotency_key = " ";
    for (int i = 0; i < 2; i++) {
        struct th_receipt receipt;

        scene_assert_worked(&scene, th_enqueue(scene.client, &job, &receipt, &scene.failure));
        ck_assert(!receipt.existed);
    }
}
END_TEST

/* A caller whose header knew less. */
struct old_job {
    size_t size;
    const char *type;
    const char *id;
    const char *queue;
};

START_TEST(jobs_of_an_older_header_have_the_defaults_of_this_one)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);
    const struct old_job jobs[] = {
        {sizeof jobs[0], "a", NULL, NULL},
        {sizeof jobs[0], "b", NULL, "other"},
    };
    struct th_receipt receipts[2];

    scene_assert_worked(&scene, th_enqueue_many(scene.client, (const struct th_new_job *)jobs, 2,
                                                receipts, &scene.failure));
    struct th_job_info *second = scene_get(&scene, receipts[1].id);

    ck_assert_str_eq(second->type, "b");
    ck_assert_str_eq(second->queue, "other");
    ck_assert_int_eq(second->priority, 5);
    ck_assert_uint_eq(second->payload_size, 4);
    th_job_info_free(second);
}
END_TEST

/* A caller whose header knows more. */
struct new_job {
    struct th_new_job known;
    const char *newer;
};

START_TEST(jobs_of_a_newer_header_may_not_use_what_is_new)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);
    struct new_job jobs[] = {{.known = TH_NEW_JOB("a")}, {.known = TH_NEW_JOB("b")}};
    struct th_receipt receipts[2];

    jobs[0].known.size = jobs[1].known.size = sizeof jobs[0];
    scene_assert_worked(&scene,
                        th_enqueue_many(scene.client, &jobs[0].known, 2, receipts, &scene.failure));
    struct th_job_info *second = scene_get(&scene, receipts[1].id);

    ck_assert_str_eq(second->type, "b");
    th_job_info_free(second);

    jobs[1].newer = "used";
    ck_assert(!th_enqueue_many(scene.client, &jobs[0].known, 2, NULL, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "job 2: job: uses a field that libtaskharbor");
}
END_TEST

START_TEST(jobs_of_different_sizes_are_refused)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);
    struct th_new_job jobs[] = {TH_NEW_JOB("a"), TH_NEW_JOB("b")};

    jobs[1].size -= 8;
    ck_assert(!th_enqueue_many(scene.client, jobs, 2, NULL, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "job 2: size is ");
}
END_TEST

START_TEST(jobs_that_are_null_are_refused)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);

    ck_assert(!th_enqueue_many(scene.client, NULL, 2, NULL, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "job is NULL");
}
END_TEST

static const struct {
    const char *text;
    struct th_filter filter;
} bad_filters[] = {
    {"filter: size is 0: initialise it with TH_FILTER", {0}},
    {"filter: queue: 'a b' is not a name", {.size = sizeof(struct th_filter), .queue = "a b"}},
    {"filter: type: '' is not a name", {.size = sizeof(struct th_filter), .type = ""}},
    {"filter: after 'x' is not the next of a page",
     {.size = sizeof(struct th_filter), .after = "x"}},
    {"filter: since is out of range", {.size = sizeof(struct th_filter), .since = -1}},
    {"filter: state 9 does not exist",
     {.size = sizeof(struct th_filter), .state = (enum th_state)9}},
    {"filter: limit is out of range: use 1 to 1000",
     {.size = sizeof(struct th_filter), .limit = 1001}},
    {"filter: limit is out of range", {.size = sizeof(struct th_filter), .limit = -1}},
};

START_TEST(a_filter_that_is_wrong_is_named)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);
    struct th_page *page = (struct th_page *)&scene;

    ck_assert(!th_list(scene.client, &bad_filters[_i].filter, &page, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, bad_filters[_i].text);
    ck_assert_ptr_null(page);
}
END_TEST

START_TEST(a_filter_of_an_older_header_has_the_defaults_of_this_one)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);
    struct th_filter filter = {.size = offsetof(struct th_filter, after), .queue = "default"};
    struct th_page *page;

    scene_enqueue(&scene, "x");
    memset(filter.after, 'z', sizeof filter.after); /* after what this caller has */
    scene_assert_worked(&scene, th_list(scene.client, &filter, &page, &scene.failure));
    ck_assert_uint_eq(page->count, 1);
    th_page_free(page);
}
END_TEST

START_TEST(ids_are_checked_by_every_call)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);
    struct th_job_info *job = NULL;
    const char *id = _i == 0 ? NULL : "nonsense";
    const char *text = _i == 0 ? "id is NULL" : "id 'nonsense' is not the id of a job";

    ck_assert(!th_get(scene.client, id, &job, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, text);
    ck_assert(!th_wait(scene.client, id, 0, NULL, NULL, &job, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, text);
    ck_assert(!th_cancel(scene.client, id, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, text);
    ck_assert(!th_retry(scene.client, id, 0, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, text);
    ck_assert(!th_remove(scene.client, id, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, text);
}
END_TEST

START_TEST(a_place_for_the_answer_is_needed)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);
    const char *id = scene_enqueue(&scene, "x");

    ck_assert(!th_get(scene.client, id, NULL, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "job_out is NULL");
    ck_assert(!th_wait(scene.client, id, 0, NULL, NULL, NULL, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "job_out is NULL");
    ck_assert(!th_list(scene.client, NULL, NULL, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "page_out is NULL");
    ck_assert(!th_stats(scene.client, NULL, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "stats_out is NULL");
}
END_TEST

Suite *request_suite(void)
{
    Suite *suite = suite_create("client/request");
    TCase *wrong = tcase_create("wrong");

    tcase_add_loop_test(wrong, a_field_that_is_wrong_is_named, 0, (int)COUNT_OF(bad_jobs));
    tcase_add_test(wrong, the_longest_name_and_a_blank_idempotency_key_are_fine);
    tcase_add_test(wrong, jobs_that_are_null_are_refused);
    tcase_add_loop_test(wrong, a_filter_that_is_wrong_is_named, 0, (int)COUNT_OF(bad_filters));
    tcase_add_loop_test(wrong, ids_are_checked_by_every_call, 0, 2);
    tcase_add_test(wrong, a_place_for_the_answer_is_needed);
    suite_add_tcase(suite, wrong);

    TCase *sizes = tcase_create("sizes");

    tcase_add_test(sizes, jobs_of_an_older_header_have_the_defaults_of_this_one);
    tcase_add_test(sizes, jobs_of_a_newer_header_may_not_use_what_is_new);
    tcase_add_test(sizes, jobs_of_different_sizes_are_refused);
    tcase_add_test(sizes, a_filter_of_an_older_header_has_the_defaults_of_this_one);
    suite_add_tcase(suite, sizes);
    return suite;
}
