/*
 * answer.h - the rows that a statement answered, read in order.
 *
 *     while (answer_next(&answer)) {
 *         job->id = answer_uuid(&answer);
 *         job->type = answer_text(&answer, arena);
 *     }
 */
#ifndef POSTGRES_ANSWER_H
#define POSTGRES_ANSWER_H

#include "base/arena.h"
#include "base/base.h"
#include "base/uuid.h"
#include "job/lease.h"

#include <libpq-fe.h>

struct answer {
    PGresult *result; /* owned */
    int row;          /* that is being read, from 1 on; 0: none yet */
    int column;       /* the next one to read */
};

struct answer answer_of(PGresult *result);
void answer_done(struct answer *answer);

/* To the next row; false behind the last. */
bool answer_next(struct answer *answer);

bool answer_is_null(const struct answer *answer); /* the next column; does not move on */
void answer_skip(struct answer *answer);
int64_t answer_int(struct answer *answer); /* of any width, also a boolean; NULL is 0 */
int answer_int_or(struct answer *answer, int absent);
const char *answer_text(struct answer *answer, struct arena *arena);
struct bytes answer_bytes(struct answer *answer, struct arena *arena);
struct uuid answer_uuid(struct answer *answer);         /* nil when it is not one */
struct lease_token answer_token(struct answer *answer); /* zero when it is not one */

/* The next column as it lies there; does not move on. */
const char *answer_raw(const struct answer *answer);
int answer_length(const struct answer *answer);

#endif
