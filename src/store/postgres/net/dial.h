/*
 * dial.h - a connection to a server that answers, within a deadline.
 */
#ifndef POSTGRES_DIAL_H
#define POSTGRES_DIAL_H

#include "base/base.h"

#include <libpq-fe.h>

struct buffer;

/* To whichever server libpq chooses of those that the URL names, not blocking from then on. False:
 * `words` has lines that say why. The deadline is in boot time. */
bool pg_dial_any(const char *conninfo, const char *caller, usec_t deadline, PGconn **conn_out,
                 struct buffer *words) MUST_CHECK;

/* To the server that this connection leads to. */
bool pg_dial_same(const char *conninfo, const char *caller, const PGconn *conn, usec_t deadline,
                  PGconn **conn_out, struct buffer *words) MUST_CHECK;

#endif
