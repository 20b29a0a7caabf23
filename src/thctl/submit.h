/*
 * submit.h - jobs into the store, and the answer to whoever asked.
 */
#ifndef THCTL_SUBMIT_H
#define THCTL_SUBMIT_H

#include "base/base.h"
#include "client/enqueue.h"
#include "thctl/session.h"

/* enqueue_jobs(), repeated a few times while nobody knows whether it worked. The jobs keep their
 * ids, so that repeating cannot store one twice. */
bool submit_jobs(struct session *session, struct enqueue *enqueue, struct job *jobs, size_t count,
                 usec_t now, struct enqueued *enqueued_out, struct error *err) MUST_CHECK;

/* Says why one job was not stored, or that nobody knows whether it was. */
enum status submit_fail(const struct job *job, const struct error *err);

/* The id alone, or {"id","state","existed","updated"}. */
void submit_print(struct session *session, const struct enqueued *enqueued);

#endif
