/*
 * store_handle.c - the dispatcher's handle of the store, and its bell.
 */
#include "dispatcher/store_handle.h"

#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "dispatcher/state.h"
#include "process/process.h"
#include "store/store.h"

static void hear_bell(void *context, unsigned events)
{
    struct dispatcher *dispatcher = context;

    (void)events;
    dispatcher->has_rung = true;
}

bool store_handle_watch_bell(struct dispatcher *dispatcher, struct error *err)
{
    int fd;

    if (!store_wait_fd(dispatcher->store, &fd, err))
        return false;
    dispatcher->bell = (struct loop_watch){.fd = fd, .call = hear_bell, .context = dispatcher};
    return loop_watch(dispatcher->process->loop, &dispatcher->bell, LOOP_READ, err);
}

/* One that nobody answers would keep us awake. */
void store_handle_leave_bell(struct dispatcher *dispatcher)
{
    loop_unwatch(dispatcher->process->loop, &dispatcher->bell);
    dispatcher->has_rung = false;
}

void store_handle_close(struct dispatcher *dispatcher)
{
    store_handle_leave_bell(dispatcher);
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

/* A new handle, also after an outage: a file that was replaced needs one. */
bool store_handle_open(struct dispatcher *dispatcher, struct error *err)
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
    if (!dispatcher->has_recovered)
        tell_durability(store);
    store_handle_publish(dispatcher);
    return true;
}

void store_handle_publish(struct dispatcher *dispatcher)
{
    const struct store_limits limits = {
        .max_payload = (size_t)dispatcher->config->max_payload,
        .idempotency_window = dispatcher->config->idempotency_window,
    };
    struct error err;

    if (dispatcher->has_published || dispatcher->store == NULL)
        return;
    dispatcher->has_published = store_publish(dispatcher->store, &limits, &err);
    if (!dispatcher->has_published && !dispatcher->has_recovered)
        log_warning("limits_unknown", "error=%s hint=%s", err.text,
                    "producers by SQL or script are held to the limits that were stored before; it "
                    "is tried again");
}
