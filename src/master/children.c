/*
 * children.c - the processes of the pool: pid to role; start, reap, restart with backoff.
 *
 * Invariants:
 *   - Only children_reap() waits for our processes, so a pid in a seat is never somebody else's.
 *   - What a process said before it ended is heard before its end is acted on.
 */
#include "master/children.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/signal_name.h"
#include "config/config.h"
#include "master/birth.h"
#include "master/generation.h"
#include "master/master.h"
#include "process/lease_table.h"
#include "process/message.h"
#include "process/process.h"
#include "process/result_ring.h"
#include "process/scoreboard.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what they say ---- */

static void hear_report(struct child_seat *seat, const struct report *report)
{
    switch (report->kind) {
    case REPORT_READY:
        seat->is_ready = seat->was_ever_ready = true;
        master_note_ready(seat->master);
        reload_continue(seat->master);
        return;
    case REPORT_WORKER_SETTLED:
        if (seat->role == ROLE_DISPATCHER)
            result_rings_return(seat->master->result_rings,
                                ledger_settle(&seat->master->ledger, report->serial));
        return;
    case REPORT_PULSE:
        pulse_note_answer(seat);
        return;
    case REPORT_WORKER_DEAF:
        if (seat->role == ROLE_DISPATCHER)
            pulse_note_deaf(seat->master, report->serial);
        return;
    }
}

/* One that has closed its end is about to end. */
static void hear_reports(struct child_seat *seat)
{
    enum delivery delivery = DELIVERY_DONE;
    struct report report;
    struct error err;

    while (delivery == DELIVERY_DONE) {
        delivery = report_receive(seat->control, &report, &err);
        if (delivery == DELIVERY_DONE)
            hear_report(seat, &report);
    }
    if (delivery == DELIVERY_NONE)
        return;
    if (delivery == DELIVERY_FAILED)
        log_error("process_failed", "name=%s error=%s", seat->name, err.text);
    loop_unwatch(seat->master->loop, &seat->control_watch);
}

/* ---- what the dispatcher is told ---- */

static enum order_kind wanted_order(const struct master *master)
{
    switch (master->state) {
    case POOL_STARTING:
    case POOL_RUNNING:
        return master->is_paused ? ORDER_PAUSE : ORDER_RESUME;
    case POOL_DRAINING:
        return ORDER_DRAIN;
    case POOL_STOPPING:
        return ORDER_STOP;
    }
    assert(!"a pool in no known state");
    return ORDER_STOP;
}

/* A dispatcher that cannot be told what it must know is of no use; the next one may be luckier. */
static void give_up(struct child_seat *dispatcher, const struct error *err)
{
    log_error("process_failed", "name=%s error=%s", dispatcher->name, err->text);
    children_kill(dispatcher);
}

void children_brief(struct master *master)
{
    struct child_seat *dispatcher = children_seat(master, ROLE_DISPATCHER);
    unsigned events = LOOP_READ;
    struct error err;

    if (!dispatcher->control_watch.is_on)
        return;
    switch (ledger_tell(&master->ledger, wanted_order(master), dispatcher->control, &err)) {
    case DELIVERY_DONE:
    case DELIVERY_CLOSED: /* its end is about to be seen */
        break;
    case DELIVERY_NONE:
        events |= LOOP_WRITE;
        break;
    case DELIVERY_FAILED:
        give_up(dispatcher, &err);
        return;
    }
    if (!loop_watch(master->loop, &dispatcher->control_watch, events, &err))
        give_up(dispatcher, &err);
}

static void use_control(void *context, unsigned events)
{
    struct child_seat *seat = context;

    if (events & LOOP_READ)
        hear_reports(seat);
    if ((events & LOOP_WRITE) && seat->role == ROLE_DISPATCHER)
        children_brief(seat->master);
}

/* ---- start ---- */

static void start_later(struct child_seat *seat, usec_t delay)
{
    loop_set_timer(seat->master->loop, &seat->restart_timer, clock_boot() + delay);
}

static bool start(struct child_seat *seat, struct error *err)
{
    if (!birth_fork(seat, err))
        return false;
    log_info("process_started", "name=%s pid=%d", seat->name, (int)seat->pid);
    seat->control_watch =
        (struct loop_watch){.fd = seat->control, .call = use_control, .context = seat};
    if (loop_watch(seat->master->loop, &seat->control_watch, LOOP_READ, err))
        return true;
    children_kill(seat); /* nobody would hear it; what follows is as for any death */
    return true;
}

/* What cannot be started is tried again like something that has died. */
static void start_or_retry(struct child_seat *seat)
{
    const struct death stillborn = {0};
    struct error err;

    if (!start(seat, &err)) {
        const usec_t delay = restart_delay(&seat->restart, &stillborn);

        log_error("process_failed", "name=%s error=%s restart_ms=%" PRId64, seat->name, err.text,
                  delay / USEC_PER_MSEC);
        start_later(seat, delay);
        return;
    }
    if (seat->role == ROLE_DISPATCHER || seat->role == ROLE_WORKER)
        children_brief(seat->master);
}

/* Since it was put off, a reload may have had the seat removed. */
static void restart(void *context)
{
    if (children_is_wanted(context))
        start_or_retry(context);
}

/* ---- end ---- */

static void log_signal(const struct child_seat *seat, int status, bool is_replaced, usec_t delay)
{
    char text[SIGNAL_NAME_SIZE];
    const char *name = signal_name(WTERMSIG(status), text);

    if (is_replaced)
        log_warning("process_exited", "name=%s pid=%d signal=%s restart_ms=%" PRId64, seat->name,
                    (int)seat->pid, name, delay / USEC_PER_MSEC);
    else
        log_warning("process_exited", "name=%s pid=%d signal=%s", seat->name, (int)seat->pid, name);
}

static void log_exit(const struct child_seat *seat, int status, bool is_replaced, usec_t delay)
{
    const int code = WEXITSTATUS(status);
    const bool is_well = code == PROCESS_OK || code == PROCESS_RETIRED;
    const enum log_level level = is_well ? LEVEL_INFO : LEVEL_WARNING;

    if (is_replaced)
        log_at(level, "process_exited", "name=%s pid=%d exit_code=%d restart_ms=%" PRId64,
               seat->name, (int)seat->pid, code, delay / USEC_PER_MSEC);
    else
        log_at(level, "process_exited", "name=%s pid=%d exit_code=%d", seat->name, (int)seat->pid,
               code);
}

static void log_end(const struct child_seat *seat, int status, bool is_replaced, usec_t delay)
{
    if (WIFSIGNALED(status))
        log_signal(seat, status, is_replaced, delay);
    else
        log_exit(seat, status, is_replaced, delay);
}

/* It ended as it was meant to, and not because it could not go on. */
static bool made_room(const struct child_seat *seat, int status)
{
    return WIFEXITED(status) &&
           WEXITSTATUS(status) == (seat->role == ROLE_WORKER ? PROCESS_OK : PROCESS_RETIRED);
}

static struct death describe(const struct child_seat *seat, int status)
{
    const bool works = seat->role == ROLE_WORKER;

    return (struct death){
        .lived = clock_boot() - seat->started_at,
        .was_ready = seat->is_ready,
        .had_job = works && lease_table_is_running(seat->master->leases, seat->serial),
        .was_recycled = made_room(seat, status),
    };
}

static void vacate(struct child_seat *seat)
{
    loop_unwatch(seat->master->loop, &seat->control_watch);
    close(seat->control);
    seat->control = -1;
    seat->pid = 0;
    pulse_reset(seat);
    scoreboard_leave(seat->master->scoreboard, seat->slot);
    if (seat->number > 0)
        result_ring_leave(seat->master->result_rings, seat->result_ring);
    generation_leave(&seat->generation);
}

/* What others have to know of it. */
static void spread_news(struct child_seat *seat, const struct worker_end *end)
{
    struct master *master = seat->master;

    if (seat->role == ROLE_DISPATCHER)
        ledger_forget_told(&master->ledger);
    if (seat->role != ROLE_WORKER)
        return;
    ledger_note_end(&master->ledger, seat->serial, end);
    clearing_begin(master);
}

static void bury(struct child_seat *seat, int status)
{
    struct master *master = seat->master;

    hear_reports(seat);
    const struct death death = describe(seat, status);
    const enum shutdown_verdict verdict = shutdown_judge(master, seat, status);
    const bool is_replaced = verdict == VERDICT_REPLACE && children_is_wanted(seat);
    const usec_t delay = is_replaced ? restart_delay(&seat->restart, &death) : 0;
    const struct worker_end end = overrun_end_of(seat, status);

    log_end(seat, status, is_replaced, delay);
    vacate(seat);
    spread_news(seat, &end);
    if (is_replaced && delay == 0)
        start_or_retry(seat);
    else if (is_replaced)
        start_later(seat, delay);
    shutdown_follow(master, seat, status, verdict);
    reload_continue(master);
}

static struct child_seat *find(struct children *children, pid_t pid)
{
    for (size_t i = 0; i < children->count; i++) {
        if (children->seats[i].pid == pid)
            return &children->seats[i];
    }
    return NULL;
}

/* ---- the table ---- */

static void name_seat(struct child_seat *seat, const struct role *role)
{
    if (role->is_numbered)
        snprintf(seat->name, sizeof seat->name, "%s %d", role->name, seat->number);
    else
        snprintf(seat->name, sizeof seat->name, "%s", role->name);
}

static void fill_seats(struct master *master, enum role_id role)
{
    struct children *children = &master->children;
    const int seats = roles_seats(role, master->config);

    for (int i = 0; i < seats; i++) {
        struct child_seat *seat = &children->seats[children->count];

        *seat = (struct child_seat){
            .master = master,
            .role = role,
            .number = roles_get(role)->is_numbered ? i + 1 : 0,
            .slot = children->count++,
            .control = -1,
            .restart_timer = {.call = restart, .context = seat},
        };
        name_seat(seat, roles_get(role));
    }
}

bool children_init(struct master *master, struct error *err)
{
    size_t count = 0;

    for (enum role_id role = 0; role < ROLES; role++)
        count += (size_t)roles_seats(role, master->config);
    master->children.seats = calloc(count, sizeof *master->children.seats);
    if (!master->children.seats)
        return error_no_memory(err);
    for (enum role_id role = 0; role < ROLES; role++)
        fill_seats(master, role);
    return true;
}

void children_done(struct children *children)
{
    for (size_t i = 0; i < children->count; i++)
        generation_leave(&children->seats[i].generation);
    free(children->seats);
    *children = (struct children){0};
}

void children_start_all(struct master *master)
{
    for (size_t i = 0; i < master->children.count; i++) {
        if (children_is_wanted(&master->children.seats[i]))
            start_or_retry(&master->children.seats[i]);
    }
}

/* Whether it lives, and was only stopped or goes on; of those that are not ours nothing is noted.
 */
static bool note_standstill(struct child_seat *seat, int status)
{
    if (seat && WIFSTOPPED(status))
        pulse_note_stopped(seat);
    if (seat && WIFCONTINUED(status))
        pulse_note_continued(seat);
    return WIFSTOPPED(status) || WIFCONTINUED(status);
}

/* Whoever is not ours was left behind by a worker that died, or was here before us. */
void children_reap(struct master *master)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        struct child_seat *seat = find(&master->children, pid);

        if (note_standstill(seat, status))
            continue;
        if (seat)
            bury(seat, status);
        else if (!upgrade_note_end(master, pid, status))
            clearing_forget(&master->clearing, pid);
    }
}

struct child_seat *children_seat(struct master *master, enum role_id role)
{
    for (size_t i = 0; i < master->children.count; i++) {
        if (master->children.seats[i].role == role)
            return &master->children.seats[i];
    }
    return NULL;
}

bool children_is_wanted(const struct child_seat *seat)
{
    const int place = seat->number > 0 ? seat->number : 1;

    return place <= roles_instances(seat->role, seat->master->config);
}

size_t children_extent(const struct master *master)
{
    size_t extent = master->children.count;

    while (extent > 0 && master->children.seats[extent - 1].pid == 0 &&
           !children_is_wanted(&master->children.seats[extent - 1]))
        extent--;
    return extent;
}

size_t children_count_running(const struct master *master)
{
    size_t count = 0;

    for (size_t i = 0; i < master->children.count; i++) {
        const struct child_seat *seat = &master->children.seats[i];

        if (seat->role == ROLE_WORKER && lease_table_is_running(master->leases, seat->serial))
            count++;
    }
    return count;
}

void children_hurry(struct child_seat *seat)
{
    if (!seat->restart_timer.is_on)
        return;
    loop_clear_timer(seat->master->loop, &seat->restart_timer);
    start_or_retry(seat);
}

/* One that has not listened for long hangs. */
static void tell(struct child_seat *seat, enum order_kind kind)
{
    const struct order order = {.kind = kind};
    struct error err;

    if (seat->pid == 0)
        return;
    switch (order_send(seat->control, &order, -1, &err)) {
    case DELIVERY_DONE:
    case DELIVERY_CLOSED: /* it is ending already */
        return;
    case DELIVERY_NONE:
        children_kill(seat);
        return;
    case DELIVERY_FAILED:
        log_error("process_failed", "name=%s error=%s", seat->name, err.text);
        children_kill(seat);
        return;
    }
}

void children_fill(struct child_seat *seat)
{
    if (seat->pid == 0 && !seat->restart_timer.is_on)
        start_or_retry(seat);
}

void children_retire(struct child_seat *seat)
{
    if (seat->pid == 0 || seat->is_retiring)
        return;
    seat->is_retiring = true;
    tell(seat, ORDER_RETIRE);
}

void children_ask(struct child_seat *seat)
{
    tell(seat, ORDER_PULSE);
}

void children_dismiss(struct child_seat *seat)
{
    tell(seat, ORDER_EXIT);
}

void children_kill(struct child_seat *seat)
{
    if (seat->pid != 0)
        kill(seat->pid, SIGKILL);
}
