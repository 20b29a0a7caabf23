/*
 * enqueue.c - `thctl enqueue`: one job from the command line, or many from a file (bulk.c).
 *
 *     options and payload --template_make--> job --enqueue_prepare--> checked --submit--> store
 *
 * Everything typed is checked before the store is opened: a wrong command line creates no file.
 */
#include "client/enqueue.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "client/follow.h"
#include "job/job_json.h"
#include "thctl/bulk.h"
#include "thctl/ending.h"
#include "thctl/live.h"
#include "thctl/session.h"
#include "thctl/submit.h"
#include "thctl/template.h"

#include <string.h>
#include <unistd.h>

#define JOB_JSON_MAX ((size_t)64 << 20)

/* Options that say something about one job, or about many, only. */
static const struct {
    enum template_option option;
    bool for_bulk;
} exclusive[] = {
    {TEMPLATE_FILE, false},    {TEMPLATE_RAW, false},  {TEMPLATE_KEY, false},
    {TEMPLATE_ID, false},      {TEMPLATE_WAIT, false}, {TEMPLATE_IDEMPOTENCY_KEY, false},
    {TEMPLATE_SKIP_BAD, true},
};

static bool check_mode(const struct option_value *options, struct error *err)
{
    bool bulk = options[TEMPLATE_BULK].given;

    for (size_t i = 0; i < COUNT_OF(exclusive); i++) {
        if (options[exclusive[i].option].given && exclusive[i].for_bulk != bulk)
            return error_set(err, TH_E_INVALID, "--%s %s --bulk",
                             template_options[exclusive[i].option].name,
                             bulk ? "is for one job and cannot go with" : "goes with");
    }
    return true;
}

/* From the argument, the file, or stdin. Where none is given it is absent, and empty if raw. */
static bool read_payload(const struct option_value *options, const struct words *arguments,
                         struct buffer *buffer, struct bytes *payload_out, struct error *err)
{
    const char *argument = arguments->count > 1 ? arguments->items[1] : NULL;
    const char *file = options[TEMPLATE_FILE].text;
    bool read = true;

    if (argument != NULL && file != NULL)
        return error_set(err, TH_E_INVALID,
                         "PAYLOAD and --file exclude each other: a job has one payload");
    if (file != NULL && strcmp(file, "-") != 0)
        read = io_read_file(file, buffer, err);
    else if (file != NULL || (argument != NULL && strcmp(argument, "-") == 0))
        read = io_read_all(STDIN_FILENO, "stdin", buffer, err);
    else if (argument != NULL)
        buffer_text(buffer, argument);
    else if (!options[TEMPLATE_RAW].given)
        return true;
    if (!read || !buffer_ok(buffer, err))
        return error_prefix(err, "payload");
    *payload_out = (struct bytes){(const unsigned char *)buffer_str(buffer), buffer->length};
    return true;
}

static bool make_job(const struct option_value *options, const char *type, struct bytes payload,
                     usec_t now, struct job *job_out, struct error *err)
{
    if (!template_make(options, type, now, job_out, err))
        return false;
    if (payload.data != NULL)
        job_out->payload = payload;
    return true;
}

/* Where stderr is a terminal one line that changes, else a line for each change. */
static bool show_change(const struct job *job, void *context)
{
    struct live *live = context;
    struct buffer line = BUFFER(4096);
    char id[UUID_TEXT_SIZE];

    buffer_printf(&line, "%s %s", uuid_format(&job->id, id), job_state_name(job->state));
    if (job->progress_percent >= 0 && !job_state_has_ended(job->state))
        buffer_printf(&line, " %d%%", job->progress_percent);
    if (job->progress_text != NULL && !job_state_has_ended(job->state))
        buffer_printf(&line, " %s", job->progress_text);
    if (live->enabled)
        live_show(live, buffer_str(&line));
    else
        output_remark("%s", buffer_str(&line));
    buffer_done(&line);
    return true;
}

static enum status wait_for(struct session *session, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list seen = {0};
    CLEANUP(buffer_done) struct buffer line = BUFFER(JOB_JSON_MAX);
    struct live live = live_on_stderr();
    const struct follow follow = {.seen = show_change, .context = &live};
    struct error err;
    bool ended;

    output_flush(&session->out);
    bool followed = follow_job(session->store, id, USEC_MAX, &follow, &seen, &ended, &err);
    live_clear(&live);
    if (!followed && err.code == TH_E_NOT_FOUND)
        return ending_report_missing(id);
    if (!followed)
        return session_fail(&err);
    if (session->json) {
        job_json_add(&line, &seen.items[0]);
        output_json(&session->out, &line);
    }
    return ending_report(&seen.items[0]);
}

static enum status enqueue_one(struct session *session, const struct option_value *options,
                               const struct words *arguments)
{
    struct enqueue enqueue = session_enqueue(session);
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(enqueue.max_payload);
    struct bytes payload = {0};
    struct enqueued enqueued;
    struct error err;
    struct job job;

    if (!read_payload(options, arguments, &buffer, &payload, &err) ||
        !make_job(options, arguments->items[0], payload, clock_wall(), &job, &err) ||
        !enqueue_prepare(&enqueue, &job, clock_wall(), &err))
        return session_refuse(&err);
    enum status status = session_open(session, SESSION_MAKE);
    if (status != STATUS_OK)
        return status;

    usec_t now = store_now(session->store);
    if (!make_job(options, arguments->items[0], payload, now, &job, &err))
        return session_fail(&err);
    if (!submit_jobs(session, &enqueue, &job, 1, now, &enqueued, &err))
        return submit_fail(&job, &err);
    if (!options[TEMPLATE_QUIET].given)
        submit_print(session, &enqueued);
    return options[TEMPLATE_WAIT].given ? wait_for(session, &enqueued.id) : STATUS_OK;
}

static enum status run(struct session *session, const struct option_value *options,
                       const struct words *arguments)
{
    bool bulk = options[TEMPLATE_BULK].given;
    struct error err;

    if (!check_mode(options, &err))
        return session_refuse(&err);
    if (bulk && arguments->count > 1) {
        output_complain("with --bulk the payloads are in the file: give at most TYPE "
                        "(see 'thctl enqueue --help')");
        return STATUS_USAGE;
    }
    if (!bulk && arguments->count == 0) {
        output_complain("enqueue needs TYPE or --bulk FILE (see 'thctl enqueue --help')");
        return STATUS_USAGE;
    }
    if (bulk)
        return bulk_run(session, options, arguments->count > 0 ? arguments->items[0] : NULL);
    return enqueue_one(session, options, arguments);
}

static const char *const examples[] = {
    "enqueue email:send '{\"to\": \"a@b.c\"}' --queue mail --run-at +5m",
    "enqueue report:build --file day.json --key daily --wait",
    "enqueue thumbnail:make - --raw < photo.jpg",
    "enqueue --bulk jobs.jsonl --queue import",
    NULL,
};

const struct command command_enqueue = {
    .name = "enqueue",
    .summary = "store a job, or many from a file",
    .arguments = "TYPE [PAYLOAD | --file F | -] | --bulk F [TYPE]",
    .details = "Prints the id of the job. PAYLOAD is JSON; - reads it from stdin; without one it\n"
               "is null. A line of --bulk is a JSON object with the type, payload or\n"
               "payload_base64, queue, run_at, priority, timeout, max_attempts, max_stalls, key,\n"
               "idempotency_key, update_payload, update_run_at, update_retry, reset_counts and\n"
               "id of its job; options are the defaults of lines that do not say. All lines are\n"
               "checked before the first one is stored.\n",
    .examples = examples,
    .options = template_options,
    .min_arguments = 0,
    .max_arguments = 2,
    .run = run,
};
