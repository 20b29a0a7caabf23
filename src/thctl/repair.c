/*
 * repair.c - `thctl cancel`, `retry` and `rm`: changing what became of jobs.
 *
 * All three take ids, try every one of them and say of each what became of it. `--all` first
 * collects the ids of all jobs that match, then asks, then does the same in batches.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "thctl/filter.h"
#include "thctl/selection.h"
#include "thctl/session.h"
#include "thctl/when.h"

#define BATCH          ((size_t)1000)
#define REASON_SIZE    160
#define REFUSALS_SHOWN 20 /* of a task that is bulk */
#define LINE_MAX       ((size_t)1024)

/* What differs between the three. */
struct repair {
    const char *done; /* "deleted" */
    const char *verb; /* "Delete", for the question */

    /* What to say instead of `done` of a job that runs, although nothing was refused; or NULL. */
    const char *done_if_running;

    /* What to say where the store refuses, by the state of the job; NULL: it must have changed. */
    const char *if_waiting, *if_running, *if_done, *if_dead_or_cancelled;

    bool (*apply)(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                  usec_t now, enum th_error_code *verdicts_out, struct error *err);
};

/* One run of it. */
struct task {
    struct session *session;
    const struct repair *repair;
    const struct uuid *ids;
    size_t count;
    usec_t run_at;
    bool is_bulk; /* people get the sum, not a line for each job */
    int64_t succeeded, failed;
};

static const char *advice_for(const struct repair *repair, enum job_state state)
{
    switch (state) {
    case JOB_SCHEDULED:
    case JOB_READY:
    case JOB_BLOCKED:
    case JOB_RETRY:
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
                 advice != NULL ? advice : "it has changed meanwhile, try again");
    }
}

static void print_json(struct task *task, const char *id, const char *error)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "id", id);
    json_write_bool(&json, "ok", error == NULL);
    json_write_text(&json, "error", error);
    json_write_close(&json, '}');
    output_json(&task->session->out, &line);
}

static const char *success_word(const struct task *task, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    const struct repair *repair = task->repair;
    struct error ignored;

    if (repair->done_if_running != NULL && store_get(task->session->store, id, &found, &ignored) &&
        found.items[0].state == JOB_RUNNING)
        return repair->done_if_running;
    return repair->done;
}

static void report(struct task *task, const struct uuid *id, enum th_error_code verdict)
{
    char text[UUID_TEXT_SIZE], reason[REASON_SIZE];

    uuid_format(id, text);
    if (verdict == TH_OK) {
        task->succeeded++;
        if (task->session->json)
            print_json(task, text, NULL);
        else if (!task->is_bulk)
            output_printf(&task->session->out, "%s %s\n", text, success_word(task, id));
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
                        output_number(task->failed - REFUSALS_SHOWN, count), task->repair->done);
    output_printf(&task->session->out, "%s %s %s\n", output_number(task->succeeded, count),
                  output_jobs(task->succeeded), task->repair->done);
}

static enum status run_task(struct task *task)
{
    enum th_error_code verdicts[BATCH];
    struct error err;

    for (size_t at = 0; at < task->count; at += BATCH) {
        size_t count = task->count - at < BATCH ? task->count - at : BATCH;

        if (!task->repair->apply(task->session->store, task->ids + at, count, task->run_at,
                                 store_now(task->session->store), verdicts, &err)) {
            if (at > 0)
                report_sum(task);
            return session_fail(&err);
        }
        for (size_t i = 0; i < count; i++)
            report(task, &task->ids[at + i], verdicts[i]);
    }
    report_sum(task);
    return task->failed > 0 ? STATUS_FAILED : STATUS_OK;
}

static enum status run_all(struct task *task, const struct job_filter *filter, bool narrowed,
                           bool yes)
{
    CLEANUP(selection_done) struct selection selection = {0};
    struct error err;

    if (!selection_collect(&selection, task->session->store, filter, &err))
        return session_fail(&err);
    if (selection.count == 0) {
        if (!task->session->json)
            output_remark("no %s jobs%s", job_state_name(filter->state),
                          narrowed ? " like that" : "");
        return STATUS_OK;
    }
    enum status status =
        yes ? STATUS_OK : selection_confirm(&selection, task->repair->verb, task->repair->done);
    if (status != STATUS_OK)
        return status;
    task->ids = selection.ids;
    task->count = selection.count;
    task->is_bulk = true;
    return run_task(task);
}

/* What the command line asks for. */
struct plan {
    const struct repair *repair;
    const char *run_at; /* as written, or NULL */
    bool all, yes;
    const struct option_value *filter; /* of --all */
    enum job_state state;              /* of --all */
};

static bool read_run_at(const struct plan *plan, usec_t now, usec_t *run_at_out, struct error *err)
{
    if (plan->run_at == NULL || when_parse(plan->run_at, now, run_at_out, err))
        return true;
    return error_prefix(err, "--run-at");
}

static bool read_filter(const struct plan *plan, usec_t now, struct job_filter *filter_out,
                        struct error *err)
{
    if (!plan->all)
        return true;
    if (!filter_read(plan->filter, now, filter_out, err))
        return false;
    filter_out->by_state = true;
    filter_out->state = plan->state;
    return true;
}

static enum status carry_out(struct session *session, const struct plan *plan,
                             const struct words *arguments)
{
    AUTO_FREE struct uuid *ids = NULL;
    struct task task = {.session = session, .repair = plan->repair};
    struct job_filter filter = {0};
    struct error err;

    if (!read_run_at(plan, clock_wall(), &task.run_at, &err) ||
        !read_filter(plan, clock_wall(), &filter, &err) ||
        !session_parse_ids(arguments, &ids, &err))
        return session_refuse(&err);
    enum status status = session_open(session, SESSION_LOOK);
    if (status != STATUS_OK)
        return status;
    if (!read_run_at(plan, store_now(session->store), &task.run_at, &err) ||
        !read_filter(plan, store_now(session->store), &filter, &err))
        return session_fail(&err);
    if (plan->all)
        return run_all(&task, &filter, filter_is_given(plan->filter), plan->yes);
    task.ids = ids;
    task.count = arguments->count;
    return run_task(&task);
}

/* What retry and rm have behind the filters. */
enum repair_option {
    ALL = FILTER_OPTIONS,
    YES,
    RETRY_RUN_AT,
    RM_STATE = RETRY_RUN_AT,
};

/* Ids or --all, and filters with --all only. */
static bool check_scope(const struct option *table, const struct option_value *options,
                        const struct words *arguments, struct error *err)
{
    if (options[ALL].given && arguments->count > 0)
        return error_set(err, TH_E_INVALID, "--all and ids exclude each other: give one of them");
    for (size_t i = 0; i < FILTER_OPTIONS && !options[ALL].given; i++) {
        if (options[i].given)
            return error_set(err, TH_E_INVALID, "--%s goes with --all", table[i].name);
    }
    if (!options[ALL].given && arguments->count == 0)
        return error_set(err, TH_E_INVALID, "give the ids of jobs, or --all");
    return true;
}

/* ---- cancel ---- */

static bool apply_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                         usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    (void)run_at;
    return store_cancel(store, ids, count, now, verdicts_out, err);
}

static const struct repair cancel = {
    .done = "cancelled",
    .done_if_running = "is running: it was asked to stop",
    .if_done = "there is nothing to cancel",
    .if_dead_or_cancelled = "there is nothing to cancel",
    .apply = apply_cancel,
};

static enum status run_cancel(struct session *session, const struct option_value *options,
                              const struct words *arguments)
{
    struct plan plan = {.repair = &cancel};

    (void)options;
    return carry_out(session, &plan, arguments);
}

static const char *const cancel_examples[] = {
    "cancel 0193f0a2-7c1d-7abc-8def-0123456789ab",
    NULL,
};

const struct command command_cancel = {
    .name = "cancel",
    .summary = "cancel waiting jobs, stop running ones",
    .arguments = "ID...",
    .details = "A running job is stopped when its pool hears of it, with its next heartbeat.\n",
    .examples = cancel_examples,
    .options = options_none,
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = run_cancel,
};

/* ---- retry ---- */

static const struct repair retry = {
    .done = "queued again",
    .verb = "Retry",
    .if_waiting = "it will run by itself",
    .if_running = "there is nothing to retry",
    .if_done = "only dead and cancelled jobs can run again",
    .if_dead_or_cancelled = "another job with its key is waiting",
    .apply = store_requeue,
};

/* clang-format off */
static const struct option retry_options[] = {
    FILTER_ROWS,
    [ALL] = {"all", 0, NULL, "all dead jobs, or what the filters pick of them", OPTION_FLAG},
    [YES] = {"yes", 'y', NULL, "do not ask", OPTION_FLAG},
    [RETRY_RUN_AT] = {"run-at", 0, "WHEN", "not before: +5m, 09:00, 'tomorrow 09:00', 2026-01-31T10:00:00Z", OPTION_TEXT},
    {.name = NULL},
};
/* clang-format on */

static enum status run_retry(struct session *session, const struct option_value *options,
                             const struct words *arguments)
{
    struct plan plan = {
        .repair = &retry,
        .run_at = options[RETRY_RUN_AT].text,
        .all = options[ALL].given,
        .yes = options[YES].given,
        .filter = options,
        .state = JOB_DEAD,
    };
    struct error err;

    if (!check_scope(retry_options, options, arguments, &err))
        return session_refuse(&err);
    return carry_out(session, &plan, arguments);
}

static const char *const retry_examples[] = {
    "retry 0193f0a2-7c1d-7abc-8def-0123456789ab",
    "retry --all --type email:send --run-at +10m",
    "retry --all --error 'connection refused' --since -1h",
    NULL,
};

const struct command command_retry = {
    .name = "retry",
    .summary = "run dead or cancelled jobs again",
    .arguments = "ID... | --all",
    .details = "Their attempts, stalls and errors are cleared.\n"
               "since and until mean when they died.\n",
    .examples = retry_examples,
    .options = retry_options,
    .max_arguments = SIZE_MAX,
    .run = run_retry,
};

/* ---- rm ---- */

static bool apply_remove(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                         usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    (void)run_at;
    (void)now;
    return store_remove(store, ids, count, verdicts_out, err);
}

static const struct repair removal = {
    .done = "deleted",
    .verb = "Delete",
    .if_waiting = "cancel it first",
    .if_running = "cancel it first",
    .apply = apply_remove,
};

static const char *const ended_names[] = {"done", "dead", "cancelled", NULL};

/* clang-format off */
static const struct option rm_options[] = {
    FILTER_ROWS,
    [ALL] = {"all", 0, NULL, "all dead jobs, or what the filters pick of them", OPTION_FLAG},
    [YES] = {"yes", 'y', NULL, "do not ask", OPTION_FLAG},
    [RM_STATE] = {"state", 's', "STATE", "instead of the dead: done or cancelled", OPTION_CHOICE, .choices = ended_names},
    {.name = NULL},
};
/* clang-format on */

static enum status run_rm(struct session *session, const struct option_value *options,
                          const struct words *arguments)
{
    struct plan plan = {
        .repair = &removal,
        .all = options[ALL].given,
        .yes = options[YES].given,
        .filter = options,
        .state = JOB_DEAD,
    };
    struct error err;

    if (!check_scope(rm_options, options, arguments, &err))
        return session_refuse(&err);
    if (options[RM_STATE].given && !options[ALL].given) {
        error_set(&err, TH_E_INVALID, "--state goes with --all");
        return session_refuse(&err);
    }
    if (options[RM_STATE].given && !job_state_parse(options[RM_STATE].text, &plan.state))
        plan.state = JOB_DEAD;
    return carry_out(session, &plan, arguments);
}

static const char *const rm_examples[] = {
    "rm 0193f0a2-7c1d-7abc-8def-0123456789ab",
    "rm --all --queue mail",
    "rm --all --state done --yes",
    NULL,
};

const struct command command_rm = {
    .name = "rm",
    .summary = "delete jobs that have ended",
    .arguments = "ID... | --all",
    .details = "The idempotency keys of deleted jobs are free again.\n"
               "since and until mean when they ended.\n",
    .examples = rm_examples,
    .options = rm_options,
    .max_arguments = SIZE_MAX,
    .run = run_rm,
};
