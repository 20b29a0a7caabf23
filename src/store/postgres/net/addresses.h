/*
 * addresses.h - where a connection may lead: the servers that its URL names.
 */
#ifndef POSTGRES_ADDRESSES_H
#define POSTGRES_ADDRESSES_H

#include "base/base.h"

#include <libpq-fe.h>

struct buffer;

/* As libpq has it: "" is its default, and a host that is a path is the folder of a socket. */
struct pg_address {
    char *host, *hostaddr, *port; /* owned */
};

struct pg_addresses {
    struct pg_address *items; /* owned */
    size_t count;
};

void pg_addresses_done(struct pg_addresses *list);

/* An entry for each server that this connection may go to; false when out of memory. */
bool pg_addresses_find(PGconn *conn, struct pg_addresses *list_out) MUST_CHECK;

/* The one entry that this connection goes to now. */
bool pg_addresses_current(const PGconn *conn, struct pg_addresses *list_out) MUST_CHECK;

/* An entry for each address of a name. What cannot be found out is left for libpq to report. */
bool pg_addresses_resolve(struct pg_addresses *list) MUST_CHECK;

/* Takes out where this connection goes now. */
void pg_addresses_remove(struct pg_addresses *list, const PGconn *conn);

/* The three options of libpq that stand for all of it. */
void pg_addresses_write(const struct pg_addresses *list, struct buffer *hosts,
                        struct buffer *hostaddrs, struct buffer *ports);

#endif
