/*
 * stream.c - a response that is made piece by piece.
 *
 * libmicrohttpd asks for more whenever the last was sent. When there is none the connection is
 * suspended until there is: it would ask again and again.
 */
#include "http/stream.h"

#include "base/error.h"
#include "http/build.h"
#include "http/exchange.h"
#include "http/inside.h"

#include <assert.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

/* For clients of HTTP/1.0, which get no chunks: what is asked for at once. */
#define BLOCK_SIZE 1024

/* What the kernel may hold unsent: without, a client that reads nothing costs it megabytes. */
#define UNSENT_IN_KERNEL (16 * 1024)

struct http_piece {
    size_t references;
    size_t length;
    unsigned char data[];
};

/* What waits is a piece that others have too, or bytes of its own; never both. */
struct http_stream {
    struct http_exchange *exchange; /* NULL once it is over */
    struct http_stream_events events;
    struct http_piece *shared; /* NULL: none */
    struct buffer unsent;      /* nothing is allocated while nothing waits */
    size_t taken;              /* of what waits, by libmicrohttpd */
    bool is_ended;             /* by its producer */
    bool is_cut;
};

struct http_piece *http_piece_new(struct bytes bytes)
{
    struct http_piece *piece = malloc(sizeof *piece + bytes.length);

    if (!piece)
        return NULL;
    *piece = (struct http_piece){.references = 1, .length = bytes.length};
    if (bytes.length > 0)
        memcpy(piece->data, bytes.data, bytes.length);
    return piece;
}

void http_piece_release(struct http_piece **piece)
{
    if (*piece && --(*piece)->references == 0)
        free(*piece);
    *piece = NULL;
}

static size_t waiting(const struct http_stream *stream)
{
    const size_t length = stream->shared ? stream->shared->length : stream->unsent.length;

    return length - stream->taken;
}

static void note_progress(const struct http_stream *stream)
{
    http_server_enter(stream->exchange->connection, HTTP_STREAMING, waiting(stream));
}

static void discard(struct http_stream *stream)
{
    if (!stream->shared)
        http_server_refund(stream->exchange->connection->server, waiting(stream));
    http_piece_release(&stream->shared);
    buffer_done(&stream->unsent);
    stream->taken = 0;
}

static ssize_t take(struct http_stream *stream, char *out, size_t most)
{
    const size_t size = waiting(stream) < most ? waiting(stream) : most;
    const void *data = stream->shared ? (const void *)stream->shared->data : stream->unsent.data;

    memcpy(out, (const unsigned char *)data + stream->taken, size);
    stream->taken += size;
    if (!stream->shared)
        http_server_refund(stream->exchange->connection->server, size);
    if (waiting(stream) == 0)
        discard(stream);
    note_progress(stream);
    return (ssize_t)size;
}

static ssize_t read_on(void *context, uint64_t position, char *out, size_t most)
{
    struct http_stream *stream = context;
    struct http_exchange *exchange = stream->exchange;

    (void)position;
    exchange->connection->server->turns++;
    if (waiting(stream) == 0 && !stream->is_ended && !stream->is_cut && stream->events.room)
        stream->events.room(stream->events.context);
    if (stream->is_cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (waiting(stream) > 0)
        return take(stream, out, most);
    if (stream->is_ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    exchange->is_suspended = true;
    MHD_suspend_connection(exchange->connection->mhd);
    return 0;
}

static struct MHD_Response *build(const struct http_server *server, struct http_stream *stream,
                                  const struct http_response *head)
{
    struct MHD_Response *built =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_on, stream, NULL);

    if (built && !http_build_head(server, head, built)) {
        MHD_destroy_response(built);
        return NULL;
    }
    return built;
}

static void client_left(void *context)
{
    http_stream_cut(context);
}

/* Not being able to see that the client leaves only delays it: until something is sent. */
static void watch(struct http_exchange *exchange)
{
    const int unsent = UNSENT_IN_KERNEL;
    struct error err = {0};

    loop_unwatch(exchange->connection->server->loop, &exchange->watch);
    if (!http_request_watch(&exchange->request, client_left, exchange->stream, &err))
        exchange->watch.is_on = false;
    (void)setsockopt(exchange->connection->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent,
                     sizeof unsent); /* a Unix socket has none */
}

struct http_stream *http_stream_begin(struct http_request *request,
                                      const struct http_response *head,
                                      const struct http_stream_events *events)
{
    struct http_exchange *exchange = http_exchange_of(request);
    const struct http_server *server = exchange->connection->server;
    struct http_stream *stream = calloc(1, sizeof *stream);
    struct MHD_Response *built = stream ? build(server, stream, head) : NULL;

    assert(exchange->step == HTTP_STEP_HELD);
    http_exchange_refund(exchange);
    http_exchange_forget_body(exchange);
    if (!built) {
        free(stream);
        http_exchange_drop(exchange);
        return NULL;
    }
    *stream = (struct http_stream){
        .exchange = exchange, .events = *events, .unsent = BUFFER(server->memory)};
    exchange->stream = stream;
    exchange->sent = head->sent;
    exchange->sent_context = head->context;
    watch(exchange);
    http_exchange_send(exchange, (unsigned)head->status, built, HTTP_STREAMING, 0);
    return stream;
}

/* What was taken makes room at the front. */
static void append(struct http_stream *stream, struct bytes piece)
{
    struct buffer *unsent = &stream->unsent;

    if (stream->taken > 0) {
        memmove(unsent->data, unsent->data + stream->taken, waiting(stream));
        unsent->length -= stream->taken;
        stream->taken = 0;
    }
    buffer_add(unsent, piece.data, piece.length);
}

/* What is left of a shared piece becomes the stream's own, so that more can follow it. False: there
 * is no room for that. */
static bool unshare(struct http_stream *stream)
{
    struct http_piece *piece = stream->shared;
    const size_t from = stream->taken;

    if (!piece)
        return true;
    if (!http_server_charge(stream->exchange->connection->server, piece->length - from))
        return false;
    stream->shared = NULL;
    stream->taken = 0;
    append(stream, (struct bytes){piece->data + from, piece->length - from});
    http_piece_release(&piece);
    return true;
}

bool http_stream_write(struct http_stream *stream, struct bytes piece)
{
    assert(!stream->is_ended);
    if (!stream->exchange || stream->is_cut)
        return false;
    const size_t before = waiting(stream);
    const bool fits = before == 0 || piece.length <= HTTP_STREAM_UNSENT - before;

    if (piece.length == 0)
        return true;
    if (!fits || !unshare(stream) ||
        !http_server_charge(stream->exchange->connection->server, piece.length)) {
        http_stream_cut(stream);
        return false;
    }
    append(stream, piece);
    if (before == 0)
        note_progress(stream);
    http_exchange_resume(stream->exchange);
    return true;
}

bool http_stream_share(struct http_stream *stream, struct http_piece *piece)
{
    assert(!stream->is_ended);
    if (!stream->exchange || stream->is_cut)
        return false;
    if (waiting(stream) > 0 || piece->length == 0)
        return http_stream_write(stream, (struct bytes){piece->data, piece->length});
    piece->references++;
    stream->shared = piece;
    note_progress(stream);
    http_exchange_resume(stream->exchange);
    return true;
}

void http_stream_end(struct http_stream *stream)
{
    stream->is_ended = true;
    if (stream->exchange)
        http_exchange_resume(stream->exchange);
    else
        free(stream);
}

void http_stream_break(struct http_stream *stream)
{
    stream->is_ended = true;
    if (stream->exchange)
        http_stream_cut(stream);
    else
        free(stream);
}

void http_stream_cut(struct http_stream *stream)
{
    stream->is_cut = true;
    http_server_cut(stream->exchange->connection);
    http_exchange_resume(stream->exchange);
}

void http_stream_over(struct http_stream *stream)
{
    discard(stream);
    stream->exchange = NULL;
    if (stream->is_ended)
        free(stream);
    else
        stream->events.gone(stream->events.context);
}
