/*
 * scan_start.c - where each queue's ready jobs begin, as far as this handle has seen.
 */
#include "store/postgres/ops/scan_start.h"

#include "store/postgres/codec/ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_INTERVAL USEC_PER_SEC
#define PAUSE_FACTOR  10 /* looking again takes at most a tenth of the time */
#define LONG          (USEC_PER_MSEC / 2)

struct pg_scan_start *pg_scan_starts_find(struct pg_scan_starts *starts, const char *queue)
{
    for (size_t i = 0; i < starts->count; i++)
        if (strcmp(starts->items[i].queue, queue) == 0)
            return &starts->items[i];

    struct pg_scan_start *items = reallocarray(starts->items, starts->count + 1, sizeof *items);
    if (!items)
        return NULL;
    starts->items = items;
    struct pg_scan_start *start = &items[starts->count++];
    *start = (struct pg_scan_start){0};
    snprintf(start->queue, sizeof start->queue, "%s", queue);
    return start;
}

bool pg_scan_start_is_due(const struct pg_scan_start *start, usec_t now)
{
    if (start->looked_at == 0 || start->owes)
        return start->looked_at == 0;
    return now < start->looked_at || now - start->looked_at >= LOOK_INTERVAL;
}

bool pg_scan_start_may_look_again(const struct pg_scan_start *start, usec_t now)
{
    const usec_t pause =
        start->took < LOOK_INTERVAL / PAUSE_FACTOR ? start->took * PAUSE_FACTOR : LOOK_INTERVAL;

    return !start->owes && (now <= start->looked_at || now - start->looked_at >= pause);
}

static void forget(struct pg_scan_start *start)
{
    start->looked_at = 0;
    start->owes = false;
}

/* While a walk from the head is short, known places are not worth a scan each. */
void pg_scan_start_looked(struct pg_scan_start *start, usec_t now, usec_t took, bool found_all)
{
    start->looked_at = now;
    start->took = took;
    start->owes = false;
    if (!found_all || took < LONG)
        memset(start->behind, 0, sizeof start->behind);
}

static bool is_behind(const struct job *job, const struct pg_place *place)
{
    return job->due != place->due ? job->due > place->due : pg_ref_seq(job->ref) > place->seq;
}

void pg_scan_start_took(struct pg_scan_start *start, const struct job *job)
{
    if (job->priority < 0 || job->priority >= SCAN_START_PRIORITIES)
        return;
    struct pg_place *place = &start->behind[job->priority];
    if (!place->known || is_behind(job, place))
        *place = (struct pg_place){true, job->due, pg_ref_seq(job->ref)};
}

void pg_scan_starts_forget(struct pg_scan_starts *starts)
{
    for (size_t i = 0; i < starts->count; i++)
        forget(&starts->items[i]);
}

void pg_scan_starts_rang(struct pg_scan_starts *starts)
{
    for (size_t i = 0; i < starts->count; i++) {
        struct pg_scan_start *start = &starts->items[i];

        if (start->looked_at == 0 || start->owes || start->took < LONG)
            forget(start);
        else
            start->owes = true;
    }
}

bool pg_scan_starts_pay(struct pg_scan_starts *starts)
{
    bool any = false;

    for (size_t i = 0; i < starts->count; i++) {
        if (!starts->items[i].owes)
            continue;
        forget(&starts->items[i]);
        any = true;
    }
    return any;
}

void pg_scan_starts_done(struct pg_scan_starts *starts)
{
    free(starts->items);
    *starts = (struct pg_scan_starts){0};
}
