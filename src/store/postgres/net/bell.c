/*
 * bell.c - LISTEN, NOTIFY, and a lock that sleepers share.
 */
#include "store/postgres/net/bell.h"

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/connection.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/net/wire.h"
#include "store/postgres/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define PAUSE_MIN (2 * USEC_PER_MSEC)
#define PAUSE_MAX USEC_PER_SEC
#define LOOKS_MAX 10                   /* in vain, before the bell is armed after all */
#define GO_ON     (50 * USEC_PER_MSEC) /* producers are taken to go on for so long */

void pg_bell_init(struct pg_bell *bell)
{
    *bell = (struct pg_bell){
        .epoll_fd = -1, .event_fd = -1, .timer_fd = -1, .socket = -1, .looks = LOOKS_MAX};
}

void pg_bell_done(struct pg_bell *bell)
{
    if (bell->epoll_fd >= 0)
        close(bell->epoll_fd);
    if (bell->event_fd >= 0)
        close(bell->event_fd);
    if (bell->timer_fd >= 0)
        close(bell->timer_fd);
    pg_bell_init(bell);
}

/* 0 clears it. */
static void set_timer(struct pg_bell *bell, usec_t pause)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = pause / USEC_PER_SEC, .tv_nsec = pause % USEC_PER_SEC * 1000}};

    bell->pause = pause;
    if (bell->timer_fd >= 0)
        (void)!timerfd_settime(bell->timer_fd, 0, &when, NULL);
}

static bool has_timer_run_out(struct pg_bell *bell)
{
    uint64_t times;

    return bell->pause > 0 && read(bell->timer_fd, &times, sizeof times) == sizeof times;
}

/* The two ways to change `rung` keep the eventfd with it. */
static void set_rung(struct pg_bell *bell)
{
    if (bell->rung || bell->event_fd < 0)
        return;
    bell->rung = true;
    (void)!eventfd_write(bell->event_fd, 1);
}

static void quiet(struct pg_bell *bell)
{
    eventfd_t count;

    bell->rung = false;
    (void)!eventfd_read(bell->event_fd, &count);
}

void pg_bell_hear(struct postgres *postgres)
{
    PGnotify *notification;

    while ((notification = PQnotifies(postgres->conn)) != NULL) {
        PQfreemem(notification);
        set_rung(&postgres->bell);
    }
}

void pg_bell_lose(struct pg_bell *bell)
{
    if (bell->socket >= 0)
        epoll_ctl(bell->epoll_fd, EPOLL_CTL_DEL, bell->socket, NULL);
    bell->socket = -1;
    pg_bell_disarmed(bell);
    set_rung(bell);
}

void pg_bell_mute(struct pg_bell *bell)
{
    if (bell->socket >= 0)
        (void)!epoll_ctl(bell->epoll_fd, EPOLL_CTL_DEL, bell->socket, NULL);
}

void pg_bell_unmute(struct pg_bell *bell)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = bell->socket};

    if (bell->socket >= 0 && epoll_ctl(bell->epoll_fd, EPOLL_CTL_ADD, bell->socket, &event))
        pg_bell_lose(bell); /* whoever waits next listens anew */
}

void pg_bell_found(struct pg_bell *bell)
{
    bell->looks = 0;
}

void pg_bell_disarmed(struct pg_bell *bell)
{
    bell->armed = false;
    set_timer(bell, 0);
}

bool pg_bell_is_idle(const struct pg_bell *bell)
{
    return bell->rung && bell->armed;
}

void pg_bell_ring(struct postgres *postgres)
{
    CLEANUP(pg_statement_done) struct pg_statement ring = pg_statement_start(postgres, SQL_RING);
    struct error ignored;

    pg_bell_rings(postgres);
    (void)!pg_statement_run(&ring, NULL,
                            &ignored); /* if nobody hears it, the slow scan finds the job */
}

/* Our own lock does not stand in our own way, so nobody would ring for us. */
void pg_bell_rings(struct postgres *postgres)
{
    set_rung(&postgres->bell);
}

static bool add_fd(struct pg_bell *bell, int fd, struct error *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(bell->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ||
           error_errno(err, TH_E_UNAVAILABLE, errno, "postgres: epoll");
}

/* Whoever waits for the first time has missed all that came before. */
static bool open_fds(struct pg_bell *bell, struct error *err)
{
    if (bell->epoll_fd >= 0)
        return true;
    bell->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    bell->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bell->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (bell->epoll_fd < 0 || bell->event_fd < 0 || bell->timer_fd < 0 ||
        !add_fd(bell, bell->event_fd, err) || !add_fd(bell, bell->timer_fd, err)) {
        int reason = errno;
        pg_bell_done(bell);
        return error_errno(err, TH_E_UNAVAILABLE, reason, "postgres: epoll");
    }
    set_rung(bell);
    return true;
}

static bool listen_to_channel(struct postgres *postgres, struct error *err)
{
    char sql[64];
    CLEANUP(pg_statement_done)
    struct pg_statement channel = pg_statement_start(postgres, SQL_CHANNEL);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    if (!pg_statement_run(&channel, &answer, err))
        return false;
    if (!pg_answer_next(&answer))
        return error_set(err, TH_E_INTERNAL, "postgres: the bell has no name");
    snprintf(sql, sizeof sql, "LISTEN %.*s", pg_answer_length(&answer), pg_answer_raw(&answer));
    return pg_connection_execute(postgres, sql, store_deadline(&postgres->base), err);
}

/* See arm() of the schema. Whoever never got a job has no reason to be patient. */
static enum pg_patience patience_of(const struct pg_bell *bell)
{
    if (bell->looks >= LOOKS_MAX)
        return PATIENCE_NONE;
    return bell->producing_at != 0 && clock_boot() < bell->producing_at + GO_ON ? PATIENCE_MORE
                                                                                : PATIENCE_SOME;
}

/* While somebody produces who does not ring, we look for ourselves. */
static void heed_producers(struct pg_bell *bell, bool are_there, usec_t pause)
{
    if (are_there)
        bell->producing_at = clock_boot();
    set_timer(bell, are_there || !bell->armed ? pause : 0);
}

static bool listen_once(struct postgres *postgres, struct error *err)
{
    struct pg_bell *bell = &postgres->bell;

    if (bell->socket >= 0)
        return true;
    if (!listen_to_channel(postgres, err) || !add_fd(bell, PQsocket(postgres->conn), err))
        return false;
    bell->socket = PQsocket(postgres->conn);
    return true;
}

/* From here on producers ring, or the timer is set. What came before nobody rang for: look again.
 */
static bool arm(struct postgres *postgres, struct error *err)
{
    struct pg_bell *bell = &postgres->bell;
    CLEANUP(pg_statement_done) struct pg_statement lock = pg_statement_start(postgres, SQL_ARM);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    set_timer(bell, 0);
    if (!listen_once(postgres, err))
        return false;
    pg_statement_int4(&lock, (int)patience_of(bell));
    if (!pg_statement_run(&lock, &answer, err))
        return false;
    if (!pg_answer_next(&answer))
        return error_set(err, TH_E_INTERNAL, "postgres: the bell was not armed");
    bell->armed = pg_answer_int(&answer) != 0;
    bell->looks++;
    heed_producers(bell, pg_answer_int(&answer) != 0, PAUSE_MIN);
    set_rung(bell);
    return true;
}

/* Asked before we look: whoever is done producing by then has committed, and we see it. */
static bool look_again(struct postgres *postgres, struct error *err)
{
    struct pg_bell *bell = &postgres->bell;
    const usec_t pause = backoff_next(bell->pause, PAUSE_MIN, PAUSE_MAX);
    CLEANUP(pg_statement_done)
    struct pg_statement ask = pg_statement_start(postgres, SQL_IS_PRODUCING);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    set_timer(bell, pause); /* also when it cannot be asked now */
    if (!pg_statement_run(&ask, &answer, err))
        return false;
    heed_producers(bell, pg_answer_next(&answer) && pg_answer_int(&answer) != 0, pause);
    set_rung(bell);
    return true;
}

/* The connection is there, and so is something that wakes us. */
static bool be_armed(struct postgres *postgres, struct error *err)
{
    struct pg_bell *bell = &postgres->bell;

    if (!open_fds(bell, err) ||
        !pg_connection_ensure(postgres, store_deadline(&postgres->base), err))
        return false;
    const bool is_late = has_timer_run_out(bell);
    if (bell->armed)
        return !is_late || look_again(postgres, err);
    return (bell->pause > 0 && !is_late) || arm(postgres, err);
}

bool pg_bell_fd(struct postgres *postgres, int *fd_out, struct error *err)
{
    if (!be_armed(postgres, err))
        return false;
    *fd_out = postgres->bell.epoll_fd;
    return true;
}

bool pg_bell_wait(struct postgres *postgres, usec_t timeout, bool *rang_out, struct error *err)
{
    struct pg_bell *bell = &postgres->bell;
    struct epoll_event event;
    usec_t start = clock_boot();
    usec_t left = timeout;

    for (;;) {
        if (!be_armed(postgres, err))
            return false;
        *rang_out = bell->rung;
        if (bell->rung) {
            quiet(bell);
            pg_scan_starts_rang(&postgres->scan_starts);
            return true;
        }
        left = timeout - (clock_boot() - start);
        if (left <= 0)
            return true;
        if (epoll_wait(bell->epoll_fd, &event, 1, clock_poll_timeout(left)) < 0 && errno != EINTR)
            return error_errno(err, TH_E_UNAVAILABLE, errno, "postgres: wait");
    }
}
