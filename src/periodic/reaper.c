/*
 * reaper.c - `thd: reaper`: expired leases, silent pools, retention.
 *
 * Woken every pool.reaper_interval. A lease that ran out is mostly found before, by the next
 * reserve of its queue; here are those of queues that nobody reserves from.
 */
#include "periodic/reaper.h"

#include "periodic/periodic.h"
#include "periodic/reap.h"
#include "process/process.h"

static bool reap(void *context, struct store *store, usec_t *next_out, struct error *err)
{
    const struct process *process = context;

    return reap_pass(store, process->config, next_out, err);
}

int reaper_main(struct process *process)
{
    const struct periodic reaper = {.pass = reap, .context = process};

    return periodic_run(process, &reaper);
}
