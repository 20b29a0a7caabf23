/*
 * process.h - what every process below the master has, and its first and last steps.
 *
 * The master fills in what a child needs before it forks, and the child's main gets it:
 *
 *     int scheduler_main(struct process *process);
 *
 * A process is woken by a descriptor, a timer or an order of the master, and by nothing else: the
 * signals that the master acts on are ignored here, so that Ctrl-C and systemd's signals to the
 * whole group do no harm. When the master dies, so does the process.
 */
#ifndef PROCESS_PROCESS_H
#define PROCESS_PROCESS_H

#include "base/base.h"
#include "process/loop.h"
#include "process/message.h"

struct config;
struct error;
struct known_clock;
struct lease_table;
struct meters;
struct news_ring;
struct task_ring;
struct scoreboard;
struct start_board;
struct result_rings;
struct worker_handlers;

/* How a process ends: what the master makes of its exit code. */
enum process_exit {
    PROCESS_OK = 0,       /* asked to, or with nothing left to do */
    PROCESS_FAILED = 1,   /* started again */
    PROCESS_UNUSABLE = 3, /* trying again cannot help: the schema is too new, the URL is wrong */
    PROCESS_GAVE_UP = 4,  /* a dispatcher that was told to stop could not give everything back */
    PROCESS_RETIRED = 5,  /* a service that was told to: the next one takes over what it had */
};

struct process {
    char name[32];   /* "dispatcher", "worker 3" */
    int number;      /* of a worker, 1 and up; 0: a service */
    uint32_t serial; /* of this start */
    int master;      /* its pid */
    const struct config *config;
    const char *backend;                    /* the store's URL; NULL in workers */
    const char *pool;                       /* as the store knows it: NAME.RANDOM */
    bool once;                              /* run until nothing is ready */
    const struct worker_handlers *handlers; /* workers; others: NULL */

    struct lease_table *leases;
    struct known_clock *known_clock;   /* what this service knew before; workers: NULL */
    struct task_ring *task_ring;       /* dispatcher and workers; others: NULL */
    struct result_rings *result_rings; /* dispatcher and workers; others: NULL */
    int result_ring;                   /* a worker's own; others: 0 */
    struct scoreboard *scoreboard;
    size_t slot;
    struct start_board *start_board; /* the dispatcher writes it */
    struct meters *meters;           /* workers: NULL */
    struct news_ring *news_ring; /* what becomes of jobs, while somebody listens; workers: NULL */

    int control;  /* to the master */
    int tasks;    /* dispatcher: sends large ones; workers: take them; others: -1 */
    int results;  /* a worker's own; others: -1 */
    int printed;  /* what plugins print in this worker goes there: print_file.h; or -1 */
    int nudge;    /* an eventfd: heartbeater and workers to dispatcher, "there is news"; or -1 */
    int listener; /* a door's; others: -1 */
    int due;      /* an eventfd, never read: dispatcher to scheduler and retrier, "a job may be due
                   * soon"; or -1 */

    /* Filled in by process_begin(). */
    struct loop *loop;
    struct loop_watch control_watch;
    struct loop_timer log_timer;

    /* Set by the process' own main before it runs the loop. */
    void (*obey)(void *context, const struct order *order, int fd); /* NULL: only ORDER_EXIT */
    void (*bereaved)(void *context); /* the master died; NULL: exit at once */
    void *context;
    int exit_code;    /* what process_run() returns once the loop is stopped */
    bool has_stopped; /* for those that step the loop themselves */
};

/* Title, log name, ignored signals, loop, the watch on the master. A service (number 0) is killed
 * with the master; a worker clears up first. */
bool process_begin(struct process *process, struct error *err) MUST_CHECK;

/* Tells the master, which counts on us from here on. */
bool process_ready(struct process *process, struct error *err) MUST_CHECK;
bool process_report(struct process *process, const struct report *report,
                    struct error *err) MUST_CHECK;

/* Tries the log again every 50 ms while whoever reads it is slow. process_begin() does it; for the
 * master. */
void process_tend_log(struct loop *loop, struct loop_timer *timer);

/* The loop until process_stop(); a loop that fails is logged. Returns the exit code. */
int process_run(struct process *process);
void process_stop(struct process *process, int exit_code);

#define PROCESS_CALLER_SIZE 256

/* "thd: dispatcher pool=web-1.abcd": who we are where the store lists its clients. Returns `text`.
 */
const char *process_caller(const struct process *process, char text[PROCESS_CALLER_SIZE]);

/* What is said when a process cannot go on: logs the error, returns PROCESS_FAILED. */
int process_fail(const struct error *err);

#endif
