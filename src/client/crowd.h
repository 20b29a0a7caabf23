/*
 * crowd.h - many jobs, followed to their ends.
 *
 * Nobody asks for each of them again and again: they are looked at in pages of the list by id, in
 * which jobs that were stored together are neighbours. A look reads two pages, however many jobs
 * there are:
 *
 *     ids, in order   [ended ended ended | running ready ready ... retry ... ready]
 *                                          ^ front: where ends were    ^ sweep: all in turn, for
 *                                            seen last                   those that end out of turn
 */
#ifndef CLIENT_CROWD_H
#define CLIENT_CROWD_H

#include "base/base.h"
#include "job/job.h"
#include "store/store.h"

/* Zeroed, it is a crowd of nobody. */
struct crowd {
    struct uuid *ids; /* owned */
    bool *has_ended;  /* owned; by the place of the id */
    size_t count, room;
    char queue[JOB_NAME_MAX + 1]; /* that all of them are in, or "" */
    size_t front, sweep;          /* places of ids */

    /* What was seen so far. */
    size_t ended[JOB_STATES]; /* how they ended */
    size_t gone;              /* deleted before their end was seen */
    size_t left;              /* have not ended */
};

/* One more; NULL where the queue is not known. All are added before the first look. */
bool crowd_add(struct crowd *crowd, const struct uuid *id, const char *queue,
               struct error *err) MUST_CHECK;

/* Called with each job that has ended since the last look, once. */
struct crowd_watcher {
    void (*ended)(const struct job *job, void *context);
    void *context;
    bool in_full; /* with payload, result, output and runs */
};

/* Looks once. *moved_out: some have ended meanwhile, so that another look may pay at once. */
bool crowd_look(struct crowd *crowd, struct store *store, const struct crowd_watcher *watcher,
                bool *moved_out, struct error *err) MUST_CHECK;

void crowd_done(struct crowd *crowd);

#endif
