/*
 * linger.h - hearing a client out that was answered before it had said everything.
 *
 * A socket that is closed with something unread resets the connection, and a client that is still
 * sending its body may never see that it was refused, and why. So its socket stays open for a
 * while, and what comes is thrown away.
 */
#ifndef HTTP_LINGER_H
#define HTTP_LINGER_H

#include "process/loop.h"

#define HTTP_LINGERING  16 /* at once; whoever is one more is reset */
#define HTTP_LINGER_FOR (5 * USEC_PER_SEC)
#define HTTP_LINGER_MAX ((bytes_t)32 * 1024 * 1024)

struct http_linger {
    struct loop *loop; /* NULL: not in use */
    struct loop_watch watch;
    struct loop_timer end;
    bytes_t heard;
};

/* The socket is about to be closed by its owner: nothing is sent on it any more. */
void http_linger_begin(struct http_linger lingers[HTTP_LINGERING], struct loop *loop, int fd);

/* Closes all of them. */
void http_linger_end(struct http_linger lingers[HTTP_LINGERING]);

#endif
