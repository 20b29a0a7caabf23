/*
 * reserved.h - a job as the statements `exchange` and `held` answer it.
 */
#ifndef POSTGRES_RESERVED_H
#define POSTGRES_RESERVED_H

#include "base/arena.h"
#include "job/job.h"
#include "store/postgres/net/answer.h"

/* A job's ref is its seq; the negative of it when its lease was given with others, as a batch:
 * functions/batch.sql. It need not be in there any more. */
static inline bool pg_reserved_is_batched(int64_t ref)
{
    return ref < 0 && ref != INT64_MIN;
}

static inline int64_t pg_reserved_seq(int64_t ref)
{
    return pg_reserved_is_batched(ref) ? -ref : ref;
}

/* From seq to payload. A record that was damaged gets its defect, so that the core ends the job as
 * dead instead of meeting it again and again. */
void pg_reserved_read(struct pg_answer *answer, struct arena *arena, struct job *job);

#endif
