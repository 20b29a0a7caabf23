/*
 * link.h - one connection to one server.
 *
 * What is sent and what is read is moved together, by poll and up to a deadline: a server that
 * answers while we still write never stops us. A link that failed is closed; whoever needs it opens
 * it anew.
 */
#ifndef REDIS_LINK_H
#define REDIS_LINK_H

#include "base/base.h"
#include "base/buffer.h"
#include "base/error.h"
#include "store/redis/net/address.h"
#include "store/redis/net/reply.h"

struct redis_link {
    redisContext *context; /* owned; NULL while there is no connection */
    struct redis_tls *tls; /* owned; NULL: what is said is plain */
    struct buffer out;     /* what is still to be sent, from `sent` on */
    size_t sent;
    size_t ignored;         /* replies still to come that nobody waits for */
    bool has_answered;      /* the server has said anything at all */
    struct redis_host host; /* of the connection, for people */
};

/* Connects, by TLS if the URL says so, and logs in. `deadline` is on the boot-time clock. */
bool redis_link_open(struct redis_link *link, struct redis_host host,
                     const struct redis_address *login, usec_t deadline,
                     struct error *err) MUST_CHECK;
void redis_link_close(struct redis_link *link);

/* Closed, or the other end has gone since. */
bool redis_link_is_down(const struct redis_link *link);

/* Puts a command into `out`; argc is that of the words. */
void redis_link_add(struct redis_link *link, size_t argc, const struct buffer *words);
void redis_link_add_words(struct redis_link *link, const char *const *words, size_t count);

/* Sends what can be sent without waiting, so that several servers work at the same time. */
bool redis_link_start(struct redis_link *link, struct error *err) MUST_CHECK;

/* Sends all of it, and takes in meanwhile what is answered. */
bool redis_link_send(struct redis_link *link, usec_t deadline, struct error *err) MUST_CHECK;

/* Starts with one command whose reply nobody needs: whoever waits for the next one passes it over.
 */
bool redis_link_tell(struct redis_link *link, const char *const *words, size_t count,
                     struct error *err) MUST_CHECK;

/* Sends all that is still to be sent and waits for one reply. On failure the link is closed and the
 * error is TH_E_UNAVAILABLE: whether something may have been carried out is for the caller to say.
 */
bool redis_link_reply(struct redis_link *link, usec_t deadline, redisReply **reply_out,
                      struct error *err) MUST_CHECK;

/* A reply that has been read already, or that can be without waiting; NULL when there is none. */
bool redis_link_poll_reply(struct redis_link *link, redisReply **reply_out,
                           struct error *err) MUST_CHECK;

/* One command of a few words, and its reply. An error reply is a failure. */
bool redis_link_ask(struct redis_link *link, const char *const *words, size_t count,
                    usec_t deadline, redisReply **reply_out, struct error *err) MUST_CHECK;

#endif
