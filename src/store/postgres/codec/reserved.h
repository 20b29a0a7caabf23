/*
 * reserved.h - a job as the statements `exchange` and `held` answer it.
 */
#ifndef POSTGRES_RESERVED_H
#define POSTGRES_RESERVED_H

#include "base/arena.h"
#include "job/job.h"
#include "store/postgres/net/answer.h"

/* From seq to payload. A record that was damaged gets its defect, so that the core ends the job as
 * dead instead of meeting it again and again. */
void pg_reserved_read(struct pg_answer *answer, struct arena *arena, struct job *job);

#endif
