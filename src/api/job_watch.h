/*
 * job_watch.h - what those hear who listen to GET /api/jobs/{id}/events.
 *
 *     job      the record, first and whenever it has changed; without its output
 *     output   {"text", "lost"}: what is new in it; lost: something before that was not seen
 *     end      the last one, {"reason"}: "ended", as the job has; "gone": it is not there any more;
 *              "restart": this process ends, and the next one is there already
 *
 * However many listen to one job, one looks. The more jobs there are, the less often each is looked
 * at: browse is asked for one at a time, and a hundred times a second at most.
 */
#ifndef API_JOB_WATCH_H
#define API_JOB_WATCH_H

#include "base/base.h"

struct api;
struct error;
struct job_watches;
struct visit;

bool job_watches_open(struct api *api, struct job_watches **watches_out,
                      struct error *err) MUST_CHECK;
void job_watches_close(struct job_watches **watches);

/* Answers the visit: with a stream if there is such a job. */
void job_watches_join(struct job_watches *watches, struct visit *visit);

/* A last event to everybody; whoever comes from now on is refused. */
void job_watches_end(struct job_watches *watches);

#endif
