/*
 * sentinel.c - the master's address is asked for at each connect: after a failover it is
 * another.
 */
#include "store/redis/net/sentinel.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/redis/net/class.h"
#include "store/redis/net/connection.h"

#include <stdio.h>

/* A sentinel that does not answer must not use up the time of those after it. */
#define SENTINEL_PATIENCE (500 * USEC_PER_MSEC)

static usec_t until(const struct redis *redis, bool is_last)
{
    usec_t end = clock_boot() + SENTINEL_PATIENCE;

    return end < redis->deadline && !is_last ? end : redis->deadline;
}

/* Sentinels have users of their own: the server's password is never shown to them. */
static bool open_sentinel(struct redis *redis, struct redis_host sentinel, bool is_last,
                          struct redis_link *link, struct error *err)
{
    const struct redis_address login = {.user = redis->address.sentinel_user,
                                        .password = redis->address.sentinel_password,
                                        .tls = redis->address.tls,
                                        .caller = redis->address.caller};

    return redis_link_open(link, sentinel, &login, until(redis, is_last), err) ||
           error_prefix(err, "sentinel");
}

static bool refuse(struct redis_host sentinel, const char *reply, struct error *err)
{
    if (text_starts_with(reply, "NOAUTH"))
        return error_set(err, TH_E_UNAVAILABLE,
                         "redis: the sentinel %s:%d wants a password of its own: put it into the "
                         "URL, ?sentinel_password=",
                         sentinel.name, sentinel.port);
    redis_class_error(reply, err);
    return error_prefix(err, "redis: the sentinel %s:%d", sentinel.name, sentinel.port);
}

static bool ask_sentinel(struct redis *redis, struct redis_host sentinel, bool is_last,
                         struct redis_host *master_out, struct error *err)
{
    const char *const words[] = {"SENTINEL", "get-master-addr-by-name", redis->address.master};
    CLEANUP(redis_link_close) struct redis_link link = {0};
    REDIS_REPLY reply = NULL;
    int64_t port;

    if (!open_sentinel(redis, sentinel, is_last, &link, err))
        return false;
    redis_link_add_words(&link, words, COUNT_OF(words));
    if (!redis_link_reply(&link, until(redis, is_last), &reply, err))
        return error_prefix(err, "sentinel");
    if (reply->type == REDIS_REPLY_ERROR)
        return refuse(sentinel, reply->str, err);
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        !text_to_int(reply->element[1]->str, 1, 65535, &port))
        return error_set(err, TH_E_UNAVAILABLE, "redis: the sentinel %s:%d knows no '%s'",
                         sentinel.name, sentinel.port, redis->address.master);
    snprintf(redis->master_host, sizeof redis->master_host, "%s", reply->element[0]->str);
    *master_out = (struct redis_host){redis->master_host, (int)port};
    return true;
}

/* A master that was replaced and has come back does not know of it at once. */
static bool check_role(struct redis *redis, struct redis_link *link, struct error *err)
{
    static const char *const words[] = {"ROLE"};
    REDIS_REPLY reply = NULL;

    if (!redis_link_ask(link, words, 1, redis->deadline, &reply, err))
        return false;
    return (reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 &&
            text_equal(reply->element[0]->str, "master")) ||
           error_set(err, TH_E_UNAVAILABLE, "redis: %s:%d is not the master any more",
                     link->host.name, link->host.port);
}

bool redis_sentinel_open(struct redis *redis, struct redis_link *link, struct error *err)
{
    for (size_t i = 0; i < redis->address.host_count; i++) {
        const bool is_last = i + 1 == redis->address.host_count;
        struct redis_host master = {0};
        if (!ask_sentinel(redis, redis->address.hosts[i], is_last, &master, err))
            continue;
        if (!redis_link_open(link, master, &redis->address, redis->deadline, err))
            continue;
        if (check_role(redis, link, err))
            return true;
        redis_link_close(link);
    }
    return false;
}
