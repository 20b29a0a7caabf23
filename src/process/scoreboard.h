/*
 * scoreboard.h - shared memory: what every process and worker is doing.
 *
 * One slot per process, written by its owner only, read by anyone without a lock: a reader that
 * meets a writer looks again. A slot lies on pages of its own, and a worker can write no other. It
 * has a place for each job that a worker may have at a time.
 *
 * It is for people, for `thctl pools` and the log. What a worker writes there may be wrong, so
 * little is decided by it: how soon the reaper looks at retention, which run a worker was killed
 * for, and who runs a job whose word in the lease table was overwritten. Whether a process is alive
 * is not decided by it: the process is asked, and answers (master/pulse.h).
 *
 * Beside it lies the mark of a worker that is inside a plugin, where nothing reaches it but a
 * signal: by that the master decides, about that worker and about nobody else.
 */
#ifndef PROCESS_SCOREBOARD_H
#define PROCESS_SCOREBOARD_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"
#include "process/lease_table.h"

struct error;
struct scoreboard;

#define SCOREBOARD_NAME_SIZE 32
#define SCOREBOARD_TEXT_SIZE 256
#define SCOREBOARD_TAIL_SIZE 4096

enum slot_state {
    SLOT_EMPTY, /* nobody: not started yet, or ended */
    SLOT_STARTING,
    SLOT_IDLE,
    SLOT_RUNNING, /* a worker: a job */
    SLOT_WAITING, /* a service: for the store to come back */
    SLOT_STOPPING,
};

const char *slot_state_name(enum slot_state state);

/* A slot as its owner last left it. */
struct slot {
    char name[SCOREBOARD_NAME_SIZE]; /* "worker 3" */
    int number;                      /* of a worker; 0: a service */
    uint32_t serial;                 /* of the process */
    int pid;
    enum slot_state state;
    bool is_retiring;  /* a worker: what it runs is its last */
    usec_t since;      /* of that state; wall time */
    int64_t jobs_done; /* by this process; for services: passes made */

    /* Of a running worker. */
    size_t jobs_running;
    size_t place_extent; /* no place at or above it has a job */
    size_t shown;        /* the place of the job that it has had longest: */
    struct hold hold;
    struct uuid job;
    char type[JOB_NAME_MAX + 1];
    int progress_percent; /* -1: none */
    char progress_text[SCOREBOARD_TEXT_SIZE];
};

/* One job of a running worker, in its place. */
struct slot_job {
    usec_t since; /* wall time; 0: there is no job */
    struct hold hold;
    struct uuid job;
    char type[JOB_NAME_MAX + 1];
    int progress_percent; /* -1: none */
    char progress_text[SCOREBOARD_TEXT_SIZE];
    uint64_t output_total; /* bytes printed so far; the tail below has the last of them */
    size_t output_length;
    unsigned char output[SCOREBOARD_TAIL_SIZE];
};

/* Where a worker is while its loop does not turn. */
struct plugin_mark {
    uint32_t plugin;  /* as config/plugin_id.h counts them; 0: inside none */
    struct hold hold; /* of the job; HOLD_NONE when it is for none */
    usec_t until;     /* boot time at which it must be over; 0: no such time */
};

/* Before the processes are forked. `places`: how many jobs a worker has at most. */
bool scoreboard_open(size_t slots, size_t places, struct scoreboard **board_out,
                     struct error *err) MUST_CHECK;
void scoreboard_close(struct scoreboard **board);

/* How many slots are in use, the first ones: others are not looked at. All of them, until the
 * master says otherwise; it does so for the processes that it forks from then on. */
size_t scoreboard_slots(const struct scoreboard *board);
size_t scoreboard_places(const struct scoreboard *board);
void scoreboard_use(struct scoreboard *board, size_t slots);

/* In a process, first thing: the others' slots become read-only. */
bool scoreboard_restrict(struct scoreboard *board, size_t own, struct error *err) MUST_CHECK;

/* False when the slot is empty, or its owner died while writing it. */
bool scoreboard_read(const struct scoreboard *board, size_t index,
                     struct slot *slot_out) MUST_CHECK;

/* False when there is no job, or its owner died while writing it. */
bool scoreboard_read_job(const struct scoreboard *board, size_t index, size_t place,
                         struct slot_job *job_out) MUST_CHECK;

/* ---- the owner ---- */

void scoreboard_enter(struct scoreboard *board, size_t own, const char *name, int number,
                      uint32_t serial, int pid);
void scoreboard_set_state(struct scoreboard *board, size_t own, enum slot_state state);
void scoreboard_retire(struct scoreboard *board, size_t own);
void scoreboard_count(struct scoreboard *board, size_t own, int64_t jobs_done);

/* A job begins in a place that is free, without progress or output; and it ends. Beforehand it is
 * shown, and afterwards not any more: the places below the extent are those that are looked at. */
void scoreboard_set_job(struct scoreboard *board, size_t own, size_t place, struct hold hold,
                        const struct uuid *job, const char *type);
void scoreboard_end_job(struct scoreboard *board, size_t own, size_t place);
void scoreboard_set_progress(struct scoreboard *board, size_t own, size_t place, int percent,
                             const char *text);
void scoreboard_add_output(struct scoreboard *board, size_t own, size_t place, struct bytes data);

/* Enters SLOT_RUNNING: this many jobs, none at `extent` or above, the oldest in `shown`. */
void scoreboard_show_jobs(struct scoreboard *board, size_t own, size_t running, size_t extent,
                          size_t shown);

/* A few stores, no lock and no system call: made for every job. */
void scoreboard_set_plugin(struct scoreboard *board, size_t own, const struct plugin_mark *mark);
void scoreboard_clear_plugin(struct scoreboard *board, size_t own);

/* By anybody. The parts of the mark belong together. */
struct plugin_mark scoreboard_plugin(const struct scoreboard *board, size_t index);

/* By the master, for a process that has ended. */
void scoreboard_leave(struct scoreboard *board, size_t index);

#endif
