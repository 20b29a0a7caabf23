/*
 * peers.h - in the gate and in browse: the doors that call, and the answers on their way to them.
 *
 * An answer that a door has no room for waits here. A door that reads nothing while more and more
 * waits for it is cut off, and so is one that sends what is no call: it was taken over, or is wrong
 * about itself. Whoever is told that has to see to it that it ends: no other pair of sockets is
 * made for it.
 */
#ifndef DOOR_PEERS_H
#define DOOR_PEERS_H

#include "base/base.h"
#include "door/call.h"

struct error;
struct loop;
struct peer;
struct peers;

#define PEERS_BYTES ((size_t)64 << 20) /* that may wait for one of them */

struct peers_events {
    /* Its pack is there as long as this call takes. */
    void (*called)(void *context, struct peer *peer, const struct call *call);

    /* It has died, or was cut off: nobody will have what it was not answered yet. The pointer is of
     * no use afterwards. */
    void (*gone)(void *context, struct peer *peer, bool is_cut_off);
};

bool peers_open(struct loop *loop, const struct peers_events *events, void *context,
                struct peers **peers_out, struct error *err) MUST_CHECK;

/* Without a word to anybody. */
void peers_close(struct peers **peers);

/* A door; the socket is taken over, even after an error. `name` is for the log, and lasting;
 * `serial` is that of its process. */
bool peers_add(struct peers *peers, const char *name, uint32_t serial, int socket,
               struct error *err) MUST_CHECK;

/* One that cannot be answered is cut off, in the next turn of the loop. */
void peer_answer(struct peer *peer, uint64_t serial, struct bytes pack);
void peer_refuse(struct peer *peer, uint64_t serial, const struct error *why);

/* As it was added. */
const char *peer_name(const struct peer *peer);
uint32_t peer_serial(const struct peer *peer);

#endif
