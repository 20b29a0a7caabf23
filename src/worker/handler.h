/*
 * handler.h - what a kind of handler implements, and what all kinds have in common.
 *
 * A handler is what config->handlers says of a type, made ready to run. Its kind is the row of the
 * table in handlers.c that is for it; to add a kind is to add a file and a row.
 */
#ifndef WORKER_HANDLER_H
#define WORKER_HANDLER_H

#include "base/arena.h"
#include "base/base.h"
#include "job/outcome.h"
#include "process/lease_table.h"
#include "worker/execution.h"

struct error;
struct handler_config;
struct handler_sharing;
struct loop;
struct plugins;
struct process;
struct schema;

/* One execution of one job. Limits are resolved, counts are those of this run. */
struct handler_job {
    const char *id;
    const char *type;
    const char *queue;
    const char *pool_id;
    int attempt; /* 1 is the first */
    int max_attempts;
    int64_t execution;
    struct bytes payload;
    bool payload_is_json;
    const char *headers; /* a JSON object as written; NULL: none */
    usec_t timeout;      /* 0: none */
    usec_t kill_grace;
    size_t output_size; /* how much of the end of what it prints is kept */
    usec_t started_at;  /* the database's time, for the record */
    int worker;
};

/* Who is told while it runs. Each may be NULL. */
struct handler_listener {
    void (*output)(void *context, struct bytes data); /* all that is printed, as it comes */
    /* At most OUTPUT_LINE_MAX bytes of a line, not terminated; `dropped` is how many more it had.
     */
    void (*line)(void *context, bool is_error, struct bytes line, uint64_t dropped);
    void (*progress)(void *context, int percent, const char *text);
    void (*garbage)(void *context, const char *problem); /* on descriptor 3, once */
    void *context;
};

struct handler_report {
    struct outcome outcome; /* points into `arena` */
    bool could_not_start;   /* then it is OUTCOME_RELEASED, and the error says why */
    int progress_percent;   /* the last one; -1: none */
    const char *progress_text;
    uint64_t output_bytes; /* all that was printed */
    struct arena arena;
};

void handler_report_done(struct handler_report *report);

/* With the last progress, which is stored with the end: there may have been no heartbeat since. */
struct outcome handler_report_outcome(const struct handler_report *report);

/* One of a job that was not started, through no fault of anybody's. */
void handler_report_released(struct handler_report *report);

/* One of a job whose payload cannot get better; `err` says why. */
void handler_report_invalid(struct handler_report *report, const struct error *err);

/* One of a job that could not be started; `err` says why. */
void handler_report_unstarted(struct handler_report *report, const struct error *err);

/* One job in the hands of a kind that does not keep the worker waiting. */
struct handler_run {
    const struct handler_job *job;
    const struct handler_listener *listener;
    bool has_ended;
    struct handler_report report; /* then */
    void *own;                    /* of its kind, until then */
};

struct handler {
    const struct handler_config *config;
    const struct handler_kind *kind;
    size_t
        home; /* whose state it uses: its own number, or that of one before it that is the same */
    const void *prepared;        /* what its kind made of the config */
    const struct schema *schema; /* what payloads have to fit; NULL: anything goes */
};

/* What a worker has for whatever it runs. */
struct handler_place {
    struct loop *loop;
    struct execution *execution;
    const struct process *process;
    struct plugins *plugins; /* those that are loaded */

    /* Of the job at hand. */
    struct hold hold;
    usec_t until; /* boot time at which it times out; 0: never */

    /* For what runs inside the worker and cannot be stopped by the loop: whether the run has to
     * stop, asked from within it. */
    enum stop_reason (*wants_stop)(void *context);
    void *context;
};

struct handler_kind {
    const char *name;
    bool (*is_for)(const struct handler_config *config);

    /* Before anything is forked. What is pointed to lives in the config or the arena. */
    bool (*prepare)(const struct handler_config *config, struct arena *arena,
                    const void **prepared_out, struct error *err);

    /* In a worker, before the first job of this handler there; and when the worker ends. What
     * cannot be opened is like a command that cannot be started: err says why. NULL: nothing to
     * open. */
    bool (*open)(const void *prepared, const struct handler_place *place, void **state_out,
                 struct error *err);
    void (*close)(void *state);

    /* To its end. False when this worker cannot go on. */
    bool (*run)(const void *prepared, void *state, const struct handler_place *place,
                const struct handler_job *job, const struct handler_listener *listener,
                struct handler_report *report_out, struct error *err);

    /* Called from the loop while it runs: it has to end now, and must have ended after `grace`. */
    void (*stop)(void *state, const struct handler_place *place, enum stop_reason why,
                 usec_t grace);

    /* For a kind that can have several jobs at a time; NULL for all others. */
    const struct handler_sharing *sharing;
};

/* Nothing here waits for anything, and nothing but serve() makes a run end. */
struct handler_sharing {
    /* Whether two handlers can use one state. */
    bool (*is_same)(const void *prepared, const void *other);

    /* Whether a job of this handler can be begun now. */
    bool (*has_room)(const void *prepared, const void *state);

    /* The run stays where it is until it has ended. False when this worker cannot go on. */
    bool (*begin)(const void *prepared, void *state, const struct handler_place *place,
                  struct handler_run *run, struct error *err);

    /* Called from the loop, for one of them: as stop(). */
    void (*halt)(void *state, struct handler_run *run, enum stop_reason why, usec_t grace);

    /* After each step of the loop. False when this worker cannot go on. */
    bool (*serve)(void *state, struct error *err);
};

extern const struct handler_kind handler_command;
extern const struct handler_kind handler_plugin;
extern const struct handler_kind handler_resident;

#endif
