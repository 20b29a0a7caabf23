/*
 * notify.h - readiness and watchdog, for systemd.
 *
 * The protocol of sd_notify(3), spoken by ourselves: a datagram to the socket in $NOTIFY_SOCKET.
 * Where there is none, every call does nothing.
 */
#ifndef PROCESS_NOTIFY_H
#define PROCESS_NOTIFY_H

#include "base/base.h"

struct error;

struct notify {
    int socket;           /* owned; -1: nobody listens */
    usec_t watchdog_half; /* how often the watchdog wants to hear of us, halved; 0: it does not */
};

/* Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID, and removes them from the environment:
 * they are for this process alone. */
bool notify_open(struct notify *notify, struct error *err) MUST_CHECK;
void notify_close(struct notify *notify);

/* NAME=value lines with '\n' between, such as "READY=1\nSTATUS=4 workers". What cannot be sent is
 * lost: nobody can be told. */
void notify_send(const struct notify *notify, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
