/*
 * pulse.c - finds processes that hang.
 */
#include "master/pulse.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "master/children.h"
#include "master/overrun.h"
#include "master/this_pool.h"
#include "process/scoreboard.h"

#include <stdlib.h>

#define INTERVAL   (10 * USEC_PER_SEC)
#define LATE       USEC_PER_SEC         /* if we come this late, we were away */
#define SILENT_MAX (60 * USEC_PER_SEC)  /* every call of a store ends long before that */
#define START_MAX  (600 * USEC_PER_SEC) /* to open the store, which may have to be migrated */
#define STOPPED_LIMIT                                                                              \
    (5 * USEC_PER_SEC) /* a heartbeater is back before a lease of 30 s suffers                     \
                        */

enum pulse_step pulse_judge(struct pulse_watch *watch, bool is_ready, bool is_excused, usec_t now)
{
    if (is_excused) {
        watch->asked_at =
            watch->asked_at != 0 ? now : 0; /* as long as it takes, and then as usual */
        return PULSE_WAIT;
    }
    if (watch->asked_at == 0) {
        watch->asked_at = now;
        return PULSE_ASK;
    }
    return now - watch->asked_at >= (is_ready ? SILENT_MAX : START_MAX) ? PULSE_KILL : PULSE_WAIT;
}

static struct pulse_watch *watch_of(const struct pulse *pulse, const struct seat *seat)
{
    return &pulse->watches[seat->slot];
}

static void kill_for(struct seat *seat, const char *what, usec_t since, usec_t now)
{
    log_error("process_hangs", "name=%s pid=%d state=%s ms=%" PRId64, seat->name, (int)seat->pid,
              what, (now - since) / USEC_PER_MSEC);
    seat_kill(seat);
}

/* ---- those that are silent ---- */

static void feel(struct pulse_watch *watch, usec_t now)
{
    struct seat *seat = watch->seat;
    const bool is_excused = seat->role == ROLE_WORKER &&
                            scoreboard_plugin(seat->pool->scoreboard, seat->slot).plugin != 0;

    switch (pulse_judge(watch, seat->is_ready, is_excused, now)) {
    case PULSE_ASK:
        seat_ask(seat);
        return;
    case PULSE_WAIT:
        return;
    case PULSE_KILL:
        kill_for(seat, "silent", watch->asked_at, now);
        return;
    }
}

static void feel_all(void *context)
{
    struct pulse *pulse = context;
    const usec_t now = clock_boot();
    const bool was_away = now - pulse->timer.at > LATE;

    for (size_t i = 0; i < pulse->children->count; i++) {
        struct pulse_watch *watch = &pulse->watches[i];

        if (watch->seat->pid == 0)
            continue;
        if (was_away && watch->asked_at != 0)
            watch->asked_at = now;
        feel(watch, now);
    }
    loop_set_timer(pulse->children->pool->loop, &pulse->timer, now + INTERVAL);
}

void pulse_note_answer(struct pulse *pulse, const struct seat *seat)
{
    watch_of(pulse, seat)->asked_at = 0;
}

/* What it may have started in this moment is released: it was not asked for. */
void pulse_note_deaf(struct seat *seat)
{
    kill_for(seat, "deaf", seat->started_at, clock_boot());
}

/* ---- those that are stopped ---- */

/* Its going on may not have been seen yet. */
static void look_at_stopped(void *context)
{
    struct pulse_watch *watch = context;
    struct seat *seat = watch->seat;
    const usec_t now = clock_boot();
    const bool was_away = now - watch->stop_timer.at > LATE / 4;

    children_reap(watch->pulse->children);
    if (seat->pid == 0 || watch->stopped_at == 0 || watch->stop_timer.is_on)
        return;
    if (was_away) {
        loop_set_timer(seat->pool->loop, &watch->stop_timer, now + STOPPED_LIMIT);
        return;
    }
    overrun_note_stopped(watch->pulse->overrun, seat);
    kill_for(seat, "stopped", watch->stopped_at, now);
}

void pulse_note_stopped(struct pulse *pulse, const struct seat *seat)
{
    struct pulse_watch *watch = watch_of(pulse, seat);

    watch->stopped_at = clock_boot();
    loop_set_timer(seat->pool->loop, &watch->stop_timer, watch->stopped_at + STOPPED_LIMIT);
}

void pulse_note_continued(struct pulse *pulse, const struct seat *seat)
{
    struct pulse_watch *watch = watch_of(pulse, seat);

    watch->stopped_at = 0;
    loop_clear_timer(seat->pool->loop, &watch->stop_timer);
}

void pulse_forget(struct pulse *pulse, const struct seat *seat)
{
    pulse_note_answer(pulse, seat);
    pulse_note_continued(pulse, seat);
}

/* ---- all of them ---- */

bool pulse_init(struct pulse *pulse, struct children *children, struct overrun *overrun,
                struct error *err)
{
    *pulse = (struct pulse){
        .children = children,
        .overrun = overrun,
        .watches = calloc(children->count, sizeof *pulse->watches),
        .timer = {.call = feel_all, .context = pulse},
    };
    if (!pulse->watches)
        return error_no_memory(err);
    for (size_t i = 0; i < children->count; i++) {
        struct pulse_watch *watch = &pulse->watches[i];

        watch->pulse = pulse;
        watch->seat = &children->seats[i];
        watch->stop_timer = (struct loop_timer){.call = look_at_stopped, .context = watch};
    }
    return true;
}

void pulse_done(struct pulse *pulse)
{
    free(pulse->watches);
    pulse->watches = NULL;
}

void pulse_start(struct pulse *pulse)
{
    loop_set_timer(pulse->children->pool->loop, &pulse->timer, clock_boot() + INTERVAL);
}
