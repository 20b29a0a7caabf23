/*
 * notify.c - readiness and watchdog, for systemd.
 */
#include "process/notify.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MESSAGE_SIZE 1024
#define NUMBER_SIZE  24

_Static_assert(sizeof((struct sockaddr_un *)0)->sun_path == NOTIFY_NAME_SIZE, "a name must fit");

/* A path, or a name without a file: its '@' stands for the NUL that such an address starts with. */
static bool set_address(const char *name, struct sockaddr_un *address, socklen_t *length_out,
                        struct error *err)
{
    const size_t length = strlen(name);
    char shown[EXCERPT_SIZE];

    if (name[0] != '/' && name[0] != '@')
        return error_set(err, TH_E_INVALID, "NOTIFY_SOCKET is '%s': it has to start with / or @",
                         excerpt_of(name, shown));
    if (length < 2 || length >= sizeof address->sun_path)
        return error_set(err, TH_E_INVALID,
                         "NOTIFY_SOCKET is '%s': its length has to be from 2 to %zu",
                         excerpt_of(name, shown), sizeof address->sun_path - 1);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, name, length);
    if (name[0] == '@')
        address->sun_path[0] = '\0';
    *length_out = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return true;
}

static bool connect_to(const char *name, int *socket_out, struct error *err)
{
    struct sockaddr_un address;
    socklen_t length = 0;
    char shown[EXCERPT_SIZE];

    if (!set_address(name, &address, &length, err))
        return false;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "open a socket for NOTIFY_SOCKET");
    if (connect(fd, (const struct sockaddr *)&address, length) != 0) {
        error_errno(err, TH_E_UNAVAILABLE, errno, "connect to NOTIFY_SOCKET '%s'",
                    excerpt_of(name, shown));
        close(fd);
        return false;
    }
    *socket_out = fd;
    return true;
}

/* A watchdog that was meant for another process, such as the shell that started us, is not ours to
 * feed. */
static bool read_watchdog(usec_t *half_out, struct error *err)
{
    const char *interval = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    char shown[EXCERPT_SIZE];
    int64_t meant = 0, usec = 0;

    if (!interval)
        return true;
    if (pid && (!text_to_int(pid, 1, INT32_MAX, &meant) || meant != getpid()))
        return true;
    if (!text_to_int(interval, 2, USEC_MAX, &usec))
        return error_set(err, TH_E_INVALID, "WATCHDOG_USEC is '%s': it has to be a number over 1",
                         excerpt_of(interval, shown));
    *half_out = usec / 2;
    return true;
}

static bool open_from_environment(struct notify *notify, struct error *err)
{
    const char *name = getenv("NOTIFY_SOCKET");

    if (!name || name[0] == '\0')
        return true;
    if (!read_watchdog(&notify->watchdog_half, err) || !connect_to(name, &notify->socket, err))
        return false;
    snprintf(notify->name, sizeof notify->name, "%s", name);
    return true;
}

bool notify_open(struct notify *notify, struct error *err)
{
    *notify = (struct notify){.socket = -1};
    const bool opened = open_from_environment(notify, err);

    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return opened;
}

void notify_close(struct notify *notify)
{
    if (notify->socket >= 0)
        close(notify->socket);
    *notify = (struct notify){.socket = -1};
}

static bool set_number(const char *name, int64_t value, struct error *err)
{
    char text[NUMBER_SIZE];

    snprintf(text, sizeof text, "%" PRId64, value);
    return setenv(name, text, 1) == 0 || error_errno(err, TH_E_INTERNAL, errno, "set %s", name);
}

bool notify_restore(const struct notify *notify, struct error *err)
{
    if (notify->socket < 0)
        return true;
    if (setenv("NOTIFY_SOCKET", notify->name, 1))
        return error_errno(err, TH_E_INTERNAL, errno, "set NOTIFY_SOCKET");
    return notify->watchdog_half == 0 ||
           (set_number("WATCHDOG_USEC", 2 * notify->watchdog_half, err) &&
            set_number("WATCHDOG_PID", getpid(), err));
}

void notify_send(const struct notify *notify, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list arguments;

    if (notify->socket < 0)
        return;
    va_start(arguments, format);
    const int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length > 0)
        (void)send(notify->socket, message, strlen(message), MSG_DONTWAIT | MSG_NOSIGNAL);
}
