/*
 * response.c - what a client is told.
 */
#include "http/response.h"

#include "http/build.h"
#include "http/exchange.h"
#include "http/inside.h"

#include <assert.h>
#include <stdlib.h>

/* An answer that is not longer than this is sent however much memory is in use: work that is done
 * should not be called undone. */
#define SHORT_ANSWER ((size_t)4 * 1024)

void http_response_add(struct http_response *response, const char *name, const char *value)
{
    assert(response->header_count < HTTP_RESPONSE_HEADERS);
    response->headers[response->header_count++] = (struct http_header){name, value};
}

/* False if there is no room for it. */
static bool charge_body(struct http_exchange *exchange, const struct http_response *response)
{
    if (response->body_is == HTTP_LASTING || response->body.length <= SHORT_ANSWER)
        return true;
    if (!http_server_charge(exchange->connection->server, response->body.length))
        return false;
    exchange->charged = response->body.length;
    return true;
}

/* A 503 instead of it. */
static void replace(struct http_exchange *exchange, const struct http_response *response,
                    struct http_response *replacement)
{
    const struct http_handler *handler = &exchange->connection->server->handler;

    if (response->body_is == HTTP_TAKEN)
        free((void *)response->body.data);
    exchange->was_replaced = true;
    handler->explain(handler->context, 503, "there are too many answers under way", replacement);
}

/* The kernel takes whatever is sent to somebody who has left, so whoever asks whether it was sent
 * is told before. */
static bool is_in_vain(const struct http_exchange *exchange)
{
    return exchange->sent && http_connection_has_left(exchange->connection);
}

void http_answer(struct http_request *request, const struct http_response *response)
{
    struct http_exchange *exchange = http_exchange_of(request);
    const struct http_server *server = exchange->connection->server;
    struct http_response replacement = {.status = 503};

    assert(exchange->step == HTTP_STEP_HELD);
    http_exchange_refund(exchange);
    exchange->sent = response->sent;
    exchange->sent_context = response->context;
    if (!charge_body(exchange, response)) {
        replace(exchange, response, &replacement);
        response = &replacement;
    }
    struct MHD_Response *built = http_build(server, response);

    http_exchange_forget_body(exchange); /* not before: the answer may have been made of it */
    loop_unwatch(server->loop, &exchange->watch);
    if (built && is_in_vain(exchange)) {
        MHD_destroy_response(built);
        built = NULL;
    }
    if (built)
        http_exchange_send(exchange, (unsigned)response->status, built, HTTP_SENDING,
                           response->body.length);
    else
        http_exchange_drop(exchange);
}

void http_drop(struct http_request *request)
{
    assert(http_exchange_of(request)->step == HTTP_STEP_HELD);
    http_exchange_drop(http_exchange_of(request));
}
