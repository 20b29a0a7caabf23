/*
 * rack.h - shared memory: the tasks that wait for a worker, in the order of their turn.
 *
 *     dispatcher --put--> | t | t | t |   | --> any worker that is free looks from where it has
 *                                              looked last, and starts the next that nobody has
 *
 * The kernel is not asked on the way: a worker that is busy finds its next task by reading, and
 * claims it by lease_table_start(). Only one that sleeps has to be woken, by the bell. A task that
 * is too large for its place goes through a socket, and the rack has a note of it, so that it has
 * its turn.
 *
 * One writer: the dispatcher; workers only read. It outlives a dispatcher, and the next one goes
 * on. Each config generation has a rack of its own.
 */
#ifndef PROCESS_RACK_H
#define PROCESS_RACK_H

#include "base/base.h"
#include "process/lease_table.h"
#include "process/message.h"

struct arena;
struct error;
struct rack;

/* Before the processes are forked; `capacity` is that of the lease table. */
bool rack_open(size_t capacity, struct rack **rack_out, struct error *err) MUST_CHECK;
void rack_close(struct rack **rack);

/* An eventfd, for those that watch it: one count wakes one sleeper. */
int rack_bell(const struct rack *rack);

/* ---- the dispatcher ---- */

/* The task has a hold that nobody had before. False when it does not fit: send it, then note it. */
bool rack_put(struct rack *rack, const struct task *task) MUST_CHECK;
void rack_note(struct rack *rack, const struct task *task);

/* Wakes up to so many workers that sleep. So does a worker that was woken for what it cannot take.
 */
bool rack_ring(struct rack *rack, size_t sleepers, struct error *err) MUST_CHECK;

/* ---- workers ---- */

/* In a worker, first thing: what it may only read is write-protected. */
bool rack_restrict(struct rack *rack, struct error *err) MUST_CHECK;

/* What is to be known of a task before it is started. */
struct rack_head {
    struct hold hold;
    size_t handler;    /* as in the task */
    bool is_in_socket; /* the task */
};

/* The next task that nobody had started when it was looked at; false: there is none. It is shown
 * again until it is passed, or somebody starts it. */
bool rack_look(struct rack *rack, const struct lease_table *leases,
               struct rack_head *head_out) MUST_CHECK;
void rack_pass(struct rack *rack);

/* Whether there are places that this worker has not passed. */
bool rack_has_more(const struct rack *rack);

/* The task, copied into the arena, of a hold that this worker has started. It is whole if the
 * worker still has the hold afterwards. */
bool rack_read(const struct rack *rack, struct hold hold, struct arena *arena,
               struct task *task_out, struct error *err) MUST_CHECK;

/* Whoever was woken takes one count. */
void rack_hear(const struct rack *rack);

#endif
