/*
 * record.h - a job, its lease, its end and its runs as the text that Redis keeps.
 *
 * scripts/parts/record.lua has the forms. What cannot be read was written by somebody else.
 */
#ifndef REDIS_RECORD_H
#define REDIS_RECORD_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "job/job.h"
#include "job/settlement.h"
#include "store/redis/net/reply.h"

/* Payloads up to this size lie in the record itself. */
#define REDIS_PAYLOAD_INSIDE 1024

/* ---- writing ---- */

#define REDIS_HOW_SIZE 4

/* "ps" for a plain job without keys, and so on: see scripts/parts/arrival.lua. */
const char *redis_record_how(const struct job *job, char how[REDIS_HOW_SIZE]);

bool redis_record_is_outside(const struct job *job);

/* Where it will stand among those that are ready, but for its sequence. */
void redis_record_place(struct buffer *out, const struct job *job, usec_t now);

/* The record from the priority on; the store adds mode and sequence. */
void redis_record_body(struct buffer *out, const struct job *job, usec_t now);

/* The end of a plain job that was acked and tells all of its execution. */
void redis_record_plain_end(struct buffer *out, const struct settlement *settlement, usec_t now);

/* ---- reading: false when it is damaged ---- */

bool redis_record_job(const redisReply *text, struct arena *arena, struct job *job) MUST_CHECK;
bool redis_record_lease(const redisReply *text, struct arena *arena, struct job *job) MUST_CHECK;

/* *last_run is the run that a done job's end record holds; its execution is 0 when there is none.
 */
bool redis_record_end(const redisReply *text, struct arena *arena, struct job *job,
                      struct job_run *last_run) MUST_CHECK;
bool redis_record_run(const redisReply *text, struct arena *arena, struct job_run *run) MUST_CHECK;

#endif
