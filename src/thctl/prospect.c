/*
 * prospect.c - a word to whoever stores a job that nobody would run as things are.
 *
 * The job is stored all the same: pools come and go, and a producer may well be there first.
 */
#include "thctl/prospect.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "client/offers.h"

#include <unistd.h>

#define MEANT_SIZE (JOB_NAME_MAX + 32)

bool prospect_is_wanted(bool waits)
{
    return waits || isatty(STDERR_FILENO) == 1;
}

/* " (did you mean 'mail'?)", or nothing. */
static const char *ask(const char *closest, char text[MEANT_SIZE])
{
    text[0] = '\0';
    if (closest)
        snprintf(text, MEANT_SIZE, " (did you mean '%s'?)", closest);
    return text;
}

/* What is paused waits whoever serves it. */
static void tell_pause(struct session *session, const char *queue, const char *waits)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    struct error ignored;

    if (!store_stats(session->store, &stats, &ignored))
        return;
    for (size_t i = 0; i < stats.count; i++) {
        if (text_equal(stats.items[i].queue, queue) && stats.items[i].paused_at != 0)
            output_remark("the queue '%s' is paused: %s until 'thctl resume %s'", queue, waits,
                          queue);
    }
}

void prospect_tell(struct session *session, const char *queue, const char *type, uint64_t count)
{
    CLEANUP(offers_done) struct offers offers = {0};
    const char *waits = count == 1 ? "the job waits" : "the jobs wait";
    char meant[MEANT_SIZE];
    struct error ignored;

    /* The job is stored: what cannot be found out, as by a role that may only enqueue, is left
     * out. */
    if (!offers_read(session->store, &offers, &ignored))
        return;
    switch (offers_gap(&offers, queue, type)) {
    case OFFERS_NO_GAP:
        tell_pause(session, queue, waits);
        return;
    case OFFERS_NO_POOL:
        output_remark("no pool is running on %s: %s until thd is started",
                      store_name(session->store), waits);
        return;
    case OFFERS_NO_QUEUE:
        output_remark("no pool serves the queue '%s'%s: %s until one does", queue,
                      ask(offers_closest_queue(&offers, queue), meant), waits);
        return;
    case OFFERS_NO_HANDLER:
        output_remark(
            "no pool that serves the queue '%s' has a handler for '%s'%s: %s until one does", queue,
            type, ask(offers_closest_type(&offers, type), meant), waits);
        return;
    }
}
