/*
 * starts.h - handlers that cannot be started: a broken deploy is not the jobs' fault.
 *
 * Nothing is counted against the job that met it, and it is set aside with all others of its type.
 * The handler is tried again by one probe after 1 s, doubling to 5 min; when that starts, all come
 * back. After a day of that a job is dead.
 */
#ifndef DISPATCHER_STARTS_H
#define DISPATCHER_STARTS_H

#include "base/base.h"

#define STARTS_ERROR_SIZE 1024

/* Of one handler; zeroed: it can be started, as far as we know. Times are the database's. */
struct start {
    usec_t failing_since; /* 0: it is not */
    usec_t
        doubted_since; /* somebody could not start it, and we have not tried; 0: nobody says so */
    usec_t delay;
    usec_t probe_at;
    bool is_probing; /* one job is out to see */
    bool has_worked;
    char error[STARTS_ERROR_SIZE]; /* of the last failure */
};

enum start_advice {
    START_GO,
    START_PROBE,   /* go, and tell how it went: others wait for it */
    START_WAIT,    /* not now */
    START_GIVE_UP, /* the job has waited for a day */
};

/* For a job that was due at `due`. */
enum start_advice starts_ask(struct start *start, usec_t due, usec_t now);

/* How many of its jobs that are aside because it could not be started shall come back. */
enum start_fetch {
    FETCH_NONE,
    FETCH_ONE, /* to see */
    FETCH_OLD, /* those that have waited for a day: they are given up */
    FETCH_ALL,
};

/* `since`: of the one that is aside for longest. */
enum start_fetch starts_fetch(struct start *start, usec_t since, usec_t now);

/* When the next probe may go; 0: none is waited for. */
usec_t starts_next_probe(const struct start *start);

/* It could not be started. Returns whether nobody knew yet. */
bool starts_note_failure(struct start *start, bool was_probe, const char *error, usec_t now);

/* It could. Returns whether there are jobs that wait for that. */
bool starts_note_success(struct start *start);

/* The probe came back without having tried. */
void starts_forget_probe(struct start *start);

#endif
