/*
 * record.h - jobs and queues as callers of <taskharbor/client.h> see them.
 *
 * A record owns what it was made from, so nothing is copied but ids. Lists are arrays of pointers:
 * the structs they point to may grow in a later version.
 */
#ifndef CLIENT_RECORD_H
#define CLIENT_RECORD_H

#include "base/arena.h"
#include "base/base.h"
#include "job/job.h"
#include "store/store.h"

#include <taskharbor/client.h>

enum th_state record_state(enum job_state state);
bool record_to_job_state(enum th_state state, enum job_state *state_out) MUST_CHECK;

/* Points into `job` and `arena`. */
bool record_fill_job(const struct job *job, struct arena *arena, struct th_job_info *info_out,
                     struct error *err) MUST_CHECK;

/* Each takes over what is in the list and leaves it empty, even when it fails. */
bool record_new_job(struct job_list *jobs, struct th_job_info **job_out,
                    struct error *err) MUST_CHECK;
bool record_new_page(struct job_list *jobs, const struct job_cursor *next,
                     struct th_page **page_out, struct error *err) MUST_CHECK;
bool record_new_stats(struct queue_stats_list *queues, struct th_stats **stats_out,
                      struct error *err) MUST_CHECK;

void record_free_job(struct th_job_info *job);
void record_free_page(struct th_page *page);
void record_free_stats(struct th_stats *stats);

#endif
