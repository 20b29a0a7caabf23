/*
 * link.c - hiredis parses; the socket is moved here.
 */
#include "store/redis/net/link.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/redis/net/class.h"
#include "store/redis/net/word.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_AT_ONCE 65536
#define READER_KEEPS ((size_t)1 << 18) /* memory that a parser keeps between replies */
#define OUT_KEEPS    ((size_t)1 << 16) /* and what was sent, between commands */
#define OUT_MAX      ((size_t)1 << 30)
#define CALLER_MAX   512

void redis_link_close(struct redis_link *link)
{
    redis_tls_close(&link->tls);
    if (link->context)
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
    if (link->tls && errno == EPROTO)
        return fail(link, redis_tls_reason(link->tls), err);
    error_errno(err, TH_E_UNAVAILABLE, errno, "redis: %s:%d: %s", link->host.name, link->host.port,
                what);
    redis_link_close(link);
    return false;
}

/* A Redis that is spoken to by TLS and does not speak it waits for the end of a line. */
static const char *silence(const struct redis_link *link)
{
    return link->tls && !redis_tls_is_ready(link->tls)
               ? "no answer to the TLS handshake: if this port does not speak TLS, write redis in "
                 "place of rediss in the URL"
               : "no answer in time";
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
    return ready > 0 || fail(link, silence(link), err);
}

static bool finish_connect(struct redis_link *link, usec_t deadline, struct error *err)
{
    int number = 0;
    socklen_t size = sizeof number;

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
                       sizeof options[i].value) != 0)
            return false;
    return true;
}

static bool connect_to(struct redis_link *link, struct redis_host host, usec_t deadline,
                       struct error *err)
{
    *link = (struct redis_link){.host = host, .out = BUFFER(OUT_MAX)};
    link->context = redisConnectNonBlock(host.name, host.port);
    if (!link->context)
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

/* Before anything is said: a password is for the right server alone. */
static bool secure(struct redis_link *link, const struct redis_tls_settings *settings,
                   usec_t deadline, struct error *err)
{
    if (!settings->wanted)
        return true;
    if (!redis_tls_open(settings, link->host.name, link->context->fd, &link->tls, err)) {
        error_prefix(err, "redis: %s:%d", link->host.name, link->host.port);
        redis_link_close(link);
        return false;
    }
    while (redis_tls_handshake(link->tls) != 0) {
        if (errno != EAGAIN)
            return fail_errno(link, "lost during the TLS handshake", err);
        if (!wait_until(link, redis_tls_events(link->tls, false), deadline, err))
            return false;
    }
    return true;
}

static bool log_in(struct redis_link *link, const struct redis_address *login, usec_t deadline,
                   struct error *err)
{
    REDIS_REPLY reply = NULL;

    if (!login->password)
        return true;
    const char *const with_user[] = {"AUTH", login->user, login->password};
    const char *const without[] = {"AUTH", login->password};
    return login->user ? redis_link_ask(link, with_user, 3, deadline, &reply, err)
                       : redis_link_ask(link, without, 2, deadline, &reply, err);
}

static bool choose_database(struct redis_link *link, int database, usec_t deadline,
                            struct error *err)
{
    REDIS_REPLY reply = NULL;
    char number[16];

    if (database == 0)
        return true;
    snprintf(number, sizeof number, "%d", database);
    const char *const words[] = {"SELECT", number};
    return redis_link_ask(link, words, 2, deadline, &reply, err);
}

/* Names there have no spaces: "thd: dispatcher pool=web" is thd:dispatcher:pool=web. */
static void add_name(struct buffer *name, const char *caller)
{
    for (const char *c = caller; *c != '\0'; c++) {
        if (*c > ' ' && *c < 0x7f)
            buffer_char(name, *c);
        else if (c > caller && c[-1] != ':')
            buffer_char(name, ':');
    }
}

/* Whoever may not do so goes without a name, and any other refusal comes again with the next word.
 * A server that is full says so only once. */
static bool introduce(struct redis_link *link, const char *caller, usec_t deadline,
                      struct error *err)
{
    CLEANUP(buffer_done) struct buffer name = BUFFER(CALLER_MAX);
    REDIS_REPLY reply = NULL;

    if (!caller)
        return true;
    add_name(&name, caller);
    const char *const words[] = {"CLIENT", "SETNAME", buffer_str(&name)};
    return redis_link_ask(link, words, COUNT_OF(words), deadline, &reply, err) ||
           (reply && !text_starts_with(reply->str, "ERR max number of clients"));
}

bool redis_link_open(struct redis_link *link, struct redis_host host,
                     const struct redis_address *login, usec_t deadline, struct error *err)
{
    redis_link_close(link);
    if (!connect_to(link, host, deadline, err) || !secure(link, &login->tls, deadline, err))
        return false;
    if (log_in(link, login, deadline, err) &&
        choose_database(link, login->database, deadline, err) &&
        introduce(link, login->caller, deadline, err))
        return true;
    redis_link_close(link);
    return false;
}

bool redis_link_is_down(const struct redis_link *link)
{
    char byte;

    if (!link->context)
        return true;
    if (link->tls)
        return redis_tls_is_down(link->tls);
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

static ssize_t transmit(struct redis_link *link, const char *bytes, size_t size)
{
    return link->tls ? redis_tls_write(link->tls, bytes, size)
                     : send(link->context->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A pool that has been busy does not keep what a large exchange took. */
static void clear_sent(struct buffer *out)
{
    if (out->capacity > OUT_KEEPS) {
        buffer_done(out);
        *out = (struct buffer)BUFFER(OUT_MAX);
    }
    buffer_clear(out);
}

/* TLS takes a record at a time. */
static bool write_some(struct redis_link *link, struct error *err)
{
    ssize_t sent;

    do {
        sent = transmit(link, link->out.data + link->sent, link->out.length - link->sent);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return fail_errno(link, "lost while sending", err);
        link->sent += sent > 0 ? (size_t)sent : 0;
    } while (link->tls && sent > 0 && link->sent < link->out.length);
    if (link->sent == link->out.length) {
        clear_sent(&link->out);
        link->sent = 0;
    }
    return true;
}

/* A server that is full says so and hangs up, and what it said may be lost with that. One that
 * waits for a handshake says nothing. */
static bool fail_unheard(struct redis_link *link, struct error *err)
{
    return link->tls
               ? fail(link, "hung up at once: perhaps the server has as many clients as it takes",
                      err)
               : fail(link,
                      "hung up at once: perhaps this port speaks TLS (then write rediss in place "
                      "of redis), or the server has as many clients as it takes",
                      err);
}

static bool fail_reading(struct redis_link *link, struct error *err)
{
    return errno == ECONNRESET && !link->has_answered ? fail_unheard(link, err)
                                                      : fail_errno(link, "lost while reading", err);
}

static bool fail_closed(struct redis_link *link, struct error *err)
{
    return link->has_answered ? fail(link, "the server closed the connection", err)
                              : fail_unheard(link, err);
}

/* The first bytes of an alert: what was said in plain text was no handshake. */
static bool is_tls(const struct redis_link *link, const char *bytes, size_t count)
{
    return !link->tls && !link->has_answered && count > 1 && bytes[0] == 0x15 && bytes[1] == 0x03;
}

static bool feed(struct redis_link *link, const char *bytes, size_t count, struct error *err)
{
    if (is_tls(link, bytes, count))
        return fail(link, "this port speaks TLS: write rediss in place of redis in the URL", err);
    link->has_answered = true;
    return redisReaderFeed(link->context->reader, bytes, count) == REDIS_OK ||
           fail(link, link->context->reader->errstr, err);
}

static ssize_t receive(struct redis_link *link, char *bytes, size_t size)
{
    return link->tls ? redis_tls_read(link->tls, bytes, size)
                     : recv(link->context->fd, bytes, size, MSG_DONTWAIT);
}

/* Of TLS all that there is: what OpenSSL has taken from the socket poll() does not see. */
static bool read_some(struct redis_link *link, struct error *err)
{
    char bytes[READ_AT_ONCE];
    ssize_t got = receive(link, bytes, sizeof bytes);

    if (got == 0)
        return fail_closed(link, err);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR || fail_reading(link, err);
    do {
        if (!feed(link, bytes, (size_t)got, err))
            return false;
        got = link->tls ? receive(link, bytes, sizeof bytes) : 0;
    } while (got > 0);
    return true;
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

static bool is_sent(const struct redis_link *link)
{
    return link->sent == link->out.length;
}

bool redis_link_start(struct redis_link *link, struct error *err)
{
    if (!buffer_ok(&link->out, err)) {
        redis_link_close(link);
        return false;
    }
    return is_sent(link) || write_some(link, err);
}

bool redis_link_tell(struct redis_link *link, const char *const *words, size_t count,
                     struct error *err)
{
    redis_link_add_words(link, words, count);
    link->ignored++;
    return redis_link_start(link, err);
}

static short awaited(const struct redis_link *link, bool sends)
{
    if (link->tls)
        return redis_tls_events(link->tls, sends);
    return (short)(POLLIN | (sends ? POLLOUT : 0));
}

/* Waits until there is something to read or to write, and does so. */
static bool move_on(struct redis_link *link, usec_t deadline, struct error *err)
{
    const bool sends = !is_sent(link);

    return wait_until(link, awaited(link, sends), deadline, err) &&
           (!sends || write_some(link, err)) && read_some(link, err);
}

bool redis_link_send(struct redis_link *link, usec_t deadline, struct error *err)
{
    if (!redis_link_start(link, err))
        return false;
    while (!is_sent(link))
        if (!move_on(link, deadline, err))
            return false;
    return true;
}

static bool next_reply(struct redis_link *link, usec_t deadline, redisReply **reply_out,
                       struct error *err)
{
    *reply_out = NULL;
    while (true) {
        if (!parsed_reply(link, reply_out, err))
            return false;
        if (*reply_out)
            return true;
        if (!move_on(link, deadline, err))
            return false;
    }
}

bool redis_link_reply(struct redis_link *link, usec_t deadline, redisReply **reply_out,
                      struct error *err)
{
    *reply_out = NULL;
    if (!redis_link_start(link, err))
        return false;
    for (; link->ignored > 0; link->ignored--) {
        REDIS_REPLY ignored = NULL;
        if (!next_reply(link, deadline, &ignored, err))
            return false;
    }
    return next_reply(link, deadline, reply_out, err);
}

static bool poll_any_reply(struct redis_link *link, redisReply **reply_out, struct error *err)
{
    *reply_out = NULL;
    return parsed_reply(link, reply_out, err) &&
           (*reply_out || (read_some(link, err) && parsed_reply(link, reply_out, err)));
}

bool redis_link_poll_reply(struct redis_link *link, redisReply **reply_out, struct error *err)
{
    for (; link->ignored > 0; link->ignored--) {
        REDIS_REPLY ignored = NULL;
        *reply_out = NULL;
        if (!poll_any_reply(link, &ignored, err))
            return false;
        if (!ignored)
            return true;
    }
    return poll_any_reply(link, reply_out, err);
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
