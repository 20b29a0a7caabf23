/*
 * company.c - which workers have nothing to do, and how many jobs could join those that run.
 */
#include "dispatcher/company.h"

#include "config/config.h"
#include "dispatcher/room.h"
#include "dispatcher/state.h"
#include "process/process.h"

/* A job whose handler is gone runs in a worker of the old config, which takes nothing new. */
static size_t concurrency_of(const struct held_job *held)
{
    return held->handler ? (size_t)held->handler->concurrency : 1;
}

static void count_job(struct dispatcher *dispatcher, const struct held_job *held)
{
    uint32_t serial;

    if (held_job_is_concluded(held) ||
        lease_table_state(dispatcher->process->leases, held->hold, &serial) != HOLD_STARTED)
        return;
    struct worker_link *link = workers_find(&dispatcher->workers, serial);
    const size_t concurrency = concurrency_of(held);

    if (!link)
        return;
    if (link->running == 0 || concurrency < link->limit)
        link->limit = concurrency;
    link->running++;
}

static void count_jobs(struct dispatcher *dispatcher)
{
    const struct held_job *held;

    for (struct worker_link *link = dispatcher->workers.first; link; link = link->next)
        link->running = link->limit = 0;
    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));)
        count_job(dispatcher, held);
}

/* Whether any handler lets a worker have several jobs. */
static bool is_possible(const struct config *config)
{
    for (size_t i = 0; i < config->handler_count; i++) {
        if (config->handlers[i].concurrency > 1)
            return true;
    }
    return false;
}

struct company company_count(struct dispatcher *dispatcher, size_t running)
{
    const size_t workers = workers_count(&dispatcher->workers);
    struct company company = {0};

    if (!is_possible(dispatcher->config)) {
        company.idle = workers > running ? workers - running : 0;
        return company;
    }
    count_jobs(dispatcher);
    for (const struct worker_link *link = dispatcher->workers.first; link; link = link->next) {
        if (link->has_ended)
            continue;
        company.idle += link->running == 0;
        company.spare += room_to_join(link->running, link->limit);
    }
    if (company.idle > 0)
        dispatcher->workers.is_crowded = false;
    if (dispatcher->workers.is_crowded)
        company.spare = 0;
    return company;
}

void company_note_missed(struct dispatcher *dispatcher)
{
    dispatcher->workers.is_crowded = true;
}
