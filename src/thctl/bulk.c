/*
 * bulk.c - `thctl enqueue --bulk` and `--lines`: many jobs from one file.
 *
 *     check    every line is read, parsed and checked; nothing is kept
 *     store    the lines are read again and stored, a batch at a time, in their order
 *
 * Invariants:
 *   - Nothing is stored, and the store not even opened, before the last line was checked.
 *   - A batch is stored as a whole or not at all; when one fails, the lines before it are stored
 *     and the message names the last of them.
 *   - Memory holds one batch, however large the file is, and the ids of all if they are waited for.
 *   - Relative times are relative to one moment for all lines.
 *   - A signal to stop is obeyed between two batches, so that the last line stored can be named.
 */
#include "thctl/bulk.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/display.h"
#include "client/enqueue.h"
#include "job/job_json.h"
#include "thctl/lines.h"
#include "thctl/live.h"
#include "thctl/prospect.h"
#include "thctl/stop.h"
#include "thctl/submit.h"
#include "thctl/template.h"
#include "thctl/wait_many.h"

#include <string.h>

#define BATCH_BYTES_MAX ((size_t)16 << 20)
#define BAD_LINES_SHOWN 20

struct bulk {
    struct session *session;
    const struct option_value *options;
    const struct bulk_source *source;
    struct job template; /* what a line starts with */
    struct arena arena;  /* that it points into */
    struct enqueue enqueue;
    struct lines lines;
    struct buffer line;
    struct live live;
    usec_t now;       /* relative times start here */
    usec_t started;   /* boot time, when storing began */
    size_t last_line; /* that is stored */
    uint64_t good, bad, stored, updated, existed;
    struct crowd crowd;                                   /* what is stored, if it is waited for */
    char queue[JOB_NAME_MAX + 1], type[JOB_NAME_MAX + 1]; /* of the last one that is stored */
};

/* Jobs that are stored together; they point into the list's arena. */
struct batch {
    struct job_list jobs;
    size_t line_of[ENQUEUE_BATCH]; /* each job's number in the file */
    size_t bytes;                  /* of the lines read for it, bad ones included */
    bool is_last;                  /* the file ends here */
};

static void batch_done(struct batch *batch)
{
    job_list_done(&batch->jobs);
}

static void bulk_done(struct bulk *bulk)
{
    live_clear(&bulk->live);
    lines_done(&bulk->lines);
    buffer_done(&bulk->line);
    crowd_done(&bulk->crowd);
    arena_done(&bulk->arena);
}

static void show_progress(struct bulk *bulk, const char *doing, uint64_t jobs, usec_t since)
{
    uint64_t size = lines_size(&bulk->lines);
    int percent = size > 0 ? (int)(100 * bulk->lines.read / size) : 100;
    char count[OUTPUT_NUMBER_SIZE], rate[OUTPUT_NUMBER_SIZE], rest[128];

    if (!live_is_due(&bulk->live))
        return;
    usec_t elapsed = clock_boot() - since + 1;
    snprintf(rest, sizeof rest, "%s jobs  %s/s", output_number((int64_t)jobs, count),
             output_number((int64_t)((double)jobs * (double)USEC_PER_SEC / (double)elapsed), rate));
    live_show_bar(&bulk->live, doing, percent, rest);
}

/* A line to a job that could be stored. It points into `arena`, which keeps the text too. */
static bool parse_line(struct bulk *bulk, struct arena *arena, struct job *job_out,
                       struct error *err)
{
    if (!buffer_ok(&bulk->line, err))
        return error_prefix(err, "the line is too long");
    struct bytes text = arena_bytes(
        arena, (struct bytes){(const unsigned char *)buffer_str(&bulk->line), bulk->line.length});

    *job_out = bulk->template;
    if (arena->failed)
        return error_no_memory(err);
    if (bulk->source->form == BULK_PAYLOADS)
        job_out->payload = text;
    else if (!job_json_parse(text, bulk->now, arena, job_out, err))
        return false;
    return enqueue_prepare(&bulk->enqueue, job_out, bulk->now, err);
}

/* Bytes are only blank where there are none. */
static bool is_blank(const struct bulk *bulk)
{
    const struct buffer *line = &bulk->line;
    size_t blanks = bulk->options[TEMPLATE_RAW].given ? 0 : strspn(buffer_str(line), " \t\r");

    return !line->failed && blanks == line->length;
}

/* The next line with something on it. */
static bool next_line(struct bulk *bulk, bool *found_out, struct error *err)
{
    do {
        if (!lines_next(&bulk->lines, &bulk->line, found_out, err))
            return false;
    } while (*found_out && is_blank(bulk));
    return true;
}

static void note_bad(struct bulk *bulk, const struct error *reason)
{
    /* Of the JSON, which is one line; the line of the file is said already. */
    static const char line[] = "line 1, ";
    const char *text = reason->text;

    bulk->bad++;
    if (bulk->bad > BAD_LINES_SHOWN)
        return;
    live_clear(&bulk->live);
    if (text_starts_with(text, line))
        text += strlen(line);
    output_remark("%s:%zu: %s", bulk->lines.name, bulk->lines.number, text);
}

static bool check_line(struct bulk *bulk, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct job job;

    if (parse_line(bulk, &arena, &job, err)) {
        bulk->good++;
        return true;
    }
    if (err->code != TH_E_INVALID)
        return false;
    note_bad(bulk, err);
    return true;
}

static bool check_all(struct bulk *bulk, struct error *err)
{
    usec_t since = clock_boot();
    bool found = true;

    while (found) {
        if (!next_line(bulk, &found, err) || (found && !check_line(bulk, err)))
            return false;
        show_progress(bulk, "checking", bulk->good, since);
    }
    live_clear(&bulk->live);
    return lines_check_same(&bulk->lines, err) && lines_rewind(&bulk->lines, err);
}

static const char *advice_for_bad(const struct bulk *bulk)
{
    return bulk->source->form == BULK_PAYLOADS
               ? "nothing was stored (--raw takes lines of any text, --skip-bad stores the others)"
               : "nothing was stored (--skip-bad stores the other lines)";
}

/* Whether to go on: bad lines have been listed, and now are counted. */
static bool accept_bad(const struct bulk *bulk)
{
    bool skip = bulk->options[TEMPLATE_SKIP_BAD].given;
    char bad[OUTPUT_NUMBER_SIZE], more[OUTPUT_NUMBER_SIZE];

    if (bulk->bad == 0)
        return true;
    if (bulk->bad > BAD_LINES_SHOWN)
        output_remark("%s: and %s more bad lines", bulk->lines.name,
                      output_number((int64_t)(bulk->bad - BAD_LINES_SHOWN), more));
    output_complain("%s bad %s in %s: %s", output_number((int64_t)bulk->bad, bad),
                    bulk->bad == 1 ? "line" : "lines", bulk->lines.name,
                    skip ? "skipped" : advice_for_bad(bulk));
    return skip;
}

/* One more job for the batch. Bad lines, known from the check, are skipped. */
static bool add_line(struct bulk *bulk, struct batch *batch, struct error *err)
{
    struct job job;

    batch->bytes += bulk->line.length;
    if (!parse_line(bulk, &batch->jobs.arena, &job, err))
        return err->code == TH_E_INVALID && bulk->options[TEMPLATE_SKIP_BAD].given;
    struct job *place = job_list_add(&batch->jobs);
    if (!place)
        return error_no_memory(err);
    *place = job;
    batch->line_of[batch->jobs.count - 1] = bulk->lines.number;
    return true;
}

static bool fill_batch(struct bulk *bulk, struct batch *batch, struct error *err)
{
    bool found = true;

    while (batch->jobs.count < ENQUEUE_BATCH && batch->bytes < BATCH_BYTES_MAX) {
        if (!next_line(bulk, &found, err))
            return false;
        batch->is_last = !found;
        if (!found)
            break;
        if (!add_line(bulk, batch, err))
            return error_prefix(err, "line %zu", bulk->lines.number);
    }
    return lines_check_same(&bulk->lines, err);
}

static void count_batch(struct bulk *bulk, const struct enqueued *enqueued, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bulk->updated += enqueued[i].updated;
        bulk->existed += enqueued[i].existed;
        bulk->stored += !enqueued[i].updated && !enqueued[i].existed;
    }
    if (bulk->options[TEMPLATE_QUIET].given)
        return;
    if (bulk->session->out.terminal)
        live_clear(&bulk->live);
    for (size_t i = 0; i < count; i++)
        submit_print(bulk->session, &enqueued[i]);
    output_flush(&bulk->session->out);
}

/* "job 3: ..." of a batch to "line 2003: ..." of the file. Of a single job the text has no place.
 */
static bool name_line(const struct batch *batch, struct error *err)
{
    char prefix[32];

    if (batch->jobs.count == 1 && err->code == TH_E_CONFLICT)
        return error_prefix(err, "line %zu", batch->line_of[0]);
    for (size_t i = 0; i < batch->jobs.count; i++) {
        snprintf(prefix, sizeof prefix, "job %zu: ", i + 1);
        if (!text_starts_with(err->text, prefix))
            continue;
        struct error reason = *err;
        return error_set(err, reason.code, "line %zu: %s", batch->line_of[i],
                         reason.text + strlen(prefix));
    }
    return false;
}

/* One that existed may be in another queue than its line says. */
static bool remember(struct bulk *bulk, const struct batch *batch, const struct enqueued *enqueued,
                     struct error *err)
{
    if (!bulk->options[TEMPLATE_WAIT].given)
        return true;
    for (size_t i = 0; i < batch->jobs.count; i++) {
        const char *queue = enqueued[i].existed ? NULL : batch->jobs.items[i].queue;
        if (!crowd_add(&bulk->crowd, &enqueued[i].id, queue, err))
            return false;
    }
    return true;
}

static void note_last(struct bulk *bulk, const struct batch *batch)
{
    const struct job *job = &batch->jobs.items[batch->jobs.count - 1];

    bulk->last_line = batch->line_of[batch->jobs.count - 1];
    snprintf(bulk->queue, sizeof bulk->queue, "%s", job->queue);
    snprintf(bulk->type, sizeof bulk->type, "%s", job->type);
}

static bool store_batch(struct bulk *bulk, struct batch *batch, struct error *err)
{
    struct enqueued enqueued[ENQUEUE_BATCH];
    size_t count = batch->jobs.count;

    if (count == 0)
        return true;
    if (!submit_jobs(bulk->session, &bulk->enqueue, batch->jobs.items, count, bulk->now, enqueued,
                     err))
        return name_line(batch, err);
    note_last(bulk, batch);
    count_batch(bulk, enqueued, count);
    show_progress(bulk, "storing", bulk->stored + bulk->updated + bulk->existed, bulk->started);
    return remember(bulk, batch, enqueued, err);
}

static bool store_all(struct bulk *bulk, struct error *err)
{
    bool ended = false;

    stop_watch();
    while (!ended) {
        CLEANUP(batch_done) struct batch batch = {0};

        if (!fill_batch(bulk, &batch, err) || !store_batch(bulk, &batch, err))
            return false;
        ended = batch.is_last;
        if (!ended && stop_is_asked())
            return error_set(err, TH_E_UNAVAILABLE, "stopped by a signal");
    }
    return true;
}

/* The end of the command that goes on with the rest of the file. */
static void add_going_on(struct buffer *text, const struct bulk *bulk)
{
    const struct bulk_source *source = bulk->source;

    buffer_printf(text, "tail %s-n +%zu ", bulk->options[TEMPLATE_NULL].given ? "-z " : "",
                  bulk->last_line + 1);
    buffer_shell_word(text, source->path);
    if (source->form == BULK_PAYLOADS)
        buffer_printf(text, " | thctl enqueue --lines %s -", source->type);
    else
        buffer_text(text, " | thctl enqueue --bulk -");
}

/* Says where it stopped, and how to go on from there. */
static enum status report_failure(struct bulk *bulk, const struct error *err)
{
    CLEANUP(buffer_done) struct buffer rest = BUFFER(ERROR_TEXT_SIZE);

    live_clear(&bulk->live);
    enum status status = session_fail(err);
    if (err->code == TH_E_UNCERTAIN)
        output_complain("nobody answered: up to %d lines more than the following may be stored",
                        ENQUEUE_BATCH);
    add_going_on(&rest, bulk);
    if (bulk->last_line == 0)
        output_complain("nothing of %s was stored", bulk->lines.name);
    else if (text_equal(bulk->source->path, "-"))
        output_complain("stdin is stored up to line %zu: go on with line %zu", bulk->last_line,
                        bulk->last_line + 1);
    else
        output_complain("%s is stored up to line %zu: go on with '%s' and the same options",
                        bulk->lines.name, bulk->last_line, buffer_str(&rest));
    return status;
}

static void report_success(struct bulk *bulk)
{
    usec_t elapsed = clock_boot() - bulk->started;
    uint64_t total = bulk->stored + bulk->updated + bulk->existed;
    double rate = (double)total * (double)USEC_PER_SEC / (double)(elapsed + 1);
    char count[OUTPUT_NUMBER_SIZE], speed[OUTPUT_NUMBER_SIZE], time[UNITS_TEXT_SIZE];
    char updated[64] = "", existed[64] = "";

    live_clear(&bulk->live);
    if (bulk->updated > 0)
        snprintf(updated, sizeof updated, ", updated %s",
                 output_number((int64_t)bulk->updated, count));
    if (bulk->existed > 0)
        snprintf(existed, sizeof existed, ", %s existed already",
                 output_number((int64_t)bulk->existed, count));
    output_remark("stored %s %s%s%s in %s (%s/s)", output_number((int64_t)bulk->stored, count),
                  output_jobs((int64_t)bulk->stored), updated, existed,
                  units_format_duration(elapsed, time), output_number((int64_t)rate, speed));
}

/* The template again, for times by the store's clock. */
static bool start_storing(struct bulk *bulk, struct error *err)
{
    bulk->now = store_now(bulk->session->store);
    bulk->started = clock_boot();
    return template_make(bulk->options, bulk->source->type, bulk->now, &bulk->arena,
                         &bulk->template, err);
}

/* A payload in base64, and the rest. */
static size_t line_limit(size_t max_payload)
{
    return 2 * (max_payload > JOB_PAYLOAD_DEFAULT ? max_payload : JOB_PAYLOAD_DEFAULT);
}

static bool open_source(struct bulk *bulk, struct error *err)
{
    if (!template_make(bulk->options, bulk->source->type, bulk->now, &bulk->arena, &bulk->template,
                       err) ||
        !lines_open(&bulk->lines, bulk->source->path, err))
        return false;
    if (bulk->options[TEMPLATE_NULL].given)
        bulk->lines.end = '\0';
    return true;
}

enum status bulk_run(struct session *session, const struct option_value *options,
                     const struct bulk_source *source)
{
    const char *type = source->type;
    CLEANUP(bulk_done)
    struct bulk bulk = {
        .session = session,
        .options = options,
        .source = source,
        .enqueue = session_enqueue(session),
        .live = live_on_stderr(),
        .now = clock_wall(),
    };
    struct error err;

    bulk.line.limit = line_limit(bulk.enqueue.max_payload);
    if (type && !job_name_check(type, JOB_NAME_MAX, &err)) {
        error_prefix(&err, "type");
        return session_refuse(&err);
    }
    if (!open_source(&bulk, &err) || !check_all(&bulk, &err))
        return session_refuse(&err);
    if (!accept_bad(&bulk))
        return STATUS_USAGE;
    enum status status = session_open(session, SESSION_MAKE);
    if (status != STATUS_OK)
        return status;
    if (!start_storing(&bulk, &err) || !store_all(&bulk, &err)) {
        status = report_failure(&bulk, &err);
        stop_obey();
        return status;
    }
    report_success(&bulk);
    if (prospect_is_wanted(options[TEMPLATE_WAIT].given) && bulk.last_line > 0)
        prospect_tell(session, bulk.queue, bulk.type, bulk.good);
    if (options[TEMPLATE_WAIT].given)
        status = wait_for_all(session, &bulk.crowd, template_wait(options));
    stop_obey();
    return status;
}
