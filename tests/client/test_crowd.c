/*
 * test_crowd.c - many jobs followed to their ends, by pages.
 */
#include "base/cleanup.h"
#include "client/crowd.h"
#include "client/enqueue.h"
#include "suites.h"

#include <check.h>
#include <stdlib.h>

#define MANY 2500 /* more than two pages */

/* A store with jobs of the crowd in it, and a stranger between any two of them. */
struct throng {
    struct store *store;
    struct uuid ids[MANY];
    struct crowd crowd;
    size_t told; /* of how many ends the watcher was told */
};

static void throng_done(struct throng *throng)
{
    crowd_done(&throng->crowd);
    store_close(&throng->store);
    free(throng);
}

static void note_end(const struct job *job, void *context)
{
    struct throng *throng = context;

    ck_assert(job_state_has_ended(job->state));
    throng->told++;
}

static struct uuid store_one(struct throng *throng, struct enqueue *enqueue)
{
    struct job job = job_defaults();
    struct enqueued enqueued;
    struct error err;

    job.type = "x";
    ck_assert_msg(
        enqueue_jobs(enqueue, throng->store, &job, 1, store_now(throng->store), &enqueued, &err),
        "%s", err.text);
    return enqueued.id;
}

static struct throng *throng_of(size_t count)
{
    struct throng *throng = calloc(1, sizeof *throng);
    const struct store_options options = {.migrate = true};
    struct enqueue enqueue = enqueue_defaults();
    struct error err;

    ck_assert_ptr_nonnull(throng);
    ck_assert_msg(store_open("memory:", &options, &throng->store, &err), "%s", err.text);
    for (size_t i = 0; i < count; i++) {
        throng->ids[i] = store_one(throng, &enqueue);
        store_one(throng, &enqueue);
    }
    return throng;
}

static void follow(struct throng *throng, size_t place)
{
    struct error err;

    ck_assert(crowd_add(&throng->crowd, &throng->ids[place], "default", &err));
}

static void cancel(struct throng *throng, size_t from, size_t count)
{
    enum th_error_code verdicts[MANY];
    struct error err;

    ck_assert_msg(store_cancel(throng->store, &throng->ids[from], count, store_now(throng->store),
                               verdicts, &err),
                  "%s", err.text);
}

static bool look(struct throng *throng)
{
    const struct crowd_watcher watcher = {.ended = note_end, .context = throng};
    struct error err;
    bool moved;

    ck_assert_msg(crowd_look(&throng->crowd, throng->store, &watcher, &moved, &err), "%s",
                  err.text);
    return moved;
}

START_TEST(each_end_is_told_once_in_whatever_order_they_end)
{
    struct throng *throng = throng_of(MANY);

    for (size_t i = MANY; i > 0; i--)
        follow(throng, i - 1);
    ck_assert(!look(throng));
    cancel(throng, 2400, 50); /* in the third page, while the first waits */
    for (int i = 0; i < 8; i++)
        look(throng);
    ck_assert_uint_eq(throng->told, 50);
    ck_assert_uint_eq(throng->crowd.left, MANY - 50);
    cancel(throng, 0, MANY);
    while (throng->crowd.left > 0)
        ck_assert(look(throng));
    ck_assert_uint_eq(throng->told, MANY);
    ck_assert_uint_eq(throng->crowd.ended[JOB_CANCELLED], MANY);
    ck_assert(!look(throng));
    throng_done(throng);
}
END_TEST

START_TEST(a_job_that_was_added_twice_counts_once)
{
    struct throng *throng = throng_of(2);

    follow(throng, 1);
    follow(throng, 0);
    follow(throng, 1);
    cancel(throng, 0, 2);
    look(throng);
    ck_assert_uint_eq(throng->crowd.count, 2);
    ck_assert_uint_eq(throng->crowd.left, 0);
    ck_assert_uint_eq(throng->told, 2);
    throng_done(throng);
}
END_TEST

START_TEST(a_job_that_is_not_there_any_more_is_gone)
{
    struct throng *throng = throng_of(3);
    enum th_error_code verdict;
    struct error err;

    for (size_t i = 0; i < 3; i++)
        follow(throng, i);
    cancel(throng, 0, 1);
    cancel(throng, 2, 1);
    ck_assert(store_remove(throng->store, &throng->ids[0], 1, &verdict, &err));
    ck_assert(store_remove(throng->store, &throng->ids[2], 1, &verdict, &err));
    ck_assert(look(throng));
    ck_assert_uint_eq(throng->crowd.gone, 2);
    ck_assert_uint_eq(throng->crowd.left, 1);
    ck_assert_uint_eq(throng->told, 0);
    throng_done(throng);
}
END_TEST

START_TEST(a_crowd_of_nobody_has_nothing_to_look_at)
{
    struct throng *throng = throng_of(0);

    ck_assert(!look(throng));
    throng_done(throng);
}
END_TEST

Suite *crowd_suite(void)
{
    Suite *suite = suite_create("client/crowd");
    TCase *ends = tcase_create("ends");

    tcase_add_test(ends, each_end_is_told_once_in_whatever_order_they_end);
    tcase_add_test(ends, a_job_that_was_added_twice_counts_once);
    tcase_add_test(ends, a_job_that_is_not_there_any_more_is_gone);
    tcase_add_test(ends, a_crowd_of_nobody_has_nothing_to_look_at);
    suite_add_tcase(suite, ends);
    return suite;
}
