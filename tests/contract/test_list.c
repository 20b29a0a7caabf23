/*
 * test_list.c - what is on a list, in the order of what its state is about.
 *
 * Long lists are in test_pages.c.
 */
#include "bring.h"
#include "contract.h"
#include "store/listing.h"

#include <stdio.h>
#include <string.h>

/* ---- what is on a page ---- */

START_TEST(list_by_each_state_matches_inspect)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job_filter filter = {
        .by_state = true, .state = (enum job_state)_i, .queue = scene.queue, .limit = JOB_PAGE_MAX};
    struct uuid expected[JOB_STATES];
    size_t twins = _i == JOB_RUNNING ? 1 : 0; /* the one that the blocked job waits for */
    bool found = false;

    for (int state = 0; state < JOB_STATES; state++)
        expected[state] = bring(&scene, (enum job_state)state).id;
    ck_assert(!scene_list(&scene, &filter, &list).is_set);
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

    wanted.type = elsewhere.type = "wanted";
    scene_add(&scene);
    scene_enqueue(&scene, wanted, NOW);
    scene_enqueue(&other, elsewhere, NOW);
    scene_list(&scene, &filter, &list);
    ck_assert_uint_eq(list.count, 1);
    ASSERT_SAME_ID(&list.items[0].id, &wanted.id);
    filter.type = "want";
    scene_list(&scene, &filter, &list);
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

/* ---- the order ---- */

/* Out of the order in which they are made, and some at the same moment. */
static const int offsets[] = {4, 1, 5, 2, 4, 1};

static usec_t base_time(enum job_state state)
{
    return state == JOB_SCHEDULED || state == JOB_RETRY ? LATER : NOW;
}

/* A job whose time is `at`, in a queue where nothing else can be reserved. */
static struct uuid make(struct scene *scene, enum job_state state, usec_t at, int priority)
{
    struct job job = scene_job(scene);
    char key[UUID_TEXT_SIZE];

    job.priority = priority;
    if (state == JOB_READY || state == JOB_SCHEDULED)
        job.run_at = at;
    if (state == JOB_BLOCKED) {
        job.key = uuid_format(&job.id, key);
        struct job twin = job;
        twin.id = uuid_make(&scene->ids, NOW);
        scene_enqueue(scene, twin, NOW);
        scene_take(scene, NOW);
        job.run_at = at;
    }
    scene_enqueue(scene, job, state == JOB_READY ? NOW + SECONDS(10) : NOW);
    if (state == JOB_RUNNING)
        scene_take(scene, at);
    if (state == JOB_RETRY || job_state_has_ended(state)) {
        struct claim claim = scene_take(scene, NOW);
        struct settlement settlement =
            claim_settlement(&claim, state == JOB_RETRY  ? SETTLE_RETRY
                                     : state == JOB_DONE ? SETTLE_ACK
                                     : state == JOB_DEAD ? SETTLE_FAIL
                                                         : SETTLE_CANCEL);
        settlement.run_at = state == JOB_RETRY ? at : 0;
        ASSERT_VERDICT(scene_settle(scene, &settlement, state == JOB_RETRY ? NOW : at), TH_OK);
    }
    ASSERT_STATE(scene, &job.id, state);
    return job.id;
}

static void name_queue(struct scene *scene, enum job_state state, size_t i)
{
    snprintf(scene->queue, sizeof scene->queue, "%s-%zu", job_state_name(state), i % 2);
}

static void make_all(struct scene *scene)
{
    for (int state = 0; state < JOB_STATES; state++)
        for (size_t i = 0; i < COUNT_OF(offsets); i++) {
            name_queue(scene, (enum job_state)state, i);
            make(scene, (enum job_state)state,
                 base_time((enum job_state)state) + SECONDS(offsets[i]), (int)(9 - i));
        }
}

/* All pages: in order, each job once. Returns how many. */
static size_t walk(struct scene *scene, struct job_filter filter)
{
    struct uuid seen[32];
    size_t count = 0;
    usec_t last = filter.oldest_first ? 0 : USEC_MAX;

    do {
        CLEANUP(job_list_done) struct job_list list = {0};
        filter.after = scene_list(scene, &filter, &list);
        for (size_t i = 0; i < list.count; i++) {
            usec_t time = listing_time(&filter, &list.items[i]);
            ck_assert_msg(filter.oldest_first ? time >= last : time <= last, "out of order");
            ck_assert(listing_matches(&filter, &list.items[i]));
            for (size_t j = 0; j < count; j++)
                ck_assert_msg(uuid_compare(&seen[j], &list.items[i].id) != 0, "a job came twice");
            ck_assert_uint_lt(count, COUNT_OF(seen));
            seen[count++] = list.items[i].id;
            last = time;
        }
    } while (filter.after.is_set);
    return count;
}

static void walk_each_way(struct scene *scene, struct job_filter filter, size_t expected)
{
    static const size_t limits[] = {1, 2, 5, JOB_PAGE_MAX};

    for (size_t i = 0; i < 2 * COUNT_OF(limits); i++) {
        filter.limit = limits[i / 2];
        filter.oldest_first = i % 2 == 0;
        ck_assert_msg(walk(scene, filter) == expected, "%s, %zu a page, %s: not %zu jobs",
                      job_state_name(filter.state), filter.limit,
                      filter.oldest_first ? "up" : "down", expected);
    }
}

START_TEST(list_goes_by_the_time_that_its_state_is_about)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();

    make_all(&scene);
    for (int i = 0; i < JOB_STATES; i++) {
        struct job_filter filter = {.by_state = true, .state = (enum job_state)i};
        size_t twins = i == JOB_RUNNING ? COUNT_OF(offsets) : 0; /* of the blocked ones */
        usec_t base = base_time(filter.state);

        walk_each_way(&scene, filter, COUNT_OF(offsets) + twins);
        name_queue(&scene, filter.state, 1);
        filter.queue = scene.queue;
        walk_each_way(&scene, filter, 3);
        filter.since = base + SECONDS(1);
        filter.until = base + SECONDS(2);
        walk_each_way(&scene, filter, 2);
        filter.queue = NULL;
        filter.since = base + SECONDS(2);
        filter.until = base + SECONDS(5);
        walk_each_way(&scene, filter, 3);
        filter.until = 0;
        walk_each_way(&scene, filter, 4);
        filter.since = 0;
        filter.until = base + SECONDS(4);
        walk_each_way(&scene, filter, 3 + twins);
    }
}
END_TEST

START_TEST(list_without_a_state_goes_by_the_time_of_the_id)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job_filter filter = {.queue = scene.queue};

    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        struct job job = scene_job(&scene);
        struct uuid_maker maker = {0};
        job.id = uuid_make(&maker, NOW + SECONDS(offsets[i]));
        scene_enqueue(&scene, job, NOW);
    }
    walk_each_way(&scene, filter, COUNT_OF(offsets));
    filter.since = NOW / 1000 * 1000 + SECONDS(2);
    walk_each_way(&scene, filter, 4);
    filter.until = NOW / 1000 * 1000 + SECONDS(4);
    walk_each_way(&scene, filter, 1);
    filter.since = 0;
    filter.until++; /* the millisecond of these ids has begun */
    walk_each_way(&scene, filter, 5);
}
END_TEST

/* ---- filters ---- */

START_TEST(list_by_key_and_by_a_part_of_the_error)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought dead = bring(&scene, JOB_DEAD);
    struct brought retry = bring(&scene, JOB_RETRY);
    struct job_filter filter = {.queue = scene.queue};

    bring(&scene, JOB_DONE);
    walk_each_way(&scene, filter, 3);
    filter.error = "t bro";
    walk_each_way(&scene, filter, 2);
    filter.key = retry.key;
    walk_each_way(&scene, filter, 1);
    filter.error = NULL;
    walk_each_way(&scene, filter, 1);
    filter.by_state = true;
    filter.state = JOB_DEAD;
    walk_each_way(&scene, filter, 0);
    filter.key = dead.key;
    filter.error = "broke";
    walk_each_way(&scene, filter, 1);
    filter.error = "Broke";
    walk_each_way(&scene, filter, 0);
}
END_TEST

START_TEST(a_brief_list_leaves_out_what_is_large)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job_filter filter = {.queue = scene.queue, .brief = true, .limit = 10};
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement settlement = claim_settlement(&claim, SETTLE_ACK);

    settlement.result = (struct bytes){(const unsigned char *)"42", 2};
    settlement.output = (struct bytes){(const unsigned char *)"said", 4};
    ASSERT_VERDICT(scene_settle(&scene, &settlement, NOW), TH_OK);
    scene_list(&scene, &filter, &list);
    ck_assert_uint_eq(list.count, 1);
    ASSERT_SAME_ID(&list.items[0].id, &id);
    ck_assert_int_eq(list.items[0].state, JOB_DONE);
    ck_assert_uint_eq(list.items[0].payload.length, 0);
    ck_assert_uint_eq(list.items[0].result.length, 0);
    ck_assert_uint_eq(list.items[0].output.length, 0);
    ck_assert_uint_eq(list.items[0].run_count, 0);
}
END_TEST

/* ---- cursors ---- */

/* The job that a page ended with is deleted: the next page begins after its place. */
START_TEST(list_goes_on_after_a_job_that_is_gone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job_filter filter = {.queue = scene.queue, .limit = 2, .oldest_first = _i % 2 == 0};
    CLEANUP(job_list_done) struct job_list before = {0};
    CLEANUP(job_list_done) struct job_list after = {0};

    filter.by_state = _i / 2 == 1;
    filter.state = JOB_DONE;
    for (size_t i = 0; i < COUNT_OF(offsets); i++)
        make(&scene, JOB_DONE, NOW + SECONDS(offsets[i]), 5);
    filter.after = scene_list(&scene, &filter, &before);
    ck_assert(filter.after.is_set);
    ck_assert_uint_eq(before.count, 2);
    for (size_t i = 0; i < before.count; i++)
        ASSERT_VERDICT(scene_remove(&scene, &before.items[i].id), TH_OK);
    filter.limit = JOB_PAGE_MAX;
    ck_assert(!scene_list(&scene, &filter, &after).is_set);
    ck_assert_uint_eq(after.count, COUNT_OF(offsets) - 2);
}
END_TEST

Suite *list_suite(void)
{
    Suite *suite = suite_create("list");
    TCase *page = contract_group(suite, "page");
    TCase *order = contract_group(suite, "order");

    tcase_add_loop_test(page, list_by_each_state_matches_inspect, 0, JOB_STATES);
    tcase_add_test(page, list_by_queue_and_type);
    tcase_add_test(page, list_by_key_and_by_a_part_of_the_error);
    tcase_add_loop_test(page, list_shows_what_inspect_shows, 0, JOB_STATES);
    tcase_add_test(page, a_brief_list_leaves_out_what_is_large);

    tcase_add_test(order, list_goes_by_the_time_that_its_state_is_about);
    tcase_add_test(order, list_without_a_state_goes_by_the_time_of_the_id);
    tcase_add_loop_test(order, list_goes_on_after_a_job_that_is_gone, 0, 4);
    return suite;
}
