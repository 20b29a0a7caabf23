/*
 * test_watch.c - whoever looks at a job leaves a mark, whoever runs it learns of that by its beats;
 * the last progress of a run is kept with its end.
 */
#include "contract.h"
#include "scene.h"

#include <string.h>

#define UNTIL (NOW + SECONDS(10))

static void watch(struct scene *scene, const struct uuid *id, usec_t until, usec_t now)
{
    const struct watched_job job = {*id, scene->queue};
    const struct watch mark = {.jobs = &job, .count = 1};
    struct error err = {0};

    MUST(store_watch(scene->store, &mark, until, now, &err));
}

static void watch_pools(struct scene *scene, usec_t until, usec_t now)
{
    const struct watch mark = {.pools = true};
    struct error err = {0};

    MUST(store_watch(scene->store, &mark, until, now, &err));
}

/* Whether the answer says that somebody watches. */
static bool beat(struct scene *scene, const struct claim *claim, usec_t now, bool *pools_out)
{
    const struct lease_beat lease = {.job = claim->id,
                                     .queue = claim->queue,
                                     .token = claim->token,
                                     .ref = claim->ref,
                                     .progress_percent = -1};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = LEASE};
    struct lease_answer answer = {.verdict = TH_E_INTERNAL};
    struct error err = {0};
    struct pool_answer told;

    MUST(store_heartbeat(scene->store, &heartbeat, 1, now, &answer, &told, &err));
    ASSERT_VERDICT(answer.verdict, TH_OK);
    if (pools_out)
        *pools_out = told.is_watched;
    return answer.watched;
}

START_TEST(a_job_is_watched_until_the_mark_is_over)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    ck_assert(!beat(&scene, &claim, NOW, NULL));
    watch(&scene, &id, UNTIL, NOW);
    ck_assert(beat(&scene, &claim, NOW, NULL));
    ck_assert(beat(&scene, &claim, UNTIL - 1, NULL));
    ck_assert(!beat(&scene, &claim, UNTIL, NULL));
}
END_TEST

START_TEST(a_mark_can_be_left_before_the_job_runs)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);

    watch(&scene, &id, UNTIL, NOW);
    struct claim claim = scene_take(&scene, NOW);
    ck_assert(beat(&scene, &claim, NOW + 1, NULL));
}
END_TEST

START_TEST(a_mark_lasts_longer_and_never_shorter)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);

    watch(&scene, &id, UNTIL, NOW);
    watch(&scene, &id, UNTIL - SECONDS(5), NOW);
    ck_assert(beat(&scene, &claim, UNTIL - 1, NULL));
    watch(&scene, &id, UNTIL + SECONDS(5), NOW);
    ck_assert(beat(&scene, &claim, UNTIL, NULL));
}
END_TEST

START_TEST(other_jobs_are_not_watched_and_unknown_ones_are_passed_over)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid ids[2], nobody = scene_job(&scene).id;

    scene_add_many(&scene, COUNT_OF(ids), ids);
    struct claim first = scene_take(&scene, NOW), second = scene_take(&scene, NOW);
    watch(&scene, &nobody, UNTIL, NOW);
    watch(&scene, &second.id, UNTIL, NOW);
    ck_assert(!beat(&scene, &first, NOW, NULL));
    ck_assert(beat(&scene, &second, NOW, NULL));
}
END_TEST

START_TEST(a_wish_to_cancel_is_told_beside_it)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    const struct lease_beat lease = {.job = claim.id,
                                     .queue = claim.queue,
                                     .token = claim.token,
                                     .ref = claim.ref,
                                     .progress_percent = -1};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = LEASE};
    struct lease_answer answer = {0};
    struct error err = {0};
    struct pool_answer told;

    watch(&scene, &id, UNTIL, NOW);
    ASSERT_VERDICT(scene_cancel(&scene, &id, NOW), TH_OK);
    MUST(store_heartbeat(scene.store, &heartbeat, 1, NOW, &answer, &told, &err));
    ck_assert(answer.watched && answer.cancel_requested);
}
END_TEST

START_TEST(the_pools_are_watched_by_a_mark_of_their_own)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const struct pool pool = {.name = POOL, .host = "host", .pid = 1, .started_at = NOW};
    struct error err = {0};
    bool watched = true;

    MUST(store_pool_register(scene.store, &pool, NOW, &err));
    scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    ck_assert(!beat(&scene, &claim, NOW, &watched) && !watched);
    watch_pools(&scene, UNTIL, NOW);
    ck_assert(!beat(&scene, &claim, UNTIL - 1, &watched) && watched);
    ck_assert(!beat(&scene, &claim, UNTIL, &watched) && !watched);
}
END_TEST

START_TEST(a_mark_changes_nothing_about_the_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);

    watch(&scene, &id, UNTIL, NOW);
    assert_unchanged(&scene, &id, before);
}
END_TEST

/* ---- the last progress ---- */

static const enum settlement_kind kinds[] = {SETTLE_ACK,     SETTLE_RETRY,  SETTLE_FAIL,
                                             SETTLE_RELEASE, SETTLE_SNOOZE, SETTLE_CANCEL};

static void expect_progress(struct scene *scene, const struct uuid *id, int percent,
                            const char *text)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job *job = scene_get(scene, id, &list);

    ck_assert_int_eq(job->progress_percent, percent);
    ck_assert_pstr_eq(job->progress_text, text);
}

START_TEST(the_last_progress_is_kept_with_the_end_of_a_run)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    struct settlement settlement = claim_settlement(&claim, kinds[_i]);

    settlement.has_run = true;
    settlement.has_progress = true;
    settlement.progress_percent = 100;
    settlement.progress_text = "caf\xc3\xa9";
    ASSERT_VERDICT(scene_settle(&scene, &settlement, NOW), TH_OK);
    expect_progress(&scene, &id, 100, "caf\xc3\xa9");
}
END_TEST

START_TEST(progress_without_a_word_replaces_one_that_had_some)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct uuid id = scene_add(&scene);
    struct claim claim = scene_take(&scene, NOW);
    const struct lease_beat lease = {.job = claim.id,
                                     .queue = claim.queue,
                                     .token = claim.token,
                                     .ref = claim.ref,
                                     .progress_percent = 40,
                                     .progress_text = "half"};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = LEASE};
    struct settlement ack = claim_settlement(&claim, SETTLE_ACK);
    struct lease_answer answer;
    struct error err = {0};
    struct pool_answer told;

    MUST(store_heartbeat(scene.store, &heartbeat, 1, NOW, &answer, &told, &err));
    if (_i == 1) {
        ack.has_progress = true;
        ack.progress_percent = 0;
    }
    ASSERT_VERDICT(scene_settle(&scene, &ack, NOW), TH_OK);
    expect_progress(&scene, &id, _i == 1 ? 0 : 40, _i == 1 ? NULL : "half");
}
END_TEST

Suite *watch_suite(void)
{
    Suite *suite = suite_create("watch");
    TCase *marks = contract_group(suite, "marks");
    TCase *progress = contract_group(suite, "progress");

    tcase_add_test(marks, a_job_is_watched_until_the_mark_is_over);
    tcase_add_test(marks, a_mark_can_be_left_before_the_job_runs);
    tcase_add_test(marks, a_mark_lasts_longer_and_never_shorter);
    tcase_add_test(marks, other_jobs_are_not_watched_and_unknown_ones_are_passed_over);
    tcase_add_test(marks, a_wish_to_cancel_is_told_beside_it);
    tcase_add_test(marks, the_pools_are_watched_by_a_mark_of_their_own);
    tcase_add_test(marks, a_mark_changes_nothing_about_the_job);
    tcase_add_loop_test(progress, the_last_progress_is_kept_with_the_end_of_a_run, 0,
                        COUNT_OF(kinds));
    tcase_add_loop_test(progress, progress_without_a_word_replaces_one_that_had_some, 0, 2);
    return suite;
}
