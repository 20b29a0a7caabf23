/*
 * clearing.c - kills what dead workers left behind, until nobody is left.
 */
#include "master/clearing.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "master/children.h"
#include "master/this_pool.h"
#include "process/orphans.h"

#include <stdlib.h>

#define PAUSE_MIN ((usec_t)200)
#define PAUSE_MAX (50 * USEC_PER_MSEC)

static struct loop *loop_of(const struct clearing *clearing)
{
    return clearing->children->pool->loop;
}

static size_t list_spared(struct clearing *clearing)
{
    const struct children *children = clearing->children;
    size_t count = clearing->stranger_count;

    for (size_t i = 0; i < children->count; i++) {
        if (children->seats[i].pid != 0)
            clearing->spared[count++] = children->seats[i].pid;
    }
    return count;
}

static void pause_until_next(struct clearing *clearing)
{
    clearing->pause = backoff_next(clearing->pause, PAUSE_MIN, PAUSE_MAX);
    loop_set_timer(loop_of(clearing), &clearing->timer, clock_boot() + clearing->pause);
}

static void make_pass(void *context)
{
    struct clearing *clearing = context;
    struct usage usage = {0};
    struct error err;
    bool left = true;

    if (!orphans_kill(clearing->spared, list_spared(clearing), &usage, &left, &err))
        log_error("process_failed", "error=%s", err.text);
    if (left)
        pause_until_next(clearing);
    else
        clearing->cleared(clearing->context);
}

bool clearing_init(struct clearing *clearing, const struct children *children,
                   void (*cleared)(void *context), void *context, struct error *err)
{
    pid_t *strangers = NULL;
    size_t count = 0;

    if (!orphans_list(&strangers, &count, err))
        return false;
    pid_t *spared = realloc(strangers, (count + children->count + 1) * sizeof *strangers);
    if (!spared) {
        free(strangers);
        return error_no_memory(err);
    }
    *clearing = (struct clearing){
        .children = children,
        .cleared = cleared,
        .context = context,
        .timer = {.call = make_pass, .context = clearing},
        .spared = spared,
        .stranger_count = count,
    };
    return true;
}

void clearing_done(struct clearing *clearing)
{
    free(clearing->spared);
    clearing->spared = NULL;
}

void clearing_spare(struct clearing *clearing, pid_t pid)
{
    clearing->spared[clearing->stranger_count++] = pid;
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

void clearing_begin(struct clearing *clearing)
{
    clearing->pause = 0;
    loop_set_timer(loop_of(clearing), &clearing->timer, clock_boot());
}
