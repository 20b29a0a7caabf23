/*
 * task_ring.h - shared memory: the tasks that wait for a worker, in the order of their turn.
 *
 *     dispatcher --put--> | t | t | t |   | --> any worker that is free looks from where it has
 *                                              looked last, and starts the next that nobody has
 *
 * The kernel is not asked on the way: a worker that is busy finds its next task by reading, and
 * claims it by lease_table_start(). Only one that sleeps has to be woken, by the bell. A task that
 * is too large for its place goes through a socket, and the ring has a note of it, so that it has
 * its turn.
 *
 * One writer: the dispatcher; workers only read. It outlives a dispatcher, and the next one goes
 * on. Each config generation has a ring of its own.
 */
#ifndef PROCESS_TASK_RING_H
#define PROCESS_TASK_RING_H

#include "base/base.h"
#include "process/lease_table.h"
#include "process/message.h"

struct arena;
struct error;
struct task_ring;

/* Before the processes are forked; `capacity` is that of the lease table. */
bool task_ring_open(size_t capacity, struct task_ring **ring_out, struct error *err) MUST_CHECK;
void task_ring_close(struct task_ring **ring);

/* An eventfd, for those that watch it: one count wakes one sleeper. */
int task_ring_bell(const struct task_ring *ring);

/* ---- the dispatcher ---- */

/* The task has a hold that nobody had before. False when it does not fit: send it, then note it. */
bool task_ring_put(struct task_ring *ring, const struct task *task) MUST_CHECK;
void task_ring_note(struct task_ring *ring, const struct task *task);

/* Wakes up to this many sleeping workers. A worker that was woken for what it cannot take does so
 * too. */
bool task_ring_wake(struct task_ring *ring, size_t sleepers, struct error *err) MUST_CHECK;

/* ---- workers ---- */

/* In a worker, first thing: what it may only read is write-protected. */
bool task_ring_restrict(struct task_ring *ring, struct error *err) MUST_CHECK;

/* What is to be known of a task before it is started. */
struct task_head {
    struct hold hold;
    size_t handler;    /* as in the task */
    bool is_in_socket; /* the task */
};

/* The next task that nobody had started when it was looked at; false: there is none. It is shown
 * again until it is passed, or somebody starts it. */
bool task_ring_look(struct task_ring *ring, const struct lease_table *leases,
                    struct task_head *head_out) MUST_CHECK;
void task_ring_pass(struct task_ring *ring);

/* Whether there are places that this worker has not passed. */
bool task_ring_has_more(const struct task_ring *ring);

/* The task, copied into the arena, of a hold that this worker has started. It is whole if the
 * worker still has the hold afterwards. */
bool task_ring_read(const struct task_ring *ring, struct hold hold, struct arena *arena,
                    struct task *task_out, struct error *err) MUST_CHECK;

/* Whoever was woken takes one count. */
void task_ring_hear(const struct task_ring *ring);

#endif
