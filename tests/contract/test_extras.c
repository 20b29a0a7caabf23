/*
 * test_extras.c - conformance A13: headers go with a job wherever it goes, and tags lead to it.
 */
#include "batch.h"
#include "contract.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define HEADERS "{ \"traceparent\": \"00-ab\", \"n\": 1.50 }"
#define COUNT   5

static const char *const both_tags[] = {"mail", "customer:42"};
static const char *const other_tag[] = {"other"};

/* With everything; tags are in one queue at a time, so that cases do not meet. */
static struct job rich_job(struct scene *scene)
{
    struct job job = scene_job(scene);

    job.headers = HEADERS;
    job.tags = (struct tags){both_tags, 2};
    return job;
}

static void assert_rich(const struct job *job)
{
    char text[TAGS_TEXT_SIZE];

    ck_assert_str_eq(job->headers, HEADERS);
    ck_assert_str_eq(tags_format(job->tags, text), "mail customer:42");
    ck_assert_ptr_null(job->defect);
}

static struct job_filter by_tag(const struct scene *scene, const char *tag)
{
    return (struct job_filter){.queue = scene->queue, .tag = tag, .limit = JOB_PAGE_MAX};
}

/* How many jobs of the scene's queue a tag leads to. */
static size_t count_by_tag(struct scene *scene, const char *tag)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job_filter filter = by_tag(scene, tag);

    scene_list(scene, &filter, &list);
    for (size_t i = 0; i < list.count; i++)
        ck_assert(tags_have(list.items[i].tags, tag));
    return list.count;
}

static void assert_sound(struct scene *scene)
{
    char why[256];

    ck_assert_msg(scene_backend()->backdoor->is_sound(scene->url, why, sizeof why), "%s", why);
}

/* ---- in and out ---- */

START_TEST(headers_and_tags_come_back_as_they_were)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0}, jobs = {0}, held = {0};
    const struct uuid id = scene_enqueue(&scene, rich_job(&scene), NOW).id;
    const struct job_filter filter = {.queue = scene.queue, .limit = 1};
    const struct reservation wanted = scene_wants(&scene, 1);
    struct error err = {0};

    assert_rich(scene_get(&scene, &id, &list));
    scene_list(&scene, &filter, &list);
    assert_rich(&list.items[1]);
    scene_reserve(&scene, &wanted, NOW, &jobs);
    ck_assert_uint_eq(jobs.count, 1);
    assert_rich(&jobs.items[0]);
    MUST(store_held(scene.store, POOL, &held, &err));
    for (size_t i = 0; i < held.count; i++)
        if (uuid_compare(&held.items[i].id, &id) == 0)
            assert_rich(&held.items[i]);
}
END_TEST

START_TEST(a_job_without_them_has_none)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct uuid id = scene_add(&scene);
    const struct job *job = scene_get(&scene, &id, &list);

    ck_assert_ptr_null(job->headers);
    ck_assert_uint_eq(job->tags.count, 0);
}
END_TEST

START_TEST(the_longest_headers_come_back_beside_any_payload)
{
    static const size_t payloads[] = {0, 1, 1024, 1025, 100000};
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0}, jobs = {0};
    const struct reservation wanted = scene_wants(&scene, 1);
    static unsigned char bytes[100000];
    char headers[8192 + 1];
    struct job job = scene_job(&scene);

    snprintf(headers, sizeof headers, "{\"a\":\"%08170d\"    }", 7);
    memset(bytes, 'x', sizeof bytes);
    job.headers = headers;
    job.encoding = JOB_RAW;
    job.payload = (struct bytes){bytes, payloads[_i]};
    scene_enqueue(&scene, job, NOW);
    const struct job *stored = scene_get(&scene, &job.id, &list);
    ck_assert_str_eq(stored->headers, headers);
    ck_assert_uint_eq(stored->payload.length, payloads[_i]);
    scene_reserve(&scene, &wanted, NOW, &jobs);
    ck_assert_str_eq(jobs.items[0].headers, headers);
    ck_assert_uint_eq(jobs.items[0].payload.length, payloads[_i]);
    ck_assert_int_eq(jobs.items[0].encoding, JOB_RAW);
}
END_TEST

START_TEST(what_is_wrong_with_them_is_refused_and_stores_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job jobs[] = {scene_job(&scene), rich_job(&scene), rich_job(&scene)};
    struct enqueued enqueued[COUNT_OF(jobs)];
    struct error err = {0};

    jobs[1].headers = "[]";
    MUST_FAIL(TH_E_INVALID, store_enqueue(scene.store, jobs, COUNT_OF(jobs), NOW, enqueued, &err));
    ck_assert_uint_eq(scene_count(&scene), 0);
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), 0);
}
END_TEST

START_TEST(a_repeated_enqueue_changes_neither)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = rich_job(&scene);

    scene_enqueue(&scene, job, NOW);
    job.headers = "{}";
    job.tags = (struct tags){other_tag, 1};
    ck_assert(scene_enqueue(&scene, job, NOW).existed);
    assert_rich(scene_get(&scene, &job.id, &list));
    ck_assert_uint_eq(count_by_tag(&scene, "other"), 0);
}
END_TEST

/* ---- the life of a job ---- */

START_TEST(they_stay_with_a_job_that_fails_dies_and_is_tried_again)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct uuid id = scene_enqueue(&scene, rich_job(&scene), NOW).id;
    struct claim claim = scene_take(&scene, NOW);

    scene_finish(&scene, &claim, SETTLE_RETRY, NOW);
    assert_rich(scene_get(&scene, &id, &list));
    scene_promote(&scene, JOB_RETRY, LATER);
    claim = scene_take(&scene, LATER);
    scene_finish(&scene, &claim, SETTLE_FAIL, LATER);
    assert_rich(scene_get(&scene, &id, &list));
    ASSERT_VERDICT(scene_requeue(&scene, &id, 0, LATER), TH_OK);
    claim = scene_take(&scene, LATER);
    scene_finish(&scene, &claim, SETTLE_RELEASE, LATER);
    assert_rich(scene_get(&scene, &id, &list));
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), 1);
}
END_TEST

/* Some with tags among enough without to share a lease. */
static void run_mixed(struct scene *scene, bool forget, struct uuid *ids)
{
    struct claim claims[MEMBERS];
    struct settlement finished[MEMBERS];
    enum th_error_code verdicts[MEMBERS];
    CLEANUP(job_list_done) struct job_list jobs = {0};
    const struct reservation wanted = scene_wants(scene, MEMBERS);

    for (size_t i = 0; i < MEMBERS; i++) {
        struct job job = i % 3 == 1 ? rich_job(scene) : scene_job(scene);
        if (i % 3 == 2)
            job.headers = HEADERS;
        ids[i] = scene_enqueue(scene, job, NOW).id;
    }
    scene_reserve(scene, &wanted, NOW, &jobs);
    ck_assert_uint_eq(jobs.count, MEMBERS);
    for (size_t i = 0; i < MEMBERS; i++) {
        ck_assert(text_equal(jobs.items[i].headers, i % 3 == 0 ? NULL : HEADERS));
        claims[i] = claim_of(scene, &jobs.items[i]);
        finished[i] = batch_plain_ack(&claims[i]);
        finished[i].forget = forget;
    }
    batch_settle(scene, finished, MEMBERS, NOW + 10, verdicts);
    for (size_t i = 0; i < MEMBERS; i++)
        ASSERT_VERDICT(verdicts[i], TH_OK);
}

START_TEST(what_is_forgotten_when_it_is_done_leaves_no_tag)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[MEMBERS];

    run_mixed(&scene, true, ids);
    ck_assert_uint_eq(scene_count(&scene), 0);
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), 0);
    assert_sound(&scene);
}
END_TEST

START_TEST(what_is_done_has_its_tags_until_it_is_pruned)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const struct retention keep = {.done = 1, .done_max = SIZE_MAX, .dead = 1};
    struct error err = {0};
    struct uuid ids[MEMBERS];
    size_t removed;

    run_mixed(&scene, false, ids);
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), (MEMBERS + 1) / 3);
    assert_sound(&scene);
    MUST(store_prune(scene.store, &keep, LATER, MANY, &removed, &err));
    ck_assert_uint_eq(removed, MEMBERS);
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), 0);
    assert_sound(&scene);
}
END_TEST

START_TEST(what_is_removed_leaves_no_tag)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const struct uuid id = scene_enqueue(&scene, rich_job(&scene), NOW).id;

    ASSERT_VERDICT(scene_cancel(&scene, &id, NOW), TH_OK);
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), 1);
    ASSERT_VERDICT(scene_remove(&scene, &id), TH_OK);
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), 0);
    ck_assert_uint_eq(count_by_tag(&scene, "customer:42"), 0);
    assert_sound(&scene);
}
END_TEST

START_TEST(a_job_that_a_dead_one_brings_has_its_own)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job brought = rich_job(&scene);

    scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement settlement = claim_settlement(&claim, SETTLE_FAIL);
    settlement.on_dead = &brought;
    ASSERT_VERDICT(scene_settle(&scene, &settlement, NOW), TH_OK);
    assert_rich(scene_get(&scene, &brought.id, &list));
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), 1);
}
END_TEST

/* ---- keys ---- */

START_TEST(an_update_replaces_both_with_the_payload)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job waiting = rich_job(&scene), job = scene_job(&scene);

    waiting.key = job.key = "key";
    job.headers = "{\"new\":1}";
    job.tags = (struct tags){other_tag, 1};
    job.update.payload = _i == 1;
    scene_enqueue(&scene, waiting, NOW);
    ck_assert(scene_enqueue(&scene, job, NOW).updated);
    const struct job *stored = scene_get(&scene, &waiting.id, &list);
    if (_i == 1)
        ck_assert_str_eq(stored->headers, "{\"new\":1}");
    else
        assert_rich(stored);
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), _i == 1 ? 0 : 1);
    ck_assert_uint_eq(count_by_tag(&scene, "other"), _i == 1 ? 1 : 0);
    assert_sound(&scene);
}
END_TEST

START_TEST(an_update_without_them_takes_them_away)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job waiting = rich_job(&scene), job = scene_job(&scene);

    waiting.key = job.key = "key";
    scene_enqueue(&scene, waiting, NOW);
    scene_enqueue(&scene, job, NOW);
    const struct job *stored = scene_get(&scene, &waiting.id, &list);
    ck_assert_ptr_null(stored->headers);
    ck_assert_uint_eq(stored->tags.count, 0);
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), 0);
    assert_sound(&scene);
}
END_TEST

START_TEST(a_blocked_job_that_is_merged_brings_its_own)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job running = scene_job(&scene), blocked = rich_job(&scene);

    running.key = blocked.key = "key";
    running.headers = "{\"old\":1}";
    running.tags = (struct tags){other_tag, 1};
    running.payload = (struct bytes){(const unsigned char *)"\"a payload\"", 11};
    scene_enqueue(&scene, running, NOW);
    struct claim claim = scene_take(&scene, NOW);
    scene_enqueue(&scene, blocked, NOW);
    ASSERT_STATE(&scene, &blocked.id, JOB_BLOCKED);
    scene_finish(&scene, &claim, SETTLE_RELEASE, NOW);
    assert_rich(scene_get(&scene, &running.id, &list));
    assert_rich(scene_get(&scene, &blocked.id, &list));
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), 2);
    ck_assert_uint_eq(count_by_tag(&scene, "other"), 0);
    assert_sound(&scene);
}
END_TEST

/* ---- lists ---- */

/* A job with tags in this state, with nothing else in its queue that could be reserved. */
static struct uuid make(struct scene *scene, enum job_state state)
{
    static const enum settlement_kind kinds[JOB_STATES] = {
        [JOB_RETRY] = SETTLE_RETRY,
        [JOB_DONE] = SETTLE_ACK,
        [JOB_DEAD] = SETTLE_FAIL,
        [JOB_CANCELLED] = SETTLE_CANCEL,
    };
    struct job job = rich_job(scene), twin = scene_job(scene);

    if (state == JOB_BLOCKED) {
        job.key = twin.key = "key";
        scene_enqueue(scene, twin, NOW);
        scene_take(scene, NOW);
    }
    job.run_at = state == JOB_SCHEDULED ? LATER : 0;
    scene_enqueue(scene, job, NOW);
    if (state == JOB_RUNNING || state == JOB_RETRY || job_state_has_ended(state)) {
        struct claim claim = scene_take_this(scene, &job.id, NOW);
        if (state != JOB_RUNNING)
            scene_finish(scene, &claim, kinds[state], NOW);
    }
    ASSERT_STATE(scene, &job.id, state);
    return job.id;
}

START_TEST(a_tag_leads_to_jobs_of_each_state_in_order_of_their_ids)
{
    /* What is ready comes last: it would be reserved for the others. */
    static const enum job_state order[] = {JOB_SCHEDULED, JOB_BLOCKED, JOB_RUNNING,   JOB_RETRY,
                                           JOB_DONE,      JOB_DEAD,    JOB_CANCELLED, JOB_READY};
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid ids[COUNT_OF(order)];

    for (size_t i = 0; i < COUNT_OF(order); i++)
        ids[i] = make(&scene, order[i]);
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        CLEANUP(job_list_done) struct job_list list = {0};
        struct job_filter filter = by_tag(&scene, "mail");
        filter.by_state = true;
        filter.state = order[i];
        ck_assert(!scene_list(&scene, &filter, &list).is_set);
        ck_assert_uint_eq(list.count, 1);
        ASSERT_SAME_ID(&list.items[0].id, &ids[i]);
        filter.tag = "other";
        scene_list(&scene, &filter, &list);
        ck_assert_uint_eq(list.count, 1);
    }
    for (int up = 0; up <= 1; up++) {
        struct job_filter filter = by_tag(&scene, "customer:42");
        filter.limit = 1;
        filter.oldest_first = up == 1;
        for (size_t i = 0; i < COUNT_OF(order); i++) {
            CLEANUP(job_list_done) struct job_list list = {0};
            filter.after = scene_list(&scene, &filter, &list);
            ck_assert_uint_eq(list.count, 1);
            ASSERT_SAME_ID(&list.items[0].id, &ids[up == 1 ? i : COUNT_OF(order) - 1 - i]);
            ck_assert_int_eq(filter.after.is_set, i + 1 < COUNT_OF(order));
        }
    }
}
END_TEST

START_TEST(a_tag_is_its_whole_name_and_goes_with_other_filters)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job_filter filter = by_tag(&scene, "mail");
    struct job job = rich_job(&scene);
    struct error err = {0};
    struct job_cursor next;

    job.type = "wanted";
    scene_enqueue(&scene, rich_job(&scene), NOW);
    scene_enqueue(&scene, job, NOW);
    scene_enqueue(&other, rich_job(&other), NOW);
    ck_assert_uint_eq(count_by_tag(&scene, "mail"), 2);
    ck_assert_uint_eq(count_by_tag(&scene, "mai"), 0);
    ck_assert_uint_eq(count_by_tag(&scene, "mail:"), 0);
    ck_assert_uint_eq(count_by_tag(&scene, "nobody"), 0);
    filter.type = "wanted";
    scene_list(&scene, &filter, &list);
    ck_assert_uint_eq(list.count, 1);
    ASSERT_SAME_ID(&list.items[0].id, &job.id);
    filter.tag = "not a name";
    MUST_FAIL(TH_E_INVALID, store_list(scene.store, &filter, &list, &next, &err));
}
END_TEST

/* Without a queue the tag leads through all of them. */
START_TEST(a_tag_leads_to_jobs_of_all_queues_in_one_order)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct job_filter filter = {.tag = "mail", .limit = 2};
    struct uuid ids[COUNT];
    size_t seen = COUNT;

    for (size_t i = 0; i < COUNT; i++) {
        snprintf(scene.queue, sizeof scene.queue, "q-%zu", i % 2);
        ids[i] = scene_enqueue(&scene, rich_job(&scene), NOW).id;
    }
    do {
        CLEANUP(job_list_done) struct job_list list = {0};
        filter.after = scene_list(&scene, &filter, &list);
        for (size_t i = 0; i < list.count; i++)
            ASSERT_SAME_ID(&list.items[i].id, &ids[--seen]);
    } while (filter.after.is_set);
    ck_assert_uint_eq(seen, 0);
}
END_TEST

START_TEST(a_tag_goes_with_the_time_that_ids_were_made_at)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job_filter filter = by_tag(&scene, "mail");
    struct job early = rich_job(&scene), late = rich_job(&scene);

    late.id = uuid_make(&scene.ids, LATER);
    scene_enqueue(&scene, early, NOW);
    scene_enqueue(&scene, late, NOW);
    filter.since = LATER - USEC_PER_SEC;
    scene_list(&scene, &filter, &list);
    ck_assert_uint_eq(list.count, 1);
    ASSERT_SAME_ID(&list.items[0].id, &late.id);
    filter.since = 0;
    filter.until = LATER - USEC_PER_SEC;
    filter.by_state = true;
    filter.state = JOB_READY;
    scene_list(&scene, &filter, &list);
    ck_assert_uint_eq(list.count, 2);
    ASSERT_SAME_ID(&list.items[1].id, &early.id);
}
END_TEST

START_TEST(a_brief_list_has_tags_and_no_headers)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job_filter filter = by_tag(&scene, "mail");

    scene_enqueue(&scene, rich_job(&scene), NOW);
    filter.brief = true;
    scene_list(&scene, &filter, &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_ptr_null(list.items[0].headers);
    ck_assert_uint_eq(list.items[0].tags.count, 2);
}
END_TEST

/* ---- damage ---- */

START_TEST(a_job_whose_headers_are_damaged_is_handed_out_with_its_defect)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list jobs = {0}, list = {0};
    const struct reservation wanted = scene_wants(&scene, MANY);
    const struct uuid id = scene_enqueue(&scene, rich_job(&scene), NOW).id;
    const struct uuid next = scene_enqueue(&scene, rich_job(&scene), NOW).id;

    scene_backend()->backdoor->damage_headers(scene.url, &id);
    scene_get(&scene, &id, &list);
    scene_reserve(&scene, &wanted, NOW, &jobs);
    ck_assert_uint_eq(jobs.count, 2);
    ASSERT_SAME_ID(&jobs.items[0].id, &id);
    ck_assert_ptr_nonnull(strstr(jobs.items[0].defect, "headers are not a JSON object"));
    ASSERT_SAME_ID(&jobs.items[1].id, &next);
    assert_rich(&jobs.items[1]);
}
END_TEST

Suite *extras_suite(void)
{
    static const size_t payloads = 5;
    Suite *suite = suite_create("extras");
    TCase *kept = contract_group(suite, "kept"), *life = contract_group(suite, "life");
    TCase *keys = contract_group(suite, "keys"), *lists = contract_group(suite, "lists");
    TCase *damage = contract_group(suite, "damage");

    tcase_add_test(kept, headers_and_tags_come_back_as_they_were);
    tcase_add_test(kept, a_job_without_them_has_none);
    tcase_add_loop_test(kept, the_longest_headers_come_back_beside_any_payload, 0, payloads);
    tcase_add_test(kept, what_is_wrong_with_them_is_refused_and_stores_nothing);
    tcase_add_test(kept, a_repeated_enqueue_changes_neither);
    tcase_add_test(life, they_stay_with_a_job_that_fails_dies_and_is_tried_again);
    tcase_add_test(life, what_is_forgotten_when_it_is_done_leaves_no_tag);
    tcase_add_test(life, what_is_done_has_its_tags_until_it_is_pruned);
    tcase_add_test(life, what_is_removed_leaves_no_tag);
    tcase_add_test(life, a_job_that_a_dead_one_brings_has_its_own);
    tcase_add_loop_test(keys, an_update_replaces_both_with_the_payload, 0, 2);
    tcase_add_test(keys, an_update_without_them_takes_them_away);
    tcase_add_test(keys, a_blocked_job_that_is_merged_brings_its_own);
    tcase_add_test(lists, a_tag_leads_to_jobs_of_each_state_in_order_of_their_ids);
    tcase_add_test(lists, a_tag_is_its_whole_name_and_goes_with_other_filters);
    tcase_add_test(lists, a_tag_leads_to_jobs_of_all_queues_in_one_order);
    tcase_add_test(lists, a_tag_goes_with_the_time_that_ids_were_made_at);
    tcase_add_test(lists, a_brief_list_has_tags_and_no_headers);
    if (scene_backend()->backdoor->damage_headers)
        tcase_add_test(damage, a_job_whose_headers_are_damaged_is_handed_out_with_its_defect);
    return suite;
}
