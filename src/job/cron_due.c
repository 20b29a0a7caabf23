/*
 * cron_due.c - which times of a schedule are to be enqueued now.
 */
#include "job/cron_due.h"

/* The schedule has a slot after `after` that has come. */
static bool has_slot(const struct cron *cron, const struct zone *zone, usec_t after, usec_t now)
{
    const usec_t next = cron_next(cron, zone, after);

    return next != 0 && next <= now;
}

/* By halving: years of a schedule of every second take no longer than a day. */
static usec_t last_slot(const struct cron *cron, const struct zone *zone, usec_t before, usec_t now)
{
    usec_t low = before, high = now; /* a slot comes after low, and none after high */

    while (high - low > USEC_PER_SEC) {
        const usec_t middle = low + (high - low) / 2;

        if (has_slot(cron, zone, middle, now))
            low = middle;
        else
            high = middle;
    }
    return cron_next(cron, zone, low);
}

static void list_slots(const struct cron *cron, const struct zone *zone, usec_t after, usec_t now,
                       struct cron_due *due)
{
    while (due->count < CRON_SLOTS_MAX && has_slot(cron, zone, after, now)) {
        after = cron_next(cron, zone, after);
        due->slots[due->count++] = after;
    }
}

void cron_due(const struct cron *cron, const struct zone *zone, enum cron_catch_up catch_up,
              usec_t last, usec_t now, struct cron_due *due_out)
{
    const usec_t missed_until = now - CRON_LATE_FOR;
    const bool has_missed = has_slot(cron, zone, last, missed_until);

    due_out->count = 0;
    if (!has_missed || catch_up == CATCH_UP_ALL)
        list_slots(cron, zone, last, now, due_out);
    else if (catch_up == CATCH_UP_NONE)
        list_slots(cron, zone, missed_until, now, due_out);
    else
        due_out->slots[due_out->count++] = last_slot(cron, zone, last, now);
}

usec_t cron_horizon(usec_t now)
{
    return now + CRON_AHEAD_MAX;
}

usec_t cron_first_mark(usec_t now)
{
    return cron_is_mark(now) ? now : now - 1;
}

bool cron_is_mark(usec_t last)
{
    return last % USEC_PER_SEC != 0;
}
