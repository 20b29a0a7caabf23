/*
 * message.h - what our processes say to each other, and the sockets that carry it.
 *
 *   master      -> anybody     struct order    what to do; the result socket of a new worker
 *   anybody     -> master      struct report   ready; a worker's end has been dealt with
 *   dispatcher  -> workers     struct task     a job to run, any idle worker takes it: task_ring.h
 *   worker      -> dispatcher  struct result   how it ended: result_ring.h, or a socket per worker
 *   dispatcher  -> worker      struct halt     stop that run; the same socket, the other way
 *
 * All sockets are SOCK_SEQPACKET pairs: a message is whole or not there, and an end that closes is
 * seen. They are close-on-exec and do not block. Both ends run the same binary, so a message is the
 * struct itself, followed by its texts.
 */
#ifndef PROCESS_MESSAGE_H
#define PROCESS_MESSAGE_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/outcome.h"
#include "job/stop_reason.h"
#include "process/lease_table.h"

struct arena;
struct error;

/* What became of a message. */
enum delivery {
    DELIVERY_DONE,   /* sent, or received */
    DELIVERY_NONE,   /* no room, or nothing there, for now */
    DELIVERY_CLOSED, /* the other end is gone */
    DELIVERY_FAILED, /* err says why */
};

/* Two connected ends, close-on-exec and non-blocking. */
bool message_pair(int ends_out[2], struct error *err) MUST_CHECK;

/* ---- master and its children ---- */

enum order_kind {
    ORDER_WORKER_STARTED, /* dispatcher: worker, serial, pid, result_ring; and its socket */
    ORDER_WORKER_ENDED,   /* dispatcher: serial, end; with what its plugins printed, if it had
                           * any; nothing of it is left alive */
    ORDER_PAUSE,          /* dispatcher: reserve nothing, give back what nobody started */
    ORDER_RESUME,         /* dispatcher; doors: the pool is running */
    ORDER_DRAIN,          /* dispatcher: as pause, and exit when nothing is held; doors: the pool is
                           * about to end */
    ORDER_STOP,           /* dispatcher: as drain, and stop what runs */
    ORDER_EXIT,           /* the others: finish what is at hand, and exit with 0 */
    ORDER_PULSE,          /* anybody: answer with REPORT_PULSE */
    ORDER_PEER,   /* doors, gate, browse: peer, serial; and a socket to it. The one before it
                   * has died */
    ORDER_RETIRE, /* anybody: another one takes this place. A service leaves all as it is and
                   * exits with PROCESS_RETIRED; a worker first finishes what it runs, and
                   * what waits in its socket */
};

/* Doors and the processes that answer them. */
enum peer_kind {
    PEER_NONE, /* anybody else */
    PEER_HTTP,
    PEER_GATE,
    PEER_BROWSE,
};

/* "http", as ps shows it. */
const char *peer_kind_name(enum peer_kind kind);

/* How a worker ended. */
struct worker_end {
    int status;                  /* as waitpid() has it */
    uint32_t plugin;             /* that it was inside, as config/plugin_id.h counts; 0: none */
    enum stop_reason killed_for; /* by the master; STOP_NONE: it was not */
    struct hold killed_hold; /* the run that it was killed for; it may have just begun another */
    struct hold hold;        /* what it ran, by its own word; HOLD_NONE: nothing */
};

struct order {
    enum order_kind kind;
    int worker;      /* its number, 1 and up */
    uint32_t serial; /* of its process; never used twice in a pool's life */
    int pid;
    int result_ring; /* where its results are */
    struct worker_end end;
    enum peer_kind peer;
};

enum report_kind {
    REPORT_READY,
    REPORT_WORKER_SETTLED, /* dispatcher: nothing of that worker's is left to settle */
    REPORT_PULSE,          /* its loop turns */
    REPORT_WORKER_DEAF,    /* dispatcher: that worker has nothing to do, and starts nothing */
    REPORT_PEER_CUT_OFF,   /* gate, browse: that door sends nonsense, or reads nothing */
    REPORT_WANTED,         /* heartbeater: somebody has told the store what the pool shall do */
};

struct report {
    enum report_kind kind;
    uint32_t serial;
    enum order_kind wanted; /* ORDER_PAUSE, ORDER_RESUME or ORDER_DRAIN */
    usec_t wanted_at;       /* on the database's clock: another time is another wish */
};

/* `fd` goes along unless it is -1; it stays the caller's. */
enum delivery order_send(int socket, const struct order *order, int fd, struct error *err);
/* *fd_out is -1 unless one came along; it is the caller's. */
enum delivery order_receive(int socket, struct order *order_out, int *fd_out, struct error *err);
enum delivery report_send(int socket, const struct report *report, struct error *err);
enum delivery report_receive(int socket, struct report *report_out, struct error *err);

/* ---- dispatcher and workers ---- */

/* One execution of one job. Limits are resolved. */
struct task {
    struct hold hold;
    struct uuid id;
    const char *type;
    const char *queue;
    size_t handler; /* its place in config->handlers */
    int attempt;    /* 1 is the first */
    int max_attempts;
    int64_t execution;
    usec_t timeout;      /* 0: none */
    usec_t clock_offset; /* the database's clock is ours plus this */
    bool is_json;        /* what the payload is */
    struct bytes payload;
    const char *headers; /* as job/headers.h has them; NULL: none */
};

/* A payload over 16 KiB travels in a sealed memfd. */
enum delivery task_send(int socket, const struct task *task, struct error *err);
/* The task points into the arena. */
enum delivery task_receive(int socket, struct arena *arena, struct task *task_out,
                           struct error *err);

/* Into memory that the workers read, and out of it; the payload lies there too. 0: no room. */
size_t task_pack(const struct task *task, unsigned char *out, size_t room);
bool task_unpack(struct bytes packed, struct arena *arena, struct task *task_out,
                 struct error *err) MUST_CHECK;

/* How many bytes of tasks nobody has taken yet. */
size_t task_backlog(int socket);

struct result {
    struct hold hold;
    struct outcome outcome;
    bool could_not_start; /* then it is OUTCOME_RELEASED, and its error says why */
};

/* Output over 16 KiB travels in a sealed memfd.
 *
 * A result is looked at first and taken off when it has been settled: a dispatcher that dies in
 * between leaves it to the next one. */
enum delivery result_send(int socket, const struct result *result, struct error *err);
/* The next one that has not been looked at; it points into the arena. What is not a result is
 * DELIVERY_FAILED, and counts as looked at. run.pool stays behind. */
enum delivery result_look(int socket, struct arena *arena, struct result *result_out,
                          struct error *err);
/* Takes off the oldest `count` of those that were looked at. */
bool result_take(int socket, size_t count, struct error *err) MUST_CHECK;
/* Into memory that the dispatcher reads, and out of it. 0: no room. */
size_t result_pack(const struct result *result, unsigned char *out, size_t room);
bool result_unpack(struct bytes packed, struct arena *arena, struct result *result_out,
                   struct error *err) MUST_CHECK;
/* For a dispatcher that gets the socket, the first one too: looks from the oldest on. */
bool result_rewind(int socket, struct error *err) MUST_CHECK;

struct halt {
    struct hold hold;
    enum stop_reason reason;
};

enum delivery halt_send(int socket, const struct halt *halt, struct error *err);
enum delivery halt_receive(int socket, struct halt *halt_out, struct error *err);

#endif
