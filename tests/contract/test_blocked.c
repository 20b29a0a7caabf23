/*
 * test_blocked.c - a job whose twin runs is blocked, until that one ends or waits.
 */
#include "bring.h"
#include "contract.h"

#include <string.h>

#define NEW_PAYLOAD ((struct bytes){(const unsigned char *)"[\"new\"]", 7})

/* A running job, and its twin that waits for it, blocked; the twin was enqueued at NOW + 1. */
struct pair {
    struct claim running;
    struct job twin;
};

static struct job keyed_job(struct scene *scene)
{
    struct job job = scene_job(scene);

    job.key = "key";
    return job;
}

static struct claim run_first(struct scene *scene)
{
    scene_enqueue(scene, keyed_job(scene), NOW);
    return scene_take(scene, NOW);
}

static struct pair run_with_twin(struct scene *scene, struct keyed_flags flags, usec_t run_at)
{
    struct pair pair = {.running = run_first(scene), .twin = keyed_job(scene)};

    pair.twin.payload = NEW_PAYLOAD;
    pair.twin.priority = 1;
    pair.twin.max_attempts = 9;
    pair.twin.run_at = run_at;
    pair.twin.update = flags;
    struct enqueued enqueued = scene_enqueue(scene, pair.twin, NOW + 1);
    ASSERT_SAME_ID(&enqueued.id, &pair.twin.id);
    ck_assert_int_eq(enqueued.state, JOB_BLOCKED);
    return pair;
}

static void assert_merged(struct scene *scene, const struct pair *pair, usec_t now)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job *twin = scene_get(scene, &pair->twin.id, &list);

    ck_assert_str_eq(job_state_name(twin->state), "cancelled");
    ASSERT_SAME_ID(&twin->merged_into, &pair->running.id);
    ASSERT_TIME(twin->ended_at, now);
}

static const usec_t run_ats[] = {0, LATER};

START_TEST(dispatch_while_active_is_blocked)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct claim running = run_first(&scene);
    AUTO_FREE char *before = scene_snapshot(&scene, &running.id);
    struct job job = keyed_job(&scene);

    job.run_at = run_ats[_i];
    struct enqueued enqueued = scene_enqueue(&scene, job, NOW + 1);
    ASSERT_SAME_ID(&enqueued.id, &job.id);
    ck_assert_int_eq(enqueued.state, JOB_BLOCKED);
    ck_assert(!enqueued.existed && !enqueued.updated);
    const struct job *stored = scene_get(&scene, &job.id, &list);
    ck_assert_int_eq(stored->state, JOB_BLOCKED);
    ASSERT_TIME(stored->run_at, run_ats[_i]);
    assert_unchanged(&scene, &running.id, before);
}
END_TEST

START_TEST(blocked_is_never_reserved)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct pair pair = run_with_twin(&scene, keyed_flags_default, run_ats[_i]);
    usec_t now = pair.running.expires_at - 1;

    ck_assert_uint_eq(scene_promote(&scene, JOB_SCHEDULED, LATER), 0);
    ck_assert_uint_eq(scene_promote(&scene, JOB_RETRY, LATER), 0);
    scene_take_nothing(&scene, now);
    ASSERT_STATE(&scene, &pair.twin.id, JOB_BLOCKED);
}
END_TEST

START_TEST(second_blocked_submission_merges_into_first)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct pair pair = run_with_twin(&scene, keyed_flags_default, 0);
    struct job third = keyed_job(&scene);

    third.payload = (struct bytes){(const unsigned char *)"3", 1};
    third.run_at = LATER;
    struct enqueued enqueued = scene_enqueue(&scene, third, NOW + 2);
    ASSERT_SAME_ID(&enqueued.id, &pair.twin.id);
    ck_assert(enqueued.updated && !enqueued.existed);
    ck_assert_int_eq(enqueued.state, JOB_BLOCKED);
    ck_assert_uint_eq(scene_count(&scene), 2);
    const struct job *stored = scene_get(&scene, &pair.twin.id, &list);
    ck_assert_int_eq(stored->state, JOB_BLOCKED);
    ck_assert_mem_eq(stored->payload.data, "3", 1);
    ASSERT_TIME(stored->run_at, LATER);
    ASSERT_STATE(&scene, &pair.running.id, JOB_RUNNING);
}
END_TEST

/* As if the two had met the returned job one after the other. */
START_TEST(second_blocked_submission_takes_back_nothing_of_the_first)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct keyed_flags everything = {true, UPDATE_RUN_AT_ALWAYS, true, true};
    struct pair pair = run_with_twin(&scene, everything, LATER);
    struct job third = keyed_job(&scene);

    third.update = (struct keyed_flags){.run_at = UPDATE_RUN_AT_NEVER};
    scene_enqueue(&scene, third, NOW + 2);
    scene_finish(&scene, &pair.running, SETTLE_RELEASE, NOW + 3);
    const struct job *stored = scene_get(&scene, &pair.running.id, &list);
    ck_assert_uint_eq(stored->payload.length, pair.twin.payload.length);
    ck_assert_mem_eq(stored->payload.data, pair.twin.payload.data, pair.twin.payload.length);
    ck_assert_int_eq(stored->priority, pair.twin.priority);
    ck_assert_int_eq(stored->max_attempts, pair.twin.max_attempts);
    ASSERT_TIME(stored->run_at, LATER);
    ck_assert_int_eq(stored->state, JOB_SCHEDULED);
}
END_TEST

/* Its flags are about merging: a twin that is let go has its own time, whatever they say. */
START_TEST(finish_unblocks)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct keyed_flags flags = keyed_flags_default;
    usec_t run_at = run_ats[_i / 4];

    flags.run_at = (enum update_run_at)(_i % 4);
    struct pair pair = run_with_twin(&scene, flags, run_at);
    scene_finish(&scene, &pair.running, SETTLE_ACK, NOW + 2);
    ASSERT_STATE(&scene, &pair.running.id, JOB_DONE);
    const struct job *twin = scene_get(&scene, &pair.twin.id, &list);
    ck_assert_int_eq(twin->state, run_at == 0 ? JOB_READY : JOB_SCHEDULED);
    ASSERT_TIME(twin->run_at, run_at);
    ASSERT_TIME(twin->due, run_at == 0 ? NOW + 1 : LATER);
    if (run_at == 0)
        scene_take_this(&scene, &pair.twin.id, NOW + 2);
    else
        scene_take_nothing(&scene, NOW + 2);
}
END_TEST

START_TEST(finish_unblocks_to_ready_when_its_time_has_come)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct pair pair = run_with_twin(&scene, keyed_flags_default, NOW + 2);

    scene_finish(&scene, &pair.running, SETTLE_ACK, NOW + 2);
    ASSERT_STATE(&scene, &pair.twin.id, JOB_READY);
}
END_TEST

START_TEST(fail_and_cancel_unblock)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct pair pair = run_with_twin(&scene, keyed_flags_default, 0);
    enum settlement_kind kind = _i == 0 ? SETTLE_FAIL : SETTLE_CANCEL;

    if (kind == SETTLE_CANCEL)
        ASSERT_VERDICT(scene_cancel(&scene, &pair.running.id, NOW + 1), TH_OK);
    ASSERT_STATE(&scene, &pair.twin.id, JOB_BLOCKED);
    scene_finish(&scene, &pair.running, kind, NOW + 2);
    ASSERT_STATE(&scene, &pair.twin.id, JOB_READY);
    scene_take_this(&scene, &pair.twin.id, NOW + 2);
}
END_TEST

/* Asked to cancel, it ends as cancelled by whatever returns it, so nothing is merged. */
START_TEST(a_return_that_ends_as_cancelled_unblocks)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct pair pair = run_with_twin(&scene, keyed_flags_default, 0);

    ASSERT_VERDICT(scene_cancel(&scene, &pair.running.id, NOW + 1), TH_OK);
    scene_finish(&scene, &pair.running, SETTLE_RETRY, NOW + 2);
    ASSERT_STATE(&scene, &pair.running.id, JOB_CANCELLED);
    ASSERT_STATE(&scene, &pair.twin.id, JOB_READY);
}
END_TEST

START_TEST(an_ack_that_deletes_unblocks)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct pair pair = run_with_twin(&scene, keyed_flags_default, 0);
    struct settlement ack = claim_settlement(&pair.running, SETTLE_ACK);

    ack.forget = true;
    ASSERT_VERDICT(scene_settle(&scene, &ack, NOW + 2), TH_OK);
    ASSERT_STATE(&scene, &pair.twin.id, JOB_READY);
}
END_TEST

START_TEST(stall_out_unblocks)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct claim lost = run_first(&scene);
    struct reservation wanted = scene_wants(&scene, 1);
    const struct job_limits limits = {SECONDS(1), 1, 1};
    struct settlement stalled;

    scene_reserve(&scene, &wanted, lost.expires_at, &taken);
    ck_assert_uint_eq(taken.count, 1);
    struct enqueued twin = scene_enqueue(&scene, keyed_job(&scene), lost.expires_at);
    ck_assert_int_eq(twin.state, JOB_BLOCKED);
    ck_assert(settlement_instead_of_run(&taken.items[0], &limits, &stalled));
    ASSERT_VERDICT(scene_settle(&scene, &stalled, lost.expires_at), TH_OK);
    ASSERT_STATE(&scene, &lost.id, JOB_DEAD);
    ASSERT_STATE(&scene, &twin.id, JOB_READY);
}
END_TEST

/* The running one fails and would wait until LATER. */
static const struct {
    const char *rule;
    struct keyed_flags flags;
    usec_t twin_run_at;
    usec_t run_at, due;
    enum job_state state;
} merge_rules[] = {
    /* clang-format off */
    {"always, at once",     {true,  UPDATE_RUN_AT_ALWAYS,     true,  false}, 0,         0,         NOW + 1,   JOB_READY},
    {"always, later",       {true,  UPDATE_RUN_AT_ALWAYS,     true,  false}, LATER + 9, LATER + 9, LATER + 9, JOB_SCHEDULED},
    {"never, at once",      {true,  UPDATE_RUN_AT_NEVER,      true,  false}, 0,         LATER,     LATER,     JOB_RETRY},
    {"never, later",        {true,  UPDATE_RUN_AT_NEVER,      true,  false}, LATER + 9, LATER,     LATER,     JOB_RETRY},
    {"if_earlier, at once", {true,  UPDATE_RUN_AT_IF_EARLIER, true,  false}, 0,         0,         NOW + 1,   JOB_READY},
    {"if_earlier, later",   {true,  UPDATE_RUN_AT_IF_EARLIER, true,  false}, LATER + 9, LATER,     LATER,     JOB_RETRY},
    {"if_later, at once",   {true,  UPDATE_RUN_AT_IF_LATER,   true,  false}, 0,         LATER,     LATER,     JOB_RETRY},
    {"if_later, later",     {true,  UPDATE_RUN_AT_IF_LATER,   true,  false}, LATER + 9, LATER + 9, LATER + 9, JOB_SCHEDULED},
    {"not the payload",     {false, UPDATE_RUN_AT_ALWAYS,     true,  false}, 0,         0,         NOW + 1,   JOB_READY},
    {"not the limits",      {true,  UPDATE_RUN_AT_ALWAYS,     false, false}, 0,         0,         NOW + 1,   JOB_READY},
    {"and the counts",      {true,  UPDATE_RUN_AT_ALWAYS,     true,  true},  0,         0,         NOW + 1,   JOB_READY},
    {"only the counts",     {false, UPDATE_RUN_AT_NEVER,      false, true},  0,         LATER,     LATER,     JOB_RETRY},
    /* clang-format on */
};

START_TEST(retry_merges_blocked_twin_by_saved_flags)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct keyed_flags flags = merge_rules[_i].flags;
    struct pair pair = run_with_twin(&scene, flags, merge_rules[_i].twin_run_at);

    scene_finish(&scene, &pair.running, SETTLE_RETRY, NOW + 2);
    assert_merged(&scene, &pair, NOW + 2);
    const struct job *job = scene_get(&scene, &pair.running.id, &list);
    ck_assert_msg(job->state == merge_rules[_i].state && job->run_at == merge_rules[_i].run_at &&
                      job->due == merge_rules[_i].due,
                  "%s: %s, run_at NOW%+" PRId64 ", due NOW%+" PRId64, merge_rules[_i].rule,
                  job_state_name(job->state), job->run_at - NOW, job->due - NOW);
    if (flags.payload)
        ck_assert_mem_eq(job->payload.data, NEW_PAYLOAD.data, NEW_PAYLOAD.length);
    else
        ck_assert_mem_eq(job->payload.data, "null", 4);
    ck_assert_int_eq(job->priority, flags.payload ? 1 : JOB_PRIORITY_DEFAULT);
    ck_assert_int_eq(job->max_attempts, flags.retry ? 9 : 0);
    ck_assert_int_eq(job->attempts, flags.reset_counts ? 0 : 1);
}
END_TEST

static const enum settlement_kind returns[] = {SETTLE_RELEASE, SETTLE_SNOOZE};

START_TEST(release_and_snooze_merge_blocked_twin)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct pair pair = run_with_twin(&scene, keyed_flags_default, 0);

    scene_finish(&scene, &pair.running, returns[_i], NOW + 2);
    assert_merged(&scene, &pair, NOW + 2);
    const struct job *job = scene_get(&scene, &pair.running.id, &list);
    ck_assert_int_eq(job->state, JOB_READY);
    ck_assert_int_eq(job->attempts, 0);
    ASSERT_TIME(job->due, NOW + 1);
    ck_assert_mem_eq(job->payload.data, NEW_PAYLOAD.data, NEW_PAYLOAD.length);
    scene_take_this(&scene, &pair.running.id, NOW + 2);
}
END_TEST

/* By the one who reserves next, or by the reaper. */
START_TEST(stall_merges_blocked_twin)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct pair pair = run_with_twin(&scene, keyed_flags_default, 0);
    struct reservation wanted = scene_wants(&scene, MANY);
    usec_t now = pair.running.expires_at;

    if (_i == 1)
        ck_assert_uint_eq(scene_reclaim(&scene, now), 1);
    scene_reserve(&scene, &wanted, now, &taken);
    ck_assert_uint_eq(taken.count, 1);
    ASSERT_SAME_ID(&taken.items[0].id, &pair.running.id);
    ck_assert_int_eq(taken.items[0].stalls, 1);
    ck_assert_uint_eq(taken.items[0].payload.length, NEW_PAYLOAD.length);
    ck_assert_mem_eq(taken.items[0].payload.data, NEW_PAYLOAD.data, NEW_PAYLOAD.length);
    assert_merged(&scene, &pair, now);
}
END_TEST

START_TEST(late_finish_of_evicted_owner_leaves_queue_usable)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct claim lost = run_first(&scene);
    usec_t now = lost.expires_at;
    struct claim claim = scene_take(&scene, now);
    struct settlement late = claim_settlement(&lost, SETTLE_ACK);

    ASSERT_VERDICT(scene_settle(&scene, &late, now), TH_E_LEASE_MISMATCH);
    struct enqueued twin = scene_enqueue(&scene, keyed_job(&scene), now);
    ck_assert_int_eq(twin.state, JOB_BLOCKED);
    ASSERT_VERDICT(scene_settle(&scene, &late, now), TH_E_LEASE_MISMATCH);
    ASSERT_STATE(&scene, &twin.id, JOB_BLOCKED);
    scene_finish(&scene, &claim, SETTLE_ACK, now);
    ASSERT_VERDICT(scene_settle(&scene, &late, now), TH_E_NOT_RUNNING);

    struct claim next = scene_take(&scene, now);
    ASSERT_SAME_ID(&next.id, &twin.id);
    scene_finish(&scene, &next, SETTLE_ACK, now);
    ck_assert_int_eq(scene_enqueue(&scene, keyed_job(&scene), now).state, JOB_READY);
}
END_TEST

START_TEST(requeue_of_a_keyed_job_is_blocked_while_its_twin_runs)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct claim dead = run_first(&scene);

    scene_finish(&scene, &dead, SETTLE_FAIL, NOW);
    struct claim running = run_first(&scene);
    ASSERT_VERDICT(scene_requeue(&scene, &dead.id, 0, NOW), TH_OK);
    ASSERT_STATE(&scene, &dead.id, JOB_BLOCKED);
    scene_finish(&scene, &running, SETTLE_ACK, NOW);
    ASSERT_STATE(&scene, &dead.id, JOB_READY);
}
END_TEST

/* If the running one came back, one job would have the type of the one and the payload of the
 * other. */
START_TEST(requeue_of_a_keyed_job_is_refused_while_its_twin_runs_with_another_type)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought dead = bring(&scene, JOB_DEAD);
    struct job twin = bring_twin(&scene, &dead);

    twin.type = "another";
    scene_enqueue(&scene, twin, NOW);
    scene_take_this(&scene, &twin.id, NOW);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    ASSERT_VERDICT(scene_requeue(&scene, &dead.id, 0, NOW), TH_E_CONFLICT);
    assert_queue_unchanged(&scene, before);
}
END_TEST

START_TEST(requeue_of_a_keyed_job_is_refused_while_its_twin_waits)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct claim dead = run_first(&scene);

    scene_finish(&scene, &dead, SETTLE_FAIL, NOW);
    if (_i == 1)
        run_with_twin(&scene, keyed_flags_default, 0);
    else
        scene_enqueue(&scene, keyed_job(&scene), NOW);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    ASSERT_VERDICT(scene_requeue(&scene, &dead.id, 0, NOW), TH_E_CONFLICT);
    assert_queue_unchanged(&scene, before);
}
END_TEST

/* No step of a job's life cuts a name or a key. */
START_TEST(the_longest_names_survive_every_step)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    char key[JOB_KEY_MAX + 1], name[JOB_NAME_MAX + 1];
    struct job job = scene_job(&scene), twin = scene_job(&scene);
    struct reservation wanted = scene_wants(&scene, 1);

    memset(key, 'k', sizeof key - 1);
    memset(name, 'n', sizeof name - 1);
    key[sizeof key - 1] = name[sizeof name - 1] = '\0';
    job.key = twin.key = key;
    job.type = twin.type = wanted.pool = name;
    scene_enqueue(&scene, job, NOW);
    scene_reserve(&scene, &wanted, NOW, &list);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_int_eq(scene_enqueue(&scene, twin, NOW).state, JOB_BLOCKED);
    struct claim claim = claim_of(&scene, &list.items[0]);
    scene_finish(&scene, &claim, SETTLE_RELEASE, NOW);
    ASSERT_STATE(&scene, &twin.id, JOB_CANCELLED);
    wanted = scene_wants(&scene, 1);
    wanted.pool = name;
    scene_reserve(&scene, &wanted, NOW, &list);
    ck_assert_uint_eq(list.count, 2);
    claim = claim_of(&scene, &list.items[1]);
    scene_finish(&scene, &claim, SETTLE_FAIL, NOW);

    const struct job *dead = scene_get(&scene, &job.id, &list);
    ck_assert_str_eq(dead->key, key);
    ck_assert_str_eq(dead->type, name);
    ck_assert_str_eq(dead->pool, name);
}
END_TEST

START_TEST(a_blocked_job_survives_the_handle_that_stored_it)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct pair pair = run_with_twin(&scene, keyed_flags_default, 0);

    scene_reopen(&scene);
    scene_finish(&scene, &pair.running, SETTLE_ACK, NOW + 2);
    ASSERT_STATE(&scene, &pair.twin.id, JOB_READY);
}
END_TEST

Suite *blocked_suite(void)
{
    Suite *suite = suite_create("blocked");
    TCase *unblock = contract_group(suite, "unblock");
    TCase *merge = contract_group(suite, "merge");

    tcase_add_loop_test(unblock, dispatch_while_active_is_blocked, 0, COUNT_OF(run_ats));
    tcase_add_loop_test(unblock, blocked_is_never_reserved, 0, COUNT_OF(run_ats));
    tcase_add_test(unblock, second_blocked_submission_merges_into_first);
    tcase_add_test(unblock, second_blocked_submission_takes_back_nothing_of_the_first);
    tcase_add_loop_test(unblock, finish_unblocks, 0, 4 * COUNT_OF(run_ats));
    tcase_add_test(unblock, finish_unblocks_to_ready_when_its_time_has_come);
    tcase_add_loop_test(unblock, fail_and_cancel_unblock, 0, 2);
    tcase_add_test(unblock, a_return_that_ends_as_cancelled_unblocks);
    tcase_add_test(unblock, an_ack_that_deletes_unblocks);
    tcase_add_test(unblock, stall_out_unblocks);

    tcase_add_loop_test(merge, retry_merges_blocked_twin_by_saved_flags, 0, COUNT_OF(merge_rules));
    tcase_add_loop_test(merge, release_and_snooze_merge_blocked_twin, 0, COUNT_OF(returns));
    tcase_add_loop_test(merge, stall_merges_blocked_twin, 0, 2);
    tcase_add_test(merge, late_finish_of_evicted_owner_leaves_queue_usable);
    tcase_add_test(merge, requeue_of_a_keyed_job_is_blocked_while_its_twin_runs);
    tcase_add_test(merge, requeue_of_a_keyed_job_is_refused_while_its_twin_runs_with_another_type);
    tcase_add_loop_test(merge, requeue_of_a_keyed_job_is_refused_while_its_twin_waits, 0, 2);
    tcase_add_test(merge, the_longest_names_survive_every_step);
    tcase_add_test(merge, a_blocked_job_survives_the_handle_that_stored_it);
    return suite;
}
