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

#define NOTIFY_NAME_SIZE 108 /* of sun_path */

struct notify {
    int socket; /* owned; -1: nobody listens */
    char name[NOTIFY_NAME_SIZE];
    usec_t watchdog_half; /* how often the watchdog wants to hear of us, halved; 0: it does not */
};

/* Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID, and removes them from the environment:
 * they are for this process alone. */
bool notify_open(struct notify *notify, struct error *err) MUST_CHECK;
void notify_close(struct notify *notify);

/* Puts the variables back, in a process that is about to become another program which takes our
 * place: they are for that one then. */
bool notify_restore(const struct notify *notify, struct error *err) MUST_CHECK;

/* NAME=value lines with '\n' between, such as "READY=1\nSTATUS=4 workers". What cannot be sent is
 * lost: nobody can be told. */
void notify_send(const struct notify *notify, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
