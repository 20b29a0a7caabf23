/*
 * conclude.h - how a held job ends: an outcome becomes a settlement in the outbox.
 */
#ifndef DISPATCHER_CONCLUDE_H
#define DISPATCHER_CONCLUDE_H

#include "base/base.h"

struct bytes;
struct dispatcher;
struct error;
struct held_job;
struct job;
struct outcome;
struct result;

/* A result came from a worker; what it points to belongs to the outbox. */
bool conclude_result(struct dispatcher *dispatcher, struct held_job *held, struct result *result,
                     struct error *err) MUST_CHECK;

/* Any other end. */
bool conclude_job(struct dispatcher *dispatcher, struct held_job *held,
                  const struct outcome *outcome, struct error *err) MUST_CHECK;

/* Gives back a job that nobody here started: nothing is counted, even if its lease has ended. */
bool conclude_release(struct dispatcher *dispatcher, struct held_job *held,
                      struct error *err) MUST_CHECK;

/* For a job that has just been reserved: *concluded_out when it must not be run, or not now. */
bool conclude_early(struct dispatcher *dispatcher, struct held_job *held, struct bytes payload,
                    bool *concluded_out, struct error *err) MUST_CHECK;

/* Notes that a handler starts as soon as its probe has run for a while, long before its result
 * comes. True while any probe is out. */
bool conclude_probes(struct dispatcher *dispatcher);

/* Lets go of a job that is not ours any more, without a word to the store. */
void conclude_silently(struct dispatcher *dispatcher, struct held_job *held);

#endif
