/*
 * told.c - what the store has been told of a run, so that each thing is told once.
 *
 * A worker may write anything into its places. What no store would take is left out: one bad text
 * must not keep a whole pool from extending its leases.
 */
#include "periodic/told.h"

#include "base/text.h"
#include "store/store.h"

#include <string.h>

static bool is_about(const struct told *told, const struct slot_job *job)
{
    return told->any && told->hold.entry == job->hold.entry &&
           told->hold.generation == job->hold.generation;
}

static bool has_new_progress(const struct told *told, const struct slot_job *job)
{
    if (job->progress_percent < 0 || job->progress_percent > 100)
        return false;
    return !is_about(told, job) || told->progress_percent != job->progress_percent ||
           !text_equal(told->progress_text, job->progress_text);
}

static bool has_new_output(const struct told *told, const struct slot_job *job)
{
    return job->output_total != (is_about(told, job) ? told->output_total : 0);
}

static const char *text_of(const struct slot_job *job)
{
    const char *text = job->progress_text;
    const struct bytes bytes = {(const unsigned char *)text, strlen(text)};

    return bytes.length > 0 && text_is_utf8(bytes) ? text : NULL;
}

void told_compare(const struct told *told, const struct slot_job *job, struct lease_beat *beat)
{
    if (has_new_progress(told, job)) {
        beat->progress_percent = job->progress_percent;
        beat->progress_text = text_of(job);
    }
    if (has_new_output(told, job))
        beat->output = (struct bytes){job->output, job->output_length};
}

void told_remember(struct told *told, const struct slot_job *job, bool watched)
{
    told->watched = watched;
    told->any = true;
    told->hold = job->hold;
    told->progress_percent = job->progress_percent;
    memcpy(told->progress_text, job->progress_text, sizeof told->progress_text);
    told->output_total = job->output_total;
}

bool told_is_watched(const struct told *told, const struct slot_job *job)
{
    return is_about(told, job) && told->watched;
}
