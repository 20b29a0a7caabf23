/*
 * tray.h - shared memory: results that wait for the dispatcher, a tray per worker; who sleeps.
 *
 *     worker --put--> | r | r | r |   | --look--> dispatcher --take, once it is settled--> free
 *
 * What is in a tray outlives the worker that put it there and the dispatcher that looked at it, as
 * what is in a socket does; but nobody asks the kernel. A result that does not fit, or finds the
 * tray full, goes through the worker's socket.
 *
 * A worker writes its own tray and sees no other. It runs other people's code: the dispatcher takes
 * nothing in a tray for a result before it has checked it, and how far it has come with one it
 * remembers where no worker can write. A tray is issued to one process and never to a second one
 * before it is blank again: what a worker has spoilt ends with it.
 *
 * Who sleeps has to be woken by a system call, so each says so here, looks for news once more, and
 * then sleeps; whoever brings news looks here afterwards.
 */
#ifndef PROCESS_TRAY_H
#define PROCESS_TRAY_H

#include "base/base.h"
#include "process/message.h"

struct arena;
struct error;
struct trays;

/* When the dispatcher wants to be told of results. */
enum tray_call {
    TRAY_AWAKE,  /* not at all: it looks */
    TRAY_ASLEEP, /* of any */
    TRAY_PACING, /* by a worker that has nothing left to do */
};

/* Before the processes are forked. A tray is known by its number, 1 and up. */
bool trays_open(size_t count, struct trays **trays_out, struct error *err) MUST_CHECK;
void trays_close(struct trays **trays);

/* ---- the master ---- */

/* A blank tray for a worker that is about to be forked; 0: none is left for now. */
int trays_issue(struct trays *trays);

/* Of a worker that has ended: it does not sleep. */
void tray_leave(struct trays *trays, int tray);

/* Of a worker of which nothing is left to settle; 0 is none. */
void trays_return(struct trays *trays, int tray);

/* ---- a worker, with its own ---- */

/* First thing: the trays of others are unmapped. */
bool trays_restrict(struct trays *trays, int tray, struct error *err) MUST_CHECK;

/* False: send it. */
bool tray_put(struct trays *trays, int tray, const struct result *result) MUST_CHECK;
enum tray_call trays_call(const struct trays *trays);
void tray_set_asleep(struct trays *trays, int tray, bool is_asleep);

/* ---- the dispatcher ---- */

/* Between these two a worker has it; looks from the oldest on that nobody has taken. */
void tray_use(struct trays *trays, int tray);
void tray_drop(struct trays *trays, int tray);

/* The next one that has not been looked at, as result_look() has it. */
enum delivery tray_look(struct trays *trays, int tray, struct arena *arena,
                        struct result *result_out, struct error *err);

/* Whether half of it was looked at and is not taken yet. */
bool tray_is_filling(const struct trays *trays, int tray);

/* Frees what was looked at. */
void tray_take(struct trays *trays, int tray);

/* Whether there is anything that was not looked at. */
bool trays_have_news(const struct trays *trays);
void trays_set_call(struct trays *trays, enum tray_call call);
size_t trays_sleepers(const struct trays *trays);

#endif
