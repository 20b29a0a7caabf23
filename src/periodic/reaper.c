/*
 * reaper.c - `thd: reaper`: expired leases, silent pools, retention.
 *
 * Woken every pool.reaper_interval, and sooner when this pool has ended so many jobs that retention
 * should look. A lease that ran out is mostly found before, by the next reserve of its queue; here
 * are those of queues that nobody reserves from.
 */
#include "periodic/reaper.h"

#include "config/config.h"
#include "periodic/periodic.h"
#include "periodic/reap.h"
#include "process/process.h"
#include "process/scoreboard.h"

struct reaper {
    const struct process *process;
    struct reap_rhythm rhythm;
    int64_t seen;  /* what the workers had done when last looked at */
    int64_t ended; /* by them since the last pass, about */
};

/* A worker that was replaced starts from 0, and its last jobs are not missed. */
static void look_at_workers(struct reaper *reaper)
{
    const struct scoreboard *board = reaper->process->scoreboard;
    int64_t done = 0;

    for (size_t i = 0; i < scoreboard_slots(board); i++) {
        struct slot slot;

        if (scoreboard_read(board, i, &slot) && slot.number > 0)
            done += slot.jobs_done;
    }
    if (done > reaper->seen)
        reaper->ended += done - reaper->seen;
    reaper->seen = done;
}

static bool is_wanted(void *context)
{
    struct reaper *reaper = context;

    look_at_workers(reaper);
    return reap_is_wanted(reaper->ended, (size_t)reaper->process->config->retention.done_max);
}

static bool reap(void *context, struct store *store, usec_t *next_out, struct error *err)
{
    struct reaper *reaper = context;

    look_at_workers(reaper);
    reaper->ended = 0;
    return reap_pass(store, reaper->process->config, reaper->process->pool, &reaper->rhythm,
                     next_out, err);
}

int reaper_main(struct process *process)
{
    struct reaper reaper = {.process = process, .rhythm = {.pass_time = REAP_PASS_TIME}};
    const struct periodic periodic = {
        .work = STORE_REAP, .pass = reap, .is_wanted = is_wanted, .context = &reaper};

    return periodic_run(process, &periodic);
}
