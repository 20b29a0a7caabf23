/*
 * stream.h - a response that is made piece by piece: exports, server-sent events.
 *
 * What cannot be sent yet waits here, up to HTTP_STREAM_UNSENT; whoever reads more slowly than is
 * written is dropped. A producer that can wait writes one piece for each call of `room` and is
 * never dropped for that.
 */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include "base/base.h"

struct http_request;
struct http_response;
struct http_stream;

#define HTTP_STREAM_UNSENT ((size_t)64 * 1024)

struct http_stream_events {
    /* All that was written has been sent: here is room for more. May be NULL. */
    void (*room)(void *context);

    /* The client left or was dropped, or the server closes: called once, unless the stream was
     * ended before. What is written from then on is thrown away; the stream still has to be
     * ended. */
    void (*gone)(void *context);
    void *context;
};

/* The head is sent at once, and the request is gone; the response's body is not used. NULL when
 * out of memory: the client was cut off. */
struct http_stream *http_stream_begin(struct http_request *request,
                                      const struct http_response *head,
                                      const struct http_stream_events *events);

/* False if the stream is over. A piece longer than the limit is fine while nothing waits. */
bool http_stream_write(struct http_stream *stream, struct bytes piece);

/* The same bytes for many streams, which are kept once, as long as one of them needs them. */
struct http_piece;

struct http_piece *http_piece_new(struct bytes bytes); /* a copy; NULL: out of memory */
void http_piece_release(struct http_piece **piece);    /* by whoever made it */

/* As http_stream_write(). A reader that is slow gets a copy of what it has not read yet. */
bool http_stream_share(struct http_stream *stream, struct http_piece *piece);

/* Sends what waits, then the end. The stream is not the caller's any more. */
void http_stream_end(struct http_stream *stream);

/* Cuts the connection instead, so that the client sees that something is missing. */
void http_stream_break(struct http_stream *stream);

#endif
