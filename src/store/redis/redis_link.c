/*
 * redis_link.c - hiredis parses; the socket is moved here.
 */
#include "store/redis/redis_link.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/redis/redis_class.h"
#include "store/redis/redis_command.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_AT_ONCE 65536
#define READER_KEEPS ((size_t)1 << 20) /* memory that a parser keeps between replies */
#define OUT_MAX      ((size_t)1 << 30)

void redis_reply_free(redisReply **reply)
{
    if (*reply != NULL)
        freeReplyObject(*reply);
    *reply = NULL;
}

void redis_link_close(struct redis_link *link)
{
    if (link->context != NULL)
        redisFree(link->context);
    buffer_done(&link->out);
    *link = (struct redis_link){0};
}

/* The text of the failure first: it may point into what is closed. */
static bool fail(struct redis_link *link, const char *what, struct error *err)
{
    error_set(err, TH_E_UNAVAILABLE, "redis: %s:%d: %s", link->host.name, link->host.port, what);
    redis_link_close(link);
    return false;
}

static bool fail_errno(struct redis_link *link, const char *what, struct error *err)
{
    error_errno(err, TH_E_UNAVAILABLE, errno, "redis: %s:%d: %s", link->host.name, link->host.port,
                what);
    redis_link_close(link);
    return false;
}

static bool wait_until(struct redis_link *link, short events, usec_t deadline, struct error *err)
{
    struct pollfd poll_fd = {.fd = link->context->fd, .events = events};
    int ready;

    do {
        ready = poll(&poll_fd, 1, clock_poll_timeout(deadline - clock_boot()));
    } while (ready < 0 && errno == EINTR);
    if (ready < 0)
        return fail_errno(link, "poll", err);
    return ready > 0 || fail(link, "no answer in time", err);
}

static bool finish_connect(struct redis_link *link, usec_t deadline, struct error *err)
{
    int number = 0;
    socklen_t size = sizeof(number);

    if (!wait_until(link, POLLOUT, deadline, err))
        return false;
    if (getsockopt(link->context->fd, SOL_SOCKET, SO_ERROR, &number, &size) != 0)
        number = errno;
    errno = number;
    return number == 0 || fail_errno(link, "cannot connect", err);
}

/* A peer that has gone without a word is noticed by whoever only listens, and a NAT does not forget
 * whom it sees now and then. */
static bool keep_alive(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 15},
        {IPPROTO_TCP, TCP_KEEPINTVL, 5},
        {IPPROTO_TCP, TCP_KEEPCNT, 3},
    };

    for (size_t i = 0; i < COUNT_OF(options); i++)
        if (setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                       sizeof(options[i].value)) != 0)
            return false;
    return true;
}

static bool connect_to(struct redis_link *link, struct redis_host host, usec_t deadline,
                       struct error *err)
{
    *link = (struct redis_link){.host = host, .out = BUFFER(OUT_MAX)};
    link->context = redisConnectNonBlock(host.name, host.port);
    if (link->context == NULL)
        return error_no_memory(err);
    if (link->context->err != 0)
        return fail(link, link->context->errstr, err);
    if (!keep_alive(link->context->fd))
        return fail_errno(link, "keepalive", err);
    /* hiredis does not do it, and handlers must not inherit our connection. */
    if (fcntl(link->context->fd, F_SETFD, FD_CLOEXEC) != 0)
        return fail_errno(link, "close on exec", err);
    link->context->reader->maxbuf = READER_KEEPS;
    return finish_connect(link, deadline, err);
}

static bool log_in(struct redis_link *link, const struct redis_address *login, usec_t deadline,
                   struct error *err)
{
    REDIS_REPLY reply = NULL;

    if (login->password == NULL)
        return true;
    const char *const with_user[] = {"AUTH", login->user, login->password};
    const char *const without[] = {"AUTH", login->password};
    return login->user != NULL ? redis_link_ask(link, with_user, 3, deadline, &reply, err)
                               : redis_link_ask(link, without, 2, deadline, &reply, err);
}

static bool choose_database(struct redis_link *link, int database, usec_t deadline,
                            struct error *err)
{
    REDIS_REPLY reply = NULL;
    char number[16];

    if (database == 0)
        return true;
    snprintf(number, sizeof(number), "%d", database);
    const char *const words[] = {"SELECT", number};
    return redis_link_ask(link, words, 2, deadline, &reply, err);
}

bool redis_link_open(struct redis_link *link, struct redis_host host,
                     const struct redis_address *login, usec_t deadline, struct error *err)
{
    redis_link_close(link);
    if (!connect_to(link, host, deadline, err))
        return false;
    if (log_in(link, login, deadline, err) && choose_database(link, login->database, deadline, err))
        return true;
    redis_link_close(link);
    return false;
}

bool redis_link_is_down(const struct redis_link *link)
{
    char byte;

    if (link->context == NULL)
        return true;
    ssize_t got = recv(link->context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

void redis_link_add(struct redis_link *link, size_t argc, const struct buffer *words)
{
    buffer_printf(&link->out, "*%zu\r\n", argc);
    buffer_add(&link->out, words->data, words->length);
}

void redis_link_add_words(struct redis_link *link, const char *const *words, size_t count)
{
    buffer_printf(&link->out, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++)
        redis_word_text(&link->out, words[i]);
}

static bool write_some(struct redis_link *link, struct error *err)
{
    ssize_t sent = send(link->context->fd, link->out.data + link->sent,
                        link->out.length - link->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return fail_errno(link, "lost while sending", err);
    link->sent += sent > 0 ? (size_t)sent : 0;
    if (link->sent == link->out.length) {
        buffer_clear(&link->out);
        link->sent = 0;
    }
    return true;
}

/* A full server says so and hangs up, and what it said may be lost with that. */
static bool fail_reading(struct redis_link *link, struct error *err)
{
    if (errno == ECONNRESET && !link->has_answered)
        return fail(link, "hung up at once: perhaps the server has as many clients as it takes",
                    err);
    return fail_errno(link, "lost while reading", err);
}

static bool read_some(struct redis_link *link, struct error *err)
{
    char bytes[READ_AT_ONCE];
    ssize_t got = recv(link->context->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (got == 0)
        return fail(link, "the server closed the connection", err);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR || fail_reading(link, err);
    link->has_answered = true;
    return redisReaderFeed(link->context->reader, bytes, (size_t)got) == REDIS_OK ||
           fail(link, link->context->reader->errstr, err);
}

/* Of what has been read so far; NULL when that is not yet a whole reply. */
static bool parsed_reply(struct redis_link *link, redisReply **reply_out, struct error *err)
{
    void *reply = NULL;

    if (redisReaderGetReply(link->context->reader, &reply) != REDIS_OK)
        return fail(link, link->context->reader->errstr, err);
    *reply_out = reply;
    return true;
}

bool redis_link_start(struct redis_link *link, struct error *err)
{
    if (!buffer_ok(&link->out, err)) {
        redis_link_close(link);
        return false;
    }
    return link->sent == link->out.length || write_some(link, err);
}

bool redis_link_reply(struct redis_link *link, usec_t deadline, redisReply **reply_out,
                      struct error *err)
{
    *reply_out = NULL;
    if (!redis_link_start(link, err))
        return false;
    while (true) {
        if (!parsed_reply(link, reply_out, err))
            return false;
        if (*reply_out != NULL)
            return true;
        bool sends = link->sent < link->out.length;
        if (!wait_until(link, (short)(POLLIN | (sends ? POLLOUT : 0)), deadline, err))
            return false;
        if (sends && !write_some(link, err))
            return false;
        if (!read_some(link, err))
            return false;
    }
}

bool redis_link_poll_reply(struct redis_link *link, redisReply **reply_out, struct error *err)
{
    *reply_out = NULL;
    return parsed_reply(link, reply_out, err) &&
           (*reply_out != NULL || (read_some(link, err) && parsed_reply(link, reply_out, err)));
}

bool redis_link_ask(struct redis_link *link, const char *const *words, size_t count,
                    usec_t deadline, redisReply **reply_out, struct error *err)
{
    redis_link_add_words(link, words, count);
    if (!redis_link_reply(link, deadline, reply_out, err))
        return false;
    if ((*reply_out)->type != REDIS_REPLY_ERROR)
        return true;
    redis_class_error((*reply_out)->str, err);
    return error_prefix(err, "redis: %s:%d: %s", link->host.name, link->host.port, words[0]);
}
