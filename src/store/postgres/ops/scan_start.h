/*
 * scan_start.h - where each queue's ready jobs begin, as far as this handle has seen.
 *
 * Every row that was ever in front of the queue stays there, dead, until vacuum comes, or as long
 * as somebody holds an old snapshot, and a scan from the head walks over all of them. So a scan
 * starts after the last job that this handle took, for each priority. It is a mere hint: jobs come
 * back to their old place, and a long transaction commits late. A scan starts at the head when
 * nothing is known, when the bell has rung, when a settlement of this handle made a job ready (a
 * release, a retry at once, the end of one that its twin waited for), when it did anything but take
 * and settle, and once a second; and once more when it found less than it was asked for, unless it
 * has just done so and that took long.
 *
 * Whoever was idle when the bell rang wants the job soon, and most likely it is a new one, after
 * all that were taken. So if the walk over the dead takes long, what is found there is answered
 * without it, and the head is owed: the next scan starts there, and the bell rings for it at once.
 */
#ifndef POSTGRES_SCAN_START_H
#define POSTGRES_SCAN_START_H

#include "base/base.h"
#include "job/job.h"

#define SCAN_START_PRIORITIES (JOB_PRIORITY_MAX + 1)

/* Of one priority: after it there is something to be found. */
struct pg_place {
    bool known;
    usec_t due;
    int64_t seq;
};

struct pg_scan_start {
    char queue[JOB_NAME_MAX + 1];
    usec_t looked_at; /* the last scan from the very start; 0: has to be next */
    usec_t took;      /* that one */
    bool owes;        /* one, because the bell has rung since */
    struct pg_place behind[SCAN_START_PRIORITIES];
};

struct pg_scan_starts {
    struct pg_scan_start *items; /* owned */
    size_t count;
};

/* The head of this queue, made if need be; NULL when out of memory. */
struct pg_scan_start *pg_scan_starts_find(struct pg_scan_starts *starts,
                                          const char *queue) MUST_CHECK;

/* Whether the next scan shall start at the very head. */
bool pg_scan_start_is_due(const struct pg_scan_start *start, usec_t now);

/* Whether one that found less than it was asked for shall go on from there. */
bool pg_scan_start_may_look_again(const struct pg_scan_start *start, usec_t now);

/* A scan from the very head was made, which took so long. Whether it found all there are: then
 * nothing has come back before the known places. */
void pg_scan_start_looked(struct pg_scan_start *start, usec_t now, usec_t took, bool found_all);

/* This job was taken; those before it were too, or somebody else has them. */
void pg_scan_start_took(struct pg_scan_start *start, const struct job *job);

/* The next scan starts at the very head. */
void pg_scan_starts_forget(struct pg_scan_starts *starts);

/* The bell has rung. The next scan starts at the very head, or owes one that does. */
void pg_scan_starts_rang(struct pg_scan_starts *starts);

/* The next scan of those that owe one starts at the very head. Answers whether there are any. */
bool pg_scan_starts_pay(struct pg_scan_starts *starts);

void pg_scan_starts_done(struct pg_scan_starts *starts);

#endif
