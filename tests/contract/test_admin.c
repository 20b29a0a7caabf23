/*
 * test_admin.c - conformance A10: what people see, and that it is never a lie.
 *
 * Limits, pauses and retention are in test_limits.c.
 */
#include "bring.h"
#include "contract.h"

#include <stdio.h>
#include <string.h>

#define LISTED_JOBS 10000
#define CROWD       30000
#define PAGE        300

START_TEST(inspect_each_state)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    enum job_state state = (enum job_state)_i;
    struct brought brought = bring(&scene, state);
    const struct job *job = scene_get(&scene, &brought.id, &list);

    ck_assert_int_eq(job->state, state);
    ck_assert_str_eq(job->type, brought.type);
    ck_assert_str_eq(job->queue, scene.queue);
    ck_assert_str_eq(job->key, brought.key);
    ASSERT_TIME(job->created_at, NOW);
    ASSERT_TIME(job->due, state == JOB_SCHEDULED || state == JOB_RETRY ? LATER : NOW);
    ASSERT_TIME(job->ended_at, job_state_has_ended(state) ? NOW : 0);
    ASSERT_TIME(job->expires_at, state == JOB_RUNNING ? NOW + LEASE : 0);
    ck_assert_int_eq(job->reason, state == JOB_DEAD ? REASON_PERMANENT : REASON_NONE);
    ck_assert_int_eq(job->attempts, state == JOB_DEAD || state == JOB_RETRY ? 1 : 0);
    ck_assert_pstr_eq(job->last_error, state == JOB_DEAD || state == JOB_RETRY ? "it broke" : NULL);
    if (state == JOB_RUNNING)
        ck_assert_str_eq(job->pool, POOL);
}
END_TEST

START_TEST(inspect_unknown_not_found)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid unknown = uuid_make(&scene.ids, NOW);
    struct error err = {0};

    scene_add(&scene);
    MUST_FAIL(TH_E_NOT_FOUND, store_get(scene.store, &unknown, &list, &err));
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

static void list_page(struct scene *scene, const struct job_filter *filter, struct job_list *list,
                      bool *more)
{
    struct error err = {0};

    MUST(store_list(scene->store, filter, list, more, &err));
}

static size_t count_in_state(struct scene *scene, enum job_state state)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job_filter filter = {
        .by_state = true, .state = state, .queue = scene->queue, .limit = JOB_PAGE_MAX};
    bool more = false;

    list_page(scene, &filter, &list, &more);
    return list.count;
}

START_TEST(list_by_each_state_matches_inspect)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job_filter filter = {
        .by_state = true, .state = (enum job_state)_i, .queue = scene.queue, .limit = JOB_PAGE_MAX};
    struct uuid expected[JOB_STATES];
    size_t twins = _i == JOB_RUNNING ? 1 : 0; /* the one that the blocked job waits for */
    bool more = true, found = false;

    for (int state = 0; state < JOB_STATES; state++)
        expected[state] = bring(&scene, (enum job_state)state).id;
    list_page(&scene, &filter, &list, &more);
    ck_assert(!more);
    ck_assert_uint_eq(list.count, 1 + twins);
    for (size_t i = 0; i < list.count; i++) {
        ck_assert_int_eq(list.items[i].state, _i);
        ASSERT_STATE(&scene, &list.items[i].id, (enum job_state)_i);
        found |= uuid_compare(&list.items[i].id, &expected[_i]) == 0;
    }
    ck_assert(found);
}
END_TEST

START_TEST(list_by_queue_and_type)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job_filter filter = {.queue = scene.queue, .type = "wanted", .limit = JOB_PAGE_MAX};
    struct job wanted = scene_job(&scene), elsewhere = scene_job(&other);
    bool more = true;

    wanted.type = elsewhere.type = "wanted";
    scene_add(&scene);
    scene_enqueue(&scene, wanted, NOW);
    scene_enqueue(&other, elsewhere, NOW);
    list_page(&scene, &filter, &list, &more);
    ck_assert_uint_eq(list.count, 1);
    ASSERT_SAME_ID(&list.items[0].id, &wanted.id);
    filter.type = "want";
    list_page(&scene, &filter, &list, &more);
    ck_assert_uint_eq(list.count, 1);
}
END_TEST

START_TEST(list_shows_what_inspect_shows)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought brought = bring(&scene, (enum job_state)_i);

    if (_i == JOB_BLOCKED) { /* the only one that is not alone in its queue */
        struct uuid twin = brought.twin.id;
        AUTO_FREE char *both = scene_snapshot_queue(&scene);
        AUTO_FREE char *first = scene_snapshot(&scene, &twin);
        AUTO_FREE char *second = scene_snapshot(&scene, &brought.id);
        ck_assert_uint_eq(strlen(both), strlen(first) + strlen(second));
        ck_assert(strncmp(both, first, strlen(first)) == 0);
        ck_assert_str_eq(both + strlen(first), second);
        return;
    }
    AUTO_FREE char *listed = scene_snapshot_queue(&scene);
    AUTO_FREE char *inspected = scene_snapshot(&scene, &brought.id);
    ck_assert_str_eq(listed, inspected);
}
END_TEST

/* Settles three jobs in three ways, cancels one, removes it, and adds one: all that moves. */
static void disturb(struct scene *scene, const struct uuid *removable)
{
    static const enum settlement_kind kinds[] = {SETTLE_ACK, SETTLE_RETRY, SETTLE_RELEASE};
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, COUNT_OF(kinds));

    scene_reserve(scene, &wanted, NOW, &taken);
    for (size_t i = 0; i < taken.count; i++) {
        struct claim claim = claim_of(scene, &taken.items[i]);
        scene_finish(scene, &claim, kinds[i], NOW);
    }
    ASSERT_VERDICT(scene_cancel(scene, removable, NOW), TH_OK);
    ASSERT_VERDICT(scene_remove(scene, removable), TH_OK);
    scene_add(scene);
}

static void add_listed_jobs(struct scene *scene, struct uuid *ids)
{
    for (size_t i = 0; i < LISTED_JOBS; i += MANY)
        scene_add_many(scene, MANY, ids + i);
}

/* In order of id, each of the jobs that stay exactly once, though jobs change, come and go between
 * the pages. The jobs that go are the last ones of the ids. */
START_TEST(list_pagination_stable_no_skip_no_repeat_10000_jobs_while_mutating)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    AUTO_FREE struct uuid *ids = calloc(LISTED_JOBS, sizeof *ids);
    struct job_filter filter = {.queue = scene.queue, .limit = PAGE};
    size_t stay = LISTED_JOBS - 2 * LISTED_JOBS / PAGE, seen = 0, pages = 0;
    bool more = true;

    ck_assert_ptr_nonnull(ids);
    add_listed_jobs(&scene, ids);
    while (more) {
        CLEANUP(job_list_done) struct job_list list = {0};
        list_page(&scene, &filter, &list, &more);
        ck_assert_msg(list.count > 0 || !more, "an empty page that is not the last");
        for (size_t i = 0; i < list.count; i++) {
            ck_assert_msg(uuid_compare(&filter.after, &list.items[i].id) < 0,
                          "a job was repeated or out of order");
            filter.after = list.items[i].id;
            if (seen < stay) {
                ck_assert_msg(uuid_compare(&list.items[i].id, &ids[seen]) == 0,
                              "job %zu was skipped", seen);
                seen++;
            }
        }
        ck_assert_uint_lt(stay + pages, LISTED_JOBS);
        if (seen < stay)
            disturb(&scene, &ids[stay + pages++]);
    }
    ck_assert_uint_eq(seen, stay);
    ck_assert_uint_ge(pages, LISTED_JOBS / PAGE - 1);
}
END_TEST

/* A store may look for a page in another way when there is much to look through. */
START_TEST(list_by_state_finds_the_same_among_30000_jobs)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    AUTO_FREE struct uuid *ids = calloc(MANY, sizeof *ids);
    struct job_filter filter = {.by_state = true, .state = JOB_READY, .limit = JOB_PAGE_MAX};
    struct brought dead = bring(&scene, JOB_DEAD);
    size_t seen = 0;
    bool more = true;

    for (size_t i = 0; i < CROWD; i += MANY)
        scene_add_many(&scene, MANY, ids);
    struct brought running = bring(&scene, JOB_RUNNING);
    while (more) {
        CLEANUP(job_list_done) struct job_list list = {0};
        list_page(&scene, &filter, &list, &more);
        for (size_t i = 0; i < list.count; i++) {
            if (list.items[i].state != JOB_READY)
                ck_abort_msg("job %zu is not ready", seen + i);
            if (uuid_compare(&filter.after, &list.items[i].id) >= 0)
                ck_abort_msg("job %zu is out of order", seen + i);
            filter.after = list.items[i].id;
        }
        seen += list.count;
    }
    ck_assert_uint_eq(seen, CROWD);
    ck_assert_uint_eq(count_in_state(&scene, JOB_DEAD), 1);
    ck_assert_uint_eq(count_in_state(&scene, JOB_RUNNING), 1);
    ASSERT_STATE(&scene, &dead.id, JOB_DEAD);
    ASSERT_STATE(&scene, &running.id, JOB_RUNNING);
}
END_TEST

START_TEST(list_after_an_unknown_id_is_an_error_that_says_so)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job_filter filter = {.queue = scene.queue, .limit = 10};
    struct error err = {0};
    bool more = false;

    filter.after = uuid_make(&scene.ids, NOW);
    scene_add(&scene);
    MUST_FAIL(TH_E_NOT_FOUND, store_list(scene.store, &filter, &list, &more, &err));
    ck_assert_uint_eq(list.count, 0);
    ck_assert_msg(err.text[0] != '\0', "it does not say so");
}
END_TEST

START_TEST(list_after_the_last_id_is_empty)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job_filter filter = {.queue = scene.queue, .limit = 10, .after = scene_add(&scene)};
    bool more = true;

    list_page(&scene, &filter, &list, &more);
    ck_assert_uint_eq(list.count, 0);
    ck_assert(!more);
}
END_TEST

START_TEST(list_says_exactly_when_another_page_follows)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid ids[4];
    static const size_t limits[] = {1, 3, 4, 5};

    scene_add_many(&scene, COUNT_OF(ids), ids);
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        CLEANUP(job_list_done) struct job_list list = {0};
        const struct job_filter filter = {.queue = scene.queue, .limit = limits[i]};
        bool more = i % 2 == 0;
        list_page(&scene, &filter, &list, &more);
        ck_assert_uint_eq(list.count, limits[i] < 4 ? limits[i] : 4);
        ck_assert_msg(more == (limits[i] < 4), "a page of %zu", limits[i]);
    }
}
END_TEST

#define LARGE_JOBS 20

/* A page may be cut short when its payloads are large; the next one goes on where it ended. */
START_TEST(list_of_large_payloads_is_complete)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    AUTO_FREE unsigned char *payload = calloc(1, JOB_PAYLOAD_DEFAULT);
    struct job_filter filter = {.queue = scene.queue, .limit = JOB_PAGE_MAX};
    struct uuid ids[LARGE_JOBS];
    size_t seen = 0;
    bool more = true;

    ck_assert_ptr_nonnull(payload);
    for (size_t i = 0; i < LARGE_JOBS; i++) {
        struct job job = scene_job(&scene);
        job.encoding = JOB_RAW;
        job.payload = (struct bytes){payload, JOB_PAYLOAD_DEFAULT};
        ids[i] = scene_enqueue(&scene, job, NOW).id;
    }
    while (more) {
        CLEANUP(job_list_done) struct job_list list = {0};
        list_page(&scene, &filter, &list, &more);
        ck_assert_uint_ge(list.count, 1);
        for (size_t i = 0; i < list.count; i++, seen++) {
            ck_assert_uint_lt(seen, LARGE_JOBS);
            ASSERT_SAME_ID(&list.items[i].id, &ids[seen]);
            ck_assert_uint_eq(list.items[i].payload.length, JOB_PAYLOAD_DEFAULT);
        }
        filter.after = list.items[list.count - 1].id;
    }
    ck_assert_uint_eq(seen, LARGE_JOBS);
}
END_TEST

START_TEST(stats_equal_counts_of_list)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    for (int state = 0; state < JOB_STATES; state++) {
        for (int i = 0; i <= state % 3; i++)
            bring(&scene, (enum job_state)state);
    }
    struct queue_stats stats = scene_stats(&scene);
    for (int state = 0; state < JOB_STATES; state++) {
        size_t listed = count_in_state(&scene, (enum job_state)state);
        ck_assert_uint_ge(listed, 1);
        ck_assert_msg(stats.jobs[state] == (int64_t)listed, "%s: stats %" PRId64 ", list %zu",
                      job_state_name((enum job_state)state), stats.jobs[state], listed);
    }
    ASSERT_TIME(stats.oldest_ready, NOW);
    ASSERT_TIME(stats.paused_at, 0);
}
END_TEST

START_TEST(stats_tell_the_oldest_ready_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job older = scene_job(&scene);

    scene_add(&scene);
    older.run_at = NOW - SECONDS(9);
    older.priority = 9;
    scene_enqueue(&scene, older, NOW);
    ASSERT_TIME(scene_stats(&scene).oldest_ready, NOW - SECONDS(9));
    scene_take(&scene, NOW);
    scene_take(&scene, NOW);
    ASSERT_TIME(scene_stats(&scene).oldest_ready, 0);
}
END_TEST

START_TEST(discover_queues_and_namespaces)
{
    static const char *const names[] = {"alpha", "beta", "gamma"};
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(scene_close) struct scene other = scene_open_fresh();
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    CLEANUP(queue_stats_list_done) struct queue_stats_list nothing = {0};
    struct error err = {0};

    for (size_t i = COUNT_OF(names); i-- > 0;) {
        snprintf(scene.queue, sizeof scene.queue, "%s", names[i]);
        scene_add(&scene);
    }
    struct claim claim = scene_take(&scene, NOW);
    scene_finish(&scene, &claim, SETTLE_ACK, NOW);
    ASSERT_VERDICT(scene_remove(&scene, &claim.id), TH_OK);

    /* By name, and also a queue that has no job any more. */
    MUST(store_stats(scene.store, &stats, &err));
    ck_assert_uint_eq(stats.count, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        ck_assert_str_eq(stats.items[i].queue, names[i]);
    MUST(store_stats(other.store, &nothing, &err));
    ck_assert_uint_eq(nothing.count, 0);
}
END_TEST

static void register_pool(struct scene *scene, const char *name, usec_t now)
{
    const struct pool pool = {
        .name = name,
        .host = "host-of-it",
        .pid = 4242,
        .started_at = now - 1,
        .status = {(const unsigned char *)"{}", 2},
    };
    struct error err = {0};

    MUST(store_pool_register(scene->store, &pool, now, &err));
}

START_TEST(pools_register_list_stale_remove)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    CLEANUP(pool_list_done) struct pool_list removed = {0};
    CLEANUP(pool_list_done) struct pool_list left = {0};
    struct error err = {0};

    register_pool(&scene, "b", NOW);
    register_pool(&scene, "a", NOW + 2);
    register_pool(&scene, "b", NOW + 1); /* again: it is the same pool */
    MUST(store_pools(scene.store, &pools, &err));
    ck_assert_uint_eq(pools.count, 2);
    const struct pool *b = &pools.items[strcmp(pools.items[0].name, "b") == 0 ? 0 : 1];
    ck_assert_str_eq(b->name, "b");
    ck_assert_str_eq(b->host, "host-of-it");
    ck_assert_int_eq(b->pid, 4242);
    ASSERT_TIME(b->started_at, NOW);
    ASSERT_TIME(b->beat_at, NOW + 1);
    ck_assert_uint_eq(b->status.length, 2);

    MUST(store_pool_remove_silent(scene.store, NOW + 2, &removed, &err));
    ck_assert_uint_eq(removed.count, 1);
    ck_assert_str_eq(removed.items[0].name, "b");
    MUST(store_pool_remove(scene.store, "a", &err));
    MUST_FAIL(TH_E_NOT_FOUND, store_pool_remove(scene.store, "a", &err));
    MUST(store_pools(scene.store, &left, &err));
    ck_assert_uint_eq(left.count, 0);
}
END_TEST

START_TEST(counters_of_a_pool_outlive_it)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct error err = {0};

    register_pool(&scene, POOL, NOW);
    bring(&scene, JOB_DONE);
    bring(&scene, JOB_RETRY);
    MUST(store_pool_remove(scene.store, POOL, &err));
    ck_assert_int_eq(scene_stats(&scene).done_total, 1);
    ck_assert_int_eq(scene_stats(&scene).failed_total, 1);
}
END_TEST

Suite *admin_suite(void)
{
    Suite *suite = suite_create("admin");
    TCase *look = contract_group(suite, "look");
    TCase *pages = contract_group(suite, "pages");
    TCase *whole = contract_group(suite, "whole");

    tcase_add_loop_test(look, inspect_each_state, 0, JOB_STATES);
    tcase_add_test(look, inspect_unknown_not_found);
    tcase_add_loop_test(look, list_by_each_state_matches_inspect, 0, JOB_STATES);
    tcase_add_test(look, list_by_queue_and_type);
    tcase_add_loop_test(look, list_shows_what_inspect_shows, 0, JOB_STATES);

    tcase_add_test(pages, list_by_state_finds_the_same_among_30000_jobs);
    tcase_add_test(pages, list_pagination_stable_no_skip_no_repeat_10000_jobs_while_mutating);
    tcase_add_test(pages, list_after_an_unknown_id_is_an_error_that_says_so);
    tcase_add_test(pages, list_after_the_last_id_is_empty);
    tcase_add_test(pages, list_of_large_payloads_is_complete);
    tcase_add_test(pages, list_says_exactly_when_another_page_follows);

    tcase_add_test(whole, stats_equal_counts_of_list);
    tcase_add_test(whole, stats_tell_the_oldest_ready_job);
    tcase_add_test(whole, discover_queues_and_namespaces);
    tcase_add_test(whole, pools_register_list_stale_remove);
    tcase_add_test(whole, counters_of_a_pool_outlive_it);
    return suite;
}
