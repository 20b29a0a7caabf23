/*
 * wait.h - `--wait`: a job that was stored is followed to its end.
 */
#ifndef THCTL_WAIT_H
#define THCTL_WAIT_H

#include "base/uuid.h"
#include "thctl/session.h"

/* Until the job has ended, or the timeout is over (USEC_MAX: never). Says how it ended, or that it
 * goes on and how to go on with it; a signal to stop ends the process after that was said. */
enum status wait_for_end(struct session *session, const struct uuid *id, usec_t timeout);

#endif
