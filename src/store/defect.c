/*
 * defect.c - what makes a stored job impossible to run.
 */
#include "store/defect.h"

#include "base/error.h"
#include "base/uuid.h"
#include "job/headers.h"

const char *defect_of(const struct job *job)
{
    struct error ignored;

    if (uuid_is_nil(&job->id))
        return "the stored record is damaged: its id is not a UUID";
    if (!job->type || !job_name_is_valid(job->type))
        return "the stored record is damaged: its type is not a name";
    if (!headers_check(job->headers, &ignored))
        return "the stored record is damaged: its headers are not a JSON object";
    return NULL;
}
