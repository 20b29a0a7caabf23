/*
 * starts.h - handlers that cannot be started: a broken deploy is not the jobs' fault.
 *
 * Nothing is counted against the job that met it. The type is tried again by one probe after 1 s,
 * doubling to 5 min; its other jobs wait meanwhile. After a day of that a job is dead.
 */
#ifndef DISPATCHER_STARTS_H
#define DISPATCHER_STARTS_H

#include "base/base.h"

#define STARTS_PATIENCE USEC_PER_DAY

/* Of one handler; zeroed: it can be started, as far as we know. Times are the database's. */
struct start {
    usec_t failing_since; /* 0: it is not */
    usec_t delay;
    usec_t probe_at;
    bool is_probing; /* one job is out to see */
};

enum start_advice {
    START_GO,
    START_PROBE,   /* go, and tell how it went: others wait for it */
    START_WAIT,    /* not before *until_out */
    START_GIVE_UP, /* the job has waited for a day */
};

/* For a job that was enqueued at `created_at`. */
enum start_advice starts_ask(struct start *start, usec_t created_at, usec_t now, usec_t *until_out);

/* It could not be started. Returns when the job may come again; *first_out: nobody knew yet. */
usec_t starts_note_failure(struct start *start, bool was_probe, usec_t now, bool *first_out);

/* It could. Returns whether it could not before. */
bool starts_note_success(struct start *start);

/* The probe came back without having tried. */
void starts_forget_probe(struct start *start);

#endif
