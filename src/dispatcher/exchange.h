/*
 * exchange.h - settle what came back and reserve what there is room for, in one round trip.
 */
#ifndef DISPATCHER_EXCHANGE_H
#define DISPATCHER_EXCHANGE_H

#include "base/base.h"

struct dispatcher;
struct error;
struct job;
struct job_list;

/* When there is something to settle, or room for jobs that may be there. When it fails nothing is
 * lost: the outbox is as it was. */
bool exchange_run(struct dispatcher *dispatcher, bool *exchanged_out, struct error *err) MUST_CHECK;

/* Holds reserved jobs, and hands them out. */
bool exchange_take_in(struct dispatcher *dispatcher, const struct job_list *jobs, usec_t stop_at,
                      struct error *err) MUST_CHECK;

/* One of them. */
bool exchange_take_in_job(struct dispatcher *dispatcher, const struct job *job, usec_t stop_at,
                          struct error *err) MUST_CHECK;

#endif
