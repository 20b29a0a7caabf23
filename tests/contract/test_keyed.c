/*
 * test_keyed.c - a second job with the key of one that waits updates that one.
 *
 * What happens while one runs is in test_blocked.c.
 */
#include "bring.h"
#include "companion.h"
#include "contract.h"

#include <string.h>

#define RACERS 32
#define WAITS  (NOW + SECONDS(100)) /* run_at of the one that waits */

/* Everything a merge may change differs from what keyed_job() has. */
static struct job newcomer(struct scene *scene)
{
    struct job job = scene_job(scene);

    job.key = "key";
    job.encoding = JOB_RAW;
    job.payload = (struct bytes){(const unsigned char *)"new", 3};
    job.priority = 1;
    job.timeout = SECONDS(77);
    job.max_attempts = 7;
    job.max_stalls = 8;
    return job;
}

static struct job keyed_job(struct scene *scene)
{
    struct job job = scene_job(scene);

    job.key = "key";
    job.payload = (struct bytes){(const unsigned char *)"\"old\"", 5};
    job.timeout = SECONDS(11);
    job.max_attempts = 5;
    job.max_stalls = 6;
    job.attempts = 2;
    job.stalls = 1;
    return job;
}

/* The job that waits, as it is after the newcomer. */
static const struct job *update(struct scene *scene, struct job waiting, struct job job,
                                struct job_list *list)
{
    scene_enqueue(scene, waiting, NOW);
    struct enqueued enqueued = scene_enqueue(scene, job, NOW + 1);

    ck_assert_msg(enqueued.updated && !enqueued.existed, "it was not answered as an update");
    ASSERT_SAME_ID(&enqueued.id, &waiting.id);
    ck_assert_uint_eq(scene_count(scene), 1);
    ck_assert(!scene_has(scene, &job.id));
    const struct job *stored = scene_get(scene, &waiting.id, list);
    ck_assert_int_eq(enqueued.state, stored->state);
    ASSERT_TIME(stored->created_at, NOW);
    return stored;
}

START_TEST(redispatch_update_data)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = newcomer(&scene);

    job.update.payload = _i == 1;
    const struct job *stored = update(&scene, keyed_job(&scene), job, &list);
    if (_i == 1) {
        ck_assert_uint_eq(stored->payload.length, 3);
        ck_assert_mem_eq(stored->payload.data, "new", 3);
        ck_assert_int_eq(stored->encoding, JOB_RAW);
        ck_assert_int_eq(stored->priority, 1);
    } else {
        ck_assert_uint_eq(stored->payload.length, 5);
        ck_assert_mem_eq(stored->payload.data, "\"old\"", 5);
        ck_assert_int_eq(stored->encoding, JOB_JSON);
        ck_assert_int_eq(stored->priority, JOB_PRIORITY_DEFAULT);
    }
}
END_TEST

START_TEST(redispatch_update_retry_strategy)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = newcomer(&scene);

    job.update.retry = _i == 1;
    const struct job *stored = update(&scene, keyed_job(&scene), job, &list);
    ck_assert_int_eq(stored->max_attempts, _i == 1 ? 7 : 5);
    ck_assert_int_eq(stored->max_stalls, _i == 1 ? 8 : 6);
    ASSERT_TIME(stored->timeout, _i == 1 ? SECONDS(77) : SECONDS(11));
}
END_TEST

START_TEST(redispatch_reset_counts)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = newcomer(&scene);

    job.update.reset_counts = _i == 1;
    const struct job *stored = update(&scene, keyed_job(&scene), job, &list);
    ck_assert_int_eq(stored->attempts, _i == 1 ? 0 : 2);
    ck_assert_int_eq(stored->stalls, _i == 1 ? 0 : 1);
}
END_TEST

START_TEST(redispatch_by_default_updates_all_but_the_counts)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = newcomer(&scene);

    job.run_at = WAITS;
    const struct job *stored = update(&scene, keyed_job(&scene), job, &list);
    ck_assert_mem_eq(stored->payload.data, "new", 3);
    ASSERT_TIME(stored->run_at, WAITS);
    ck_assert_int_eq(stored->max_attempts, 7);
    ck_assert_int_eq(stored->attempts, 2);
}
END_TEST

/* The newcomer is enqueued at NOW + 1. Absent run_at is 0: then it is due when it comes. */
static const struct {
    const char *rule;
    enum update_run_at flag;
    usec_t waiting, newcomer;
    usec_t run_at, due;
    enum job_state state;
} run_at_rules[] = {
    /* clang-format off */
    {"always takes an earlier one",    UPDATE_RUN_AT_ALWAYS,     WAITS, WAITS - 9, WAITS - 9, WAITS - 9, JOB_SCHEDULED},
    {"always takes a later one",       UPDATE_RUN_AT_ALWAYS,     WAITS, WAITS + 9, WAITS + 9, WAITS + 9, JOB_SCHEDULED},
    {"always takes an absent one",     UPDATE_RUN_AT_ALWAYS,     WAITS, 0,         0,         NOW + 1,   JOB_READY},
    {"always postpones a ready one",   UPDATE_RUN_AT_ALWAYS,     0,     WAITS,     WAITS,     WAITS,     JOB_SCHEDULED},
    {"never takes an earlier one",     UPDATE_RUN_AT_NEVER,      WAITS, WAITS - 9, WAITS,     WAITS,     JOB_SCHEDULED},
    {"never takes a later one",        UPDATE_RUN_AT_NEVER,      WAITS, WAITS + 9, WAITS,     WAITS,     JOB_SCHEDULED},
    {"never takes an absent one",      UPDATE_RUN_AT_NEVER,      WAITS, 0,         WAITS,     WAITS,     JOB_SCHEDULED},
    {"never postpones a ready one",    UPDATE_RUN_AT_NEVER,      0,     WAITS,     0,         NOW,       JOB_READY},
    {"if_earlier takes an earlier",    UPDATE_RUN_AT_IF_EARLIER, WAITS, WAITS - 9, WAITS - 9, WAITS - 9, JOB_SCHEDULED},
    {"if_earlier leaves a later",      UPDATE_RUN_AT_IF_EARLIER, WAITS, WAITS + 9, WAITS,     WAITS,     JOB_SCHEDULED},
    {"if_earlier takes an absent",     UPDATE_RUN_AT_IF_EARLIER, WAITS, 0,         0,         NOW + 1,   JOB_READY},
    {"if_earlier leaves a ready one",  UPDATE_RUN_AT_IF_EARLIER, 0,     WAITS,     0,         NOW,       JOB_READY},
    {"if_earlier leaves an equal one", UPDATE_RUN_AT_IF_EARLIER, WAITS, WAITS,     WAITS,     WAITS,     JOB_SCHEDULED},
    {"if_later leaves an earlier",     UPDATE_RUN_AT_IF_LATER,   WAITS, WAITS - 9, WAITS,     WAITS,     JOB_SCHEDULED},
    {"if_later takes a later",         UPDATE_RUN_AT_IF_LATER,   WAITS, WAITS + 9, WAITS + 9, WAITS + 9, JOB_SCHEDULED},
    {"if_later leaves an absent",      UPDATE_RUN_AT_IF_LATER,   WAITS, 0,         WAITS,     WAITS,     JOB_SCHEDULED},
    {"if_later postpones a ready one", UPDATE_RUN_AT_IF_LATER,   0,     WAITS,     WAITS,     WAITS,     JOB_SCHEDULED},
    /* clang-format on */
};

START_TEST(redispatch_update_run_at)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job waiting = keyed_job(&scene), job = newcomer(&scene);

    waiting.run_at = run_at_rules[_i].waiting;
    job.run_at = run_at_rules[_i].newcomer;
    job.update.run_at = run_at_rules[_i].flag;
    const struct job *stored = update(&scene, waiting, job, &list);
    ck_assert_msg(stored->run_at == run_at_rules[_i].run_at && stored->due == run_at_rules[_i].due,
                  "%s: run_at is NOW%+" PRId64 ", due is NOW%+" PRId64, run_at_rules[_i].rule,
                  stored->run_at - NOW, stored->due - NOW);
    ck_assert_msg(stored->state == run_at_rules[_i].state, "%s, but its state is %s",
                  run_at_rules[_i].rule, job_state_name(stored->state));
    ck_assert_int_eq(stored->priority, 1);
}
END_TEST

START_TEST(an_updated_job_has_the_place_of_its_new_time_and_priority)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job waiting = keyed_job(&scene), job = newcomer(&scene);

    scene_enqueue(&scene, waiting, NOW);
    scene_add(&scene);
    job.priority = JOB_PRIORITY_DEFAULT;
    scene_enqueue(&scene, job, NOW + 1); /* due after the second one now */
    struct claim first = scene_take(&scene, NOW + 1);
    ck_assert_int_ne(uuid_compare(&first.id, &waiting.id), 0);
    struct claim second = scene_take(&scene, NOW + 1);
    ASSERT_SAME_ID(&second.id, &waiting.id);
}
END_TEST

/* A job that failed and waits: its wait is over unless the flag leaves it its time. */
static const struct {
    enum update_run_at flag;
    usec_t newcomer;
    usec_t due;
    enum job_state state;
} retry_rules[] = {
    {UPDATE_RUN_AT_ALWAYS, 0, NOW + 1, JOB_READY},
    {UPDATE_RUN_AT_ALWAYS, LATER + 9, LATER + 9, JOB_SCHEDULED},
    {UPDATE_RUN_AT_NEVER, 0, LATER, JOB_RETRY},
    {UPDATE_RUN_AT_IF_EARLIER, LATER + 9, LATER, JOB_RETRY},
};

START_TEST(redispatch_of_a_job_that_waits_for_its_retry)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct brought waiting = bring(&scene, JOB_RETRY);
    struct job job = bring_twin(&scene, &waiting);

    job.run_at = retry_rules[_i].newcomer;
    job.update.run_at = retry_rules[_i].flag;
    struct enqueued enqueued = scene_enqueue(&scene, job, NOW + 1);
    ck_assert(enqueued.updated);
    ASSERT_SAME_ID(&enqueued.id, &waiting.id);
    const struct job *stored = scene_get(&scene, &waiting.id, &list);
    ck_assert_int_eq(stored->state, retry_rules[_i].state);
    ASSERT_TIME(stored->due, retry_rules[_i].due);
    ck_assert_int_eq(stored->attempts, 1);
    ck_assert_uint_eq(scene_count(&scene), 1);
}
END_TEST

START_TEST(redispatch_of_another_type_is_refused)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    static const enum job_state states[] = {JOB_READY, JOB_RETRY, JOB_RUNNING};
    struct brought waiting = bring(&scene, states[_i]);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    struct job job = bring_twin(&scene, &waiting);
    struct enqueued enqueued;
    struct error err = {0};

    job.type = "another";
    MUST_FAIL(TH_E_CONFLICT, store_enqueue(scene.store, &job, 1, NOW, &enqueued, &err));
    assert_queue_unchanged(&scene, before);
}
END_TEST

START_TEST(keys_belong_to_their_queue)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(scene_close) struct scene other = scene_open();

    scene_enqueue(&scene, keyed_job(&scene), NOW);
    ck_assert(!scene_enqueue(&other, keyed_job(&other), NOW).updated);
    ck_assert_uint_eq(scene_count(&scene), 1);
    ck_assert_uint_eq(scene_count(&other), 1);
}
END_TEST

/* Only the whole key counts. */
static const char *const different_keys[] = {"Key", "ke", "key ", "k_y", "key%", "\xc3\xa9"};

START_TEST(another_key_is_another_job)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = newcomer(&scene);

    scene_enqueue(&scene, keyed_job(&scene), NOW);
    job.key = different_keys[_i];
    ck_assert(!scene_enqueue(&scene, job, NOW).updated);
    ck_assert_uint_eq(scene_count(&scene), 2);
}
END_TEST

static const enum job_state ended[] = {JOB_DONE, JOB_DEAD, JOB_CANCELLED};

START_TEST(an_ended_job_leaves_its_key_to_the_next)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct brought first = bring(&scene, ended[_i]);
    AUTO_FREE char *before = scene_snapshot(&scene, &first.id);
    struct job job = bring_twin(&scene, &first);
    struct enqueued enqueued = scene_enqueue(&scene, job, NOW);

    ck_assert(!enqueued.updated && !enqueued.existed);
    ASSERT_SAME_ID(&enqueued.id, &job.id);
    ck_assert_int_eq(enqueued.state, JOB_READY);
    assert_unchanged(&scene, &first.id, before);
}
END_TEST

START_TEST(jobs_with_one_key_in_a_batch_become_one)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job jobs[2] = {keyed_job(&scene), newcomer(&scene)};
    struct enqueued enqueued[2];
    struct error err = {0};

    MUST(store_enqueue(scene.store, jobs, 2, NOW, enqueued, &err));
    ck_assert(!enqueued[0].updated && enqueued[1].updated);
    ASSERT_SAME_ID(&enqueued[1].id, &jobs[0].id);
    ck_assert_uint_eq(scene_count(&scene), 1);
}
END_TEST

static void enqueue_keyed(struct racer *racer)
{
    struct uuid_maker ids = {0};
    struct job job = job_defaults();
    struct enqueued enqueued;
    struct error err = {0};

    job.id = uuid_make(&ids, NOW);
    job.type = "work";
    job.queue = racer->scene->queue;
    job.key = "raced for";
    child_must(store_enqueue(racer->store, &job, 1, NOW, &enqueued, &err), &err);
    race_report(racer, &enqueued, sizeof enqueued);
}

/* Exactly one racer's job is stored, in that state; all others updated it. */
static void assert_one_stored(struct scene *scene, enum job_state state)
{
    CLEANUP(buffer_done) struct buffer reports = {0};
    struct enqueued answers[RACERS];
    size_t stored = 0;

    race(scene, RACERS, enqueue_keyed, NULL, &reports);
    ck_assert_uint_eq(reports.length, sizeof answers);
    memcpy(answers, reports.data, sizeof answers);
    for (size_t i = 0; i < RACERS; i++) {
        stored += !answers[i].updated;
        ASSERT_SAME_ID(&answers[i].id, &answers[0].id);
        ck_assert_int_eq(answers[i].state, state);
    }
    ck_assert_uint_eq(stored, 1);
}

START_TEST(at_most_one_waits_among_32_racers)
{
    CLEANUP(scene_close) struct scene scene = scene_open();

    assert_one_stored(&scene, JOB_READY);
    ck_assert_uint_eq(scene_count(&scene), 1);
    scene_take(&scene, NOW);
    assert_one_stored(&scene, JOB_BLOCKED);
    ck_assert_uint_eq(scene_count(&scene), 2);
}
END_TEST

Suite *keyed_suite(void)
{
    Suite *suite = suite_create("keyed");
    TCase *flags = contract_group(suite, "flags");
    TCase *identity = contract_group(suite, "identity");

    tcase_add_loop_test(flags, redispatch_update_data, 0, 2);
    tcase_add_loop_test(flags, redispatch_update_retry_strategy, 0, 2);
    tcase_add_loop_test(flags, redispatch_reset_counts, 0, 2);
    tcase_add_test(flags, redispatch_by_default_updates_all_but_the_counts);
    tcase_add_loop_test(flags, redispatch_update_run_at, 0, COUNT_OF(run_at_rules));
    tcase_add_test(flags, an_updated_job_has_the_place_of_its_new_time_and_priority);
    tcase_add_loop_test(flags, redispatch_of_a_job_that_waits_for_its_retry, 0,
                        COUNT_OF(retry_rules));

    tcase_add_loop_test(identity, redispatch_of_another_type_is_refused, 0, 3);
    tcase_add_test(identity, keys_belong_to_their_queue);
    tcase_add_loop_test(identity, another_key_is_another_job, 0, COUNT_OF(different_keys));
    tcase_add_loop_test(identity, an_ended_job_leaves_its_key_to_the_next, 0, COUNT_OF(ended));
    tcase_add_test(identity, jobs_with_one_key_in_a_batch_become_one);
    tcase_add_test(identity, at_most_one_waits_among_32_racers);
    return suite;
}
