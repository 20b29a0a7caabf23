/*
 * clearing.c - kills what dead workers left behind, until nobody is left.
 */
#include "master/clearing.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "master/master.h"
#include "process/orphans.h"

#include <stdlib.h>

#define PAUSE_MIN ((usec_t)200)
#define PAUSE_MAX (50 * USEC_PER_MSEC)

static size_t list_spared(struct master *master)
{
    struct clearing *clearing = &master->clearing;
    size_t count = clearing->stranger_count;

    for (size_t i = 0; i < master->children.count; i++) {
        if (master->children.seats[i].pid != 0)
            clearing->spared[count++] = master->children.seats[i].pid;
    }
    if (master->upgrade.pid != 0)
        clearing->spared[count++] = master->upgrade.pid;
    return count;
}

static void pause_until_next(struct master *master)
{
    struct clearing *clearing = &master->clearing;

    clearing->pause = backoff_next(clearing->pause, PAUSE_MIN, PAUSE_MAX);
    loop_set_timer(master->loop, &clearing->timer, clock_boot() + clearing->pause);
}

static void make_pass(void *context)
{
    struct master *master = context;
    struct usage usage = {0};
    struct error err;
    bool left = true;

    if (!orphans_kill(master->clearing.spared, list_spared(master), &usage, &left, &err))
        log_error("process_failed", "error=%s", err.text);
    if (left) {
        pause_until_next(master);
        return;
    }
    ledger_clear(&master->ledger);
    children_brief(master);
    shutdown_note_cleared(master);
}

bool clearing_init(struct master *master, struct error *err)
{
    struct clearing *clearing = &master->clearing;
    pid_t *strangers = NULL;
    size_t count = 0;

    if (!orphans_list(&strangers, &count, err))
        return false;
    clearing->spared = realloc(strangers, (count + master->children.count + 1) * sizeof *strangers);
    if (!clearing->spared) {
        free(strangers);
        return error_no_memory(err);
    }
    clearing->stranger_count = count;
    clearing->timer = (struct loop_timer){.call = make_pass, .context = master};
    return true;
}

void clearing_done(struct clearing *clearing)
{
    free(clearing->spared);
    clearing->spared = NULL;
}

void clearing_forget(struct clearing *clearing, pid_t pid)
{
    for (size_t i = 0; i < clearing->stranger_count; i++) {
        if (clearing->spared[i] != pid)
            continue;
        clearing->spared[i] = clearing->spared[--clearing->stranger_count];
        return;
    }
}

void clearing_begin(struct master *master)
{
    master->clearing.pause = 0;
    loop_set_timer(master->loop, &master->clearing.timer, clock_boot());
}
