/*
 * place.h - a waiting job's row in `ready`, `aside` or `waiting`.
 */
#ifndef SQLITE_PLACE_H
#define SQLITE_PLACE_H

#include "base/base.h"
#include "job/job.h"
#include "store/sqlite/file/connection.h"

struct sqlite_place {
    int64_t seq;
    int64_t queue_id;
    enum job_state state; /* scheduled, ready, blocked or retry */
    int priority;
    usec_t due;
    enum job_aside aside; /* ready jobs; to add such a row needs the two below as well */
    usec_t aside_since;
    const char *aside_error; /* or NULL */
};

/* A job that can be reserved from now on rings the bell when the transaction is committed. The row
 * of `job` has the place already. */
bool sqlite_place_add(struct sqlite *sqlite, const struct sqlite_place *place,
                      struct error *err) MUST_CHECK;
bool sqlite_place_remove(struct sqlite *sqlite, const struct sqlite_place *place,
                         struct error *err) MUST_CHECK;

#endif
