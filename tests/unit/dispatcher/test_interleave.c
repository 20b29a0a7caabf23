/*
 * test_interleave.c - in which order the jobs of several queues are handed out.
 */
#include "dispatcher/interleave.h"
#include "job/job.h"
#include "suites.h"

#include <stdlib.h>

/* clang-format off */
static const struct {
    const char *queues, *mixed; /* a letter is a job of that queue */
} rows[] = {
    {"",             ""},
    {"a",            "a"},
    {"aaaa",         "aaaa"},
    {"ab",           "ab"},
    {"aabb",         "abab"},
    {"aaaabb",       "abaaba"},
    {"aaaaaab",      "aaabaaa"},
    {"aaaaaabbbc",   "abaabcaaba"},
    {"abcdef",       "abcdef"},
};
/* clang-format on */

static struct job_list list_of(const char *queues)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    struct job_list jobs = {0};

    for (const char *queue = queues; *queue; queue++) {
        struct job *job = job_list_add(&jobs);

        ck_assert_ptr_nonnull(job);
        job->queue = names[*queue - 'a'];
        job->due = queue - queues;
    }
    return jobs;
}

START_TEST(shares_show_over_any_stretch_and_a_queue_keeps_its_order)
{
    struct job_list jobs = list_of(rows[_i].queues);
    size_t *order = interleave_order(&jobs);
    char mixed[16] = "";
    usec_t last[6] = {-1, -1, -1, -1, -1, -1};

    ck_assert_ptr_nonnull(order);
    for (size_t i = 0; i < jobs.count; i++) {
        const struct job *job = &jobs.items[order[i]];
        const size_t queue = (size_t)(job->queue[0] - 'a');

        mixed[i] = job->queue[0];
        ck_assert_int_gt(job->due, last[queue]);
        last[queue] = job->due;
    }
    ck_assert_str_eq(mixed, rows[_i].mixed);
    free(order);
    job_list_done(&jobs);
}
END_TEST

Suite *interleave_suite(void)
{
    Suite *suite = suite_create("dispatcher/interleave");
    TCase *order = tcase_create("order");

    tcase_add_loop_test(order, shares_show_over_any_stretch_and_a_queue_keeps_its_order, 0,
                        (int)COUNT_OF(rows));
    suite_add_tcase(suite, order);
    return suite;
}
