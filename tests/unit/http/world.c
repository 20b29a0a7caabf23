/*
 * world.c - a server and its clients in one process, in one loop.
 */
#include "world.h"

#include "base/clock.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PEERS_MAX 256

struct world world;

static struct peer peers[PEERS_MAX];
static size_t peer_count;
static struct sockaddr_storage address;
static socklen_t address_length;

static void note_gone(void *context)
{
    ck_assert_ptr_eq(context, &world);
    world.gone++;
}

static void note_room(void *context)
{
    ck_assert_ptr_eq(context, &world);
    world.room++;
}

static void note_sent(void *context, bool was_sent)
{
    ck_assert_ptr_eq(context, &world);
    world.sent = was_sent;
}

static void note_retired(void *context)
{
    ck_assert_ptr_eq(context, &world);
    world.retired++;
}

static bool admit(void *context, struct http_request *request, size_t *body_max_out,
                  struct http_response *refusal_out)
{
    ck_assert_ptr_eq(context, &world);
    ck_assert_ptr_null(request->body.data);
    world.admitted++;
    *body_max_out = world.body_max;
    if (!text_equal(request->path, "/secret"))
        return true;
    refusal_out->status = 401;
    refusal_out->body = (struct bytes){(const unsigned char *)"who?", 4};
    return false;
}

static void answer_text(struct http_request *request, const char *text)
{
    struct http_response response = {.status = 200, .type = "text/plain"};

    response.body = (struct bytes){(const unsigned char *)text, strlen(text)};
    http_answer(request, &response);
}

static void begin_stream(struct http_request *request)
{
    static const struct http_stream_events events = {note_room, note_gone, &world};
    const struct http_response head = {.status = 200, .type = "text/event-stream"};

    world.stream = http_stream_begin(request, &head, &events);
    ck_assert_ptr_nonnull(world.stream);
}

static void handle(void *context, struct http_request *request)
{
    struct http_response response = {
        .status = 200, .body = request->body, .sent = note_sent, .context = &world};

    ck_assert_ptr_eq(context, &world);
    world.handled++;
    world.sent = -1;
    if (text_equal(request->path, "/echo")) {
        http_answer(request, &response);
    } else if (text_equal(request->path, "/none")) {
        response.status = 204;
        http_answer(request, &response);
    } else if (text_equal(request->path, "/lasting")) {
        response.body = world.lasting;
        response.body_is = HTTP_LASTING;
        http_answer(request, &response);
    } else if (text_equal(request->path, "/hold")) {
        world.held = request;
    } else if (text_equal(request->path, "/drop")) {
        http_drop(request);
    } else if (text_equal(request->path, "/stream")) {
        begin_stream(request);
    } else if (text_equal(request->path, "/peer")) {
        answer_text(request, request->peer->sa_family == AF_UNIX ? "unix" : "inet");
    } else if (text_equal(request->path, "/method")) {
        answer_text(request, request->method);
    } else if (text_equal(request->path, "/header")) {
        const char *value = http_request_header(request, "x-TEST");

        answer_text(request, value ? value : "none");
    } else {
        answer_text(request, request->query);
    }
}

static void explain(void *context, int status, const char *reason,
                    struct http_response *response_out)
{
    ck_assert_ptr_eq(context, &world);
    response_out->status = status;
    response_out->type = "text/plain";
    response_out->body = (struct bytes){(const unsigned char *)reason, strlen(reason)};
}

void world_setup(void)
{
    world = (struct world){.listener = -1, .body_max = 1024, .sent = -1};
    world.options = (struct http_server_options){
        .listeners = &world.listener,
        .listener_count = 1,
        .connections = HTTP_CONNECTIONS,
        .connections_per_address = HTTP_CONNECTIONS_PER_ADDRESS,
        .memory = HTTP_MEMORY,
        .limits = HTTP_LIMITS,
        .handler = {&world, admit, handle, explain, note_retired},
    };
    ck_assert_msg(loop_open(&world.loop, &world.err), "%s", world.err.text);
}

void world_teardown(void)
{
    while (peer_count > 0) {
        struct peer *peer = &peers[--peer_count];

        if (peer->fd >= 0)
            world_leave(peer);
        free(peer->heard);
        *peer = (struct peer){0};
    }
    http_server_close(&world.server);
    if (world.stream)
        http_stream_end(world.stream);
    loop_close(&world.loop);
    if (world.listener >= 0)
        close(world.listener);
}

static void open_at(const struct sockaddr *place, socklen_t length)
{
    world.listener = socket(place->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_ge(world.listener, 0);
    ck_assert_int_eq(bind(world.listener, place, length), 0);
    ck_assert_int_eq(listen(world.listener, 511), 0);
    address_length = sizeof address;
    ck_assert_int_eq(getsockname(world.listener, (struct sockaddr *)&address, &address_length), 0);
    ck_assert_msg(http_server_open(world.loop, &world.options, &world.server, &world.err), "%s",
                  world.err.text);
}

void world_open(void)
{
    const struct sockaddr_in place = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    open_at((const struct sockaddr *)&place, sizeof place);
}

void world_open_unix(void)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};

    /* abstract: it has no file */
    snprintf(place.sun_path + 1, sizeof place.sun_path - 1, "th-http-%d", (int)getpid());
    open_at((const struct sockaddr *)&place, sizeof place);
}

/* All that is there. */
static void listen_to(void *context, unsigned events)
{
    struct peer *peer = context;

    (void)events;
    for (;;) {
        char *grown = realloc(peer->heard, peer->length + 65536 + 1);

        ck_assert_ptr_nonnull(grown);
        peer->heard = grown;
        const ssize_t count = recv(peer->fd, peer->heard + peer->length, 65536, MSG_DONTWAIT);

        if (count <= 0) {
            peer->heard[peer->length] = '\0';
            if (count < 0 && errno == EAGAIN)
                return;
            peer->was_reset = count < 0;
            peer->is_over = true;
            loop_unwatch(world.loop, &peer->watch);
            return;
        }
        peer->length += (size_t)count;
    }
}

static struct peer *new_peer(const char *from)
{
    struct peer *peer = &peers[peer_count++];

    ck_assert_uint_le(peer_count, PEERS_MAX);
    *peer = (struct peer){.heard = calloc(1, 1)};
    peer->fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(peer->fd, 0);
    if (from) {
        struct sockaddr_in place = {.sin_family = AF_INET};

        ck_assert_int_eq(inet_pton(AF_INET, from, &place.sin_addr), 1);
        ck_assert_int_eq(bind(peer->fd, (const struct sockaddr *)&place, sizeof place), 0);
    }
    ck_assert_int_eq(connect(peer->fd, (const struct sockaddr *)&address, address_length), 0);
    return peer;
}

struct peer *world_connect(const char *from)
{
    struct peer *peer = new_peer(from);

    world_listen(peer);
    return peer;
}

void world_listen(struct peer *peer)
{
    peer->watch = (struct loop_watch){.fd = peer->fd, .call = listen_to, .context = peer};
    ck_assert(loop_watch(world.loop, &peer->watch, LOOP_READ, &world.err));
}

struct peer *world_connect_deaf(void)
{
    return new_peer(NULL);
}

void world_leave(struct peer *peer)
{
    loop_unwatch(world.loop, &peer->watch);
    close(peer->fd);
    peer->fd = -1;
}

void world_say_bytes(struct peer *peer, const void *data, size_t length)
{
    const char *rest = data;

    while (length > 0) {
        const ssize_t count = send(peer->fd, rest, length, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (count < 0 && errno == EAGAIN) {
            world_step();
            continue;
        }
        if (count < 0) {
            peer->was_cut_short = true;
            return;
        }
        rest += count;
        length -= (size_t)count;
    }
}

void world_say(struct peer *peer, const char *text)
{
    world_say_bytes(peer, text, strlen(text));
}

void world_step(void)
{
    ck_assert_msg(loop_step(world.loop, &world.err), "%s", world.err.text);
}

void world_settle(void)
{
    for (int i = 0; i < 20; i++)
        ck_assert_msg(loop_glance(world.loop, &world.err), "%s", world.err.text);
}

void world_hear(struct peer *peer, const char *text)
{
    while (!strstr(peer->heard, text)) {
        ck_assert_msg(!peer->is_over, "closed, and heard only: %s", peer->heard);
        world_step();
    }
}

void world_hear_end(struct peer *peer)
{
    while (!peer->is_over)
        world_step();
}

void world_forget(struct peer *peer)
{
    peer->length = 0;
    peer->heard[0] = '\0';
}

void world_later(int seconds)
{
    http_server_tick(world.server, clock_boot() + SECONDS(seconds));
}
