/*
 * ending.c - how a job ended, told to whoever followed it.
 */
#include "thctl/ending.h"

#include "base/uuid.h"
#include "cli/output.h"

enum status ending_report(const struct job *job)
{
    const char *reason = job_reason_name(job->reason);
    char id[UUID_TEXT_SIZE], other[UUID_TEXT_SIZE];

    uuid_format(&job->id, id);
    if (job->state == JOB_DONE)
        return STATUS_OK;
    if (job->state == JOB_DEAD)
        output_complain("job %s is dead (%s)%s%s", id, reason != NULL ? reason : "no reason",
                        job->last_error != NULL ? ": " : "",
                        job->last_error != NULL ? job->last_error : "");
    else if (!uuid_is_nil(&job->merged_into))
        output_complain("job %s was merged into %s, which has its key", id,
                        uuid_format(&job->merged_into, other));
    else
        output_complain("job %s was cancelled", id);
    return STATUS_FAILED;
}

enum status ending_report_missing(const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];

    output_complain("job %s was deleted before its end was seen", uuid_format(id, text));
    return STATUS_FAILED;
}
