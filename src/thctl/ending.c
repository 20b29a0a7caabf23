/*
 * ending.c - how a job ended, told to whoever followed it.
 */
#include "thctl/ending.h"

#include "base/text.h"
#include "base/uuid.h"
#include "cli/output.h"

#include <string.h>

/* What an error says last is what went wrong; what stands before it is a command away. */
static void report_death(const struct job *job, const char *id)
{
    const char *error = job->last_error ? job->last_error : "";
    const char *reason = job_reason_name(job->reason);
    const struct bytes last = text_last_line(error);
    bool is_all = !strchr(error, '\n');

    output_complain("job %s is dead (%s)%s%.*s%s%s%s", id, reason ? reason : "no reason",
                    last.length > 0 ? ": " : "", (int)last.length,
                    last.length > 0 ? (const char *)last.data : "", is_all ? "" : " ('thctl show ",
                    is_all ? "" : id, is_all ? "" : "' has all of its error)");
}

enum status ending_report(const struct job *job)
{
    char id[UUID_TEXT_SIZE], other[UUID_TEXT_SIZE];

    uuid_format(&job->id, id);
    if (job->state == JOB_DONE)
        return STATUS_OK;
    if (job->state == JOB_DEAD)
        report_death(job, id);
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
