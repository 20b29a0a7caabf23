/*
 * queue_rm.h - `thctl queues rm`: an empty queue is out of sight until its next job.
 */
#ifndef THCTL_QUEUE_RM_H
#define THCTL_QUEUE_RM_H

#include "thctl/session.h"

/* All of them are tried; what has jobs is refused, with their number. */
enum status queue_rm(struct session *session, const char *const *queues, size_t count);

#endif
