/*
 * answer.h - the rows that a statement answered, read in order.
 *
 *     while (pg_answer_next(&answer)) {
 *         job->id = pg_answer_uuid(&answer);
 *         job->type = pg_answer_text(&answer, arena);
 *     }
 */
#ifndef POSTGRES_ANSWER_H
#define POSTGRES_ANSWER_H

#include "base/arena.h"
#include "base/base.h"
#include "base/uuid.h"
#include "job/lease.h"

#include <libpq-fe.h>

struct pg_answer {
    PGresult *result; /* owned */
    int row;          /* that is being read, from 1 on; 0: none yet */
    int column;       /* the next one to read */
};

struct pg_answer pg_answer_of(PGresult *result);
void pg_answer_done(struct pg_answer *answer);

/* To the next row; false after the last. */
bool pg_answer_next(struct pg_answer *answer);

bool pg_answer_is_null(const struct pg_answer *answer); /* the next column; does not move on */
void pg_answer_skip(struct pg_answer *answer);
int64_t pg_answer_int(struct pg_answer *answer); /* of any width, also a boolean; NULL is 0 */
int pg_answer_int_or(struct pg_answer *answer, int absent);
const char *pg_answer_text(struct pg_answer *answer, struct arena *arena);
struct bytes pg_answer_bytes(struct pg_answer *answer, struct arena *arena);
struct uuid pg_answer_uuid(struct pg_answer *answer);         /* nil when it is not one */
struct lease_token pg_answer_token(struct pg_answer *answer); /* zero when it is not one */

/* The next column as it lies there; does not move on. */
const char *pg_answer_raw(const struct pg_answer *answer);
int pg_answer_length(const struct pg_answer *answer);

#endif
