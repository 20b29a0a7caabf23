/*
 * ledger.h - every worker whose jobs are not all settled, living or dead, and its result socket;
 * and what of it the dispatcher has been told.
 *
 * The master keeps the dispatcher's end of each result socket, so that a dispatcher may die: the
 * next one gets them all. A dead worker stays in the ledger until the dispatcher has said that
 * nothing of it is left to settle.
 *
 *     started --> ended --> cleared (nothing of it is left alive) --> settled: out of the ledger
 *
 * The dispatcher hears of an end only when it is cleared: a job must never be given back while a
 * process of it lives.
 *
 * There is no queue of messages: what the dispatcher should know is compared with what it has been
 * told. So a new dispatcher is told exactly what holds by then, and a busy one holds nobody up.
 */
#ifndef MASTER_LEDGER_H
#define MASTER_LEDGER_H

#include "base/base.h"
#include "process/message.h"

struct error;

struct ledger_entry {
    int number;      /* of the worker */
    uint32_t serial; /* of its process */
    int pid;
    int results;     /* owned: the dispatcher's end */
    int printed;     /* owned: what its plugins have printed; -1: it has none */
    int result_ring; /* that was issued to it */
    bool has_ended;
    struct worker_end end; /* then */
    bool is_cleared;
    bool start_is_told, end_is_told; /* to the dispatcher that runs now */
    struct ledger_entry *next;
};

struct ledger {
    struct ledger_entry *entries; /* owned; in the order of their starts */
    enum order_kind told;         /* RESUME, PAUSE, DRAIN or STOP: the last of them */
};

void ledger_init(struct ledger *ledger);
void ledger_done(struct ledger *ledger);

/* Before the fork, which cannot be taken back. Takes `results` and `printed` over, if it works. */
bool ledger_add(struct ledger *ledger, int number, uint32_t serial, int results, int printed,
                int ring, struct error *err) MUST_CHECK;
void ledger_note_start(struct ledger *ledger, uint32_t serial, int pid);
void ledger_note_end(struct ledger *ledger, uint32_t serial, const struct worker_end *end);

/* Nothing is left alive of any worker that has ended. */
void ledger_clear(struct ledger *ledger);

/* For a worker that was never there, too. Returns the result ring that nobody needs any more; 0:
 * none. */
int ledger_settle(struct ledger *ledger, uint32_t serial);

/* Tells the dispatcher all that it does not know yet: every worker that was started, then every one
 * that has ended, then what the pool wants of it. DELIVERY_NONE: there was no room for all of it;
 * the next call goes on. */
enum delivery ledger_tell(struct ledger *ledger, enum order_kind wanted, int socket,
                          struct error *err);

/* A new dispatcher knows nothing. */
void ledger_forget_told(struct ledger *ledger);

#endif
