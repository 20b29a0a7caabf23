/*
 * request.c - what a client asked for.
 */
#include "http/request.h"

#include "http/exchange.h"
#include "http/inside.h"

#include <assert.h>

const char *http_request_header(const struct http_request *request, const char *name)
{
    const struct http_exchange *exchange = (const struct http_exchange *)request;

    return MHD_lookup_connection_value(exchange->connection->mhd, MHD_HEADER_KIND, name);
}

bool http_request_has_left(const struct http_request *request)
{
    return http_connection_has_left(((const struct http_exchange *)request)->connection);
}

static void look(void *context, unsigned events)
{
    struct http_exchange *exchange = context;

    (void)events;
    if (!http_connection_has_left(exchange->connection))
        return; /* it only sent more */
    loop_unwatch(exchange->connection->server->loop, &exchange->watch);
    exchange->left(exchange->left_context);
}

bool http_request_watch(struct http_request *request, void (*left)(void *context), void *context,
                        struct error *err)
{
    struct http_exchange *exchange = http_exchange_of(request);

    assert(!exchange->watch.is_on);
    exchange->left = left;
    exchange->left_context = context;
    exchange->watch =
        (struct loop_watch){.fd = exchange->connection->fd, .call = look, .context = exchange};
    /* What the client sends meanwhile stays unread: it must not wake us again and again. */
    return loop_watch(exchange->connection->server->loop, &exchange->watch, LOOP_READ | LOOP_NEWS,
                      err);
}
