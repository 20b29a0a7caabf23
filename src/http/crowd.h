/*
 * crowd.h - all connections there are: who is idle for how long, and who comes from where.
 */
#ifndef HTTP_CROWD_H
#define HTTP_CROWD_H

#include "http/connection.h"

#define HTTP_CROWD_PLACES 1024

struct http_line {
    struct http_connection *first, *last;
};

struct http_crowd {
    struct http_line idle; /* the longest idle one first */
    struct http_line busy;
    unsigned count;                                    /* of both */
    unsigned closing;                                  /* of them: shut, and soon gone */
    struct http_connection *places[HTTP_CROWD_PLACES]; /* by address; only those that count */
};

/* Its phase is HTTP_FRESH. */
void http_crowd_add(struct http_crowd *crowd, struct http_connection *connection);
void http_crowd_remove(struct http_crowd *crowd, struct http_connection *connection);

/* Changes the phase. */
void http_crowd_move(struct http_crowd *crowd, struct http_connection *connection,
                     enum http_phase phase);

/* The longest idle one, or NULL. */
struct http_connection *http_crowd_idlest(const struct http_crowd *crowd);

/* Whether there is room for a newcomer, and who has to leave for it: the longest idle one from its
 * address if those are `per_address` already, else the longest idle one of all if there are `most`.
 * *leaver_out is NULL if nobody has to. */
bool http_crowd_room(const struct http_crowd *crowd, const struct http_connection *newcomer,
                     unsigned most, unsigned per_address, struct http_connection **leaver_out);

/* How many come from its address, and the longest idle one of them. */
unsigned http_crowd_kin(const struct http_crowd *crowd, const struct http_connection *connection,
                        struct http_connection **idlest_out);

/* Whether connections from there are counted; if so, by which address: ::ffff:1.2.3.4 for
 * 1.2.3.4. Not counted are loopback and Unix sockets, where all of a proxy's clients come from. */
bool http_crowd_address(const struct sockaddr_storage *peer, struct in6_addr *address_out);

#endif
