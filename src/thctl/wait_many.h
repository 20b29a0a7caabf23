/*
 * wait_many.h - `--bulk --wait`: many jobs that were stored are followed to their ends.
 */
#ifndef THCTL_WAIT_MANY_H
#define THCTL_WAIT_MANY_H

#include "client/crowd.h"
#include "thctl/session.h"

/* Until all have ended, or the timeout is over (USEC_MAX: never). STATUS_OK if all are done; what
 * became of the others, or that they go on, has been said. A signal to stop ends the process after
 * that. With --json each job is printed when it has ended. */
enum status wait_for_all(struct session *session, struct crowd *crowd, usec_t timeout);

#endif
