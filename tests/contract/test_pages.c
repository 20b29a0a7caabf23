/*
 * test_pages.c - long lists, page by page, while jobs come and go.
 */
#include "bring.h"
#include "contract.h"
#include "store/listing.h"

#include <stdlib.h>

#define LISTED_JOBS 10000
#define CROWD       30000
#define PAGE        300

/* In stores of their own: by id, 10,000 jobs of others may be looked at and passed over. */
START_TEST(list_after_the_last_id_is_empty)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job_filter filter = {
        .queue = scene.queue, .oldest_first = true, .limit = 10, .after = {.is_set = true}};

    filter.after.id = scene_add(&scene);
    ck_assert(!scene_list(&scene, &filter, &list).is_set);
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(list_says_exactly_when_another_page_follows)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[4];
    static const size_t limits[] = {1, 3, 4, 5};

    scene_add_many(&scene, COUNT_OF(ids), ids);
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        CLEANUP(job_list_done) struct job_list list = {0};
        const struct job_filter filter = {.queue = scene.queue, .limit = limits[i]};
        bool more = scene_list(&scene, &filter, &list).is_set;
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
    struct job_filter filter = {.queue = scene.queue, .oldest_first = true, .limit = JOB_PAGE_MAX};
    struct uuid ids[LARGE_JOBS];
    size_t seen = 0;

    ck_assert_ptr_nonnull(payload);
    for (size_t i = 0; i < LARGE_JOBS; i++) {
        struct job job = scene_job(&scene);
        job.encoding = JOB_RAW;
        job.payload = (struct bytes){payload, JOB_PAYLOAD_DEFAULT};
        ids[i] = scene_enqueue(&scene, job, NOW).id;
    }
    do {
        CLEANUP(job_list_done) struct job_list list = {0};
        filter.after = scene_list(&scene, &filter, &list);
        ck_assert_uint_ge(list.count, 1);
        for (size_t i = 0; i < list.count; i++, seen++) {
            ck_assert_uint_lt(seen, LARGE_JOBS);
            ASSERT_SAME_ID(&list.items[i].id, &ids[seen]);
            ck_assert_uint_eq(list.items[i].payload.length, JOB_PAYLOAD_DEFAULT);
        }
    } while (filter.after.is_set);
    ck_assert_uint_eq(seen, LARGE_JOBS);
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
    struct job_filter filter = {.queue = scene.queue, .oldest_first = true, .limit = PAGE};
    size_t stay = LISTED_JOBS - 2 * LISTED_JOBS / PAGE, seen = 0, pages = 0;
    struct uuid last = {0};

    ck_assert_ptr_nonnull(ids);
    add_listed_jobs(&scene, ids);
    do {
        CLEANUP(job_list_done) struct job_list list = {0};
        filter.after = scene_list(&scene, &filter, &list);
        ck_assert_msg(list.count > 0 || !filter.after.is_set, "an empty page that is not the last");
        for (size_t i = 0; i < list.count; i++) {
            ck_assert_msg(uuid_compare(&last, &list.items[i].id) < 0,
                          "a job was repeated or out of order");
            last = list.items[i].id;
            if (seen < stay) {
                ck_assert_msg(uuid_compare(&list.items[i].id, &ids[seen]) == 0,
                              "job %zu was skipped", seen);
                seen++;
            }
        }
        ck_assert_uint_lt(stay + pages, LISTED_JOBS);
        if (seen < stay)
            disturb(&scene, &ids[stay + pages++]);
    } while (filter.after.is_set);
    ck_assert_uint_eq(seen, stay);
    ck_assert_uint_ge(pages, LISTED_JOBS / PAGE - 1);
}
END_TEST

static void assert_only(struct scene *scene, enum job_state state, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job_filter filter = {.by_state = true, .state = state, .limit = JOB_PAGE_MAX};

    ck_assert(!scene_list(scene, &filter, &list).is_set);
    ck_assert_uint_eq(list.count, 1);
    ASSERT_SAME_ID(&list.items[0].id, id);
}

/* A store may look for a page in another way when there is much to look through. */
START_TEST(list_by_state_finds_the_same_among_30000_jobs)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    AUTO_FREE struct uuid *ids = calloc(MANY, sizeof *ids);
    struct job_filter filter = {.by_state = true, .state = JOB_READY, .limit = JOB_PAGE_MAX};
    struct brought dead = bring(&scene, JOB_DEAD);
    struct brought running = bring(&scene, JOB_RUNNING);
    size_t seen = 0;

    for (size_t i = 0; i < CROWD; i += MANY)
        scene_add_many(&scene, MANY, ids);
    do {
        CLEANUP(job_list_done) struct job_list list = {0};
        filter.after = scene_list(&scene, &filter, &list);
        for (size_t i = 0; i < list.count; i++)
            if (list.items[i].state != JOB_READY)
                ck_abort_msg("job %zu is not ready", seen + i);
        seen += list.count;
    } while (filter.after.is_set);
    ck_assert_uint_eq(seen, CROWD);
    assert_only(&scene, JOB_DEAD, &dead.id);
    assert_only(&scene, JOB_RUNNING, &running.id);
}
END_TEST

static int by_id(const void *a, const void *b)
{
    return uuid_compare(a, b);
}

/* Of a list that goes by a time: whatever is still in its state at the end was seen, once. */
START_TEST(list_by_state_skips_and_repeats_nothing_while_jobs_move)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    AUTO_FREE struct uuid *ids = calloc(LISTED_JOBS, sizeof *ids);
    AUTO_FREE bool *seen = calloc(LISTED_JOBS, sizeof *seen);
    struct job_filter filter = {
        .by_state = true, .state = JOB_READY, .oldest_first = _i == 0, .limit = PAGE};
    size_t removed = 0;

    ck_assert(ids && seen);
    add_listed_jobs(&scene, ids);
    qsort(ids, LISTED_JOBS, sizeof *ids, by_id);
    do {
        CLEANUP(job_list_done) struct job_list list = {0};
        filter.after = scene_list(&scene, &filter, &list);
        for (size_t i = 0; i < list.count; i++) {
            struct uuid *id = bsearch(&list.items[i].id, ids, LISTED_JOBS, sizeof *ids, by_id);
            ck_assert_msg(!id || !seen[id - ids], "a job was repeated");
            if (id)
                seen[id - ids] = true;
        }
        if (filter.after.is_set)
            disturb(&scene, &ids[LISTED_JOBS / 2 + removed++]);
    } while (filter.after.is_set);
    for (size_t i = 0; i < LISTED_JOBS; i++)
        if (!seen[i] && scene_has(&scene, &ids[i]))
            ck_assert_msg(scene_state(&scene, &ids[i]) != JOB_READY, "job %zu was skipped", i);
}
END_TEST

/* One call looks at 10,000 jobs, and says how to go on. */
START_TEST(a_page_of_a_rare_type_may_be_empty_and_still_have_a_next)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    AUTO_FREE struct uuid *ids = calloc(MANY, sizeof *ids);
    struct job_filter filter = {
        .by_state = _i != 0, .state = JOB_READY, .type = "rare", .limit = JOB_PAGE_MAX};
    struct job rare = scene_job(&scene);

    ck_assert_ptr_nonnull(ids);
    rare.type = "rare";
    scene_enqueue(&scene, rare, NOW);
    for (size_t i = 0; i < LISTING_LOOK_MAX + MANY; i += MANY)
        scene_add_many(&scene, MANY, ids);
    filter.after = scene_list(&scene, &filter, &list);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_msg(filter.after.is_set, "an empty page, and nothing to go on with");
    ck_assert(!scene_list(&scene, &filter, &list).is_set);
    ck_assert_uint_eq(list.count, 1);
    ASSERT_SAME_ID(&list.items[0].id, &rare.id);
}
END_TEST

#define AT_ONCE 600

static void end_at_once(struct scene *scene, struct uuid *ids)
{
    enum th_error_code verdicts[AT_ONCE];
    struct error err = {0};

    scene_add_many(scene, AT_ONCE, ids);
    MUST(store_cancel(scene->store, ids, AT_ONCE, NOW, verdicts, &err));
    for (size_t i = 0; i < AT_ONCE; i++)
        ASSERT_VERDICT(verdicts[i], TH_OK);
    qsort(ids, AT_ONCE, sizeof *ids, by_id);
}

/* They are in the order of their ids then, and a page begins in the middle of them. */
START_TEST(many_jobs_that_ended_at_one_moment_are_listed_page_by_page)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const bool is_upward = _i == 0;
    struct job_filter filter = {
        .by_state = true, .state = JOB_CANCELLED, .oldest_first = is_upward, .limit = 7};
    struct uuid ids[AT_ONCE];
    size_t seen = 0;

    end_at_once(&scene, ids);
    do {
        CLEANUP(job_list_done) struct job_list list = {0};
        filter.after = scene_list(&scene, &filter, &list);
        for (size_t i = 0; i < list.count; i++, seen++) {
            ck_assert_uint_lt(seen, AT_ONCE);
            ASSERT_SAME_ID(&list.items[i].id, &ids[is_upward ? seen : AT_ONCE - 1 - seen]);
        }
    } while (filter.after.is_set);
    ck_assert_uint_eq(seen, AT_ONCE);
}
END_TEST

Suite *pages_suite(void)
{
    Suite *suite = suite_create("pages");
    TCase *ends = contract_group(suite, "ends");
    TCase *crowd = contract_group(suite, "crowd");

    tcase_add_test(ends, list_after_the_last_id_is_empty);
    tcase_add_test(ends, list_of_large_payloads_is_complete);
    tcase_add_test(ends, list_says_exactly_when_another_page_follows);

    tcase_add_test(crowd, list_by_state_finds_the_same_among_30000_jobs);
    tcase_add_test(crowd, list_pagination_stable_no_skip_no_repeat_10000_jobs_while_mutating);
    tcase_add_loop_test(crowd, list_by_state_skips_and_repeats_nothing_while_jobs_move, 0, 2);
    tcase_add_loop_test(crowd, many_jobs_that_ended_at_one_moment_are_listed_page_by_page, 0, 2);
    tcase_add_loop_test(crowd, a_page_of_a_rare_type_may_be_empty_and_still_have_a_next, 0, 2);
    return suite;
}
