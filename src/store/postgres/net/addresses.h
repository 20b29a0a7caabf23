/*
 * addresses.h - where a connection may lead: the servers that its URL names.
 */
#ifndef POSTGRES_ADDRESSES_H
#define POSTGRES_ADDRESSES_H

#include "base/base.h"

#include <libpq-fe.h>

struct buffer;

/* As libpq has it: "" is its default, and a host that is a path is the folder of a socket. */
struct address {
    char *host, *hostaddr, *port; /* owned */
};

struct addresses {
    struct address *items; /* owned */
    size_t count;
};

void addresses_done(struct addresses *list);

/* An entry for each server that this connection may go to; false when out of memory. */
bool addresses_find(PGconn *conn, struct addresses *list_out) MUST_CHECK;

/* The one entry that this connection goes to now. */
bool addresses_current(const PGconn *conn, struct addresses *list_out) MUST_CHECK;

/* An entry for each address of a name. What cannot be found out is left for libpq to report. */
bool addresses_resolve(struct addresses *list) MUST_CHECK;

/* Takes out where this connection goes now. */
void addresses_remove(struct addresses *list, const PGconn *conn);

/* The three options of libpq that stand for all of it. */
void addresses_write(const struct addresses *list, struct buffer *hosts, struct buffer *hostaddrs,
                     struct buffer *ports);

#endif
