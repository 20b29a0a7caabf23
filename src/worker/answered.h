/*
 * answered.h - the jobs that a resident has answered last.
 *
 * One that answers a job twice, or reports progress of a job that is done, may do so while it has
 * the next one: that job is not to blame.
 */
#ifndef WORKER_ANSWERED_H
#define WORKER_ANSWERED_H

#include "base/base.h"
#include "base/uuid.h"

#define ANSWERED_KEPT 64

/* Zeroed: none. */
struct answered {
    uint64_t count; /* since it was started */
    char ids[ANSWERED_KEPT][UUID_TEXT_SIZE];
};

void answered_note(struct answered *answered, const char *id);

/* Whether it is one of the last that were answered. */
bool answered_has(const struct answered *answered, const char *id);

#endif
