/*
 * peers.c - in the gate and in browse: the doors that call, and the answers on their way to them.
 *
 * Invariant: a peer is freed from the loop's own call for it and from nowhere else, so whoever
 * answers one may go on using it.
 */
#include "door/peers.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "door/pack.h"
#include "door/parcel.h"
#include "process/loop.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALLS_AT_ONCE 64 /* then others have their turn */
#define REFUSAL_MAX   ((size_t)2 * ERROR_TEXT_SIZE)

/* An answer that waits for room. */
struct waiting {
    struct waiting *next;
    uint64_t serial;
    bool worked;
    struct parcel parcel; /* owned */
};

struct peer {
    struct peers *peers;
    struct peer *next;
    const char *name;
    uint32_t serial; /* of its process */
    int socket;      /* owned */
    struct loop_watch watch;
    struct waiting *first, **last; /* owned */
    size_t bytes;                  /* of them */
    bool is_cut_off;
};

struct peers {
    struct loop *loop;
    const struct peers_events *events;
    void *context;
    struct peer *first; /* owned */
};

/* ---- answers ---- */

/* The loop is told that it is closed, and then so are we. */
static void cut_off(struct peer *peer, const char *reason)
{
    if (peer->is_cut_off)
        return;
    peer->is_cut_off = true;
    log_error("peer_lost", "peer=%s error=%s", peer->name, reason);
    shutdown(peer->socket, SHUT_RDWR);
}

static void drop_first(struct peer *peer)
{
    struct waiting *waiting = peer->first;

    peer->first = waiting->next;
    if (!peer->first)
        peer->last = &peer->first;
    peer->bytes -= waiting->parcel.length;
    parcel_done(&waiting->parcel);
    free(waiting);
}

static void watch_for(struct peer *peer, unsigned events)
{
    struct error err;

    if (!loop_watch(peer->peers->loop, &peer->watch, events, &err))
        cut_off(peer, err.text);
}

static void send_waiting(struct peer *peer)
{
    struct error err;

    while (peer->first) {
        const struct waiting *waiting = peer->first;

        switch (
            answer_send(peer->socket, waiting->serial, waiting->worked, &waiting->parcel, &err)) {
        case DELIVERY_DONE:
            drop_first(peer);
            break;
        case DELIVERY_NONE:
            watch_for(peer, LOOP_READ | LOOP_WRITE);
            return;
        case DELIVERY_CLOSED: /* seen by whoever reads */
            return;
        case DELIVERY_FAILED:
            cut_off(peer, err.text);
            return;
        }
    }
}

static bool add_waiting(struct peer *peer, uint64_t serial, bool worked, struct bytes pack,
                        struct error *err)
{
    struct waiting *waiting = calloc(1, sizeof *waiting);

    if (!waiting)
        return error_no_memory(err);
    if (!parcel_make(pack, &waiting->parcel, err)) {
        free(waiting);
        return false;
    }
    waiting->serial = serial;
    waiting->worked = worked;
    peer->bytes += pack.length;
    *peer->last = waiting;
    peer->last = &waiting->next;
    return true;
}

static void answer(struct peer *peer, uint64_t serial, bool worked, struct bytes pack)
{
    const bool was_idle = !peer->first;
    struct error err;

    if (peer->bytes + pack.length > PEERS_BYTES)
        cut_off(peer, "it does not listen");
    else if (!add_waiting(peer, serial, worked, pack, &err))
        cut_off(peer, err.text);
    else if (was_idle)
        send_waiting(peer);
}

void peer_answer(struct peer *peer, uint64_t serial, struct bytes pack)
{
    answer(peer, serial, true, pack);
}

void peer_refuse(struct peer *peer, uint64_t serial, const struct error *why)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(REFUSAL_MAX);

    pack_error(&pack, why);
    answer(peer, serial, false, (struct bytes){(const unsigned char *)pack.data, pack.length});
}

const char *peer_name(const struct peer *peer)
{
    return peer->name;
}

uint32_t peer_serial(const struct peer *peer)
{
    return peer->serial;
}

/* ---- calls ---- */

static void free_peer(struct peer *peer)
{
    loop_unwatch(peer->peers->loop, &peer->watch);
    close(peer->socket);
    while (peer->first)
        drop_first(peer);
    free(peer);
}

static void remove_peer(struct peer *peer)
{
    struct peers *peers = peer->peers;
    struct peer **place = &peers->first;

    while (*place != peer)
        place = &(*place)->next;
    *place = peer->next;
    peers->events->gone(peers->context, peer, peer->is_cut_off);
    free_peer(peer);
}

static enum delivery hear_call(struct peer *peer, struct error *err)
{
    const struct peers *peers = peer->peers;
    CLEANUP(arena_done) struct arena arena = {0};
    struct call call;
    const enum delivery delivery = call_receive(peer->socket, &arena, &call, err);

    if (delivery == DELIVERY_DONE)
        peers->events->called(peers->context, peer, &call);
    return delivery;
}

static void hear(void *context, unsigned events)
{
    struct peer *peer = context;
    enum delivery delivery = DELIVERY_DONE;
    struct error err;

    if (events & LOOP_WRITE) {
        watch_for(peer, LOOP_READ);
        send_waiting(peer);
    }
    for (int i = 0; i < CALLS_AT_ONCE && delivery == DELIVERY_DONE; i++)
        delivery = hear_call(peer, &err);
    if (delivery == DELIVERY_FAILED)
        cut_off(peer, err.text);
    if (delivery == DELIVERY_FAILED || delivery == DELIVERY_CLOSED)
        remove_peer(peer);
}

/* ---- all of them ---- */

bool peers_open(struct loop *loop, const struct peers_events *events, void *context,
                struct peers **peers_out, struct error *err)
{
    struct peers *peers = calloc(1, sizeof *peers);

    if (!peers)
        return error_no_memory(err);
    *peers = (struct peers){.loop = loop, .events = events, .context = context};
    *peers_out = peers;
    return true;
}

void peers_close(struct peers **peers)
{
    if (!*peers)
        return;
    while ((*peers)->first) {
        struct peer *peer = (*peers)->first;

        (*peers)->first = peer->next;
        free_peer(peer);
    }
    free(*peers);
    *peers = NULL;
}

bool peers_add(struct peers *peers, const char *name, uint32_t serial, int socket,
               struct error *err)
{
    struct peer *peer = calloc(1, sizeof *peer);

    if (!peer) {
        close(socket);
        return error_no_memory(err);
    }
    peer->peers = peers;
    peer->name = name;
    peer->serial = serial;
    peer->socket = socket;
    peer->last = &peer->first;
    peer->watch = (struct loop_watch){.fd = socket, .call = hear, .context = peer};
    if (!loop_watch(peers->loop, &peer->watch, LOOP_READ, err)) {
        free_peer(peer);
        return error_prefix(err, "listen to %s", name);
    }
    peer->next = peers->first;
    peers->first = peer;
    return true;
}
