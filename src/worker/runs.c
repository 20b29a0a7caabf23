/*
 * runs.c - the jobs that this worker runs: one, or those that one resident has.
 */
#include "worker/runs.h"

#include "base/clock.h"
#include "base/error.h"
#include "config/config.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "process/title.h"

#include <assert.h>
#include <stdlib.h>

bool runs_open(struct runs *runs, const struct process *process, struct error *err)
{
    *runs = (struct runs){
        .process = process,
        .is_taken = calloc(scoreboard_places(process->scoreboard), sizeof *runs->is_taken),
    };
    return runs->is_taken || error_no_memory(err);
}

static void free_run(struct run *run)
{
    handler_report_done(&run->run.report);
    arena_done(&run->arena);
    free(run);
}

void runs_close(struct runs *runs)
{
    while (runs->first) {
        struct run *run = runs->first;

        runs->first = run->next;
        free_run(run);
    }
    if (runs->spare)
        free_run(runs->spare);
    free(runs->is_taken);
    *runs = (struct runs){0};
}

struct run *runs_spare(struct runs *runs)
{
    if (!runs->spare)
        runs->spare = calloc(1, sizeof *runs->spare);
    return runs->spare;
}

/* ---- what others see ---- */

static void show_idle(const struct runs *runs)
{
    const struct process *process = runs->process;

    title_set("thd: %s", process->name);
    scoreboard_set_state(process->scoreboard, process->slot, SLOT_IDLE);
}

static void show_oldest(const struct runs *runs)
{
    const struct process *process = runs->process;
    const struct run *oldest = runs->first;

    if (runs->count == 1)
        title_set("thd: %s %s %s", process->name, oldest->task.type, oldest->speech.id);
    else
        title_set("thd: %s %s %s and %zu more", process->name, oldest->task.type, oldest->speech.id,
                  runs->count - 1);
    scoreboard_show_jobs(process->scoreboard, process->slot, runs->count, runs->extent,
                         oldest->place);
}

static void show(const struct runs *runs)
{
    if (runs->first)
        show_oldest(runs);
    else
        show_idle(runs);
}

/* There is one for each job that this worker may have. */
static size_t take_place(struct runs *runs)
{
    size_t place = 0;

    while (place < runs->extent && runs->is_taken[place])
        place++;
    assert(place < scoreboard_places(runs->process->scoreboard));
    runs->is_taken[place] = true;
    if (place == runs->extent)
        runs->extent++;
    return place;
}

static void leave_place(struct runs *runs, size_t place)
{
    runs->is_taken[place] = false;
    while (runs->extent > 0 && !runs->is_taken[runs->extent - 1])
        runs->extent--;
}

/* ---- one of them ---- */

static struct handler_job job_of(const struct runs *runs, const struct run *run)
{
    const struct process *process = runs->process;
    const struct task *task = &run->task;

    return (struct handler_job){
        .id = run->speech.id,
        .type = task->type,
        .queue = task->queue,
        .pool_id = process->pool,
        .attempt = task->attempt,
        .max_attempts = task->max_attempts,
        .execution = task->execution,
        .payload = task->payload,
        .payload_is_json = task->is_json,
        .headers = task->headers,
        .timeout = task->timeout,
        .kill_grace = process->config->pool.kill_grace,
        .output_size = (size_t)process->config->handlers[task->handler].output,
        .started_at = clock_wall() + task->clock_offset,
        .worker = process->number,
    };
}

void runs_begin(struct runs *runs, struct run *run)
{
    const struct process *process = runs->process;
    const struct task *task = &run->task;

    assert(run == runs->spare);
    runs->spare = NULL;
    if (runs->last)
        runs->last->next = run;
    else
        runs->first = run;
    runs->last = run;
    runs->count++;
    run->place = take_place(runs);
    speech_begin(&run->speech, process, run->place, task);
    run->listener = speech_listener(&run->speech);
    run->job = job_of(runs, run);
    run->run = (struct handler_run){.job = &run->job, .listener = &run->listener};
    show(runs);
    scoreboard_set_job(process->scoreboard, process->slot, run->place, task->hold, &task->id,
                       task->type);
}

static void unlink_run(struct runs *runs, struct run *run)
{
    struct run *before = NULL;

    for (struct run *at = runs->first; at != run; at = at->next)
        before = at;
    if (before)
        before->next = run->next;
    else
        runs->first = run->next;
    if (runs->last == run)
        runs->last = before;
    runs->count--;
}

static void keep_spare(struct runs *runs, struct run *run)
{
    if (runs->spare) {
        free_run(run);
        return;
    }
    handler_report_done(&run->run.report);
    arena_done(&run->arena);
    run->next = NULL;
    run->handler = NULL;
    run->is_shared = run->is_given_up = false;
    runs->spare = run;
}

void runs_end(struct runs *runs, struct run *run)
{
    const struct process *process = runs->process;

    scoreboard_end_job(process->scoreboard, process->slot, run->place);
    scoreboard_count(process->scoreboard, process->slot, ++runs->done);
    unlink_run(runs, run);
    leave_place(runs, run->place);
    show(runs);
    keep_spare(runs, run);
}

struct run *runs_find(const struct runs *runs, struct hold hold)
{
    struct run *run = runs->first;

    while (run && !hold_equal(run->task.hold, hold))
        run = run->next;
    return run;
}
