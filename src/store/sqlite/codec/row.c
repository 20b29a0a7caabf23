/*
 * row.c - reads what a worker needs of a job.
 */
#include "store/sqlite/codec/row.h"

/* Somebody else may have written to the file: such a job is handed out with its defect, so that
 * the core ends it as dead instead of meeting it again and again. */
static const char *find_defect(const struct job *job, int64_t encoding)
{
    if (uuid_is_nil(&job->id))
        return "the stored record is damaged: its id is not a UUID";
    if (job->type == NULL || !job_name_is_valid(job->type))
        return "the stored record is damaged: its type is not a name";
    if (encoding != JOB_JSON && encoding != JOB_RAW)
        return "the stored record is damaged: its encoding is unknown";
    return NULL;
}

void row_read_reserved(struct query *query, struct arena *arena, struct job *job)
{
    job->ref = column_int(query);
    job->id = column_uuid(query);
    job->type = column_text(query, arena);
    int64_t encoding = column_int(query);
    job->encoding = encoding == JOB_RAW ? JOB_RAW : JOB_JSON;
    job->priority = (int)column_int(query);
    job->due = column_int(query);
    job->run_at = column_int(query);
    job->timeout = column_int(query);
    job->max_attempts = (int)column_int(query);
    job->max_stalls = (int)column_int(query);
    job->attempts = (int)column_int(query);
    job->stalls = (int)column_int(query);
    job->executions = column_int(query);
    job->created_at = column_int(query);
    job->key = column_text(query, arena);
    job_flags_unpack((int)column_int(query), job);
    job->idempotency_key = column_text(query, arena);
    job->payload = column_bytes(query, arena);
    job->defect = find_defect(job, encoding);
}
