/*
 * exchange.h - settle what came back and reserve what there is room for, in one round trip.
 */
#ifndef DISPATCHER_EXCHANGE_H
#define DISPATCHER_EXCHANGE_H

#include "base/base.h"

struct answer;
struct dispatcher;
struct error;
struct job;
struct job_list;
struct reservation;

/* When there is something to settle, or room for jobs that may be there. When it fails nothing is
 * lost: the outbox is as it was. */
bool exchange_run(struct dispatcher *dispatcher, bool *exchanged_out, struct error *err) MUST_CHECK;

/* While some are out: takes in what has come, and begins another when it is worth it. */
bool exchange_go_on(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* ---- its parts ---- */

/* Up to `room` jobs of the queues that are open. */
struct reservation exchange_wish(struct dispatcher *dispatcher, size_t room, struct error *away);

/* From here on jobs that are quickly done count for the next one. */
void exchange_count_quick(struct dispatcher *dispatcher);

/* What it says of the settlements from `from` on, and of the queues; then the jobs. */
bool exchange_note_answer(struct dispatcher *dispatcher, size_t from, const struct answer *answer,
                          struct error *err) MUST_CHECK;
bool exchange_bring_in(struct dispatcher *dispatcher, const struct answer *answer,
                       struct error *err) MUST_CHECK;

/* An exchange with `sent` settlements has failed: if it took too long, the next has fewer. */
void exchange_note_failure(struct dispatcher *dispatcher, size_t sent, usec_t asked_at);

/* Holds reserved jobs, and hands them out. */
bool exchange_take_in(struct dispatcher *dispatcher, const struct job_list *jobs, usec_t stop_at,
                      struct error *err) MUST_CHECK;

/* One of them. */
bool exchange_take_in_job(struct dispatcher *dispatcher, const struct job *job, usec_t stop_at,
                          struct error *err) MUST_CHECK;

#endif
