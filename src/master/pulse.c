/*
 * pulse.c - finds processes that hang.
 */
#include "master/pulse.h"

#include "base/clock.h"
#include "base/log.h"
#include "master/master.h"
#include "process/scoreboard.h"

#define INTERVAL   (10 * USEC_PER_SEC)
#define LATE       USEC_PER_SEC         /* who comes so late was away */
#define SILENT_MAX (60 * USEC_PER_SEC)  /* every call of a store ends long before that */
#define START_MAX  (600 * USEC_PER_SEC) /* to open the store, which may have to be migrated */
#define STOPPED_LIMIT                                                                              \
    (5 * USEC_PER_SEC) /* a heartbeater is back before a lease of 30 s suffers                     \
                        */

enum pulse_step pulse_judge(struct pulse *pulse, bool is_ready, bool is_excused, usec_t now)
{
    if (is_excused) {
        pulse->asked_at =
            pulse->asked_at != 0 ? now : 0; /* as long as it takes, and then as usual */
        return PULSE_WAIT;
    }
    if (pulse->asked_at == 0) {
        pulse->asked_at = now;
        return PULSE_ASK;
    }
    return now - pulse->asked_at >= (is_ready ? SILENT_MAX : START_MAX) ? PULSE_KILL : PULSE_WAIT;
}

static void kill_for(struct child_seat *seat, const char *what, usec_t since, usec_t now)
{
    log_error("process_hangs", "name=%s pid=%d state=%s ms=%" PRId64, seat->name, (int)seat->pid,
              what, (now - since) / USEC_PER_MSEC);
    children_kill(seat);
}

/* ---- those that are silent ---- */

static void feel(struct child_seat *seat, usec_t now)
{
    const struct scoreboard *board = seat->master->scoreboard;
    const bool is_excused = seat->number > 0 && scoreboard_plugin(board, seat->slot).plugin != 0;

    switch (pulse_judge(&seat->pulse, seat->is_ready, is_excused, now)) {
    case PULSE_ASK:
        children_ask(seat);
        return;
    case PULSE_WAIT:
        return;
    case PULSE_KILL:
        kill_for(seat, "silent", seat->pulse.asked_at, now);
        return;
    }
}

static void feel_all(void *context)
{
    struct master *master = context;
    const usec_t now = clock_boot();
    const bool was_away = now - master->pulse_timer.at > LATE;

    for (size_t i = 0; i < master->children.count; i++) {
        struct child_seat *seat = &master->children.seats[i];

        if (seat->pid == 0)
            continue;
        if (was_away && seat->pulse.asked_at != 0)
            seat->pulse.asked_at = now;
        feel(seat, now);
    }
    loop_set_timer(master->loop, &master->pulse_timer, now + INTERVAL);
}

void pulse_start(struct master *master)
{
    master->pulse_timer = (struct loop_timer){.call = feel_all, .context = master};
    loop_set_timer(master->loop, &master->pulse_timer, clock_boot() + INTERVAL);
}

void pulse_note_answer(struct child_seat *seat)
{
    seat->pulse.asked_at = 0;
}

/* What it may have started in this moment is released: it was not asked for. */
void pulse_note_deaf(struct master *master, uint32_t serial)
{
    const usec_t now = clock_boot();

    for (size_t i = 0; i < master->children.count; i++) {
        struct child_seat *seat = &master->children.seats[i];

        if (seat->pid != 0 && seat->number > 0 && seat->serial == serial)
            kill_for(seat, "deaf", seat->started_at, now);
    }
}

/* ---- those that are stopped ---- */

/* Its going on may not have been seen yet. */
static void look_at_stopped(void *context)
{
    struct child_seat *seat = context;
    const usec_t now = clock_boot();
    const bool was_away = now - seat->pulse.stop_timer.at > LATE / 4;

    children_reap(seat->master);
    if (seat->pid == 0 || seat->pulse.stopped_at == 0 || seat->pulse.stop_timer.is_on)
        return;
    if (was_away) {
        loop_set_timer(seat->master->loop, &seat->pulse.stop_timer, now + STOPPED_LIMIT);
        return;
    }
    overrun_note_stopped(seat);
    kill_for(seat, "stopped", seat->pulse.stopped_at, now);
}

void pulse_reset(struct child_seat *seat)
{
    loop_clear_timer(seat->master->loop, &seat->pulse.stop_timer);
    seat->pulse = (struct pulse){.stop_timer = {.call = look_at_stopped, .context = seat}};
}

void pulse_note_stopped(struct child_seat *seat)
{
    seat->pulse.stopped_at = clock_boot();
    loop_set_timer(seat->master->loop, &seat->pulse.stop_timer,
                   seat->pulse.stopped_at + STOPPED_LIMIT);
}

void pulse_note_continued(struct child_seat *seat)
{
    seat->pulse.stopped_at = 0;
    loop_clear_timer(seat->master->loop, &seat->pulse.stop_timer);
}
