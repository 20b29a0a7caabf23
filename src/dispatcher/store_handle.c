/*
 * store_handle.c - the dispatcher's handle of the store, and its bell.
 */
#include "dispatcher/store_handle.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "dispatcher/handout.h"
#include "dispatcher/recovery.h"
#include "dispatcher/state.h"
#include "process/meters.h"
#include "process/process.h"
#include "store/store.h"

static void hear_bell(void *context, unsigned events)
{
    struct dispatcher *dispatcher = context;

    (void)events;
    dispatcher_add(dispatcher, CHORE_HEAR_BELL);
    /* It is not answered before all that is out has landed: until then it need not wake us. */
    if (dispatcher->flights.count > 0)
        loop_unwatch(dispatcher->process->loop, &dispatcher->bell);
}

static bool watch_bell(struct dispatcher *dispatcher, struct error *err)
{
    int fd;

    if (!store_wait_fd(dispatcher->store, &fd, err))
        return false;
    dispatcher->bell = (struct loop_watch){.fd = fd, .call = hear_bell, .context = dispatcher};
    return loop_watch(dispatcher->process->loop, &dispatcher->bell, LOOP_READ, err);
}

/* One that nobody answers would keep us awake. */
static void leave_bell(struct dispatcher *dispatcher)
{
    loop_unwatch(dispatcher->process->loop, &dispatcher->bell);
    dispatcher->chores &= ~(unsigned)CHORE_HEAR_BELL;
}

void store_handle_close(struct dispatcher *dispatcher)
{
    flights_abandon(dispatcher);
    leave_bell(dispatcher);
    store_close(&dispatcher->store);
}

/* What the store may lose is said at the start, not when it is lost. */
static void tell_durability(struct store *store)
{
    char text[STORE_DURABILITY_SIZE];
    struct error err;
    bool is_safe;

    if (!store_durability(store, text, &is_safe, &err) || text[0] == '\0')
        return;
    if (is_safe)
        log_info("store_durability", "text=%s", text);
    else
        log_warning("store_durability", "text=%s", text);
}

/* Keeps max_payload and idempotency_window in the store, for producers that see no config. Jobs run
 * without it, so a store that takes no writes now is no reason to wait: it is tried again. */
static void publish(struct dispatcher *dispatcher)
{
    const struct store_limits limits = {
        .max_payload = (size_t)dispatcher->config->max_payload,
        .idempotency_window = dispatcher->config->idempotency_window,
    };
    struct error err;

    if (!dispatcher_take(dispatcher, CHORE_PUBLISH) ||
        store_publish(dispatcher->store, &limits, &err))
        return;
    dispatcher_add(dispatcher, CHORE_PUBLISH);
    if (dispatcher->store_state == STORE_UNSEEN)
        log_warning("limits_unknown", "error=%s hint=%s", err.text,
                    "producers by SQL or script are held to the limits that were stored before; it "
                    "is tried again");
}

/* A new handle, also after an outage: a file that was replaced needs one. */
static bool open_new(struct dispatcher *dispatcher, struct error *err)
{
    char caller[PROCESS_CALLER_SIZE];
    const struct store_options options = {
        .migrate = dispatcher->config->pool.migrate,
        .max_payload = (size_t)dispatcher->config->max_payload,
        .deadline = lease_deadline(dispatcher->config->pool.lease),
        .clock = &dispatcher->clock,
        .caller = process_caller(dispatcher->process, caller),
    };
    struct store *store = NULL;

    dispatcher->clock.lease = dispatcher->config->pool.lease;
    if (!store_open(dispatcher->process->backend, &options, &store, err))
        return error_prefix(err, "open the store");
    store_handle_close(dispatcher);
    dispatcher->store = store;
    if (dispatcher->store_state == STORE_UNSEEN)
        tell_durability(store);
    publish(dispatcher);
    return true;
}

/* ---- an outage, and its end ---- */

static bool is_unusable(const struct error *err)
{
    return err->code == TH_E_SCHEMA || err->code == TH_E_INVALID;
}

bool store_handle_lose(struct dispatcher *dispatcher, struct error *err)
{
    flights_abandon(dispatcher);
    if (!outage_may_pass(err))
        return false;
    leave_bell(dispatcher);
    if (dispatcher->store_state == STORE_ANSWERS)
        dispatcher_note_store(dispatcher, STORE_AWAY);
    meters_add_store_error(dispatcher->process->meters, err->code);
    dispatcher->retry_at = outage_note(&dispatcher->outage, err);
    loop_set_timer(dispatcher->process->loop, &dispatcher->retry_timer, dispatcher->retry_at);
    return true;
}

static bool recover(struct dispatcher *dispatcher, struct error *err)
{
    if (!watch_bell(dispatcher, err) || !recovery_run(dispatcher, err))
        return false;
    if (dispatcher->state == DISPATCHER_STOPPING)
        handout_halt_all(dispatcher);
    return true;
}

static bool note_answer(struct dispatcher *dispatcher, struct error *err)
{
    const bool is_first = dispatcher->store_state == STORE_UNSEEN;

    dispatcher_note_store(dispatcher, STORE_ANSWERS);
    queues_wake(&dispatcher->queues);
    return !is_first || process_ready(dispatcher->process, err);
}

bool store_handle_keep(struct dispatcher *dispatcher, struct error *err)
{
    if (dispatcher->store_state == STORE_ANSWERS || dispatcher->retry_at > clock_boot())
        return true;
    if (!open_new(dispatcher, err)) {
        if (!is_unusable(err))
            return store_handle_lose(dispatcher, err);
        log_error("store_unusable", "error=%s", err->text);
        dispatcher_end(dispatcher, PROCESS_UNUSABLE);
        return true;
    }
    if (!recover(dispatcher, err))
        return store_handle_lose(dispatcher, err);
    return note_answer(dispatcher, err);
}

/* ---- while it answers ---- */

static bool hear(struct dispatcher *dispatcher, struct error *err)
{
    bool rang;

    if (!dispatcher_take(dispatcher, CHORE_HEAR_BELL))
        return true;
    if (!dispatcher->bell.is_on &&
        !loop_watch(dispatcher->process->loop, &dispatcher->bell, LOOP_READ, err))
        return false;
    if (!store_wait(dispatcher->store, 0, &rang, err))
        return false;
    if (!rang)
        return true;
    queues_wake(&dispatcher->queues);
    dispatcher_add(dispatcher, CHORE_TELL_DUE); /* it may have rung for what is not ready yet */
    return true;
}

/* A bell that does not work any more cannot say so. */
static bool prove(struct dispatcher *dispatcher, struct error *err)
{
    if (!dispatcher_take(dispatcher, CHORE_PROVE_BELL))
        return true;
    publish(dispatcher);
    return store_check_bell(dispatcher->store, err);
}

bool store_handle_tend(struct dispatcher *dispatcher, struct error *err)
{
    return hear(dispatcher, err) && prove(dispatcher, err);
}
