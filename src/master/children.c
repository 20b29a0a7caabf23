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
#include "master/birth.h"
#include "master/doors.h"
#include "master/generation.h"
#include "master/roles.h"
#include "master/this_pool.h"
#include "process/lease_table.h"
#include "process/message.h"
#include "process/meters.h"
#include "process/process.h"
#include "process/result_ring.h"
#include "process/scoreboard.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what they say ---- */

static struct seat *find_worker(const struct children *children, uint32_t serial)
{
    for (size_t i = 0; i < children->count; i++) {
        struct seat *seat = &children->seats[i];

        if (seat->pid != 0 && seat->role == ROLE_WORKER && seat->serial == serial)
            return seat;
    }
    return NULL;
}

/* Nothing of that worker is left to settle. */
static void settle(struct children *children, uint32_t serial)
{
    result_rings_return(children->pool->result_rings, ledger_settle(&children->ledger, serial));
}

static void tell_deaf(const struct children *children, uint32_t serial)
{
    struct seat *worker = find_worker(children, serial);

    if (worker)
        children->events->deaf(children->context, worker);
}

static void hear_report(struct seat *seat, const struct report *report)
{
    struct children *children = seat->children;

    switch (report->kind) {
    case REPORT_READY:
        seat->is_ready = seat->was_ever_ready = true;
        children->events->ready(children->context);
        return;
    case REPORT_WORKER_SETTLED:
        if (seat->role == ROLE_DISPATCHER)
            settle(children, report->serial);
        return;
    case REPORT_PULSE:
        children->events->answered(children->context, seat);
        return;
    case REPORT_WORKER_DEAF:
        if (seat->role == ROLE_DISPATCHER)
            tell_deaf(children, report->serial);
        return;
    case REPORT_PEER_CUT_OFF:
        doors_end(children->seats, children->count, report->serial);
        return;
    case REPORT_WANTED:
        if (seat->role == ROLE_HEARTBEATER)
            children->events->wanted(children->context, report->wanted, report->wanted_at);
        return;
    }
}

/* One that has closed its end is about to end. */
static void hear_reports(struct seat *seat)
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
    loop_unwatch(seat->pool->loop, &seat->control_watch);
}

/* ---- what the dispatcher is told ---- */

static enum order_kind wanted_order(const struct this_pool *pool)
{
    switch (pool->state) {
    case POOL_STARTING:
    case POOL_RUNNING:
        return pool->is_paused ? ORDER_PAUSE : ORDER_RESUME;
    case POOL_DRAINING:
        return ORDER_DRAIN;
    case POOL_STOPPING:
        return ORDER_STOP;
    }
    assert(!"a pool in no known state");
    return ORDER_STOP;
}

/* A dispatcher that cannot be told what it must know is of no use; the next one may be luckier. */
static void give_up(struct seat *dispatcher, const struct error *err)
{
    log_error("process_failed", "name=%s error=%s", dispatcher->name, err->text);
    seat_kill(dispatcher);
}

void children_brief(struct children *children)
{
    struct this_pool *pool = children->pool;
    struct seat *dispatcher = children_seat(children, ROLE_DISPATCHER);
    unsigned events = LOOP_READ;
    struct error err;

    if (!dispatcher->control_watch.is_on)
        return;
    switch (ledger_tell(&children->ledger, wanted_order(pool), dispatcher->control, &err)) {
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
    if (!loop_watch(pool->loop, &dispatcher->control_watch, events, &err))
        give_up(dispatcher, &err);
}

void children_note_cleared(struct children *children)
{
    ledger_clear(&children->ledger);
    children_brief(children);
}

/* ---- start ---- */

static void use_control(void *context, unsigned events)
{
    struct seat *seat = context;

    if (events & LOOP_READ)
        hear_reports(seat);
    if ((events & LOOP_WRITE) && seat->role == ROLE_DISPATCHER)
        children_brief(seat->children);
}

static void start_later(struct seat *seat, usec_t delay)
{
    loop_set_timer(seat->pool->loop, &seat->restart_timer, clock_boot() + delay);
}

static bool start(struct seat *seat, struct error *err)
{
    struct children *children = seat->children;

    if (!birth_fork(seat, ++children->last_serial, &children->ledger, err))
        return false;
    log_info("process_started", "name=%s pid=%d", seat->name, (int)seat->pid);
    seat->control_watch =
        (struct loop_watch){.fd = seat->control, .call = use_control, .context = seat};
    if (loop_watch(seat->pool->loop, &seat->control_watch, LOOP_READ, err))
        return true;
    seat_kill(seat); /* nobody would hear it; what follows is as for any death */
    return true;
}

/* What cannot be started is tried again like something that has died. */
static void start_or_retry(struct seat *seat)
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
        children_brief(seat->children);
    doors_introduce(seat->children->seats, seat->children->count, seat);
}

/* Since it was put off, a reload may have had the seat removed. */
static void restart(void *context)
{
    if (seat_is_wanted(context))
        start_or_retry(context);
}

void children_hurry(struct seat *seat)
{
    if (!seat->restart_timer.is_on)
        return;
    loop_clear_timer(seat->pool->loop, &seat->restart_timer);
    start_or_retry(seat);
}

void children_fill(struct seat *seat)
{
    if (seat->pid == 0 && !seat->restart_timer.is_on)
        start_or_retry(seat);
}

void children_start_all(struct children *children)
{
    for (size_t i = 0; i < children->count; i++) {
        if (seat_is_wanted(&children->seats[i]))
            start_or_retry(&children->seats[i]);
    }
}

void children_forget_restarts(struct children *children)
{
    for (size_t i = 0; i < children->count; i++)
        loop_clear_timer(children->pool->loop, &children->seats[i].restart_timer);
}

/* ---- end ---- */

static void log_signal(const struct seat *seat, int status, bool is_replaced, usec_t delay)
{
    char text[SIGNAL_NAME_SIZE];
    const char *name = signal_name(WTERMSIG(status), text);

    if (is_replaced)
        log_warning("process_exited", "name=%s pid=%d signal=%s restart_ms=%" PRId64, seat->name,
                    (int)seat->pid, name, delay / USEC_PER_MSEC);
    else
        log_warning("process_exited", "name=%s pid=%d signal=%s", seat->name, (int)seat->pid, name);
}

static void log_exit(const struct seat *seat, int status, bool is_replaced, usec_t delay)
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

static void log_end(const struct seat *seat, int status, bool is_replaced, usec_t delay)
{
    if (WIFSIGNALED(status))
        log_signal(seat, status, is_replaced, delay);
    else
        log_exit(seat, status, is_replaced, delay);
}

/* It ended as it was meant to, and not because it could not go on. */
static bool made_room(const struct seat *seat, int status)
{
    return WIFEXITED(status) &&
           WEXITSTATUS(status) == (seat->role == ROLE_WORKER ? PROCESS_OK : PROCESS_RETIRED);
}

static struct death describe(const struct seat *seat, int status)
{
    const bool works = seat->role == ROLE_WORKER;

    return (struct death){
        .lived = clock_boot() - seat->started_at,
        .was_ready = seat->is_ready,
        .had_job = works && lease_table_is_running(seat->pool->leases, seat->serial),
        .was_recycled = made_room(seat, status),
    };
}

static void vacate(struct seat *seat)
{
    loop_unwatch(seat->pool->loop, &seat->control_watch);
    close(seat->control);
    seat->control = -1;
    seat->pid = 0;
    scoreboard_leave(seat->pool->scoreboard, seat->slot);
    if (seat->role == ROLE_WORKER)
        result_ring_leave(seat->pool->result_rings, seat->result_ring);
    generation_leave(&seat->generation);
}

void children_bury(struct seat *seat, const struct worker_end *end, bool is_needed)
{
    struct ledger *ledger = &seat->children->ledger;
    const struct death death = describe(seat, end->status);
    const bool is_replaced = is_needed && seat_is_wanted(seat);
    const usec_t delay = is_replaced ? restart_delay(&seat->restart, &death) : 0;

    log_end(seat, end->status, is_replaced, delay);
    if (is_replaced && !made_room(seat, end->status))
        meters_add_restart(seat->pool->meters, roles_get(seat->role)->name);
    vacate(seat);
    if (seat->role == ROLE_DISPATCHER)
        ledger_forget_told(ledger);
    if (seat->role == ROLE_WORKER)
        ledger_note_end(ledger, seat->serial, end);
    if (is_replaced && delay == 0)
        start_or_retry(seat);
    else if (is_replaced)
        start_later(seat, delay);
}

static struct seat *find(const struct children *children, pid_t pid)
{
    for (size_t i = 0; i < children->count; i++) {
        if (children->seats[i].pid == pid)
            return &children->seats[i];
    }
    return NULL;
}

static void note_change(const struct children *children, struct seat *seat, int status)
{
    if (WIFSTOPPED(status)) {
        children->events->stopped(children->context, seat);
    } else if (WIFCONTINUED(status)) {
        children->events->continued(children->context, seat);
    } else {
        hear_reports(seat);
        children->events->ended(children->context, seat, status);
    }
}

/* Whoever is not ours was left behind by a worker that died, or was here before us. */
void children_reap(struct children *children)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        struct seat *seat = find(children, pid);

        if (seat)
            note_change(children, seat, status);
        else if (!WIFSTOPPED(status) && !WIFCONTINUED(status))
            children->events->stranger_ended(children->context, pid, status);
    }
}

/* ---- the table ---- */

static void name_seat(struct seat *seat, const struct role *role)
{
    if (role->is_numbered)
        snprintf(seat->name, sizeof seat->name, "%s %d", role->name, seat->number);
    else
        snprintf(seat->name, sizeof seat->name, "%s", role->name);
}

static void add_seats(struct children *children, enum role_id role)
{
    const int seats = roles_seats(role, children->pool->config);

    for (int i = 0; i < seats; i++) {
        struct seat *seat = &children->seats[children->count];

        *seat = (struct seat){
            .pool = children->pool,
            .children = children,
            .role = role,
            .number = roles_get(role)->is_numbered ? i + 1 : 0,
            .slot = children->count++,
            .control = -1,
            .restart_timer = {.call = restart, .context = seat},
        };
        name_seat(seat, roles_get(role));
    }
}

bool children_init(struct children *children, struct this_pool *pool,
                   const struct children_events *events, void *context, struct error *err)
{
    size_t count = 0;

    *children = (struct children){.pool = pool, .events = events, .context = context};
    ledger_init(&children->ledger);
    for (enum role_id role = 0; role < ROLES; role++)
        count += (size_t)roles_seats(role, pool->config);
    children->seats = calloc(count, sizeof *children->seats);
    if (!children->seats)
        return error_no_memory(err);
    for (enum role_id role = 0; role < ROLES; role++)
        add_seats(children, role);
    return true;
}

void children_done(struct children *children)
{
    ledger_done(&children->ledger);
    for (size_t i = 0; i < children->count; i++)
        generation_leave(&children->seats[i].generation);
    free(children->seats);
    *children = (struct children){0};
}

struct seat *children_seat(const struct children *children, enum role_id role)
{
    for (size_t i = 0; i < children->count; i++) {
        if (children->seats[i].role == role)
            return &children->seats[i];
    }
    return NULL;
}

bool children_were_ready(const struct children *children)
{
    for (size_t i = 0; i < children->count; i++) {
        const struct seat *seat = &children->seats[i];

        if (seat_is_wanted(seat) && !seat->was_ever_ready)
            return false;
    }
    return true;
}

size_t children_extent(const struct children *children)
{
    size_t extent = children->count;

    while (extent > 0 && children->seats[extent - 1].pid == 0 &&
           !seat_is_wanted(&children->seats[extent - 1]))
        extent--;
    return extent;
}

size_t children_count_running(const struct children *children)
{
    size_t count = 0;

    for (size_t i = 0; i < children->count; i++) {
        const struct seat *seat = &children->seats[i];

        count += seat->role == ROLE_WORKER &&
                 lease_table_is_running(children->pool->leases, seat->serial);
    }
    return count;
}

size_t children_count_old(const struct children *children)
{
    size_t count = 0;

    for (size_t i = 0; i < children->count; i++) {
        const struct seat *seat = &children->seats[i];

        count += seat->role == ROLE_WORKER && seat->pid != 0 && !seat_is_current(seat);
    }
    return count;
}
