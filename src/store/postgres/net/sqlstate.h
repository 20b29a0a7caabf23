/*
 * sqlstate.h - what an error of the server means for us: one table.
 */
#ifndef POSTGRES_SQLSTATE_H
#define POSTGRES_SQLSTATE_H

#include "base/base.h"

#include <taskharbor/error.h>

#define SQLSTATE_READ_ONLY "25006"

enum sqlstate_remedy {
    SQLSTATE_REPORT,    /* nothing was changed, and the connection is fine */
    SQLSTATE_REPEAT,    /* we lost against somebody: the same again may work */
    SQLSTATE_RECONNECT, /* nothing was changed, and the connection is of no use any more */
};

struct pg_sqlstate {
    const char *state; /* the whole of it, or the two characters of its class */
    enum th_error_code code;
    enum sqlstate_remedy remedy;
    const char *advice; /* what to do about it; NULL when the server's own words say it */
};

/* Never NULL: what is not in the table is a bug of ours. */
const struct pg_sqlstate *pg_sqlstate_find(const char *state);

#endif
