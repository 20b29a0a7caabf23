/*
 * exchange.h - one request and its answer: what libmicrohttpd tells us, put in order.
 *
 *   step     from                    until
 *   head     the request line        the head was looked at
 *   body     the head is fine        the body is here, or has been read past
 *   held     handle()                http_answer(), http_stream_begin() or http_drop()
 *   over     there is an answer      it was sent, or could not be
 *
 * While it is held the connection is suspended: libmicrohttpd looks at it no more, and would not
 * see that the client leaves.
 */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include "base/buffer.h"
#include "http/deadline.h"
#include "http/head.h"
#include "http/request.h"
#include "process/loop.h"

#include <microhttpd.h>

struct http_connection;
struct http_stream;

enum http_step {
    HTTP_STEP_HEAD,
    HTTP_STEP_BODY,
    HTTP_STEP_HELD,
    HTTP_STEP_OVER,
};

struct http_exchange {
    struct http_request request; /* the first, so that one can be had from the other */
    struct http_connection *connection;
    enum http_step step;

    struct buffer body;
    size_t body_max;
    bytes_t unwanted; /* received after it was refused */
    size_t charged;   /* for the body, then for the answer */

    struct MHD_Response *refusal; /* sent when the body was read past */
    unsigned refusal_status;

    struct loop_watch watch; /* for the client to leave */
    void (*left)(void *context);
    void *left_context;

    void (*sent)(void *context, bool was_sent);
    void *sent_context;
    bool was_replaced; /* by a 503 */

    struct http_stream *stream;
    bool is_suspended;
    bool is_dropped;
    char target[]; /* path and query, as sent */
};

struct http_exchange *http_exchange_of(struct http_request *request);

/* Queues the answer and goes on; the response is used up. */
void http_exchange_send(struct http_exchange *exchange, unsigned status,
                        struct MHD_Response *response, enum http_phase phase, bytes_t length);
void http_exchange_drop(struct http_exchange *exchange);
void http_exchange_resume(struct http_exchange *exchange);

/* What is charged for it is not any more. */
void http_exchange_refund(struct http_exchange *exchange);

/* The request has none from here on. */
void http_exchange_forget_body(struct http_exchange *exchange);

/* libmicrohttpd's callbacks */
void *http_exchange_begin(void *context, const char *target, struct MHD_Connection *mhd);
enum MHD_Result http_exchange_step(void *context, struct MHD_Connection *mhd, const char *url,
                                   const char *method, const char *version, const char *data,
                                   size_t *size, void **exchange);
void http_exchange_end(void *context, struct MHD_Connection *mhd, void **exchange,
                       enum MHD_RequestTerminationCode code);

#endif
