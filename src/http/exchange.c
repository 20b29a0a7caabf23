/*
 * exchange.c - one request and its answer: what libmicrohttpd tells us, put in order.
 *
 * libmicrohttpd 0.9.75 calls begin() with the request line, step() with the head, with each piece
 * of the body and at its end, and end() when the answer was sent or the connection lost.
 */
#include "http/exchange.h"

#include "base/clock.h"
#include "base/text.h"
#include "http/build.h"
#include "http/inside.h"
#include "http/layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* So much of a refused body is read, so that the connection can be used again. */
#define PASSED_OVER_MAX ((bytes_t)64 * 1024)

/* So much of one that got too long on the way, so that the client hears why. */
#define UNWANTED_MAX ((bytes_t)1024 * 1024)

struct http_exchange *http_exchange_of(struct http_request *request)
{
    return (struct http_exchange *)request;
}

static struct http_server *server_of(const struct http_exchange *exchange)
{
    return exchange->connection->server;
}

void http_exchange_resume(struct http_exchange *exchange)
{
    if (!exchange->is_suspended)
        return;
    exchange->is_suspended = false;
    MHD_resume_connection(exchange->connection->mhd);
    http_server_wake(server_of(exchange));
}

void http_exchange_drop(struct http_exchange *exchange)
{
    exchange->step = HTTP_STEP_OVER;
    exchange->is_dropped = true;
    http_exchange_resume(exchange);
}

void http_exchange_send(struct http_exchange *exchange, unsigned status,
                        struct MHD_Response *response, enum http_phase phase, bytes_t length)
{
    const enum MHD_Result queued = MHD_queue_response(exchange->connection->mhd, status, response);

    MHD_destroy_response(response); /* the queue has it */
    if (queued != MHD_YES) {
        http_exchange_drop(exchange);
        return;
    }
    exchange->step = HTTP_STEP_OVER;
    http_server_enter(exchange->connection, phase, length);
    http_exchange_resume(exchange);
}

void http_exchange_refund(struct http_exchange *exchange)
{
    http_server_refund(server_of(exchange), exchange->charged);
    exchange->charged = 0;
}

void http_exchange_forget_body(struct http_exchange *exchange)
{
    exchange->request.body = (struct bytes){0};
    buffer_done(&exchange->body);
}

static void set_refusal(struct http_exchange *exchange, const struct http_response *response)
{
    assert(!exchange->refusal);
    http_exchange_refund(exchange);
    http_exchange_forget_body(exchange);
    exchange->sent = response->sent;
    exchange->sent_context = response->context;
    exchange->refusal_status = (unsigned)response->status;
    exchange->refusal = http_build(server_of(exchange), response);
    exchange->is_dropped = !exchange->refusal;
}

static void refuse(struct http_exchange *exchange, int status, const char *reason)
{
    const struct http_handler *handler = &server_of(exchange)->handler;
    struct http_response response = {.status = status};

    handler->explain(handler->context, status, reason, &response);
    set_refusal(exchange, &response);
}

static enum MHD_Result send_refusal(struct http_exchange *exchange)
{
    struct MHD_Response *refusal = exchange->refusal;

    exchange->refusal = NULL;
    if (refusal)
        http_exchange_send(exchange, exchange->refusal_status, refusal, HTTP_SENDING, 0);
    return exchange->is_dropped ? MHD_NO : MHD_YES;
}

void *http_exchange_begin(void *context, const char *target, struct MHD_Connection *mhd)
{
    struct http_server *server = context;
    struct http_connection *connection =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    const size_t size = strlen(target) + 1;
    struct http_exchange *exchange = calloc(1, sizeof *exchange + size);

    server->turns++;
    /* A head has its time since the connection was made: the first one, that is. */
    const usec_t since = connection->phase == HTTP_FRESH ? connection->since : clock_boot();

    http_server_enter(connection, HTTP_HEAD, 0);
    http_server_progress(connection, since, 0);
    if (!exchange)
        return NULL;
    connection->exchange = exchange;
    exchange->connection = connection;
    exchange->request.peer = (const struct sockaddr *)&connection->peer;
    memcpy(exchange->target, target, size);
    return exchange;
}

static void fill_request(struct http_exchange *exchange, const struct http_head *head)
{
    struct http_request *request = &exchange->request;
    char *query = strchr(exchange->target, '?');

    request->is_head = text_equal(head->method, "HEAD");
    request->method = request->is_head ? "GET" : head->method;
    request->path = exchange->target;
    request->query = "";
    request->length = http_head_body_length(head);
    if (query) {
        *query = '\0';
        request->query = query + 1;
    }
}

/* Whoever sends a body may do so only now, and only so much. */
static void admit(struct http_exchange *exchange)
{
    const struct http_server *server = server_of(exchange);
    const bytes_t length = exchange->request.length;
    struct http_response refusal = {0};

    if (!server->handler.admit(server->handler.context, &exchange->request, &exchange->body_max,
                               &refusal))
        set_refusal(exchange, &refusal);
    else if (length == HTTP_LENGTH_UNKNOWN)
        return;
    else if (length > exchange->body_max)
        refuse(exchange, 413, "the body is longer than is taken here");
    else if (length > http_server_room(server))
        refuse(exchange, 503, "there are too many requests under way");
}

/* Before the body has come, which closes the connection. */
static enum MHD_Result send_refusal_now(struct http_exchange *exchange)
{
    exchange->connection->is_talking = true;
    return send_refusal(exchange);
}

static bool has_to_answer_now(const struct http_exchange *exchange, const struct http_head *head)
{
    const bytes_t length = exchange->request.length;

    return exchange->refusal && (length > PASSED_OVER_MAX || http_head_expects_continue(head));
}

static enum MHD_Result take_head(struct http_exchange *exchange, const char *method,
                                 const char *url, const char *version)
{
    struct http_head head = {.method = method, .target = exchange->target, .version = version};
    const enum http_layout layout = http_layout_read(exchange->connection->mhd, url, &head);

    exchange->step = HTTP_STEP_BODY;
    http_server_enter(exchange->connection, HTTP_BODY, 0);
    if (layout == HTTP_LAYOUT_LONG) {
        refuse(exchange, 431, "the head is longer than 8 KiB, or has more than 100 headers");
        return send_refusal_now(exchange);
    }
    const char *defect = layout == HTTP_LAYOUT_TORN
                             ? "the head has a NUL, a bare CR or LF, or a folded line"
                             : http_head_defect(&head);
    if (defect) {
        refuse(exchange, 400, defect);
        return send_refusal_now(exchange);
    }
    fill_request(exchange, &head);
    admit(exchange);
    if (has_to_answer_now(exchange, &head))
        return send_refusal_now(exchange);
    return exchange->is_dropped ? MHD_NO : MHD_YES;
}

/* False if there is no room, or it gets too long. Only what has come is charged, and not what was
 * announced: a client could announce much and send nothing. */
static bool keep(struct http_exchange *exchange, const char *data, size_t size)
{
    struct buffer *body = &exchange->body;

    if (!http_server_charge(server_of(exchange), size)) {
        refuse(exchange, 503, "there are too many requests under way");
        return false;
    }
    exchange->charged += size;
    body->limit = exchange->body_max;
    buffer_add(body, data, size);
    if (!body->failed)
        return true;
    refuse(exchange, body->too_long ? 413 : 503,
           body->too_long ? "the body is longer than is taken here" : "out of memory");
    return false;
}

static enum MHD_Result take_body(struct http_exchange *exchange, const char *data, size_t size)
{
    struct http_connection *connection = exchange->connection;

    http_server_progress(connection, connection->since, connection->moved + size);
    if (!exchange->refusal && keep(exchange, data, size))
        return MHD_YES;
    if (exchange->is_dropped)
        return MHD_NO;
    exchange->unwanted += size;
    return exchange->unwanted > UNWANTED_MAX ? MHD_NO : MHD_YES;
}

static enum MHD_Result take_end(struct http_exchange *exchange)
{
    const struct http_handler *handler = &server_of(exchange)->handler;
    struct http_request *request = &exchange->request;

    if (exchange->refusal)
        return send_refusal(exchange);
    if (request->length > 0)
        request->body = (struct bytes){(const unsigned char *)buffer_str(&exchange->body),
                                       exchange->body.length};
    exchange->step = HTTP_STEP_HELD;
    http_server_enter(exchange->connection, HTTP_HELD, 0);
    handler->handle(handler->context, request);
    if (exchange->is_dropped)
        return MHD_NO;
    if (exchange->step == HTTP_STEP_HELD) {
        exchange->is_suspended = true;
        MHD_suspend_connection(exchange->connection->mhd);
    }
    return MHD_YES;
}

enum MHD_Result http_exchange_step(void *context, struct MHD_Connection *mhd, const char *url,
                                   const char *method, const char *version, const char *data,
                                   size_t *size, void **exchange_of)
{
    struct http_server *server = context;
    struct http_exchange *exchange = *exchange_of;
    const size_t length = *size;

    (void)mhd;
    server->turns++;
    *size = 0;
    if (!exchange || exchange->is_dropped)
        return MHD_NO;
    switch (exchange->step) {
    case HTTP_STEP_HEAD:
        return take_head(exchange, method, url, version);
    case HTTP_STEP_BODY:
        return length > 0 ? take_body(exchange, data, length) : take_end(exchange);
    case HTTP_STEP_HELD:
    case HTTP_STEP_OVER:
        break;
    }
    return MHD_NO; /* it went on by itself: that must not be */
}

/* The connection is idle, if it stays. */
static void release(struct http_exchange *exchange)
{
    struct http_server *server = server_of(exchange);
    struct http_connection *connection = exchange->connection;

    connection->exchange = NULL;
    loop_unwatch(server->loop, &exchange->watch);
    http_exchange_refund(exchange);
    http_exchange_forget_body(exchange);
    if (exchange->refusal)
        MHD_destroy_response(exchange->refusal);
    if (connection->phase == HTTP_CLOSING)
        return;
    http_server_enter(connection, HTTP_IDLE, 0);
    if (server->is_retiring)
        http_server_cut(connection);
}

void http_exchange_end(void *context, struct MHD_Connection *mhd, void **exchange_of,
                       enum MHD_RequestTerminationCode code)
{
    struct http_server *server = context;
    struct http_exchange *exchange = *exchange_of;

    (void)mhd;
    server->turns++;
    if (!exchange)
        return;
    const bool was_sent = code == MHD_REQUEST_TERMINATED_COMPLETED_OK &&
                          exchange->step == HTTP_STEP_OVER && !exchange->was_replaced;

    release(exchange);
    if (exchange->stream)
        http_stream_over(exchange->stream);
    if (exchange->sent)
        exchange->sent(exchange->sent_context, was_sent && !exchange->is_dropped);
    free(exchange);
    *exchange_of = NULL;
}
