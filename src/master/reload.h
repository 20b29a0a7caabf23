/*
 * reload.h - HUP: a new config, and then one process after the other that has read it.
 *
 *     HUP --> check it all; wrong: the old one stays
 *         --> dispatcher     retires between two turns; the next one finds all it had (recovery.c)
 *         --> workers        all are told; each goes when it has nothing to do
 *         --> the other services, one after the other, each when the one before it is ready
 *         --> config_reloaded
 *
 * What has to be done is not remembered but seen: a seat is up to date or not. So whatever dies,
 * starts or is told again meanwhile, the next look finds the rest. A worker with a long job holds
 * nobody up.
 *
 * A config that comes while one is being taken over is checked at once and waits its turn; of
 * several only the last one counts. However often HUP is sent, jobs go on.
 */
#ifndef MASTER_RELOAD_H
#define MASTER_RELOAD_H

#include "base/base.h"
#include "process/loop.h"

struct children;
struct config;
struct error;
struct generation;
struct upgrade;

struct reload {
    struct children *children;
    const struct upgrade *upgrade;
    struct generation *next; /* owned; checked, and waits for that */
    uint32_t awaited;        /* serial of the service that was last told to retire */
    struct loop_timer timer; /* of our patience with it */
};

void reload_init(struct reload *reload, struct children *children, const struct upgrade *upgrade);
void reload_done(struct reload *reload);

/* HUP. */
void reload_ask(struct reload *reload);

/* Goes on as far as nobody has to be waited for: after every start and every end of a process. */
void reload_continue(struct reload *reload);

/* Whether a pool with `seats` for workers, each of which may have this many jobs at a time, may go
 * from one config to the other while it runs. */
bool reload_is_possible(const struct config *from, const struct config *to, int seats, size_t jobs,
                        struct error *err) MUST_CHECK;

#endif
