/*
 * bell.c - a subscription, and the marks that it was rung.
 */
#include "store/redis/net/bell.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/redis/net/ahead.h"
#include "store/redis/net/run.h"
#include "store/redis/parts/queues.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define KEY_MAX      512
#define IGNORED_MOST 100 /* replies: a pool that is busy may not look for long */

void redis_bell_init(struct redis_bell *bell)
{
    *bell = (struct redis_bell){.epoll_fd = -1};
}

void redis_bell_done(struct redis_bell *bell)
{
    redis_link_close(&bell->link);
    if (bell->epoll_fd >= 0)
        close(bell->epoll_fd);
    redis_bell_init(bell);
}

/* ---- marks ---- */

/* The next job of these queues rings again; that of one that is away when it was looked at. */
static bool arm(struct redis *redis, const struct redis_names *queues, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    char key[JOB_NAME_MAX + 16];

    for (size_t i = 0; i < queues->count; i++) {
        snprintf(key, sizeof key, "{%s}:state", queues->items[i]);
        /* Whoever looks after this finds what it would have rung for. */
        struct redis_command *command = redis_batch_plain(redis, &batch, "HDEL", key, false);
        if (!command)
            return error_no_memory(err);
        redis_command_text(command, "rung");
    }
    return redis_run_parts(redis, &batch, err);
}

/* The same, and no answer is waited for: to whoever looks next on this connection it comes before.
 * In a cluster there are many connections. */
static bool arm_soon(struct redis *redis, const struct redis_names *queues, struct error *err)
{
    if (redis->slot_nodes || redis->nodes[0].link.ignored >= IGNORED_MOST)
        return arm(redis, queues, err);
    if (queues->count == 0)
        return true;
    redis_ahead_hear(redis);
    if (!redis_node_open(redis, 0, err))
        return false;
    for (size_t i = 0; i < queues->count; i++) {
        CLEANUP(buffer_done) struct buffer key = BUFFER(KEY_MAX);
        buffer_printf(&key, "%s:{%s}:state", redis->address.prefix, queues->items[i]);
        const char *const words[] = {"HDEL", buffer_str(&key), "rung"};
        if (!redis_link_tell(&redis->nodes[0].link, words, COUNT_OF(words), err))
            return false;
    }
    return true;
}

/* ---- the subscription ---- */

static bool wait_readable(struct redis *redis, struct error *err)
{
    struct pollfd poll_fd = {.fd = redis->bell.link.context->fd, .events = POLLIN};
    int ready;

    do
        ready = poll(&poll_fd, 1, clock_poll_timeout(redis->deadline - clock_boot()));
    while (ready < 0 && errno == EINTR);
    return ready > 0 || error_set(err, TH_E_UNAVAILABLE, "redis: the bell does not answer");
}

static bool watch(struct redis_bell *bell, struct error *err)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (bell->epoll_fd < 0)
        bell->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (bell->epoll_fd < 0 ||
        epoll_ctl(bell->epoll_fd, EPOLL_CTL_ADD, bell->link.context->fd, &event) != 0)
        return error_errno(err, TH_E_UNAVAILABLE, errno, "redis: watch the bell");
    return true;
}

/* The second confirmation stays unread: it is the first ring, and says that something may be ready.
 * By then the subscription holds and the marks are taken back. The first one cannot be that ring:
 * by TLS there is something to read before it, of which nobody can say what it is. */
static bool subscribe(struct redis *redis, size_t node, struct error *err)
{
    struct redis_link *link = &redis->bell.link;
    struct redis_host host = redis->nodes[node].link.host;
    CLEANUP(buffer_done) struct buffer channel = BUFFER(256);
    REDIS_REPLY confirmed = NULL;

    buffer_printf(&channel, "%s:bell", redis->address.prefix);
    const char *const words[] = {"SUBSCRIBE", buffer_str(&channel)};
    if (!redis_link_open(link, host, &redis->address, redis->deadline, err))
        return false;
    redis->bell.is_asked = false;
    redis_link_add_words(link, words, COUNT_OF(words));
    if (!redis_link_reply(link, redis->deadline, &confirmed, err) ||
        !redis_queues_recall(redis, err) || !arm(redis, &redis->queues, err))
        return false;
    redis_link_add_words(link, words, COUNT_OF(words));
    return redis_link_start(link, err) && wait_readable(redis, err) && watch(&redis->bell, err);
}

/* What is rung for is heard at every node of a cluster. */
static bool listen_to(struct redis *redis, struct error *err)
{
    if (redis->bell.link.context)
        return true;
    for (size_t i = 0; i < redis->node_count; i++) {
        if (!redis_node_open(redis, i, err))
            continue;
        if (subscribe(redis, i, err))
            return true;
        redis_link_close(&redis->bell.link);
    }
    return error_prefix(err, "bell");
}

bool redis_wait_fd(struct store *store, int *fd_out, struct error *err)
{
    struct redis *redis = redis_of(store);

    redis_begin(redis);
    if (!listen_to(redis, err))
        return false;
    *fd_out = redis->bell.epoll_fd;
    return true;
}

/* ---- hearing ---- */

/* ["message", channel, queue]; the confirmation has a number instead of a queue, and ["pong", ""]
 * is no ring. */
static bool note(const redisReply *message, struct redis_names *queues, bool *rang_out,
                 struct error *err)
{
    if (message->type != REDIS_REPLY_ARRAY || message->elements != 3)
        return true;
    *rang_out = true;
    return message->element[2]->type != REDIS_REPLY_STRING ||
           redis_names_add(queues, message->element[2]->str) || error_no_memory(err);
}

/* It is made anew, which rings: what it would have brought is not known. */
static bool replace(struct redis *redis, const char *why, struct error *err)
{
    log_warning("bell_lost", "error=%s", why);
    redis_link_close(&redis->bell.link);
    return listen_to(redis, err);
}

/* All that has been said so far. A connection that was lost is a ring as well: what it would have
 * brought is not known. */
static bool hear(struct redis *redis, struct redis_names *queues, bool *rang_out, struct error *err)
{
    struct error lost;

    *rang_out = false;
    while (true) {
        REDIS_REPLY message = NULL;
        if (!redis_link_poll_reply(&redis->bell.link, &message, &lost)) {
            *rang_out = true;
            return replace(redis, lost.text, err);
        }
        if (!message)
            return true;
        redis->bell.is_asked = false; /* whatever it says, it is there */
        if (!note(message, queues, rang_out, err))
            return false;
    }
}

static bool sleep_for(const struct redis_bell *bell, usec_t timeout, struct error *err)
{
    struct pollfd poll_fd = {.fd = bell->epoll_fd, .events = POLLIN};
    usec_t start = clock_boot();
    int ready;

    do
        ready = poll(&poll_fd, 1, clock_poll_timeout(timeout - (clock_boot() - start)));
    while (ready < 0 && errno == EINTR);
    return ready >= 0 || error_errno(err, TH_E_UNAVAILABLE, errno, "redis: wait for the bell");
}

bool redis_wait(struct store *store, usec_t timeout, bool *rang_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_names_done) struct redis_names queues = {0};

    redis_begin(redis);
    if (!listen_to(redis, err) || !sleep_for(&redis->bell, timeout, err))
        return false;
    redis_begin(redis);
    return hear(redis, &queues, rang_out, err) && arm_soon(redis, &queues, err);
}

/* ---- whether it is there ---- */

static bool ask_for_sign(struct redis *redis, struct error *err)
{
    static const char *const words[] = {"PING"};
    struct error lost;

    redis_link_add_words(&redis->bell.link, words, COUNT_OF(words));
    if (!redis_link_start(&redis->bell.link, &lost))
        return replace(redis, lost.text, err);
    redis->bell.is_asked = true;
    return true;
}

static bool has_something_to_say(const struct redis_bell *bell)
{
    struct pollfd poll_fd = {.fd = bell->link.context->fd, .events = POLLIN};

    return poll(&poll_fd, 1, 0) > 0;
}

bool redis_check_bell(struct store *store, struct error *err)
{
    struct redis *redis = redis_of(store);

    redis_begin(redis);
    if (!redis->bell.link.context)
        return redis->bell.epoll_fd < 0 || listen_to(redis, err);
    if (has_something_to_say(&redis->bell))
        return true; /* whoever waits hears that */
    if (redis->bell.is_asked)
        return replace(
            redis, "redis: the subscription was silent: the network has lost the connection", err);
    return ask_for_sign(redis, err);
}
