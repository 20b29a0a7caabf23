/*
 * message.c - what our processes say to each other: the pair of sockets, and the short messages.
 *
 * Orders, reports and halts are plain structs. Tasks and results, with their texts, have files of
 * their own: task.c and result.c.
 */
#include "process/message.h"

#include "base/error.h"
#include "process/channel.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel doubles it and keeps it within its limit: four of the largest results. */
#define SEND_BUFFER (256 * 1024)

bool message_pair(int ends_out[2], struct error *err)
{
    const int size = SEND_BUFFER;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
        return error_errno(err, TH_E_INTERNAL, errno, "open a pair of sockets");
    for (int i = 0; i < 2; i++) {
        const int failed = setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);

        assert(!failed); /* any size is brought within the limits */
        ends_out[i] = ends[i];
    }
    return true;
}

const char *peer_kind_name(enum peer_kind kind)
{
    switch (kind) {
    case PEER_NONE:
        break;
    case PEER_HTTP:
        return "http";
    case PEER_GATE:
        return "gate";
    case PEER_BROWSE:
        return "browse";
    }
    return "nobody";
}

/* ---- structs without texts ---- */

static enum delivery send_struct(int socket, enum letter_kind kind, const void *head, size_t size,
                                 int fd, struct error *err)
{
    const struct letter letter = {
        .kind = kind,
        .head = (void *)head,
        .head_size = size,
        .fd = fd,
    };

    return channel_send(socket, &letter, err);
}

static enum delivery receive_struct(int socket, enum letter_kind kind, void *head, size_t size,
                                    struct error *err)
{
    struct letter letter = {.kind = kind, .head = head, .head_size = size};

    memset(head, 0, size);
    return channel_receive(socket, NULL, &letter, err);
}

/* The struct came whole; whether it says something that we know is left to see. */
static enum delivery check_word(enum delivery delivery, unsigned word, unsigned last,
                                const char *what, struct error *err)
{
    if (delivery != DELIVERY_DONE || word <= last)
        return delivery;
    error_set(err, TH_E_INTERNAL, "there is no %s %u", what, word);
    return DELIVERY_FAILED;
}

enum delivery order_send(int socket, const struct order *order, int fd, struct error *err)
{
    return send_struct(socket, LETTER_ORDER, order, sizeof *order, fd, err);
}

enum delivery order_receive(int socket, struct order *order_out, int *fd_out, struct error *err)
{
    struct letter letter = {
        .kind = LETTER_ORDER,
        .head = order_out,
        .head_size = sizeof *order_out,
        .fd = -1,
        .takes_fd = true,
    };
    *order_out = (struct order){0};
    enum delivery delivery = channel_receive(socket, NULL, &letter, err);
    delivery = check_word(delivery, order_out->kind, ORDER_RETIRE, "order", err);
    delivery = check_word(delivery, order_out->peer, PEER_BROWSE, "peer", err);
    if (delivery != DELIVERY_DONE && letter.fd >= 0) {
        close(letter.fd);
        letter.fd = -1;
    }
    *fd_out = letter.fd;
    return delivery;
}

enum delivery report_send(int socket, const struct report *report, struct error *err)
{
    return send_struct(socket, LETTER_REPORT, report, sizeof *report, -1, err);
}

enum delivery report_receive(int socket, struct report *report_out, struct error *err)
{
    enum delivery delivery =
        receive_struct(socket, LETTER_REPORT, report_out, sizeof *report_out, err);

    delivery = check_word(delivery, report_out->kind, REPORT_WANTED, "report", err);
    return check_word(delivery, report_out->wanted, ORDER_RETIRE, "order", err);
}

enum delivery halt_send(int socket, const struct halt *halt, struct error *err)
{
    return send_struct(socket, LETTER_HALT, halt, sizeof *halt, -1, err);
}

enum delivery halt_receive(int socket, struct halt *halt_out, struct error *err)
{
    const enum delivery delivery =
        receive_struct(socket, LETTER_HALT, halt_out, sizeof *halt_out, err);

    return check_word(delivery, halt_out->reason, STOP_REASONS - 1, "reason to halt", err);
}
