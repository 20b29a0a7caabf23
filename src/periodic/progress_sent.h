/*
 * progress_sent.h - what the store has been told of a run, so that each thing is told once.
 *
 * Progress and output are written with the heartbeat; most beats have nothing new.
 */
#ifndef PERIODIC_PROGRESS_SENT_H
#define PERIODIC_PROGRESS_SENT_H

#include "base/base.h"
#include "process/scoreboard.h"

struct lease_beat;

/* Of one entry of the lease table. Zeroed: nothing yet. */
struct progress_sent {
    bool any;
    struct hold hold; /* of the run that the rest is about */
    int progress_percent;
    char progress_text[SCOREBOARD_TEXT_SIZE];
    uint64_t output_total;
    bool watched; /* somebody looks at it, says the store */
};

/* Puts into the beat what is new of the job; the beat then points into it. */
void progress_sent_compare(const struct progress_sent *sent, const struct slot_job *job,
                           struct lease_beat *beat);

/* The store has it: the beat that progress_sent_compare() filled in has arrived. */
void progress_sent_remember(struct progress_sent *sent, const struct slot_job *job, bool watched);

/* Whether somebody looks at this run. */
bool progress_sent_is_watched(const struct progress_sent *sent, const struct slot_job *job);

#endif
