/*
 * looks.h - what browse can be asked, each a function of its own.
 *
 * A look reads its wish from the call's pack (pack.h: fields in the order in which the door wrote
 * them), asks the store, and writes its page as JSON. An error is told to the client in its words:
 * TH_E_NOT_FOUND is a 404, TH_E_CONFLICT a 409.
 */
#ifndef BROWSE_LOOKS_H
#define BROWSE_LOOKS_H

#include "base/arena.h"
#include "base/base.h"
#include "door/pack.h"

struct buffer;
struct error;
struct pace;
struct process;
struct store;

struct look {
    struct store *store;
    const struct process *process;
    struct pace *pace; /* of the queues */
    struct unpack wish;
    struct arena *arena;

    /* The page. */
    struct buffer *body; /* nothing: no body */
    int status;          /* 200 unless it is set */
    const char *next;    /* as page.h has it; in the arena */
};

typedef bool (*look_function)(struct look *look, struct error *err);

bool look_at_gauges(struct look *look, struct error *err);
bool look_at_types(struct look *look, struct error *err);
bool look_and_mend(struct look *look, struct error *err);
bool look_at_dead_groups(struct look *look, struct error *err);
bool look_at_job(struct look *look, struct error *err);
bool look_at_jobs(struct look *look, struct error *err);
bool look_cron(struct look *look, struct error *err);
bool look_cron_pause(struct look *look, struct error *err);
bool look_cron_resume(struct look *look, struct error *err);
bool look_cron_run(struct look *look, struct error *err);
bool look_glance(struct look *look, struct error *err);
bool look_pool_want(struct look *look, struct error *err);
bool look_queue_hide(struct look *look, struct error *err);
bool look_queue_pause(struct look *look, struct error *err);
bool look_queue_resume(struct look *look, struct error *err);
bool look_queues(struct look *look, struct error *err);
bool look_stats(struct look *look, struct error *err);
bool look_workers(struct look *look, struct error *err);

#endif
