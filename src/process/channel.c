/*
 * channel.c - one letter over a socket pair: whole or not at all, and never taken for another.
 *
 * A letter is one datagram. It is received into memory on the stack that has room for the largest,
 * and copied from there only after its sizes have been checked.
 */
#include "process/channel.h"

#include "base/arena.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of all texts together. The largest result has about 90 KiB. */
#define TEXTS_MAX ((size_t)128 * 1024)
#define ABSENT    UINT64_MAX

struct stamp {
    uint32_t kind;
    uint32_t head_size;
    uint64_t lengths[LETTER_TEXTS];
};

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* What recvmsg() left behind. */
struct arrival {
    struct stamp stamp;
    size_t length; /* of the whole datagram, even if it did not fit */
    int flags;
    int fd;
    unsigned char texts[TEXTS_MAX];
};

static const char *const kind_names[] = {
    [LETTER_ORDER] = "order",   [LETTER_REPORT] = "report", [LETTER_TASK] = "task",
    [LETTER_RESULT] = "result", [LETTER_HALT] = "halt",     [LETTER_CALL] = "call",
    [LETTER_ANSWER] = "answer",
};

static enum delivery what_failed(const char *what, enum letter_kind kind, struct error *err)
{
    switch (errno) {
    case EAGAIN:
    case ENOBUFS:
    case ETOOMANYREFS: /* descriptors under way are counted too */
        return DELIVERY_NONE;
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
        return DELIVERY_CLOSED;
    default:
        error_errno(err, TH_E_INTERNAL, errno, "%s %s", what, kind_names[kind]);
        return DELIVERY_FAILED;
    }
}

/* ---- sending ---- */

static size_t add_texts(const struct letter *letter, struct stamp *stamp, struct iovec *parts)
{
    size_t total = 0;

    for (size_t i = 0; i < LETTER_TEXTS; i++) {
        const struct bytes text = i < letter->text_count ? letter->texts[i] : (struct bytes){0};

        stamp->lengths[i] = text.data ? text.length : ABSENT;
        parts[i] = (struct iovec){(void *)text.data, text.length};
        total += text.length;
    }
    return total;
}

static void attach(struct msghdr *message, union control *control, int fd)
{
    memset(control, 0, sizeof *control);
    message->msg_control = control;
    message->msg_controllen = CMSG_LEN(sizeof fd);
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
}

enum delivery channel_send(int socket, const struct letter *letter, struct error *err)
{
    struct stamp stamp = {.kind = letter->kind, .head_size = (uint32_t)letter->head_size};
    struct iovec parts[2 + LETTER_TEXTS] = {
        {&stamp, sizeof stamp},
        {letter->head, letter->head_size},
    };
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = COUNT_OF(parts)};
    union control control;
    ssize_t sent;

    if (add_texts(letter, &stamp, parts + 2) > TEXTS_MAX) {
        error_set(err, TH_E_INTERNAL, "the texts of a %s have more than %zu bytes",
                  kind_names[letter->kind], TEXTS_MAX);
        return DELIVERY_FAILED;
    }
    if (letter->fd >= 0)
        attach(&message, &control, letter->fd);
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? what_failed("send a", letter->kind, err) : DELIVERY_DONE;
}

/* ---- receiving ---- */

static int attached(struct msghdr *message)
{
    const struct cmsghdr *header = CMSG_FIRSTHDR(message);
    int fd = -1;

    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

/* Room for exactly one descriptor, or for none: the kernel closes what has no room, and says so. */
static enum delivery receive(int socket, int flags, const struct letter *letter,
                             struct arrival *arrival, struct error *err)
{
    struct iovec parts[] = {
        {&arrival->stamp, sizeof arrival->stamp},
        {letter->head, letter->head_size},
        {arrival->texts, sizeof arrival->texts},
    };
    union control control = {0};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = COUNT_OF(parts)};
    ssize_t count;

    if (letter->takes_fd) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_LEN(sizeof(int));
    }
    /* ECONNRESET: the other end died without having read all of ours. Its last letters come after
     * that. */
    do {
        count = recvmsg(socket, &message, flags | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    } while (count < 0 && (errno == EINTR || errno == ECONNRESET));
    if (count < 0)
        return what_failed("receive a", letter->kind, err);
    if (count == 0)
        return DELIVERY_CLOSED;
    arrival->length = (size_t)count;
    arrival->flags = message.msg_flags;
    arrival->fd = attached(&message);
    return DELIVERY_DONE;
}

static bool adds_up(const struct letter *letter, const struct stamp *stamp, size_t length)
{
    const size_t before_texts = sizeof *stamp + letter->head_size;

    if (length < before_texts || stamp->kind != letter->kind ||
        stamp->head_size != letter->head_size)
        return false;
    uint64_t left = length - before_texts;
    for (size_t i = 0; i < LETTER_TEXTS; i++) {
        if (stamp->lengths[i] == ABSENT)
            continue;
        if (i >= letter->text_count || stamp->lengths[i] > left)
            return false;
        left -= stamp->lengths[i];
    }
    return left == 0;
}

static void copy_texts(const struct stamp *stamp, const unsigned char *next, struct arena *arena,
                       struct letter *letter)
{
    for (size_t i = 0; i < letter->text_count; i++) {
        const uint64_t length = stamp->lengths[i];

        letter->texts[i] = (struct bytes){0};
        if (length == ABSENT)
            continue;
        letter->texts[i] = arena_bytes(arena, (struct bytes){next, length});
        next += length;
    }
}

static bool refuse(const struct letter *letter, size_t length, struct error *err)
{
    return error_set(err, TH_E_INTERNAL, "a message of %zu bytes that is not %s", length,
                     kind_names[letter->kind]);
}

static bool read_texts(const struct stamp *stamp, const unsigned char *texts, struct arena *arena,
                       struct letter *letter, struct error *err)
{
    if (letter->text_count == 0)
        return true;
    copy_texts(stamp, texts, arena, letter);
    return !arena->failed || error_no_memory(err);
}

static enum delivery open_letter(const struct arrival *arrival, struct arena *arena,
                                 struct letter *letter, struct error *err)
{
    const bool is_whole = !(arrival->flags & (MSG_TRUNC | MSG_CTRUNC)) &&
                          adds_up(letter, &arrival->stamp, arrival->length);

    if (is_whole ? read_texts(&arrival->stamp, arrival->texts, arena, letter, err)
                 : refuse(letter, arrival->length, err)) {
        letter->fd = arrival->fd;
        return DELIVERY_DONE;
    }
    if (arrival->fd >= 0)
        close(arrival->fd);
    return DELIVERY_FAILED;
}

enum delivery channel_receive(int socket, struct arena *arena, struct letter *letter,
                              struct error *err)
{
    struct arrival arrival;
    const enum delivery delivery = receive(socket, 0, letter, &arrival, err);

    if (delivery != DELIVERY_DONE)
        return delivery;
    return open_letter(&arrival, arena, letter, err);
}

/* Looking moves on by as much as it has seen; of a datagram that is too long the rest would be
 * taken for the next one. */
static bool skip_rest(int socket, size_t rest, struct error *err)
{
    int offset;
    socklen_t size = sizeof offset;

    if (getsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &offset, &size))
        return error_errno(err, TH_E_INTERNAL, errno, "ask how far a socket was looked at");
    offset += (int)rest;
    if (setsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset))
        return error_errno(err, TH_E_INTERNAL, errno, "skip a message that is too long");
    return true;
}

enum delivery channel_look(int socket, struct arena *arena, struct letter *letter,
                           struct error *err)
{
    const size_t room = sizeof(struct stamp) + letter->head_size + TEXTS_MAX;
    struct arrival arrival;
    const enum delivery delivery = receive(socket, MSG_PEEK, letter, &arrival, err);

    if (delivery != DELIVERY_DONE)
        return delivery;
    if (arrival.length > room && !skip_rest(socket, arrival.length - room, err))
        return DELIVERY_FAILED;
    return open_letter(&arrival, arena, letter, err);
}

/* ---- without a socket ---- */

size_t letter_pack(const struct letter *letter, unsigned char *out, size_t room)
{
    struct stamp stamp = {.kind = letter->kind, .head_size = (uint32_t)letter->head_size};
    struct iovec texts[LETTER_TEXTS];
    const size_t length = sizeof stamp + letter->head_size + add_texts(letter, &stamp, texts);

    if (length > room)
        return 0;
    memcpy(out, &stamp, sizeof stamp);
    out += sizeof stamp;
    memcpy(out, letter->head, letter->head_size);
    out += letter->head_size;
    for (size_t i = 0; i < letter->text_count; i++) {
        if (texts[i].iov_len > 0)
            memcpy(out, texts[i].iov_base, texts[i].iov_len);
        out += texts[i].iov_len;
    }
    return length;
}

bool letter_unpack(struct bytes packed, struct arena *arena, struct letter *letter,
                   struct error *err)
{
    struct stamp stamp;

    if (packed.length < sizeof stamp)
        return refuse(letter, packed.length, err);
    memcpy(&stamp, packed.data, sizeof stamp);
    if (!adds_up(letter, &stamp, packed.length))
        return refuse(letter, packed.length, err);
    memcpy(letter->head, packed.data + sizeof stamp, letter->head_size);
    return read_texts(&stamp, packed.data + sizeof stamp + letter->head_size, arena, letter, err);
}
