/*
 * limits.h - what limits a job has, as far as its own record does not say: for people.
 *
 * Resolved as a pool would: the job's own value, else that of the handler in the live pools that
 * serve its queue, else that of the config at hand, else the default. Programs get the record as it
 * is, so that what comes from handlers is never mistaken for what the producer said.
 */
#ifndef THCTL_LIMITS_H
#define THCTL_LIMITS_H

#include "client/offers.h"
#include "config/config.h"
#include "job/job.h"

/* Fills in timeout, max_attempts and max_stalls where the job does not say. A config without a path
 * is none. */
void limits_fill(struct job *job, const struct offers *offers, const struct config *config);
void limits_fill_all(struct job_list *jobs, const struct offers *offers,
                     const struct config *config);

#endif
