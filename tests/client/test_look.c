/*
 * test_look.c - th_get(), th_list() and th_stats().
 */
#include "base/cleanup.h"
#include "scene.h"
#include "suites.h"

#include <string.h>

#define NOBODY "0193f0a2-7c1d-7abc-8def-0123456789ab"

START_TEST(an_id_that_no_job_has_is_not_found)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_job_info *job = (struct th_job_info *)&scene;

    ck_assert(!th_get(scene.client, NOBODY, &job, &scene.failure));
    scene_assert_failure(&scene, TH_E_NOT_FOUND, "");
    ck_assert_ptr_null(job);
    th_job_info_free(NULL);
}
END_TEST

START_TEST(a_job_that_ran_shows_its_run_and_result)
{
    CLEANUP(scene_done) struct scene scene = scene_open(SCENE_SQLITE);
    const char *id = scene_enqueue(&scene, "x");

    scene_run_next(&scene, SETTLE_ACK, NULL);
    struct th_job_info *job = scene_get(&scene, id);

    ck_assert_int_eq(job->state, TH_STATE_DONE);
    ck_assert_int_eq(job->executions, 1);
    ck_assert_int_gt(job->ended_at, 0);
    ck_assert_uint_eq(job->result_size, 2);
    ck_assert_mem_eq(job->result, "{}", 2);
    ck_assert_uint_eq(job->output_size, 6);
    ck_assert_mem_eq(job->output, "hello\n", 6);
    ck_assert_uint_eq(job->run_count, 1);
    ck_assert_str_eq(job->runs[0]->outcome, "done");
    ck_assert_str_eq(job->runs[0]->pool, "test.1");
    ck_assert_int_eq(job->runs[0]->worker, 3);
    ck_assert_int_eq(job->runs[0]->execution, 1);
    ck_assert_int_eq(job->runs[0]->wall, 1500);
    ck_assert_int_eq(job->runs[0]->max_rss_kb, 2048);
    ck_assert_int_eq(job->runs[0]->exit_code, 0);
    ck_assert_ptr_null(job->runs[0]->error);
    th_job_info_free(job);
}
END_TEST

START_TEST(a_job_shows_headers_and_tags_and_is_listed_by_them)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_new_job job = TH_NEW_JOB("x");
    struct th_filter filter = TH_FILTER;
    struct th_receipt receipt;
    struct th_page *page;

    job.headers = "{ \"a\": 1.50 }";
    job.tags = (const char *const[]){"mail", "customer:42"};
    job.tag_count = 2;
    scene_assert_worked(&scene, th_enqueue(scene.client, &job, &receipt, &scene.failure));
    scene_enqueue(&scene, "x");
    struct th_job_info *stored = scene_get(&scene, receipt.id);
    ck_assert_str_eq(stored->headers, "{ \"a\": 1.50 }");
    ck_assert_uint_eq(stored->tag_count, 2);
    ck_assert_str_eq(stored->tags[1], "customer:42");
    th_job_info_free(stored);
    filter.tag = "mail";
    scene_assert_worked(&scene, th_list(scene.client, &filter, &page, &scene.failure));
    ck_assert_uint_eq(page->count, 1);
    ck_assert_str_eq(page->jobs[0]->id, receipt.id);
    th_page_free(page);
    filter.tag = "a b";
    ck_assert(!th_list(scene.client, &filter, &page, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "filter: tag: 'a b' is not a name");
}
END_TEST

START_TEST(a_dead_job_shows_why)
{
    CLEANUP(scene_done) struct scene scene = scene_open(SCENE_SQLITE);
    const char *id = scene_enqueue(&scene, "x");

    scene_run_next(&scene, SETTLE_FAIL, "no such mailbox");
    struct th_job_info *job = scene_get(&scene, id);

    ck_assert_int_eq(job->state, TH_STATE_DEAD);
    ck_assert_int_eq(job->attempts, 1);
    ck_assert_str_eq(job->reason, "permanent");
    ck_assert_str_eq(job->last_error, "no such mailbox");
    ck_assert_int_gt(job->failed_at, 0);
    ck_assert_str_eq(job->runs[0]->outcome, "dead");
    ck_assert_int_eq(job->runs[0]->exit_code, 65);
    ck_assert_str_eq(job->runs[0]->error, "no such mailbox");
    th_job_info_free(job);
}
END_TEST

/* Four jobs: a and b in the queue `default`, a and b in `other`, of which a waits for its time. */
static struct scene four_jobs(int backend)
{
    struct scene scene = scene_open(backend);
    struct th_new_job jobs[] = {TH_NEW_JOB("a"), TH_NEW_JOB("b"), TH_NEW_JOB("a"), TH_NEW_JOB("b")};

    jobs[2].queue = jobs[3].queue = "other";
    jobs[2].run_at = th_now(scene.client) + TH_SECONDS(3600);
    scene_assert_worked(&scene, th_enqueue_many(scene.client, jobs, 4, NULL, &scene.failure));
    return scene;
}

static const struct {
    const char *rule;
    struct th_filter filter;
    size_t count;
} filters[] = {
    {"no filter is all", TH_FILTER, 4},
    {"a queue", {.size = sizeof(struct th_filter), .queue = "other"}, 2},
    {"a type", {.size = sizeof(struct th_filter), .type = "b"}, 2},
    {"a state", {.size = sizeof(struct th_filter), .state = TH_STATE_READY}, 3},
    {"another state", {.size = sizeof(struct th_filter), .state = TH_STATE_SCHEDULED}, 1},
    {"all of them",
     {.size = sizeof(struct th_filter), .queue = "other", .type = "b", .state = TH_STATE_READY},
     1},
    {"nothing", {.size = sizeof(struct th_filter), .queue = "unused"}, 0},
};

START_TEST(a_filter_picks_jobs)
{
    CLEANUP(scene_done) struct scene scene = four_jobs(SCENE_SQLITE);
    struct th_page *page;

    scene_assert_worked(&scene, th_list(scene.client, &filters[_i].filter, &page, &scene.failure));
    ck_assert_msg(page->count == filters[_i].count, "%s: %zu", filters[_i].rule, page->count);
    ck_assert_str_eq(page->next, "");
    th_page_free(page);
    th_page_free(NULL);
}
END_TEST

START_TEST(pages_follow_each_other_without_gap_or_overlap)
{
    CLEANUP(scene_done) struct scene scene = four_jobs(_i);
    struct th_filter filter = TH_FILTER;
    char last[TH_ID_SIZE] = "";
    size_t seen = 0;

    filter.limit = 3;
    filter.oldest_first = 1;
    do {
        struct th_page *page;

        scene_assert_worked(&scene, th_list(scene.client, &filter, &page, &scene.failure));
        for (size_t i = 0; i < page->count; i++, seen++) {
            ck_assert_str_lt(last, page->jobs[i]->id);
            memcpy(last, page->jobs[i]->id, strlen(page->jobs[i]->id) + 1);
        }
        memcpy(filter.after, page->next, TH_CURSOR_SIZE);
        th_page_free(page);
    } while (filter.after[0] != '\0');
    ck_assert_uint_eq(seen, 4);
}
END_TEST

START_TEST(the_newest_comes_first_and_a_page_goes_on_behind_jobs_that_are_gone)
{
    CLEANUP(scene_done) struct scene scene = four_jobs(_i);
    struct th_filter filter = TH_FILTER;
    struct th_page *page;
    char first[TH_ID_SIZE], second[TH_ID_SIZE];

    filter.limit = 2;
    scene_assert_worked(&scene, th_list(scene.client, &filter, &page, &scene.failure));
    ck_assert_uint_eq(page->count, 2);
    memcpy(first, page->jobs[0]->id, sizeof first);
    memcpy(second, page->jobs[1]->id, sizeof second);
    ck_assert_str_gt(first, second);
    memcpy(filter.after, page->next, TH_CURSOR_SIZE);
    th_page_free(page);
    scene_assert_worked(&scene, th_cancel(scene.client, second, &scene.failure));
    scene_assert_worked(&scene, th_remove(scene.client, second, &scene.failure));
    scene_assert_worked(&scene, th_list(scene.client, &filter, &page, &scene.failure));
    ck_assert_uint_eq(page->count, 2);
    ck_assert_str_gt(second, page->jobs[0]->id);
    ck_assert_str_eq(page->next, "");
    th_page_free(page);
}
END_TEST

START_TEST(a_brief_page_has_no_payloads)
{
    CLEANUP(scene_done) struct scene scene = four_jobs(_i);
    struct th_filter filter = TH_FILTER;
    struct th_page *page;

    filter.brief = 1;
    scene_assert_worked(&scene, th_list(scene.client, &filter, &page, &scene.failure));
    ck_assert_uint_eq(page->count, 4);
    ck_assert_uint_eq(page->jobs[0]->payload_size, 0);
    th_page_free(page);
}
END_TEST

START_TEST(an_empty_backend_has_an_empty_page_and_no_queues)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_page *page;
    struct th_stats *stats;

    scene_assert_worked(&scene, th_list(scene.client, NULL, &page, &scene.failure));
    ck_assert_uint_eq(page->count, 0);
    th_page_free(page);
    scene_assert_worked(&scene, th_stats(scene.client, &stats, &scene.failure));
    ck_assert_uint_eq(stats->count, 0);
    th_stats_free(stats);
    th_stats_free(NULL);
}
END_TEST

START_TEST(stats_count_by_queue_and_state)
{
    CLEANUP(scene_done) struct scene scene = four_jobs(SCENE_SQLITE);
    struct th_stats *stats;

    scene_run_next(&scene, SETTLE_ACK, NULL);
    scene_run_next(&scene, SETTLE_FAIL, "broken");
    scene_assert_worked(&scene, th_stats(scene.client, &stats, &scene.failure));
    ck_assert_uint_eq(stats->count, 2);

    const struct th_queue_info *queue = stats->queues[0];

    ck_assert_str_eq(queue->queue, "default");
    ck_assert_int_eq(queue->ready, 0);
    ck_assert_int_eq(queue->done, 1);
    ck_assert_int_eq(queue->dead, 1);
    ck_assert_int_eq(queue->done_total, 1);
    ck_assert_int_eq(queue->failed_total, 1);
    ck_assert_int_eq(queue->oldest_ready, 0);
    ck_assert_int_eq(queue->paused_at, 0);
    queue = stats->queues[1];
    ck_assert_str_eq(queue->queue, "other");
    ck_assert_int_eq(queue->ready, 1);
    ck_assert_int_eq(queue->scheduled, 1);
    ck_assert_int_gt(queue->oldest_ready, 0);
    th_stats_free(stats);
}
END_TEST

Suite *look_suite(void)
{
    Suite *suite = suite_create("client/look");
    TCase *look = tcase_create("look");

    tcase_add_loop_test(look, an_id_that_no_job_has_is_not_found, 0, SCENE_BACKENDS);
    tcase_add_test(look, a_job_that_ran_shows_its_run_and_result);
    tcase_add_test(look, a_dead_job_shows_why);
    tcase_add_loop_test(look, a_job_shows_headers_and_tags_and_is_listed_by_them, 0,
                        SCENE_BACKENDS);
    tcase_add_loop_test(look, a_filter_picks_jobs, 0, (int)COUNT_OF(filters));
    tcase_add_loop_test(look, pages_follow_each_other_without_gap_or_overlap, 0, SCENE_BACKENDS);
    tcase_add_loop_test(look, the_newest_comes_first_and_a_page_goes_on_behind_jobs_that_are_gone,
                        0, SCENE_BACKENDS);
    tcase_add_loop_test(look, a_brief_page_has_no_payloads, 0, SCENE_BACKENDS);
    tcase_add_loop_test(look, an_empty_backend_has_an_empty_page_and_no_queues, 0, SCENE_BACKENDS);
    tcase_add_test(look, stats_count_by_queue_and_state);
    suite_add_tcase(suite, look);
    return suite;
}
