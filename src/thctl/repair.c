/*
 * repair.c - changing what became of jobs: each of the ids, or all that match.
 */
#include "thctl/repair.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "thctl/selection.h"
#include "thctl/when.h"

#include <stdlib.h>

#define REASON_SIZE    160
#define REFUSALS_SHOWN 20 /* of a task that is bulk */
#define LINE_MAX       ((size_t)1024)

/* One run of it. */
struct task {
    struct session *session;
    const struct repair *repair;
    const struct uuid *ids;
    size_t count;
    usec_t run_at; /* 0: now */
    bool is_bulk;  /* people get the sum, not a line for each job */
    int64_t succeeded, failed;
};

static const char *done_many(const struct repair *repair)
{
    return repair->done_many ? repair->done_many : repair->done;
}

static const char *advice_for(const struct repair *repair, enum job_state state)
{
    switch (state) {
    case JOB_SCHEDULED:
    case JOB_RETRY:
        return repair->if_early;
    case JOB_READY:
    case JOB_BLOCKED:
        return repair->if_waiting;
    case JOB_RUNNING:
        return repair->if_running;
    case JOB_DONE:
        return repair->if_done;
    case JOB_DEAD:
    case JOB_CANCELLED:
        return repair->if_dead_or_cancelled;
    }
    return NULL;
}

/* Why the store refused: a conflict is explained by the state the job has now. */
static void explain(const struct task *task, const struct uuid *id, enum th_error_code verdict,
                    char reason[REASON_SIZE])
{
    CLEANUP(job_list_done) struct job_list found = {0};
    struct error ignored;

    if (verdict == TH_E_NOT_FOUND) {
        snprintf(reason, REASON_SIZE, "does not exist");
    } else if (!store_get(task->session->store, id, &found, &ignored)) {
        snprintf(reason, REASON_SIZE, "could not be changed: %s", error_code_name(verdict));
    } else {
        const struct job *job = &found.items[0];
        const char *advice = advice_for(task->repair, job->state);

        snprintf(reason, REASON_SIZE, "is %s: %s", job_state_name(job->state),
                 advice ? advice : "it has changed meanwhile, try again");
    }
}

static void print_json(struct task *task, const char *id, const char *error)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "id", id);
    json_write_bool(&json, "ok", !error);
    json_write_text(&json, "error", error);
    json_write_close(&json, '}');
    output_json(&task->session->out, &line);
}

static const char *success_word(const struct task *task, const struct repair *repair,
                                const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    struct error ignored;

    if (repair->done_if_running && store_get(task->session->store, id, &found, &ignored) &&
        found.items[0].state == JOB_RUNNING)
        return repair->done_if_running;
    return repair->done;
}

static void report(struct task *task, const struct repair *repair, const struct uuid *id,
                   enum th_error_code verdict)
{
    char text[UUID_TEXT_SIZE], reason[REASON_SIZE];

    uuid_format(id, text);
    if (verdict == TH_OK) {
        task->succeeded++;
        if (task->session->json)
            print_json(task, text, NULL);
        else if (!task->is_bulk)
            output_printf(&task->session->out, "%s %s\n", text, success_word(task, repair, id));
        return;
    }
    task->failed++;
    if (task->is_bulk && !task->session->json && task->failed > REFUSALS_SHOWN)
        return;
    explain(task, id, verdict, reason);
    if (task->session->json)
        print_json(task, text, reason);
    else
        output_complain("job %s %s", text, reason);
}

static void report_sum(struct task *task)
{
    char count[OUTPUT_NUMBER_SIZE];

    if (!task->is_bulk || task->session->json)
        return;
    if (task->failed > REFUSALS_SHOWN)
        output_complain("and %s more were not %s",
                        output_number(task->failed - REFUSALS_SHOWN, count),
                        done_many(task->repair));
    output_printf(&task->session->out, "%s %s %s\n", output_number(task->succeeded, count),
                  output_jobs(task->succeeded), done_many(task->repair));
}

/* A job that was refused, but waits for its time: what is done to it instead, or NULL. */
static const struct repair *repair_for_early(const struct task *task, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    const struct repair *instead = task->repair->for_early;
    struct error ignored;

    if (!instead || task->is_bulk || task->run_at != 0 ||
        !store_get(task->session->store, id, &found, &ignored))
        return NULL;
    return found.items[0].state == JOB_SCHEDULED || found.items[0].state == JOB_RETRY ? instead
                                                                                      : NULL;
}

static bool settle_one(struct task *task, const struct uuid *id, enum th_error_code verdict,
                       struct error *err)
{
    struct store *store = task->session->store;
    const struct repair *instead = verdict == TH_E_CONFLICT ? repair_for_early(task, id) : NULL;

    if (instead && !bulk_apply(instead->action, store, id, 1, 0, store_now(store), &verdict, err))
        return false;
    report(task, instead ? instead : task->repair, id, verdict);
    return true;
}

/* The store has been asked about all of them. */
static bool settle_batch(struct task *task, const struct uuid *ids, size_t count,
                         const enum th_error_code *verdicts, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!settle_one(task, &ids[i], verdicts[i], err))
            return false;
    return true;
}

static enum status run_task(struct task *task)
{
    enum th_error_code verdicts[BULK_PAGE];
    struct error err;

    for (size_t at = 0; at < task->count; at += BULK_PAGE) {
        size_t count = task->count - at < BULK_PAGE ? task->count - at : BULK_PAGE;

        if (!bulk_apply(task->repair->action, task->session->store, task->ids + at, count,
                        task->run_at, store_now(task->session->store), verdicts, &err) ||
            !settle_batch(task, task->ids + at, count, verdicts, &err)) {
            if (at > 0)
                report_sum(task);
            return session_fail(&err);
        }
    }
    report_sum(task);
    return task->failed > 0 ? STATUS_FAILED : STATUS_OK;
}

/* The states that --all means: those of the command, or the one that was given. */
static bool collect(const struct repair_plan *plan, struct store *store,
                    struct selection *selection_out, struct error *err)
{
    const struct option_value *state = &plan->options[REPAIR_STATE];
    struct job_filter filter;
    enum job_state given;
    size_t usual;
    const enum job_state *states = bulk_states(plan->repair->action, &usual);

    *selection_out = (struct selection){.which = state->given ? state->text : plan->repair->which};
    if (!filter_read(plan->options, store_now(store), &filter, err))
        return false;
    if (state->given && job_state_parse(state->text, &given))
        return selection_collect(selection_out, store, &filter, &given, 1, err);
    return selection_collect(selection_out, store, &filter, states, usual, err);
}

static enum status print_count(struct session *session, const struct selection *selection,
                               const char *done)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};
    int64_t count = (int64_t)selection->count;
    char number[OUTPUT_NUMBER_SIZE];

    if (session->json) {
        json_write_open(&json, NULL, '{');
        json_write_int(&json, "matched", count);
        json_write_close(&json, '}');
        output_json(&session->out, &line);
    } else {
        output_printf(&session->out, "%s %s %s would be %s\n", output_number(count, number),
                      selection->which, output_jobs(count), done);
    }
    return STATUS_OK;
}

static enum status run_all(struct task *task, const struct repair_plan *plan)
{
    CLEANUP(selection_done) struct selection selection = {0};
    const char *done = done_many(plan->repair);
    enum status status = STATUS_OK;
    char question[FILTER_QUESTION_SIZE];
    struct error err;

    if (!collect(plan, task->session->store, &selection, &err))
        return session_fail(&err);
    if (plan->options[REPAIR_DRY_RUN].given)
        return print_count(task->session, &selection, done);
    if (selection.count == 0) {
        if (!task->session->json)
            output_remark("no %s jobs%s%s", selection.which,
                          filter_is_given(plan->options) ? " like that" : "",
                          filter_question(task->session, plan->options, question));
        return STATUS_OK;
    }
    if (!plan->options[REPAIR_YES].given)
        status = selection_confirm(&selection, plan->repair->verb, done);
    if (status != STATUS_OK)
        return status;
    task->ids = selection.ids;
    task->count = selection.count;
    task->is_bulk = true;
    return run_task(task);
}

/* Ids or --all, and what picks jobs with --all only. */
static bool check_scope(const struct repair_plan *plan, const struct words *arguments,
                        struct error *err)
{
    const struct option_value *options = plan->options;

    if (options[REPAIR_ALL].given && arguments->count > 0)
        return error_set(err, TH_E_INVALID, "--all and ids exclude each other: give one of them");
    for (size_t i = 0; i < REPAIR_YES && !options[REPAIR_ALL].given; i++) {
        if (options[i].given)
            return error_set(err, TH_E_INVALID, "--%s goes with --all", plan->table[i].name);
    }
    if (!options[REPAIR_ALL].given && arguments->count == 0)
        return error_set(err, TH_E_INVALID, "give the ids of jobs, or --all");
    return true;
}

static bool read_run_at(const struct repair_plan *plan, usec_t now, usec_t *run_at_out,
                        struct error *err)
{
    if (!plan->run_at || when_parse(plan->run_at, now, run_at_out, err))
        return true;
    return error_prefix(err, "--run-at");
}

/* What was typed, before anything is opened. */
static bool check_plan(const struct repair_plan *plan, const struct words *arguments,
                       struct error *err)
{
    struct job_filter ignored;
    usec_t run_at;

    return check_scope(plan, arguments, err) && read_run_at(plan, clock_wall(), &run_at, err) &&
           filter_read(plan->options, clock_wall(), &ignored, err);
}

/* What stands for no job, or for several, has failed; the others go on. */
static bool find_ids(struct task *task, const struct id_prefix *prefixes, size_t count,
                     struct uuid *ids_out, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (id_prefix_find(&prefixes[i], task->session->store, &ids_out[task->count], err)) {
            task->count++;
            continue;
        }
        if (err->code != TH_E_NOT_FOUND && err->code != TH_E_CONFLICT)
            return false;
        task->failed++;
        if (task->session->json)
            print_json(task, prefixes[i].text, err->text);
        else
            output_complain("%s", err->text);
    }
    task->ids = ids_out;
    return true;
}

static enum status run_some(struct task *task, const struct id_prefix *prefixes, size_t count)
{
    AUTO_FREE struct uuid *ids = calloc(count, sizeof *ids);
    struct error err;

    if (!ids)
        error_no_memory(&err);
    if (!ids || !find_ids(task, prefixes, count, ids, &err))
        return session_fail(&err);
    return run_task(task);
}

enum status repair_carry_out(struct session *session, const struct repair_plan *plan,
                             const struct words *arguments)
{
    AUTO_FREE struct id_prefix *prefixes = NULL;
    struct task task = {.session = session, .repair = plan->repair};
    struct error err;

    if (!check_plan(plan, arguments, &err) || !id_prefix_parse_all(arguments, &prefixes, &err))
        return session_refuse(&err);
    enum status status = session_open(session, SESSION_LOOK);
    if (status != STATUS_OK)
        return status;
    if (!read_run_at(plan, store_now(session->store), &task.run_at, &err))
        return session_fail(&err);
    if (plan->options[REPAIR_ALL].given)
        return run_all(&task, plan);
    return run_some(&task, prefixes, arguments->count);
}
