/*
 * bell.h - wakes whoever sleeps, by a message on the channel PREFIX:bell that names the queue.
 *
 * A queue is rung for once, until somebody has looked at it since and found too little
 * (exchange.lua) or has heard the ring (here): under load nobody is rung for. The descriptor is an
 * epoll that stays the same when the connection behind it is another.
 *
 * A connection on which nobody says anything may be dead without a word, as when a NAT has
 * forgotten it. So the server is asked over it now and then, and has to have answered before the
 * next time.
 */
#ifndef REDIS_BELL_H
#define REDIS_BELL_H

#include "base/base.h"
#include "base/error.h"
#include "store/redis/net/link.h"

struct store;

struct redis_bell {
    struct redis_link link; /* of its own: a subscriber can do nothing else */
    int epoll_fd;           /* -1: nobody has listened yet */
    bool is_asked;          /* whether it is there, and it has not answered yet */
};

void redis_bell_init(struct redis_bell *bell);
void redis_bell_done(struct redis_bell *bell);

/* Operations of the driver. */
bool redis_wait_fd(struct store *store, int *fd_out, struct error *err);
bool redis_wait(struct store *store, usec_t timeout, bool *rang_out, struct error *err);
bool redis_check_bell(struct store *store, struct error *err);

#endif
