/*
 * bulk.c - `thctl enqueue --bulk`: many jobs from one file.
 *
 *     check    every line is read, parsed and checked; nothing is kept
 *     store    the lines are read again and stored, a batch at a time, in their order
 *
 * Invariants:
 *   - Nothing is stored, and the store not even opened, before the last line was checked.
 *   - A batch is stored as a whole or not at all; when one fails, the lines before it are stored
 *     and the message names the last of them.
 *   - Memory holds one batch, however large the file is.
 *   - Relative times are relative to one moment for all lines.
 *   - A signal to stop is obeyed between two batches, so that the end can be told.
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
#include "thctl/stop.h"
#include "thctl/submit.h"
#include "thctl/template.h"

#include <string.h>

#define BATCH_BYTES_MAX ((size_t)16 << 20)
#define BAD_LINES_SHOWN 20
#define BAR_WIDTH       20

struct bulk {
    struct session *session;
    const struct option_value *options;
    struct job template; /* what a line starts with */
    struct enqueue enqueue;
    struct lines lines;
    struct buffer line;
    struct live live;
    usec_t now;       /* relative times start here */
    usec_t started;   /* boot time, when storing began */
    size_t last_line; /* that is stored */
    uint64_t good, bad, stored, updated, existed;
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
}

static void show_progress(struct bulk *bulk, const char *doing, uint64_t jobs, usec_t since)
{
    static const char full[BAR_WIDTH + 1] = "####################";
    static const char empty[BAR_WIDTH + 1] = "....................";
    uint64_t size = lines_size(&bulk->lines);
    int percent = size > 0 ? (int)(100 * bulk->lines.read / size) : 100;
    int filled = percent * BAR_WIDTH / 100;
    char count[OUTPUT_NUMBER_SIZE], rate[OUTPUT_NUMBER_SIZE], text[160];

    if (!live_is_due(&bulk->live))
        return;
    usec_t elapsed = clock_boot() - since + 1;
    snprintf(text, sizeof text, "%s [%.*s%.*s] %3d%%  %s jobs  %s/s", doing, filled, full,
             BAR_WIDTH - filled, empty, percent, output_number((int64_t)jobs, count),
             output_number((int64_t)((double)jobs * (double)USEC_PER_SEC / (double)elapsed), rate));
    live_show(&bulk->live, text);
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
    return job_json_parse(text, bulk->now, arena, job_out, err) &&
           enqueue_prepare(&bulk->enqueue, job_out, bulk->now, err);
}

static bool is_blank(const struct buffer *line)
{
    return !line->failed && strspn(buffer_str(line), " \t\r") == line->length;
}

/* The next line with something on it. */
static bool next_line(struct bulk *bulk, bool *found_out, struct error *err)
{
    do {
        if (!lines_next(&bulk->lines, &bulk->line, found_out, err))
            return false;
    } while (*found_out && is_blank(&bulk->line));
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

/* Whether to go on: what is bad has been listed, and now is counted. */
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
                    skip ? "skipped" : "nothing was stored (--skip-bad stores the other lines)");
    return skip;
}

/* One more job for the batch. Bad lines, known from the check, are passed over. */
static bool add_line(struct bulk *bulk, struct batch *batch, struct error *err)
{
    struct job job;

    batch->bytes += bulk->line.length;
    if (!parse_line(bulk, &batch->jobs.arena, &job, err))
        return err->code == TH_E_INVALID && bulk->options[TEMPLATE_SKIP_BAD].given;
    struct job *place = job_list_add(&batch->jobs);
    if (place == NULL)
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

static bool store_batch(struct bulk *bulk, struct batch *batch, struct error *err)
{
    struct enqueued enqueued[ENQUEUE_BATCH];
    size_t count = batch->jobs.count;

    if (count == 0)
        return true;
    if (!submit_jobs(bulk->session, &bulk->enqueue, batch->jobs.items, count, bulk->now, enqueued,
                     err))
        return name_line(batch, err);
    bulk->last_line = batch->line_of[count - 1];
    count_batch(bulk, enqueued, count);
    show_progress(bulk, "storing", bulk->stored + bulk->updated + bulk->existed, bulk->started);
    return true;
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

/* Says where it stopped, and how to go on from there. */
static enum status report_failure(struct bulk *bulk, const struct error *err)
{
    CLEANUP(buffer_done) struct buffer path = BUFFER(ERROR_TEXT_SIZE);

    live_clear(&bulk->live);
    enum status status = session_fail(err);
    if (err->code == TH_E_UNCERTAIN)
        output_complain("nobody answered: up to %d lines more than the following may be stored",
                        ENQUEUE_BATCH);
    buffer_shell_word(&path, bulk->lines.name);
    if (bulk->last_line == 0)
        output_complain("nothing of %s was stored", bulk->lines.name);
    else if (text_equal(bulk->options[TEMPLATE_BULK].text, "-"))
        output_complain("stdin is stored up to line %zu: go on with line %zu", bulk->last_line,
                        bulk->last_line + 1);
    else
        output_complain("%s is stored up to line %zu: go on with 'tail -n +%zu %s | thctl enqueue "
                        "--bulk -' and the same options",
                        bulk->lines.name, bulk->last_line, bulk->last_line + 1, buffer_str(&path));
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
static bool start_storing(struct bulk *bulk, const char *type, struct error *err)
{
    bulk->now = store_now(bulk->session->store);
    bulk->started = clock_boot();
    return template_make(bulk->options, type, bulk->now, &bulk->template, err);
}

/* A payload in base64, and the rest. */
static size_t line_limit(size_t max_payload)
{
    return 2 * (max_payload > JOB_PAYLOAD_DEFAULT ? max_payload : JOB_PAYLOAD_DEFAULT);
}

enum status bulk_run(struct session *session, const struct option_value *options, const char *type)
{
    CLEANUP(bulk_done)
    struct bulk bulk = {
        .session = session,
        .options = options,
        .enqueue = session_enqueue(session),
        .live = live_on_stderr(),
        .now = clock_wall(),
    };
    struct error err;

    bulk.line.limit = line_limit(bulk.enqueue.max_payload);
    if (type != NULL && !job_name_is_valid(type)) {
        output_complain("type '%s' is no name: use 1 to 128 of A-Z a-z 0-9 _ . : -", type);
        return STATUS_USAGE;
    }
    if (!template_make(options, type, bulk.now, &bulk.template, &err) ||
        !lines_open(&bulk.lines, options[TEMPLATE_BULK].text, &err) || !check_all(&bulk, &err))
        return session_refuse(&err);
    if (!accept_bad(&bulk))
        return STATUS_USAGE;
    enum status status = session_open(session, SESSION_MAKE);
    if (status != STATUS_OK)
        return status;
    if (start_storing(&bulk, type, &err) && store_all(&bulk, &err))
        report_success(&bulk);
    else
        status = report_failure(&bulk, &err);
    stop_obey();
    return status;
}
