/*
 * away.c - what the store cannot do now, while it does the rest.
 *
 * A cluster has its queues on several nodes: one of them is down, or a slot moves. On a server
 * somebody's open transaction has a key that a job runs with. Everything else goes on:
 *
 *   a queue that is away      is asked again in a while; when it is back, what it may have reserved
 *                             for us is looked for (recovery.c)
 *   jobs that cannot be       are kept in the outbox, and their results where they are, until they
 *   settled now               are settled or their leases have ended, which the heartbeater extends
 */
#include "dispatcher/away.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "dispatcher/conclude.h"
#include "dispatcher/events.h"
#include "dispatcher/state.h"
#include "job/settlement.h"
#include "process/lease_table.h"
#include "process/process.h"

/* ---- queues ---- */

static void tell_lost(struct queues *queues, struct queue_turn *queue, const struct error *why)
{
    queue->lost_at = clock_boot();
    log_error("queue_lost", "queue=%s error=%s", queue->name, why->text);
    queues_wake(queues); /* so that soon we know whether all are */
}

static void tell_back(struct dispatcher *dispatcher, struct queue_turn *queue)
{
    log_info("queue_back", "queue=%s away_ms=%" PRId64, queue->name,
             (clock_boot() - queue->lost_at) / USEC_PER_MSEC);
    queue->lost_at = 0;
    dispatcher->wants_recovery = true;
}

bool away_note(struct dispatcher *dispatcher, const struct error *why, struct error *err)
{
    struct queues *queues = &dispatcher->queues;

    if (why->code != TH_OK && queues_are_away(queues)) {
        *err = *why;
        return false;
    }
    for (size_t i = 0; i < queues->count; i++) {
        struct queue_turn *queue = &queues->items[i];

        if (queue->is_away && queue->lost_at == 0)
            tell_lost(queues, queue, why);
        else if (!queue->is_away && queue->lost_at != 0)
            tell_back(dispatcher, queue);
    }
    return true;
}

/* ---- settlements ---- */

/* As it was confirmed last; one that is not in the table nobody extends. */
static bool has_lease_ended(const struct dispatcher *dispatcher, const struct held_job *held)
{
    usec_t end = held->kept_until;

    if (!held->is_kept)
        return false;
    if (held->has_hold) {
        const usec_t confirmed = lease_table_stop_at(dispatcher->process->leases, held->hold) +
                                 dispatcher->config->pool.lease / 3;
        end = confirmed > end ? confirmed : end;
    }
    return clock_boot() >= end;
}

static bool keep(struct dispatcher *dispatcher, size_t from, size_t to, struct error *err)
{
    struct held_job *held = dispatcher->outbox.jobs[from];

    if (!held->is_kept) {
        held->kept_until = clock_boot() + dispatcher->config->pool.lease;
        queues_wake(&dispatcher->queues); /* its queue has to be asked to be seen as away */
    }
    return outbox_keep(&dispatcher->outbox, from, to, err);
}

/* Their results are needed by the dispatcher after this one. They give way before a worker would
 * have to wait with those of other queues: then only a dispatcher that dies now loses them. */
static void hold_workers(struct dispatcher *dispatcher)
{
    const struct outbox *outbox = &dispatcher->outbox;
    uint32_t serial;

    for (struct worker_link *link = dispatcher->workers.first; link; link = link->next)
        link->is_held = false;
    for (size_t i = 0; i < outbox->kept; i++) {
        if (!outbox->jobs[i]->has_hold)
            continue;
        lease_table_state(dispatcher->process->leases, outbox->jobs[i]->hold, &serial);
        struct worker_link *link = workers_find(&dispatcher->workers, serial);

        if (link && workers_have_room(&dispatcher->workers, link))
            link->is_held = true;
    }
}

/* All are gone through, whatever happens: a held job that is concluded must not stay in the outbox.
 */
bool away_sift(struct dispatcher *dispatcher, size_t from, struct error *err)
{
    struct outbox *outbox = &dispatcher->outbox;
    const bool held_any = outbox->kept > 0;
    bool copied_all = true;
    size_t kept = from;

    for (size_t i = from; i < outbox->count; i++) {
        struct held_job *held = outbox->jobs[i];
        const bool is_over = settlement_is_over(outbox->verdicts[i]);

        if (!is_over && !has_lease_ended(dispatcher, held)) {
            copied_all = keep(dispatcher, i, kept++, err) && copied_all;
            continue;
        }
        events_log(held, &outbox->settlements[i],
                   is_over ? outbox->verdicts[i] : TH_E_LEASE_EXPIRED);
        conclude_silently(dispatcher, held);
    }
    outbox_clear(outbox, kept);
    outbox_turn(outbox, from);
    if (from == 0)
        outbox_wait(outbox, clock_boot());
    if (held_any || kept > 0)
        hold_workers(dispatcher);
    return copied_all;
}
