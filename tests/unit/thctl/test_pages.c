#include "thctl/pages.h"

#include "client/enqueue.h"
#include "suites.h"

#define JOBS 6

static struct store *store;
static struct uuid ids[JOBS];

static void check(bool ok, const struct error *err)
{
    ck_assert_msg(ok, "%s", err->text);
}

static void set_up(void)
{
    struct store_options options = {.migrate = true};
    struct enqueue enqueue = enqueue_defaults();
    struct enqueued enqueued[JOBS];
    struct job jobs[JOBS];
    struct error err = {0};

    check(store_open("memory:", &options, &store, &err), &err);
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i] = job_defaults();
        jobs[i].type = "t";
    }
    check(enqueue_jobs(&enqueue, store, jobs, JOBS, store_now(store), enqueued, &err), &err);
    for (size_t i = 0; i < JOBS; i++)
        ids[i] = enqueued[i].id;
}

static void tear_down(void)
{
    store_close(&store);
}

static void delete_job(size_t index)
{
    enum th_error_code verdict;
    struct error err = {0};

    check(store_cancel(store, &ids[index], 1, store_now(store), &verdict, &err), &err);
    check(store_remove(store, &ids[index], 1, &verdict, &err), &err);
    ck_assert_int_eq(verdict, TH_OK);
}

/* The next page has exactly the jobs from `first` to before `end`. */
static void expect_page(struct pages *pages, size_t limit, size_t first, size_t end, bool more)
{
    struct job_list jobs = {0};
    struct error err = {0};
    bool follows = false;

    check(pages_next(pages, limit, &jobs, &follows, &err), &err);
    ck_assert_uint_eq(jobs.count, end - first);
    for (size_t i = 0; i < jobs.count; i++)
        ck_assert_int_eq(uuid_compare(&jobs.items[i].id, &ids[first + i]), 0);
    ck_assert_int_eq(follows, more);
    job_list_done(&jobs);
}

START_TEST(pages_follow_each_other_until_the_end)
{
    struct pages pages = {.store = store, .filter.oldest_first = true};

    expect_page(&pages, 4, 0, 4, true);
    expect_page(&pages, 4, 4, 6, false);
}
END_TEST

START_TEST(a_deleted_last_job_does_not_end_the_walk)
{
    struct pages pages = {.store = store, .filter.oldest_first = true};

    expect_page(&pages, 3, 0, 3, true);
    delete_job(2);
    expect_page(&pages, 3, 3, 6, false);
}
END_TEST

START_TEST(jobs_seen_before_are_passed_over)
{
    struct pages pages = {.store = store, .filter.oldest_first = true};

    expect_page(&pages, 4, 0, 4, true);
    delete_job(3);
    delete_job(1);
    expect_page(&pages, 4, 4, 6, false);
}
END_TEST

START_TEST(a_deleted_page_does_not_end_the_walk)
{
    struct pages pages = {.store = store, .filter.oldest_first = true};

    expect_page(&pages, 2, 0, 2, true);
    delete_job(0);
    delete_job(1);
    expect_page(&pages, 2, 2, 4, true);
    delete_job(2);
    delete_job(3);
    expect_page(&pages, 2, 4, 6, false);
}
END_TEST

START_TEST(a_walk_begins_behind_a_job_that_need_not_exist)
{
    struct pages pages = {
        .store = store,
        .filter = {.oldest_first = true, .after = {.is_set = true, .id = ids[1]}},
    };

    delete_job(1);
    expect_page(&pages, 1, 2, 3, true);
    delete_job(2);
    expect_page(&pages, 1, 3, 4, true);
}
END_TEST

Suite *pages_suite(void)
{
    Suite *suite = suite_create("thctl/pages");
    TCase *walk = tcase_create("walk");

    tcase_add_checked_fixture(walk, set_up, tear_down);
    tcase_add_test(walk, pages_follow_each_other_until_the_end);
    tcase_add_test(walk, a_deleted_last_job_does_not_end_the_walk);
    tcase_add_test(walk, jobs_seen_before_are_passed_over);
    tcase_add_test(walk, a_deleted_page_does_not_end_the_walk);
    tcase_add_test(walk, a_walk_begins_behind_a_job_that_need_not_exist);
    suite_add_tcase(suite, walk);
    return suite;
}
