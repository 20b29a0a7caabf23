/*
 * place.h - a waiting job's row in `ready` or `waiting`.
 */
#ifndef SQLITE_PLACE_H
#define SQLITE_PLACE_H

#include "base/base.h"
#include "job/state.h"
#include "store/sqlite/sqlite_connection.h"

struct place {
    int64_t seq;
    int64_t queue_id;
    enum job_state state; /* scheduled, ready, blocked or retry */
    int priority;
    usec_t due;
};

/* A job that becomes ready rings the bell when the transaction is committed. */
bool place_add(struct sqlite *sqlite, const struct place *place, struct error *err) MUST_CHECK;
bool place_remove(struct sqlite *sqlite, const struct place *place, struct error *err) MUST_CHECK;

#endif
