/*
 * reserved.c - reads what a worker needs of a job.
 */
#include "store/postgres/codec/reserved.h"

static const char *find_defect(const struct job *job, int64_t encoding)
{
    if (!job->type || !job_name_is_valid(job->type))
        return "the stored record is damaged: its type is not a name";
    if (encoding != JOB_JSON && encoding != JOB_RAW)
        return "the stored record is damaged: its encoding is unknown";
    return NULL;
}

void pg_reserved_read(struct pg_answer *answer, struct arena *arena, struct job *job)
{
    job->ref = pg_answer_int(answer);
    job->id = pg_answer_uuid(answer);
    job->type = pg_answer_text(answer, arena);
    int64_t encoding = pg_answer_int(answer);
    job->encoding = encoding == JOB_RAW ? JOB_RAW : JOB_JSON;
    job->priority = (int)pg_answer_int(answer);
    job->due = pg_answer_int(answer);
    job->run_at = pg_answer_int(answer);
    job->timeout = pg_answer_int(answer);
    job->max_attempts = (int)pg_answer_int(answer);
    job->max_stalls = (int)pg_answer_int(answer);
    job->attempts = (int)pg_answer_int(answer);
    job->stalls = (int)pg_answer_int(answer);
    job->executions = pg_answer_int(answer);
    job->created_at = pg_answer_int(answer);
    job->key = pg_answer_text(answer, arena);
    job_flags_unpack((int)pg_answer_int(answer), job);
    job->idempotency_key = pg_answer_text(answer, arena);
    job->payload = pg_answer_bytes(answer, arena);
    job->defect = find_defect(job, encoding);
    job->state = JOB_RUNNING;
}
