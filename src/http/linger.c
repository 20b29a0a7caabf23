/*
 * linger.c - hearing a client out that was answered before it had said everything.
 */
#include "http/linger.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static void leave(struct http_linger *linger)
{
    loop_unwatch(linger->loop, &linger->watch);
    loop_clear_timer(linger->loop, &linger->end);
    close(linger->watch.fd);
    *linger = (struct http_linger){0};
}

static void leave_late(void *context)
{
    leave(context);
}

static void hear(void *context, unsigned events)
{
    struct http_linger *linger = context;
    char nothing[16 * 1024];
    const ssize_t count = recv(linger->watch.fd, nothing, sizeof nothing, MSG_DONTWAIT);

    (void)events;
    if (count < 0 && errno == EAGAIN)
        return;
    if (count > 0)
        linger->heard += (bytes_t)count;
    if (count <= 0 || linger->heard > HTTP_LINGER_MAX)
        leave(linger);
}

void http_linger_begin(struct http_linger lingers[HTTP_LINGERING], struct loop *loop, int fd)
{
    struct http_linger *linger = lingers;
    struct error err = {0};

    while (linger < lingers + HTTP_LINGERING && linger->loop)
        linger++;
    if (linger == lingers + HTTP_LINGERING)
        return;
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (copy < 0)
        return;
    *linger = (struct http_linger){
        .loop = loop,
        .watch = {.fd = copy, .call = hear, .context = linger},
        .end = {.call = leave_late, .context = linger},
    };
    loop_set_timer(loop, &linger->end, clock_boot() + HTTP_LINGER_FOR);
    if (!loop_watch(loop, &linger->watch, LOOP_READ, &err))
        leave(linger);
}

void http_linger_end(struct http_linger lingers[HTTP_LINGERING])
{
    for (size_t i = 0; i < HTTP_LINGERING; i++) {
        if (lingers[i].loop)
            leave(&lingers[i]);
    }
}
