/*
 * claims.c - remote workers that want jobs, until there are some or their time is over.
 *
 * Invariants:
 *   - A claim is in the list until it has been answered, or nobody waits for it any more.
 *   - What was reserved for it is in its delivery before it is answered, or goes back.
 *   - What the gate before this one may have reserved for a claim that comes again is found by its
 *     batch.
 */
#include "gate/claims.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "door/claim_call.h"
#include "door/pack.h"
#include "door/remote_lease.h"
#include "gate/inside.h"
#include "gate/reserve.h"
#include "process/process.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

/* Claims of this age of the gate may be known to the one before it. */
#define INHERITANCE (15 * USEC_PER_SEC)

#define DRY_MAX 256 /* queues that are remembered in one turn */

struct claim {
    struct claim *next;
    struct peer *peer;
    uint64_t serial;
    struct arena arena;
    struct claim_call call;
    struct batch_token name; /* that of the call, by which the door knows it */
    usec_t until;            /* boot time */
    usec_t again_at;         /* boot time at which a rate allows more; 0: it does */
    uint64_t rings;          /* when it was asked for last */
    bool is_new;
    bool may_be_known; /* to the gate before this one */
};

/* Queues that had nothing in this turn. */
struct dry {
    const char *queues[DRY_MAX];
    size_t count;
};

/* ---- taking ---- */

static void free_claim(struct claim *claim)
{
    arena_done(&claim->arena);
    free(claim);
}

static bool read_call(struct claim *claim, const struct call *call, struct error *err)
{
    const struct bytes pack = arena_bytes(&claim->arena, call->pack);

    if (claim->arena.failed)
        return error_no_memory(err);
    return claim_call_unpack(pack, &claim->arena, &claim->call, err);
}

static void wake(void *context)
{
    desk_rally(((struct gate *)context)->desk);
}

void claims_init(struct gate *gate)
{
    gate->claims = (struct claims){
        .last = &gate->claims.first,
        .timer = {.call = wake, .context = gate},
    };
}

void claims_take(struct gate *gate, struct peer *peer, const struct call *call)
{
    struct claim *claim = calloc(1, sizeof *claim);
    struct error err;

    if (!claim) {
        error_no_memory(&err);
        peer_refuse(peer, call->serial, &err);
        return;
    }
    claim->peer = peer;
    claim->serial = call->serial;
    if (!read_call(claim, call, &err)) {
        peer_refuse(peer, call->serial, &err);
        free_claim(claim);
        return;
    }
    claim->name = claim->call.batch;
    claim->until = clock_boot() + claim->call.wait;
    claim->is_new = true;
    claim->may_be_known = clock_boot() < gate->born_at + INHERITANCE;
    *gate->claims.last = claim;
    gate->claims.last = &claim->next;
    desk_rally(gate->desk);
}

/* Takes it off the list; the next one is in its place. */
static void drop(struct gate *gate, struct claim **place)
{
    struct claim *claim = *place;

    *place = claim->next;
    if (!claim->next)
        gate->claims.last = place;
    free_claim(claim);
}

static bool is_of_batch(const struct claim *claim, const struct batch_token *batch)
{
    return memcmp(claim->name.bytes, batch->bytes, sizeof batch->bytes) == 0;
}

static bool drop_batch(struct gate *gate, const struct batch_token *batch)
{
    struct claim **place = &gate->claims.first;

    while (*place && !is_of_batch(*place, batch))
        place = &(*place)->next;
    if (!*place)
        return false;
    const bool is_certain = !(*place)->may_be_known;

    drop(gate, place);
    return is_certain;
}

void claims_take_back(struct gate *gate, struct peer *peer, const struct call *call)
{
    struct batch_token batch;
    const char *pool;
    struct error err;

    if (!unclaim_call_unpack(call->pack, &pool, &batch, &err)) {
        peer_refuse(peer, call->serial, &err);
        return;
    }
    if (!drop_batch(gate, &batch) && !deliveries_take_back(gate, &batch))
        returns_doubt(gate, pool, &batch);
    peer_answer(peer, call->serial, (struct bytes){0});
}

void claims_forget(struct gate *gate, const struct peer *peer, uint64_t serial)
{
    struct claim **place = &gate->claims.first;

    while (*place && ((*place)->peer != peer || (*place)->serial != serial))
        place = &(*place)->next;
    if (*place)
        drop(gate, place);
}

void claims_forget_peer(struct gate *gate, const struct peer *peer)
{
    struct claim **place = &gate->claims.first;

    while (*place) {
        if (!peer || (*place)->peer == peer)
            drop(gate, place);
        else
            place = &(*place)->next;
    }
}

void claims_refuse_all(struct gate *gate, const struct error *why)
{
    while (gate->claims.first) {
        peer_refuse(gate->claims.first->peer, gate->claims.first->serial, why);
        drop(gate, &gate->claims.first);
    }
}

/* ---- answering ---- */

static bool send_answer(const struct claim *claim, const struct remote *remote, struct job *jobs,
                        size_t count, struct error *err)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);
    const struct claim_answer answer = {jobs, count, remote->state};

    claim_answer_pack(&pack, &answer);
    if (!buffer_ok(&pack, err))
        return false;
    gate_answer(claim->peer, claim->serial, &pack);
    return true;
}

static void note_jobs(struct remote *remote, const struct claim *claim, const struct job *jobs,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct remote_lease lease = remote_lease_of(&jobs[i], claim->call.lease_for);

        remote_note_job(remote, &lease);
    }
}

/* What cannot be handed out goes back. */
static void deliver(struct gate *gate, const struct claim *claim, struct remote *remote,
                    struct job *jobs, size_t count)
{
    struct error err;

    error_no_memory(&err);
    if (!deliveries_add(gate, claim->peer, claim->serial, &claim->name, jobs, count)) {
        for (size_t i = 0; i < count; i++)
            returns_add_job(gate, &jobs[i]);
        peer_refuse(claim->peer, claim->serial, &err);
    } else if (!send_answer(claim, remote, jobs, count, &err)) {
        deliveries_take_back_call(gate, claim->peer, claim->serial);
        peer_refuse(claim->peer, claim->serial, &err);
    } else {
        note_jobs(remote, claim, jobs, count);
    }
}

static void answer_nothing(const struct claim *claim, const struct remote *remote)
{
    struct error err;

    if (!send_answer(claim, remote, NULL, 0, &err))
        peer_refuse(claim->peer, claim->serial, &err);
}

/* ---- asking ---- */

static bool is_dry(const struct dry *dry, const char *queue)
{
    for (size_t i = 0; i < dry->count; i++) {
        if (text_equal(dry->queues[i], queue))
            return true;
    }
    return false;
}

static bool are_dry(const struct dry *dry, const struct claim *claim)
{
    for (size_t i = 0; i < claim->call.queue_count; i++) {
        if (!is_dry(dry, claim->call.queues[i]))
            return false;
    }
    return true;
}

/* Their names are those of a claim that may be answered in this turn: they are copied. */
static void note_dry(struct gate *gate, struct dry *dry, const struct claim *claim)
{
    for (size_t i = 0; claim->call.type_count == 0 && i < claim->call.queue_count; i++) {
        if (dry->count < DRY_MAX && !is_dry(dry, claim->call.queues[i]))
            dry->queues[dry->count++] = arena_text(&gate->turn, claim->call.queues[i]);
    }
}

static bool is_to_be_asked(const struct gate *gate, const struct claim *claim, usec_t now)
{
    if (claim->again_at > 0)
        return claim->again_at <= now;
    return claim->is_new || claim->rings != gate->bell.rings;
}

static void answer_with(struct gate *gate, struct claim **place, struct job *jobs, size_t count)
{
    struct claim *claim = *place;
    struct remote *remote = remotes_get(gate, claim->call.pool);
    const size_t kept = reserve_keep(gate, &claim->call, jobs, count);

    if (count > 0 && kept == 0) { /* none of them is to be run: there may be others */
        claim->is_new = true;
        random_bytes(&claim->call.batch, sizeof claim->call.batch); /* that one was used */
        desk_rally(gate->desk);
    }
    if (kept == 0 || !remote)
        return;
    deliver(gate, claim, remote, jobs, kept);
    drop(gate, place);
}

/* ---- what the gate before this one has reserved ---- */

static bool inherit(struct gate *gate, struct claim **place, struct error *err)
{
    CLEANUP(job_list_done) struct job_list held = {0};
    struct claim *claim = *place;
    size_t count = 0;

    claim->may_be_known = false;
    if (!store_held(desk_store(gate->desk), claim->call.pool, &held, err))
        return error_prefix(err, "ask what %s holds", claim->call.pool);
    for (size_t i = 0; i < held.count; i++) {
        if (memcmp(held.items[i].token.bytes, claim->call.batch.bytes,
                   sizeof claim->call.batch.bytes) == 0)
            held.items[count++] = held.items[i];
    }
    answer_with(gate, place, held.items, count);
    return true;
}

static bool inherit_all(struct gate *gate, struct error *err)
{
    struct claim **place = &gate->claims.first;

    while (*place) {
        struct claim *claim = *place;

        if (claim->may_be_known && !inherit(gate, place, err))
            return false;
        if (*place == claim)
            place = &claim->next;
    }
    return true;
}

/* ---- a round ---- */

/* Claims for which the store is asked at once. */
struct round {
    struct claim *claims[RESERVE_MAX];
    const struct claim_call *calls[RESERVE_MAX];
    struct reserved reserved[RESERVE_MAX];
    size_t count;
};

static bool gather(struct gate *gate, const struct dry *dry, struct round *round, struct error *err)
{
    const usec_t now = clock_boot();

    round->count = 0;
    for (struct claim *claim = gate->claims.first; claim && round->count < RESERVE_MAX;
         claim = claim->next) {
        const struct remote *remote = remotes_get(gate, claim->call.pool);

        if (!remote)
            return error_no_memory(err);
        if (remote->state != REMOTE_RUNNING)
            claim->is_new = false; /* it waits, and is told why there is nothing */
        if (remote->state != REMOTE_RUNNING || !is_to_be_asked(gate, claim, now))
            continue;
        claim->is_new = false;
        claim->rings = gate->bell.rings;
        if (are_dry(dry, claim))
            continue;
        round->calls[round->count] = &claim->call;
        round->claims[round->count++] = claim;
    }
    return true;
}

static struct claim **place_of(struct gate *gate, const struct claim *claim)
{
    struct claim **place = &gate->claims.first;

    while (*place != claim)
        place = &(*place)->next;
    return place;
}

static bool run_round(struct gate *gate, struct dry *dry, struct round *round, struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};

    if (!reserve_for(gate, round->calls, round->count, &jobs, round->reserved, err))
        return false;
    for (size_t i = 0; i < round->count; i++) {
        struct claim *claim = round->claims[i];
        const struct reserved *reserved = &round->reserved[i];

        claim->again_at = reserved->again_at;
        if (reserved->is_dry && reserved->again_at == 0)
            note_dry(gate, dry, claim);
        answer_with(gate, place_of(gate, claim), reserved->jobs, reserved->count);
    }
    return true;
}

static bool serve_all(struct gate *gate, struct error *err)
{
    struct dry dry = {.count = 0};
    struct round round;

    do {
        if (!gather(gate, &dry, &round, err) ||
            (round.count > 0 && !run_round(gate, &dry, &round, err)))
            return false;
    } while (round.count == RESERVE_MAX);
    return true;
}

/* ---- a turn ---- */

bool claims_touch(struct gate *gate, struct error *err)
{
    const usec_t now = clock_boot();

    for (struct claim *claim = gate->claims.first; claim; claim = claim->next) {
        if (!claim->is_new && claim->until > now)
            continue;
        struct remote *remote = remotes_get(gate, claim->call.pool);

        if (!remote)
            return error_no_memory(err);
        if (claim->is_new)
            remote_note_claim(remote, &claim->call);
        remote_touch(gate, remote);
    }
    return true;
}

static void end_waits(struct gate *gate)
{
    struct claim **place = &gate->claims.first;
    const usec_t now = clock_boot();

    while (*place) {
        const struct remote *remote = remotes_get(gate, (*place)->call.pool);

        if ((*place)->is_new || (*place)->until > now || !remote) {
            place = &(*place)->next;
            continue;
        }
        answer_nothing(*place, remote);
        drop(gate, place);
    }
}

static void set_timer(struct gate *gate)
{
    usec_t next = USEC_MAX;

    for (const struct claim *claim = gate->claims.first; claim; claim = claim->next) {
        if (claim->until < next)
            next = claim->until;
        if (claim->again_at > 0 && claim->again_at < next)
            next = claim->again_at;
    }
    if (next < USEC_MAX)
        loop_set_timer(desk_process(gate->desk)->loop, &gate->claims.timer, next);
}

bool claims_run(struct gate *gate, struct error *err)
{
    if (!gate->claims.first)
        return bell_answer(gate, err);
    if (!bell_listen(gate, err) || !bell_answer(gate, err) || !inherit_all(gate, err) ||
        !serve_all(gate, err))
        return false;
    end_waits(gate);
    set_timer(gate);
    return true;
}
