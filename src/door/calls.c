/*
 * calls.c - in a door: its open calls to one other process, the gate or browse.
 *
 * Invariants:
 *   - A call is in one list: waiting, sent, or a local one of those that are about to be answered
 *     from here. It is found by its serial until it has been answered.
 *   - A call is let go before its callback is made, so that the callback may do anything but close.
 *   - What a peer said before it died is heard before its end is acted on.
 */
#include "door/calls.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "door/pack.h"
#include "door/parcel.h"
#include "process/loop.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#define BUCKETS         1024
#define ANSWERS_AT_ONCE 64 /* then others have their turn */

struct open_call {
    struct open_call *before, *after; /* in its list, which is a ring */
    struct open_call *next;           /* in its bucket */
    uint64_t serial;
    enum call_kind kind;
    struct parcel parcel; /* owned */
    bool may_be_repeated;
    bool is_sent;
    usec_t until;
    void (*answered)(void *context, struct bytes pack, const struct error *err); /* NULL: a word */
    void *context;
};

struct calls {
    struct loop *loop;
    const char *name;
    int socket; /* owned; -1: there is no peer */
    struct loop_watch watch;
    struct loop_timer timer;
    uint64_t last_serial;
    size_t count, bytes;            /* of those that are not words */
    struct open_call waiting, sent; /* heads of rings */
    struct open_call *buckets[BUCKETS];
};

/* ---- rings ---- */

static void ring_init(struct open_call *ring)
{
    ring->before = ring->after = ring;
}

static bool ring_is_empty(const struct open_call *ring)
{
    return ring->after == ring;
}

static void ring_remove(struct open_call *call)
{
    call->before->after = call->after;
    call->after->before = call->before;
}

/* At the end of the ring; before a member of it: before that. */
static void ring_append(struct open_call *ring, struct open_call *call)
{
    call->before = ring->before;
    call->after = ring;
    ring->before->after = call;
    ring->before = call;
}

static void ring_move(struct open_call *call, struct open_call *ring)
{
    ring_remove(call);
    ring_append(ring, call);
}

/* ---- by serial ---- */

static struct open_call **place_of(struct calls *calls, uint64_t serial)
{
    struct open_call **place = &calls->buckets[serial % BUCKETS];

    while (*place && (*place)->serial != serial)
        place = &(*place)->next;
    return place;
}

/* A word is found by nobody: its serial is that of the call which it is about. */
static void enlist(struct calls *calls, struct open_call *call)
{
    *place_of(calls, call->serial) = call;
    calls->count++;
    calls->bytes += call->parcel.length;
}

static void delist(struct calls *calls, const struct open_call *call)
{
    struct open_call **place = place_of(calls, call->serial);

    *place = call->next;
    calls->count--;
    calls->bytes -= call->parcel.length;
}

static void free_call(struct open_call *call)
{
    ring_remove(call);
    parcel_done(&call->parcel);
    free(call);
}

/* ---- sending ---- */

static void watch_for(struct calls *calls, unsigned events)
{
    struct error err;

    if (!loop_watch(calls->loop, &calls->watch, events, &err))
        log_error("peer_lost", "peer=%s error=%s", calls->name, err.text);
}

static void note_sent(struct calls *calls, struct open_call *call)
{
    if (!call->answered) {
        free_call(call);
        return;
    }
    call->is_sent = true;
    ring_move(call, &calls->sent);
}

/* No peer of any kind could be told that one: it is answered from here, soon. */
static void give_up(struct calls *calls, struct open_call *call, const struct error *err)
{
    log_error("call_failed", "peer=%s error=%s", calls->name, err->text);
    if (call->answered)
        loop_set_timer(calls->loop, &calls->timer, clock_boot());
    call->until = 0;
    note_sent(calls, call);
}

/* A peer that has closed its end is seen by whoever reads. */
static void send_waiting(struct calls *calls)
{
    struct error err;

    while (calls->socket >= 0 && !ring_is_empty(&calls->waiting)) {
        struct open_call *call = calls->waiting.after;

        switch (call_send(calls->socket, call->serial, call->kind, &call->parcel, &err)) {
        case DELIVERY_DONE:
            note_sent(calls, call);
            break;
        case DELIVERY_NONE:
            watch_for(calls, LOOP_READ | LOOP_WRITE);
            return;
        case DELIVERY_CLOSED:
            return;
        case DELIVERY_FAILED:
            give_up(calls, call, &err);
            break;
        }
    }
}

/* ---- answering from here ---- */

/* Nobody will have what the peer answers it with. The call becomes the word that says so: that
 * takes no memory, which there may be none of. */
static void make_forget(struct calls *calls, struct open_call *call)
{
    parcel_done(&call->parcel);
    call->kind = CALL_FORGET;
    call->answered = NULL;
    ring_move(call, &calls->waiting);
}

static void let_go(struct calls *calls, struct open_call *call)
{
    delist(calls, call);
    if (call->is_sent && calls->socket >= 0)
        make_forget(calls, call);
    else
        free_call(call);
}

static void fail_all(struct calls *calls, struct open_call *ring)
{
    struct error err;

    while (!ring_is_empty(ring)) {
        struct open_call *call = ring->after;
        void (*const answered)(void *, struct bytes, const struct error *) = call->answered;
        void *const context = call->context;

        assert(answered); /* words are in no such ring */
        if (call->is_sent)
            error_set(&err, TH_E_UNCERTAIN, "%s has not answered", calls->name);
        else
            error_set(&err, TH_E_UNAVAILABLE, "%s is away, or too busy", calls->name);
        let_go(calls, call);
        answered(context, (struct bytes){0}, &err);
    }
}

/* *next_out becomes the end of the first patience that is left. */
static void take_late(struct open_call *from, struct open_call *late, usec_t now, usec_t *next_out)
{
    for (struct open_call *call = from->after, *after; call != from; call = after) {
        after = call->after;
        if (!call->answered)
            continue;
        if (call->until <= now)
            ring_move(call, late);
        else if (call->until < *next_out)
            *next_out = call->until;
    }
}

static void lose_patience(void *context)
{
    struct calls *calls = context;
    struct open_call late;
    usec_t next = USEC_MAX;

    ring_init(&late);
    take_late(&calls->waiting, &late, clock_boot(), &next);
    take_late(&calls->sent, &late, clock_boot(), &next);
    if (next < USEC_MAX)
        loop_set_timer(calls->loop, &calls->timer, next);
    fail_all(calls, &late);
    send_waiting(calls);
}

/* ---- hearing ---- */

static void accept_answer(struct calls *calls, const struct answer *answer)
{
    struct open_call *call = *place_of(calls, answer->serial);
    struct error err;

    if (!call || !call->is_sent)
        return; /* it was forgotten meanwhile, and the peer hears of it */
    void (*const answered)(void *, struct bytes, const struct error *) = call->answered;
    void *const context = call->context;
    delist(calls, call);
    free_call(call);
    if (answer->worked) {
        answered(context, answer->pack, NULL);
        return;
    }
    struct unpack unpack = unpack_begin(answer->pack);
    struct error refusal;
    unpack_error(&unpack, &refusal);
    answered(context, (struct bytes){0}, unpack_end(&unpack, "an error", &err) ? &refusal : &err);
}

static enum delivery hear_answer(struct calls *calls, struct error *err)
{
    struct arena arena = {0};
    struct answer answer;
    const enum delivery delivery = answer_receive(calls->socket, &arena, &answer, err);

    if (delivery == DELIVERY_DONE)
        accept_answer(calls, &answer);
    arena_done(&arena);
    return delivery;
}

/* What may be repeated waits again, in its order and before what came later. Words are about calls
 * that the next peer has never heard of. */
static void sort_out(struct calls *calls, struct open_call *lost)
{
    struct open_call *first = calls->waiting.after;

    for (struct open_call *call = first, *after; call != &calls->waiting; call = after) {
        after = call->after;
        if (call->answered)
            continue;
        first = first == call ? after : first;
        free_call(call);
    }
    while (!ring_is_empty(&calls->sent)) {
        struct open_call *call = calls->sent.after;

        ring_move(call, call->may_be_repeated ? first : lost);
        call->is_sent = !call->may_be_repeated;
    }
}

static void lose_peer(struct calls *calls)
{
    struct open_call lost;

    loop_unwatch(calls->loop, &calls->watch);
    close(calls->socket);
    calls->socket = -1;
    ring_init(&lost);
    sort_out(calls, &lost);
    fail_all(calls, &lost);
}

static enum delivery hear_answers(struct calls *calls, size_t most)
{
    enum delivery delivery = DELIVERY_DONE;
    struct error err;

    for (size_t i = 0; i < most && delivery == DELIVERY_DONE; i++)
        delivery = hear_answer(calls, &err);
    if (delivery == DELIVERY_FAILED)
        log_error("peer_lost", "peer=%s error=%s", calls->name, err.text);
    return delivery;
}

static void hear(void *context, unsigned events)
{
    struct calls *calls = context;

    if (events & LOOP_WRITE) {
        watch_for(calls, LOOP_READ);
        send_waiting(calls);
    }
    switch (hear_answers(calls, ANSWERS_AT_ONCE)) {
    case DELIVERY_DONE:
    case DELIVERY_NONE:
        return;
    case DELIVERY_CLOSED:
    case DELIVERY_FAILED:
        lose_peer(calls);
        return;
    }
}

/* ---- what callers use ---- */

bool calls_open(struct loop *loop, const char *name, struct calls **calls_out, struct error *err)
{
    struct calls *calls = calloc(1, sizeof *calls);

    if (!calls)
        return error_no_memory(err);
    calls->loop = loop;
    calls->name = name;
    calls->socket = -1;
    calls->timer = (struct loop_timer){.call = lose_patience, .context = calls};
    ring_init(&calls->waiting);
    ring_init(&calls->sent);
    *calls_out = calls;
    return true;
}

static void free_ring(struct open_call *ring)
{
    while (!ring_is_empty(ring))
        free_call(ring->after);
}

void calls_close(struct calls **calls)
{
    if (!*calls)
        return;
    loop_clear_timer((*calls)->loop, &(*calls)->timer);
    loop_unwatch((*calls)->loop, &(*calls)->watch);
    if ((*calls)->socket >= 0)
        close((*calls)->socket);
    free_ring(&(*calls)->waiting);
    free_ring(&(*calls)->sent);
    free(*calls);
    *calls = NULL;
}

bool calls_connect(struct calls *calls, int socket, struct error *err)
{
    if (calls->socket >= 0) {
        hear_answers(calls, SIZE_MAX);
        lose_peer(calls);
    }
    calls->socket = socket;
    calls->watch = (struct loop_watch){.fd = socket, .call = hear, .context = calls};
    if (!loop_watch(calls->loop, &calls->watch, LOOP_READ, err))
        return error_prefix(err, "listen to %s", calls->name);
    send_waiting(calls);
    return true;
}

static bool has_room(const struct calls *calls, size_t length, struct error *err)
{
    if (calls->count < CALLS_MAX && calls->bytes + length <= CALLS_BYTES)
        return true;
    return error_set(err, TH_E_UNAVAILABLE, "too much waits for %s", calls->name);
}

static struct open_call *make_call(const struct call_wish *wish, struct error *err)
{
    struct open_call *call = calloc(1, sizeof *call);

    if (!call) {
        error_no_memory(err);
        return NULL;
    }
    if (!parcel_make(wish->pack, &call->parcel, err)) {
        free(call);
        return NULL;
    }
    call->kind = wish->kind;
    call->may_be_repeated = wish->may_be_repeated;
    call->until = clock_boot() + (wish->patience > 0 ? wish->patience : CALLS_PATIENCE);
    call->answered = wish->answered;
    call->context = wish->context;
    return call;
}

bool calls_send(struct calls *calls, const struct call_wish *wish, uint64_t *serial_out,
                struct error *err)
{
    if (!has_room(calls, wish->pack.length, err))
        return false;
    struct open_call *call = make_call(wish, err);
    if (!call)
        return false;
    *serial_out = call->serial = ++calls->last_serial;
    enlist(calls, call);
    ring_append(&calls->waiting, call);
    if (!calls->timer.is_on || call->until < calls->timer.at)
        loop_set_timer(calls->loop, &calls->timer, call->until);
    send_waiting(calls);
    return true;
}

void calls_forget(struct calls *calls, uint64_t serial)
{
    struct open_call *call = *place_of(calls, serial);

    if (!call)
        return;
    let_go(calls, call);
    send_waiting(calls);
}

bool calls_confirm(struct calls *calls, uint64_t serial, struct error *err)
{
    if (calls->socket < 0)
        return true;
    struct open_call *word = calloc(1, sizeof *word);
    if (!word)
        return error_no_memory(err);
    word->serial = serial;
    word->kind = CALL_CONFIRM;
    word->parcel.fd = -1;
    ring_append(&calls->waiting, word);
    send_waiting(calls);
    return true;
}

bool calls_are_connected(const struct calls *calls)
{
    return calls->socket >= 0;
}

size_t calls_count(const struct calls *calls)
{
    return calls->count;
}
