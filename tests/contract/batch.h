/*
 * batch.h - plain jobs that were reserved by one call, and what cases do with them.
 */
#ifndef TESTS_CONTRACT_BATCH_H
#define TESTS_CONTRACT_BATCH_H

#include "scene.h"

#define MEMBERS 20 /* enough for every store to keep their leases together */
#define HALF    (MEMBERS / 2)

/* A queue whose jobs were reserved by one call, in order. */
struct batch {
    struct scene scene;
    struct uuid ids[MEMBERS];
    struct claim claims[MEMBERS];
};

/* On a database of its own. */
struct batch *batch_open(void);
void batch_close(struct batch **batch);

void batch_take_all(struct scene *scene, size_t count, usec_t now, struct claim *claims);

/* As a worker acknowledges a job that had nothing to say. */
struct settlement batch_plain_ack(const struct claim *claim);

void batch_settle(struct scene *scene, const struct settlement *finished, size_t count, usec_t now,
                  enum th_error_code *verdicts);

/* Acknowledges each `step`th member from `from` on, in one call at NOW + 10. */
void batch_ack_some(struct batch *batch, size_t from, size_t step, bool forget);

/* So many of the queue's jobs run, by the numbers and by the lists, and what is stored agrees with
 * itself. */
void batch_assert_running(struct batch *batch, size_t expected);

/* The job is done, with the run of a plain ack at NOW + 10. */
void batch_assert_done(struct scene *scene, const struct uuid *id);

#endif
