/*
 * progress_sent.c - what the store has been told of a run, so that each thing is told once.
 *
 * A worker may write anything into its places. What no store would take is left out: one bad text
 * must not keep a whole pool from extending its leases.
 */
#include "periodic/progress_sent.h"

#include "base/text.h"
#include "store/store.h"

#include <string.h>

static bool is_about(const struct progress_sent *sent, const struct slot_job *job)
{
    return sent->any && sent->hold.entry == job->hold.entry &&
           sent->hold.generation == job->hold.generation;
}

static bool has_new_progress(const struct progress_sent *sent, const struct slot_job *job)
{
    if (job->progress_percent < 0 || job->progress_percent > 100)
        return false;
    return !is_about(sent, job) || sent->progress_percent != job->progress_percent ||
           !text_equal(sent->progress_text, job->progress_text);
}

static bool has_new_output(const struct progress_sent *sent, const struct slot_job *job)
{
    return job->output_total != (is_about(sent, job) ? sent->output_total : 0);
}

static const char *text_of(const struct slot_job *job)
{
    const char *text = job->progress_text;
    const struct bytes bytes = {(const unsigned char *)text, strlen(text)};

    return bytes.length > 0 && text_is_utf8(bytes) ? text : NULL;
}

void progress_sent_compare(const struct progress_sent *sent, const struct slot_job *job,
                           struct lease_beat *beat)
{
    if (has_new_progress(sent, job)) {
        beat->progress_percent = job->progress_percent;
        beat->progress_text = text_of(job);
    }
    if (has_new_output(sent, job))
        beat->output = (struct bytes){job->output, job->output_length};
}

void progress_sent_remember(struct progress_sent *sent, const struct slot_job *job, bool watched)
{
    sent->watched = watched;
    sent->any = true;
    sent->hold = job->hold;
    sent->progress_percent = job->progress_percent;
    memcpy(sent->progress_text, job->progress_text, sizeof sent->progress_text);
    sent->output_total = job->output_total;
}

bool progress_sent_is_watched(const struct progress_sent *sent, const struct slot_job *job)
{
    return is_about(sent, job) && sent->watched;
}
