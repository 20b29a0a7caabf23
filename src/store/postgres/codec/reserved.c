/*
 * reserved.c - reads what a worker needs of a job.
 */
#include "store/postgres/codec/reserved.h"

static const char *find_defect(const struct job *job, int64_t encoding)
{
    if (job->type == NULL || !job_name_is_valid(job->type))
        return "the stored record is damaged: its type is not a name";
    if (encoding != JOB_JSON && encoding != JOB_RAW)
        return "the stored record is damaged: its encoding is unknown";
    return NULL;
}

void reserved_read(struct answer *answer, struct arena *arena, struct job *job)
{
    job->ref = answer_int(answer);
    job->id = answer_uuid(answer);
    job->type = answer_text(answer, arena);
    int64_t encoding = answer_int(answer);
    job->encoding = encoding == JOB_RAW ? JOB_RAW : JOB_JSON;
    job->priority = (int)answer_int(answer);
    job->due = answer_int(answer);
    job->run_at = answer_int(answer);
    job->timeout = answer_int(answer);
    job->max_attempts = (int)answer_int(answer);
    job->max_stalls = (int)answer_int(answer);
    job->attempts = (int)answer_int(answer);
    job->stalls = (int)answer_int(answer);
    job->executions = answer_int(answer);
    job->created_at = answer_int(answer);
    job->key = answer_text(answer, arena);
    job_flags_unpack((int)answer_int(answer), job);
    job->idempotency_key = answer_text(answer, arena);
    job->payload = answer_bytes(answer, arena);
    job->defect = find_defect(job, encoding);
    job->state = JOB_RUNNING;
}
