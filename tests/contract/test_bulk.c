/*
 * test_bulk.c - one thing done to many jobs, in pages: client/bulk.c on every store.
 */
#include "bring.h"
#include "client/bulk.h"
#include "contract.h"
#include "store/driver.h"

#define ALL_STATES 8

static size_t count_all(struct scene *scene, struct bulk *bulk)
{
    bool more = true;
    struct error err;

    for (int pages = 0; more; pages++) {
        MUST(bulk_count(bulk, scene->store, &more, &err));
        ck_assert_int_lt(pages, 100);
    }
    return bulk->matched;
}

static void run_all(struct scene *scene, struct bulk *bulk, usec_t now)
{
    struct error err;

    for (int pages = 0; bulk->state != BULK_DONE; pages++) {
        MUST(bulk_step(bulk, scene->store, now, &err));
        ck_assert_int_lt(pages, 100);
    }
}

static struct bulk open_on_queue(struct scene *scene, enum bulk_action action)
{
    const struct job_filter filter = {.queue = scene->queue};
    struct bulk bulk;
    struct error err;

    MUST(bulk_open(&bulk, action, &filter, NOW, &err));
    return bulk;
}

static void assert_outcome(const struct bulk *bulk, size_t done, size_t failed, size_t passed_over)
{
    ck_assert_uint_eq(bulk->done, done);
    ck_assert_uint_eq(bulk->failed, failed);
    ck_assert_uint_eq(bulk->passed_over, passed_over);
}

/* clang-format off */
static const struct {
    enum bulk_action action;
    size_t matched;
    enum job_state after[ALL_STATES]; /* of what was in that state; ALL_STATES: it is gone */
} actions[] = {
    {BULK_CANCEL, 6, {JOB_CANCELLED, JOB_CANCELLED, JOB_CANCELLED, JOB_RUNNING, JOB_CANCELLED, JOB_DONE, JOB_DEAD, JOB_CANCELLED}},
    {BULK_RETRY,  1, {JOB_SCHEDULED, JOB_READY, JOB_BLOCKED, JOB_RUNNING, JOB_RETRY, JOB_DONE, JOB_READY, JOB_CANCELLED}},
    {BULK_RUN,    2, {JOB_READY, JOB_READY, JOB_BLOCKED, JOB_RUNNING, JOB_READY, JOB_DONE, JOB_DEAD, JOB_CANCELLED}},
    {BULK_DELETE, 1, {JOB_SCHEDULED, JOB_READY, JOB_BLOCKED, JOB_RUNNING, JOB_RETRY, JOB_DONE, ALL_STATES, JOB_CANCELLED}},
};
/* clang-format on */

START_TEST(an_action_takes_the_states_that_it_is_for)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought jobs[ALL_STATES];

    for (size_t i = 0; i < ALL_STATES; i++)
        jobs[i] = bring(&scene, (enum job_state)i);
    struct bulk bulk = open_on_queue(&scene, actions[_i].action);
    ck_assert_uint_eq(count_all(&scene, &bulk), actions[_i].matched);
    ck_assert(!bulk.capped);
    run_all(&scene, &bulk, NOW + 1);
    assert_outcome(&bulk, actions[_i].matched, 0, 0);
    for (size_t i = 0; i < ALL_STATES; i++) {
        if (actions[_i].after[i] == ALL_STATES)
            ck_assert(!scene_has(&scene, &jobs[i].id));
        else
            ASSERT_STATE(&scene, &jobs[i].id, actions[_i].after[i]);
    }
}
END_TEST

START_TEST(done_jobs_are_deleted_when_they_are_named)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought done = bring(&scene, JOB_DONE), dead = bring(&scene, JOB_DEAD);
    const struct job_filter filter = {.queue = scene.queue, .by_state = true, .state = JOB_DONE};
    struct bulk bulk;
    struct error err;

    MUST(bulk_open(&bulk, BULK_DELETE, &filter, NOW, &err));
    run_all(&scene, &bulk, NOW + 1);
    assert_outcome(&bulk, 1, 0, 0);
    ck_assert(!scene_has(&scene, &done.id));
    ASSERT_STATE(&scene, &dead.id, JOB_DEAD);
}
END_TEST

START_TEST(a_state_that_the_action_is_not_for_is_refused)
{
    const struct job_filter filter = {.by_state = true, .state = JOB_DONE};
    struct bulk bulk;
    struct error err;

    MUST_FAIL(TH_E_INVALID, bulk_open(&bulk, BULK_RETRY, &filter, NOW, &err));
    ck_assert_str_eq(err.text, "state: retry is for dead and cancelled jobs, not for done ones");
}
END_TEST

START_TEST(many_jobs_are_done_page_by_page)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct bulk bulk;
    struct error err;
    bool more;

    for (int i = 0; i < 3; i++) {
        struct uuid ids[700];
        scene_add_many(&scene, COUNT_OF(ids), ids);
    }
    bulk = open_on_queue(&scene, BULK_CANCEL);
    MUST(bulk_count(&bulk, scene.store, &more, &err));
    ck_assert(more && bulk.matched <= BULK_PAGE);
    ck_assert_uint_eq(count_all(&scene, &bulk), 2100);
    while (bulk.done == 0)
        MUST(bulk_step(&bulk, scene.store, NOW, &err));
    ck_assert(bulk.state == BULK_RUNNING && bulk.done <= BULK_PAGE);
    run_all(&scene, &bulk, NOW);
    assert_outcome(&bulk, 2100, 0, 0);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_CANCELLED], 2100);
}
END_TEST

START_TEST(what_comes_after_the_start_is_left_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid before = scene_add(&scene);
    struct bulk bulk = open_on_queue(&scene, BULK_CANCEL);
    const struct enqueued after = scene_enqueue(&scene, scene_job(&scene), NOW + 1);

    run_all(&scene, &bulk, NOW + 2);
    assert_outcome(&bulk, 1, 0, 0);
    ASSERT_STATE(&scene, &before, JOB_CANCELLED);
    ASSERT_STATE(&scene, &after.id, JOB_READY);
}
END_TEST

/* It was retried by somebody else, and died again. */
START_TEST(what_has_died_since_the_start_is_left_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought dead = bring(&scene, JOB_DEAD);
    struct bulk bulk = open_on_queue(&scene, BULK_DELETE);

    ck_assert_int_eq(scene_requeue(&scene, &dead.id, 0, NOW + 1), TH_OK);
    struct claim claim = scene_take(&scene, NOW + 1);
    scene_finish(&scene, &claim, SETTLE_FAIL, NOW + 1);
    ASSERT_STATE(&scene, &dead.id, JOB_DEAD);
    run_all(&scene, &bulk, NOW + 2);
    assert_outcome(&bulk, 0, 0, 0);
    ASSERT_STATE(&scene, &dead.id, JOB_DEAD);
}
END_TEST

START_TEST(a_job_that_goes_on_is_cancelled_in_its_next_state)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought scheduled = bring(&scene, JOB_SCHEDULED);
    struct bulk bulk = open_on_queue(&scene, BULK_CANCEL);

    scene_promote(&scene, JOB_SCHEDULED, LATER);
    ASSERT_STATE(&scene, &scheduled.id, JOB_READY);
    run_all(&scene, &bulk, LATER);
    assert_outcome(&bulk, 1, 0, 0);
    ASSERT_STATE(&scene, &scheduled.id, JOB_CANCELLED);
}
END_TEST

START_TEST(a_job_that_cannot_wait_again_has_failed)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought dead = bring(&scene, JOB_DEAD);
    struct bulk bulk = open_on_queue(&scene, BULK_RETRY);

    scene_enqueue(&scene, bring_twin(&scene, &dead), NOW);
    run_all(&scene, &bulk, NOW);
    assert_outcome(&bulk, 0, 1, 0);
    ASSERT_STATE(&scene, &dead.id, JOB_DEAD);
}
END_TEST

START_TEST(ids_are_done_in_pages_and_what_is_refused_has_failed)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought done = bring(&scene, JOB_DONE);
    struct uuid ids[3] = {scene_add(&scene), done.id, scene_job(&scene).id};
    struct bulk bulk;

    bulk_open_ids(&bulk, BULK_CANCEL, ids, COUNT_OF(ids), NOW);
    ck_assert_uint_eq(count_all(&scene, &bulk), 3);
    run_all(&scene, &bulk, NOW);
    assert_outcome(&bulk, 1, 2, 0);
    ASSERT_STATE(&scene, &ids[0], JOB_CANCELLED);
    ASSERT_STATE(&scene, &done.id, JOB_DONE);
}
END_TEST

/* ---- what others do meanwhile, and more jobs than a test can store ---- */

static const struct store_driver *real;
static struct store_driver meddling;

static void meddle(struct scene *scene)
{
    real = scene->store->driver;
    meddling = *real;
    scene->store->driver = &meddling;
}

static bool remove_too_late(struct store *store, const struct uuid *ids, size_t count,
                            enum th_error_code *verdicts_out, struct error *err)
{
    return real->requeue(store, ids, count, 0, NOW, verdicts_out, err) &&
           real->remove(store, ids, count, verdicts_out, err);
}

START_TEST(a_job_that_moves_on_meanwhile_is_passed_over)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought dead = bring(&scene, JOB_DEAD);
    struct bulk bulk = open_on_queue(&scene, BULK_DELETE);

    meddle(&scene);
    meddling.remove = remove_too_late;
    run_all(&scene, &bulk, NOW);
    scene.store->driver = real;
    assert_outcome(&bulk, 0, 0, 1);
    ASSERT_STATE(&scene, &dead.id, JOB_READY);
}
END_TEST

static bool list_for_ever(struct store *store, const struct job_filter *filter,
                          struct job_list *jobs_out, struct job_cursor *next_out, struct error *err)
{
    (void)store;
    *next_out = (struct job_cursor){.is_set = true};
    for (size_t i = 0; i < filter->limit; i++) {
        struct job *job = job_list_add(jobs_out);
        if (!job)
            return error_no_memory(err);
        job->state = filter->state;
    }
    return true;
}

START_TEST(a_count_ends_at_its_cap)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct bulk bulk = open_on_queue(&scene, BULK_DELETE);

    meddle(&scene);
    meddling.list = list_for_ever;
    for (bool more = true; more;) {
        struct error err;
        MUST(bulk_count(&bulk, scene.store, &more, &err));
    }
    scene.store->driver = real;
    ck_assert_uint_eq(bulk.matched, BULK_COUNT_MAX);
    ck_assert(bulk.capped);
}
END_TEST

Suite *bulk_suite(void)
{
    Suite *suite = suite_create("bulk");
    TCase *jobs = contract_group(suite, "jobs");

    tcase_add_loop_test(jobs, an_action_takes_the_states_that_it_is_for, 0, COUNT_OF(actions));
    tcase_add_test(jobs, done_jobs_are_deleted_when_they_are_named);
    tcase_add_test(jobs, a_state_that_the_action_is_not_for_is_refused);
    tcase_add_test(jobs, many_jobs_are_done_page_by_page);
    tcase_add_test(jobs, what_comes_after_the_start_is_left_alone);
    tcase_add_test(jobs, what_has_died_since_the_start_is_left_alone);
    tcase_add_test(jobs, a_job_that_goes_on_is_cancelled_in_its_next_state);
    tcase_add_test(jobs, a_job_that_cannot_wait_again_has_failed);
    tcase_add_test(jobs, a_job_that_moves_on_meanwhile_is_passed_over);
    tcase_add_test(jobs, a_count_ends_at_its_cap);
    tcase_add_test(jobs, ids_are_done_in_pages_and_what_is_refused_has_failed);
    return suite;
}
