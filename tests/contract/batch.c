/*
 * batch.c - plain jobs that were reserved by one call, and what cases do with them.
 */
#include "batch.h"

#include <stdlib.h>

void batch_close(struct batch **batch)
{
    scene_close(&(*batch)->scene);
    free(*batch);
}

void batch_take_all(struct scene *scene, size_t count, usec_t now, struct claim *claims)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, count);

    scene_reserve(scene, &wanted, now, &taken);
    ck_assert_uint_eq(taken.count, count);
    for (size_t i = 0; i < count; i++)
        claims[i] = claim_of(scene, &taken.items[i]);
}

/* On the heap: claims point to the scene's queue, so it must not move. */
struct batch *batch_open(void)
{
    struct batch *batch = calloc(1, sizeof *batch);

    ck_assert_ptr_nonnull(batch);
    batch->scene = scene_open_fresh();
    scene_add_many(&batch->scene, MEMBERS, batch->ids);
    batch_take_all(&batch->scene, MEMBERS, NOW, batch->claims);
    return batch;
}

/* As a worker acknowledges a job that had nothing to say. */
struct settlement batch_plain_ack(const struct claim *claim)
{
    struct settlement ack = claim_settlement(claim, SETTLE_ACK);

    ack.has_run = true;
    ack.run.worker = 1;
    ack.run.started_at = NOW + 1;
    ack.run.wall = 7;
    return ack;
}

void batch_settle(struct scene *scene, const struct settlement *finished, size_t count, usec_t now,
                  enum th_error_code *verdicts)
{
    const struct settlement_list list = {finished, count};
    struct error err = {0};

    MUST(store_settle(scene->store, &list, now, verdicts, &err));
}

/* Acknowledges each `step`th member from `from` on, in one call. */
void batch_ack_some(struct batch *batch, size_t from, size_t step, bool forget)
{
    struct settlement acks[MEMBERS] = {0};
    enum th_error_code verdicts[MEMBERS];
    size_t count = 0;

    for (size_t i = from; i < MEMBERS; i += step) {
        acks[count] = batch_plain_ack(&batch->claims[i]);
        acks[count++].forget = forget;
    }
    batch_settle(&batch->scene, acks, count, NOW + 10, verdicts);
    for (size_t i = 0; i < count; i++)
        ASSERT_VERDICT(verdicts[i], TH_OK);
}

/* What runs and what has become of the rest, by the numbers and job by job. */
void batch_assert_running(struct batch *batch, size_t expected)
{
    CLEANUP(job_list_done) struct job_list held = {0};
    CLEANUP(job_list_done) struct job_list listed = {0};
    const struct job_filter running = {
        .by_state = true, .state = JOB_RUNNING, .queue = batch->scene.queue, .limit = JOB_PAGE_MAX};
    struct error err = {0};
    char why[200];

    ck_assert_int_eq(scene_stats(&batch->scene).jobs[JOB_RUNNING], (int64_t)expected);
    MUST(store_held(batch->scene.store, POOL, &held, &err));
    ck_assert_uint_eq(held.count, expected);
    scene_list(&batch->scene, &running, &listed);
    ck_assert_uint_eq(listed.count, expected);
    ck_assert_msg(scene_backend()->backdoor->is_sound(batch->scene.url, why, sizeof why), "%s",
                  why);
}

/* The run of a job that was acknowledged plainly. */
void batch_assert_done(struct scene *scene, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    const struct job *job = scene_get(scene, id, &list);

    ck_assert_int_eq(job->state, JOB_DONE);
    ck_assert_int_eq(job->executions, 1);
    ck_assert_uint_eq(job->run_count, 1);
    ck_assert_int_eq(job->runs[0].worker, 1);
    ck_assert_str_eq(job->runs[0].pool, POOL);
    ASSERT_TIME(job->runs[0].started_at, NOW + 1);
    ASSERT_TIME(job->runs[0].wall, 7);
    ASSERT_TIME(job->ended_at, NOW + 10);
}
