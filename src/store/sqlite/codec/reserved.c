/*
 * reserved.c - reads what a worker needs of a job.
 */
#include "store/sqlite/codec/reserved.h"

#include "store/sqlite/file/row.h"

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

void sqlite_reserved_read(struct sqlite_query *query, struct arena *arena, struct job *job)
{
    job->ref = sqlite_row_int(query);
    job->id = sqlite_row_uuid(query);
    job->type = sqlite_row_text(query, arena);
    int64_t encoding = sqlite_row_int(query);
    job->encoding = encoding == JOB_RAW ? JOB_RAW : JOB_JSON;
    job->priority = (int)sqlite_row_int(query);
    job->due = sqlite_row_int(query);
    job->run_at = sqlite_row_int(query);
    job->timeout = sqlite_row_int(query);
    job->max_attempts = (int)sqlite_row_int(query);
    job->max_stalls = (int)sqlite_row_int(query);
    job->attempts = (int)sqlite_row_int(query);
    job->stalls = (int)sqlite_row_int(query);
    job->executions = sqlite_row_int(query);
    job->created_at = sqlite_row_int(query);
    job->key = sqlite_row_text(query, arena);
    job_flags_unpack((int)sqlite_row_int(query), job);
    job->idempotency_key = sqlite_row_text(query, arena);
    job->payload = sqlite_row_bytes(query, arena);
    job->defect = find_defect(job, encoding);
}
