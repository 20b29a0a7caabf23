/*
 * fuzz_redis_record.c - a record in Redis that somebody has written over.
 *
 * The first byte of the input says as what the rest is read.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "fuzz.h"
#include "store/redis/codec/record.h"

#include <assert.h>

static void check_job(const struct job *job)
{
    assert(job->type && job->priority >= 0 && job->priority <= JOB_PRIORITY_MAX);
    assert(job->tags.count <= TAGS_MAX);
    assert(job->attempts >= 0 && job->stalls >= 0 && job->executions >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct job job = job_defaults();
    struct job_run run = {0};

    if (size == 0)
        return 0;
    AUTO_FREE char *text = fuzz_text(data + 1, size - 1);
    const redisReply reply = {.type = REDIS_REPLY_STRING, .str = text, .len = size - 1};

    switch (data[0] % 4) {
    case 0:
        if (redis_record_job(&reply, &arena, &job))
            check_job(&job);
        return 0;
    case 1:
        if (redis_record_lease(&reply, &arena, &job))
            assert(job.expires_at >= 0);
        return 0;
    case 2:
        if (redis_record_end(&reply, &arena, &job, &run))
            assert(job_state_name(job.state));
        return 0;
    default:
        if (redis_record_run(&reply, &arena, &run))
            assert(run_outcome_name(run.outcome));
        return 0;
    }
}
