/*
 * pace.c - how fast jobs end: what has been done and has failed since somebody looked before.
 *
 * Of all looks two are kept, SPAN apart at least, so that a rate goes by more than a moment.
 */
#include "browse/pace.h"

#include "base/text.h"

#define SPAN  (10 * USEC_PER_SEC)
#define LEAST USEC_PER_SEC
#define MOST  (5 * USEC_PER_MIN)
#define SCALE 1000 /* seconds that a rate counts for */

void pace_note(struct pace *pace, struct queue_stats_list *list, usec_t now)
{
    if (pace->latest.at != 0 && now < pace->latest.at + SPAN) {
        queue_stats_list_done(list);
        return;
    }
    queue_stats_list_done(&pace->before.list);
    pace->before = pace->latest;
    pace->latest.list = *list;
    pace->latest.at = now;
    *list = (struct queue_stats_list){0};
}

static bool is_of_use(usec_t at, usec_t now)
{
    return at != 0 && now - at >= LEAST && now - at <= MOST;
}

static const struct queue_stats *find(const struct queue_stats_list *list, const char *queue)
{
    for (size_t i = 0; i < list->count; i++) {
        if (text_equal(list->items[i].queue, queue))
            return &list->items[i];
    }
    return NULL;
}

/* One that is counted anew, as after a FLUSHDB, has done nothing. */
static int64_t rate(int64_t before, int64_t after, usec_t span)
{
    const int64_t count = after > before ? after - before : 0;

    return (int64_t)((double)count * SCALE * USEC_PER_SEC / (double)span);
}

bool pace_of(const struct pace *pace, const struct queue_stats *stats, usec_t now,
             struct pace_rates *rates_out)
{
    const bool is_before = is_of_use(pace->before.at, now);
    const usec_t at = is_before ? pace->before.at : pace->latest.at;
    const struct queue_stats *old;

    if (!is_of_use(at, now))
        return false;
    old = find(is_before ? &pace->before.list : &pace->latest.list, stats->queue);
    *rates_out = (struct pace_rates){
        .done = rate(old ? old->done_total : 0, stats->done_total, now - at),
        .failed = rate(old ? old->failed_total : 0, stats->failed_total, now - at),
    };
    return true;
}

void pace_done(struct pace *pace)
{
    queue_stats_list_done(&pace->before.list);
    queue_stats_list_done(&pace->latest.list);
    *pace = (struct pace){0};
}
