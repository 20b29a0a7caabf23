/*
 * enqueue.c - `thctl enqueue`: one job from the command line, or many from a file (bulk.c).
 *
 *     options and payload --template_make--> job --enqueue_prepare--> checked --submit--> store
 *
 * Everything typed is checked before the store is opened: a wrong command line creates no file.
 */
#include "client/enqueue.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/excerpt.h"
#include "base/io.h"
#include "base/units.h"
#include "thctl/bulk.h"
#include "thctl/prospect.h"
#include "thctl/session.h"
#include "thctl/submit.h"
#include "thctl/template.h"
#include "thctl/wait.h"

#include <string.h>
#include <unistd.h>

/* How jobs are given. */
enum mode { MODE_ONE, MODE_BULK, MODE_LINES };

/* Options that say something in some modes only. */
static const struct {
    enum template_option option;
    bool in[3]; /* by mode */
    const char *place;
} restricted[] = {
    {TEMPLATE_FILE, {[MODE_ONE] = true, [MODE_LINES] = true}, "cannot go with --bulk"},
    {TEMPLATE_RAW, {[MODE_ONE] = true, [MODE_LINES] = true}, "cannot go with --bulk"},
    {TEMPLATE_KEY, {[MODE_ONE] = true}, "is for one job and cannot go with --bulk or --lines"},
    {TEMPLATE_ID, {[MODE_ONE] = true}, "is for one job and cannot go with --bulk or --lines"},
    {TEMPLATE_IDEMPOTENCY_KEY,
     {[MODE_ONE] = true},
     "is for one job and cannot go with --bulk or --lines"},
    {TEMPLATE_SKIP_BAD, {[MODE_BULK] = true, [MODE_LINES] = true}, "goes with --bulk or --lines"},
    {TEMPLATE_NULL, {[MODE_LINES] = true}, "goes with --lines"},
};

static bool find_mode(const struct option_value *options, enum mode *mode_out, struct error *err)
{
    bool bulk = options[TEMPLATE_BULK].given, lines = options[TEMPLATE_LINES].given;

    if (bulk && lines)
        return error_set(err, TH_E_INVALID,
                         "--bulk and --lines exclude each other: a line is a job or a payload");
    *mode_out = bulk ? MODE_BULK : lines ? MODE_LINES : MODE_ONE;
    for (size_t i = 0; i < COUNT_OF(restricted); i++) {
        if (options[restricted[i].option].given && !restricted[i].in[*mode_out])
            return error_set(err, TH_E_INVALID, "--%s %s",
                             template_options[restricted[i].option].name, restricted[i].place);
    }
    return true;
}

/* `--wait 30s` is --wait and a payload; of JSON that is never what was meant. */
static bool check_wait(const struct option_value *options, const struct words *arguments,
                       struct error *err)
{
    const char *payload = arguments->count > 1 ? arguments->items[1] : NULL;
    struct error ignored;
    usec_t duration;

    if (!options[TEMPLATE_WAIT].given || options[TEMPLATE_RAW].given || !payload ||
        !units_parse_duration(payload, &duration, &ignored))
        return true;
    return error_set(err, TH_E_INVALID, "'%s' would be the payload (did you mean '--wait=%s'?)",
                     payload, payload);
}

static bool refuse_size(const struct buffer *buffer, struct error *err)
{
    return error_set(
        err, TH_E_INVALID,
        "payload is larger than %zu bytes: max_payload in the config is the limit, and "
        "may be up to 16M",
        buffer->limit);
}

/* From the argument, the file, or stdin. Where none is given it is absent, and empty if raw. */
static bool read_payload(const struct option_value *options, const struct words *arguments,
                         struct buffer *buffer, struct bytes *payload_out, struct error *err)
{
    const char *argument = arguments->count > 1 ? arguments->items[1] : NULL;
    const char *file = options[TEMPLATE_FILE].text;
    bool read = true;

    if (argument && file)
        return error_set(err, TH_E_INVALID,
                         "PAYLOAD and --file exclude each other: a job has one payload");
    if (file && strcmp(file, "-") != 0)
        read = io_read_file(file, buffer, err);
    else if (file || (argument && strcmp(argument, "-") == 0))
        read = io_read_all(STDIN_FILENO, "stdin", buffer, err);
    else if (argument)
        buffer_text(buffer, argument);
    else if (!options[TEMPLATE_RAW].given)
        return true;
    if (!read || !buffer_ok(buffer, err)) {
        bool is_full = buffer->length == buffer->limit;
        return is_full ? refuse_size(buffer, err) : error_prefix(err, "payload");
    }
    *payload_out = (struct bytes){(const unsigned char *)buffer_str(buffer), buffer->length};
    return true;
}

static bool make_job(const struct option_value *options, const char *type, struct bytes payload,
                     usec_t now, struct arena *arena, struct job *job_out, struct error *err)
{
    if (!template_make(options, type, now, arena, job_out, err))
        return false;
    if (payload.data)
        job_out->payload = payload;
    return true;
}

/* Every door says "use raw"; here that is an option. */
static void name_raw(struct error *err)
{
    static const char anywhere[] = " (use raw for other bytes)";
    size_t length = strlen(err->text), tail = strlen(anywhere);

    if (length < tail || strcmp(err->text + length - tail, anywhere) != 0)
        return;
    struct error said = *err;
    error_set(err, said.code, "%.*s (text has quotes: '\"text\"'; --raw takes any bytes)",
              (int)(length - tail), said.text);
}

static enum status enqueue_one(struct session *session, const struct option_value *options,
                               const struct words *arguments)
{
    struct enqueue enqueue = session_enqueue(session);
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(enqueue.max_payload);
    CLEANUP(arena_done) struct arena arena = {0};
    struct bytes payload = {0};
    struct enqueued enqueued;
    struct error err;
    struct job job;

    if (!check_wait(options, arguments, &err) ||
        !read_payload(options, arguments, &buffer, &payload, &err) ||
        !make_job(options, arguments->items[0], payload, clock_wall(), &arena, &job, &err) ||
        !enqueue_prepare(&enqueue, &job, clock_wall(), &err)) {
        name_raw(&err);
        return session_refuse(&err);
    }
    enum status status = session_open(session, SESSION_MAKE);
    if (status != STATUS_OK)
        return status;

    usec_t now = store_now(session->store);
    if (!make_job(options, arguments->items[0], payload, now, &arena, &job, &err))
        return session_fail(&err);
    if (!submit_jobs(session, &enqueue, &job, 1, now, &enqueued, &err))
        return submit_fail(&job, &err);
    if (!options[TEMPLATE_QUIET].given)
        submit_print(session, &enqueued);
    if (prospect_is_wanted(options[TEMPLATE_WAIT].given) && !job_state_has_ended(enqueued.state))
        prospect_tell(session, job.queue, job.type, 1);
    return options[TEMPLATE_WAIT].given
               ? wait_for_end(session, &enqueued.id, template_wait(options))
               : STATUS_OK;
}

static enum status enqueue_bulk(struct session *session, const struct option_value *options,
                                const struct words *arguments)
{
    const struct bulk_source source = {
        .form = BULK_JOBS,
        .path = options[TEMPLATE_BULK].text,
        .type = arguments->count > 0 ? arguments->items[0] : NULL,
    };

    if (arguments->count > 1) {
        output_complain("with --bulk the payloads are in the file: give at most TYPE "
                        "(see 'thctl enqueue --help')");
        return STATUS_USAGE;
    }
    return bulk_run(session, options, &source);
}

/* Where the payloads are: by default in what was piped in. */
static bool find_lines(const struct option_value *options, const struct words *arguments,
                       const char **path_out, struct error *err)
{
    const char *argument = arguments->count > 1 ? arguments->items[1] : NULL;
    const char *file = options[TEMPLATE_FILE].text;
    char shown[EXCERPT_SIZE];

    *path_out = file ? file : "-";
    if (argument && file)
        return error_set(err, TH_E_INVALID, "- and --file exclude each other: give one of them");
    if (argument && strcmp(argument, "-") != 0)
        return error_set(err, TH_E_INVALID,
                         "with --lines the payloads are lines of - or of --file F "
                         "(did you mean '--file %s'?)",
                         excerpt_of(argument, shown));
    if (!argument && !file && isatty(STDIN_FILENO) == 1)
        return error_set(err, TH_E_INVALID,
                         "--lines needs lines: pipe them in, or give --file F (- reads what is "
                         "typed)");
    return true;
}

static enum status enqueue_lines(struct session *session, const struct option_value *options,
                                 const struct words *arguments)
{
    struct bulk_source source = {.form = BULK_PAYLOADS, .type = arguments->items[0]};
    struct error err;

    if (!find_lines(options, arguments, &source.path, &err))
        return session_refuse(&err);
    return bulk_run(session, options, &source);
}

static enum status run(struct session *session, const struct option_value *options,
                       const struct words *arguments)
{
    enum mode mode = MODE_ONE;
    struct error err;

    if (!find_mode(options, &mode, &err))
        return session_refuse(&err);
    if (mode != MODE_BULK && arguments->count == 0) {
        output_complain("enqueue needs TYPE or --bulk FILE (see 'thctl enqueue --help')");
        return STATUS_USAGE;
    }
    switch (mode) {
    case MODE_BULK:
        return enqueue_bulk(session, options, arguments);
    case MODE_LINES:
        return enqueue_lines(session, options, arguments);
    case MODE_ONE:
        break;
    }
    return enqueue_one(session, options, arguments);
}

static const char *const examples[] = {
    "enqueue email:send '{\"to\": \"a@b.c\"}' --queue mail --run-at +5m",
    "enqueue report:build --file day.json --key daily --wait=10m",
    "enqueue thumbnail:make - --raw < photo.jpg",
    "enqueue --bulk jobs.jsonl --queue import --wait",
    "enqueue invoice:print --tag customer:42 --header traceparent=$TRACE",
    "enqueue --lines --raw resize - < paths.txt",
    NULL,
};

const struct command command_enqueue = {
    .name = "enqueue",
    .summary = "store a job, or many from a file",
    .arguments = "TYPE [PAYLOAD | -] | --bulk F | --lines TYPE",
    .details = "Prints the id of the job. PAYLOAD is JSON; - reads it from stdin; without one it\n"
               "is null. --wait exits with 0 if the job is done, with 1 if it is dead or\n"
               "cancelled, and with 124 if it takes longer; of many jobs with 1 if any is not\n"
               "done.\n\n"
               "A line of --bulk is a JSON object with the type, payload or payload_base64,\n"
               "headers, tags, queue, run_at, priority, timeout, max_attempts, max_stalls, key,\n"
               "idempotency_key, update_payload, update_run_at, update_retry, reset_counts and\n"
               "id of its job; options are the defaults of lines that do not say. A line of\n"
               "--lines is the payload of a job: JSON, or any text with --raw; empty ones are\n"
               "skipped. All lines are checked before the first one is stored.\n",
    .examples = examples,
    .options = template_options,
    .min_arguments = 0,
    .max_arguments = 2,
    .run = run,
};
