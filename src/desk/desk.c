/*
 * desk.c - a process that has a handle of the store and answers the doors: the gate, browse.
 *
 * Woken by calls, by the master's orders, and by a timer while the store is away.
 *
 *   what fails                         what happens
 *   the schema or the URL is wrong     exit, PROCESS_UNUSABLE
 *   the store is away                  the handle is closed; a new one is tried until it is back
 *   anything else                      exit, PROCESS_FAILED: the master starts the process again
 *
 * Nobody is called while nobody asks: an idle desk notices with the next call that the store is
 * away.
 */
#include "desk/desk.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "door/peers.h"
#include "process/known_clocks.h"
#include "process/meters.h"
#include "process/outage.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "store/store.h"

#include <stdlib.h>
#include <unistd.h>

struct desk {
    struct process *process;
    struct peers *peers; /* owned */
    struct store *store; /* owned; NULL while it is away */
    struct timekeeper clock;
    const struct desk_service *service;
    struct outage outage;
    struct loop_timer timer; /* of the next try */
    struct loop_timer turn;  /* of the service */
    int64_t calls;
    bool is_ready; /* the master has been told */
};

/* ---- the store ---- */

static void enter(struct desk *desk, enum slot_state state)
{
    scoreboard_set_state(desk->process->scoreboard, desk->process->slot, state);
}

static bool open_store(struct desk *desk, struct error *err)
{
    const struct config *config = desk->process->config;
    char caller[PROCESS_CALLER_SIZE];
    const struct store_options options = {
        .folder = config->folder,
        .migrate = config->pool.migrate,
        .max_payload = config->max_payload,
        .clock = &desk->clock,
        .caller = process_caller(desk->process, caller),
    };

    return store_open(desk->process->backend, &options, &desk->store, err) ||
           error_prefix(err, "open the store");
}

static void lose_store(struct desk *desk, const struct error *err)
{
    if (desk->store && desk->service->lost)
        desk->service->lost(desk->service->context, err);
    store_close(&desk->store);
    if (!outage_may_pass(err)) {
        process_stop(desk->process, process_fail(err));
        return;
    }
    meters_add_store_error(desk->process->meters, err->code);
    enter(desk, SLOT_WAITING);
    loop_set_timer(desk->process->loop, &desk->timer, outage_note(&desk->outage, err));
}

static void meet_closed_store(struct desk *desk, const struct error *err)
{
    if (err->code != TH_E_SCHEMA && err->code != TH_E_INVALID) {
        lose_store(desk, err);
        return;
    }
    log_error("store_unusable", "error=%s", err->text);
    process_stop(desk->process, PROCESS_UNUSABLE);
}

static void try_store(void *context)
{
    struct desk *desk = context;
    struct error err;

    if (!open_store(desk, &err)) {
        meet_closed_store(desk, &err);
        return;
    }
    outage_end(&desk->outage);
    enter(desk, SLOT_IDLE);
    if (!desk->is_ready && !process_ready(desk->process, &err))
        process_stop(desk->process, process_fail(&err));
    desk->is_ready = true;
    if (desk->service->found)
        desk->service->found(desk->service->context);
}

void desk_note_failure(struct desk *desk, const struct error *err)
{
    if (desk->store && outage_may_pass(err))
        lose_store(desk, err);
}

/* ---- calls ---- */

/* False when it is away, and err says so. */
static bool look_at_store(struct desk *desk, struct error *err)
{
    usec_t now;

    if (!desk->store)
        return error_set(err, TH_E_UNAVAILABLE, "the store is away");
    if (!store_read_clock(desk->store, &now, err)) {
        lose_store(desk, err);
        return false;
    }
    known_clock_keep(desk->process->known_clock, &desk->clock);
    return true;
}

static void answer_ping(struct desk *desk, struct peer *peer, uint64_t serial)
{
    struct error err;

    if (look_at_store(desk, &err))
        peer_answer(peer, serial, (struct bytes){0});
    else
        peer_refuse(peer, serial, &err);
}

/* What is noted now, and done when the store is there. */
static bool can_wait(enum call_kind kind)
{
    return kind == CALL_CONFIRM || kind == CALL_FORGET || kind == CALL_UNCLAIM;
}

static void note_call(void *context, struct peer *peer, const struct call *call)
{
    struct desk *desk = context;
    struct error err;

    scoreboard_count(desk->process->scoreboard, desk->process->slot, ++desk->calls);
    if (call->kind == CALL_PING) {
        answer_ping(desk, peer, call->serial);
    } else if (!desk->store && !can_wait(call->kind)) {
        error_set(&err, TH_E_UNAVAILABLE, "the store is away");
        peer_refuse(peer, call->serial, &err);
    } else {
        desk->service->called(desk->service->context, peer, call);
    }
}

static void note_gone(void *context, struct peer *peer, bool is_cut_off)
{
    struct desk *desk = context;
    const struct report report = {.kind = REPORT_PEER_CUT_OFF, .serial = peer_serial(peer)};
    struct error err;

    if (desk->service->gone)
        desk->service->gone(desk->service->context, peer);
    if (is_cut_off && !process_report(desk->process, &report, &err))
        process_stop(desk->process, process_fail(&err));
}

static const struct peers_events events = {.called = note_call, .gone = note_gone};

/* ---- its life ---- */

static void meet(struct desk *desk, const struct order *order, int fd)
{
    struct error err;

    if (!peers_add(desk->peers, peer_kind_name(order->peer), order->serial, fd, &err))
        process_stop(desk->process, process_fail(&err));
}

static void obey(void *context, const struct order *order, int fd)
{
    struct desk *desk = context;

    if (order->kind == ORDER_PEER && fd >= 0) {
        meet(desk, order, fd);
        return;
    }
    if (fd >= 0)
        close(fd);
    if (order->kind != ORDER_EXIT && order->kind != ORDER_RETIRE)
        return;
    enter(desk, SLOT_STOPPING);
    process_stop(desk->process, order->kind == ORDER_EXIT ? PROCESS_OK : PROCESS_RETIRED);
}

static void take_turn(void *context)
{
    struct desk *desk = context;

    desk->service->turn(desk->service->context);
}

static bool open_desk(struct desk *desk, struct error *err)
{
    struct process *process = desk->process;

    if (!peers_open(process->loop, &events, desk, &desk->peers, err))
        return false;
    known_clock_recall(process->known_clock, &desk->clock);
    process->obey = obey;
    process->context = desk;
    loop_set_timer(process->loop, &desk->timer, clock_boot());
    return true;
}

static void close_desk(struct desk *desk)
{
    struct process *process = desk->process;

    if (desk->service->ending)
        desk->service->ending(desk->service->context);
    process->obey = NULL;
    process->context = NULL;
    loop_clear_timer(process->loop, &desk->timer);
    loop_clear_timer(process->loop, &desk->turn);
    peers_close(&desk->peers);
    store_close(&desk->store);
}

/* ---- what services use ---- */

int desk_run(struct process *process, const struct desk_service *service, struct desk **desk_out)
{
    struct desk *desk = calloc(1, sizeof *desk);
    int exit_code;
    struct error err;

    if (!desk) {
        error_no_memory(&err);
        return process_fail(&err);
    }
    *desk = (struct desk){
        .process = process,
        .service = service,
        .clock = {.lease = process->config->pool.lease},
        .timer = {.call = try_store, .context = desk},
        .turn = {.call = take_turn, .context = desk},
    };
    *desk_out = desk;
    if (open_desk(desk, &err)) {
        exit_code = process_run(process);
        close_desk(desk);
    } else {
        exit_code = process_fail(&err);
    }
    *desk_out = NULL;
    free(desk);
    return exit_code;
}

struct process *desk_process(struct desk *desk)
{
    return desk->process;
}

struct store *desk_store(struct desk *desk)
{
    return desk->store;
}

void desk_rally(struct desk *desk)
{
    loop_set_timer(desk->process->loop, &desk->turn, clock_boot());
}
