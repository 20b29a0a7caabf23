/*
 * bell.h - wakes sleepers after a commit, by NOTIFY, and only when somebody sleeps.
 *
 * Whoever may sleep holds a lock that all sleepers share: it is armed. Whoever made something
 * ready and has committed tries to get that lock alone, and rings when it cannot. A bell that has
 * rung and is not listened to is disarmed with the next statement: under load nobody rings.
 *
 *            wait                 NOTIFY                  wait
 *   asleep ------> armed, quiet ---------> armed, rung ---------> armed, quiet
 *                                              | the next statement
 *                                              v             wait: armed first
 *                                          disarmed, rung -------------------> armed, quiet
 *
 * A producer in a transaction of its own (taskharbor.enqueue()) can ring only with its commit, and
 * that costs: so it does not when nobody sleeps while it enqueues. Whoever falls asleep before
 * that commit hears nothing. So whoever arms the bell asks whether such a transaction is open, and
 * while one is looks for itself: after 2 ms, and then less and less often, each second at least.
 * And whoever has just got jobs while producers are at it does not arm the bell yet, but looks
 * again after 2 ms: as long as jobs keep coming, nobody rings at all.
 *
 * Notifications come through the connection that everything else uses, so the descriptor to poll is
 * an epoll of its socket and of an eventfd that says what was heard on the way.
 */
#ifndef POSTGRES_BELL_H
#define POSTGRES_BELL_H

#include "base/base.h"
#include "base/error.h"

struct postgres;

struct pg_bell {
    int epoll_fd;        /* -1: nobody has ever waited */
    int event_fd;        /* readable while `rung` */
    int timer_fd;        /* when to look without having heard anything */
    int socket;          /* in the epoll; -1: none */
    usec_t pause;        /* until then, when it was last set; 0: it is not */
    int looks;           /* in vain, since the last one that brought jobs */
    usec_t producing_at; /* clock_boot() when somebody was last seen to produce */
    bool armed;          /* LISTEN and the lock, both of this connection */
    bool rung;           /* since the last wait */
};

void pg_bell_init(struct pg_bell *bell);
void pg_bell_done(struct pg_bell *bell);

/* Takes in notifications that have come with something else. */
void pg_bell_hear(struct postgres *postgres);

/* The connection is about to be closed: whoever waits has to look for themselves. */
void pg_bell_lose(struct pg_bell *bell);

/* Wakes whoever sleeps, after the commit. That it may fail loses nothing but time. */
void pg_bell_ring(struct postgres *postgres);

/* A statement of ours rings: it wakes the others, and this wakes us. */
void pg_bell_rings(struct postgres *postgres);

/* While answers are waited for, what comes through the connection is no bell: only what was heard
 * on the way is. */
void pg_bell_mute(struct pg_bell *bell);
void pg_bell_unmute(struct pg_bell *bell);

/* Jobs were found. */
void pg_bell_found(struct pg_bell *bell);

/* Nobody has to ring for us any more. */
void pg_bell_disarmed(struct pg_bell *bell);

/* Whether the next statement should disarm it. */
bool pg_bell_is_idle(const struct pg_bell *bell);

bool pg_bell_fd(struct postgres *postgres, int *fd_out, struct error *err) MUST_CHECK;
bool pg_bell_wait(struct postgres *postgres, usec_t timeout, bool *rang_out,
                  struct error *err) MUST_CHECK;

#endif
