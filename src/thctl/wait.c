/*
 * wait.c - `--wait`: a job that was stored is followed to its end.
 *
 * Whoever stops waiting stops nothing else: the job goes on, and the last line says so.
 */
#include "thctl/wait.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/units.h"
#include "client/follow.h"
#include "job/aside.h"
#include "job/job_json.h"
#include "thctl/ending.h"
#include "thctl/live.h"
#include "thctl/stop.h"

#define LINE_MAX     ((size_t)4096)
#define JOB_JSON_MAX ((size_t)64 << 20)

/* Nobody can run it now: what for, and what the last try said. */
static void add_aside(struct buffer *line, const struct job *job)
{
    if (job->aside == ASIDE_NONE)
        return;
    buffer_printf(line, ", %s", aside_words(job->aside));
    if (job->aside == ASIDE_CANNOT_START && job->last_error) {
        const struct bytes last = text_last_line(job->last_error);
        buffer_text(line, ": ");
        buffer_add(line, last.data, last.length);
    }
}

/* "running 40% resizing", "ready, no handler" */
static void add_standing(struct buffer *line, const struct job *job)
{
    buffer_text(line, job_state_name(job->state));
    add_aside(line, job);
    if (job->progress_percent >= 0 && !job_state_has_ended(job->state))
        buffer_printf(line, " %d%%", job->progress_percent);
    if (job->progress_text && !job_state_has_ended(job->state))
        buffer_printf(line, " %s", job->progress_text);
}

/* Where stderr is a terminal one line that changes, else a line for each change. */
static bool show_change(const struct job *job, void *context)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct live *live = context;
    char id[UUID_TEXT_SIZE];

    buffer_printf(&line, "%s ", uuid_format(&job->id, id));
    add_standing(&line, job);
    if (live->enabled)
        live_show(live, buffer_str(&line));
    else
        output_remark("%s", buffer_str(&line));
    return true;
}

static void print_json(struct session *session, const struct job *job)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(JOB_JSON_MAX);

    if (!session->json)
        return;
    job_json_add(&line, job);
    output_json(&session->out, &line);
}

static enum status report_timeout(const struct job *job, usec_t timeout)
{
    CLEANUP(buffer_done) struct buffer standing = BUFFER(LINE_MAX);
    bool runs = job->state == JOB_RUNNING;
    char id[UUID_TEXT_SIZE], time[UNITS_TEXT_SIZE];

    uuid_format(&job->id, id);
    add_standing(&standing, job);
    output_complain("job %s still %s after %s (%s): 'thctl logs -f %s' waits on, 'thctl cancel "
                    "%s' ends it",
                    id, runs ? "runs" : "waits", units_format_duration(timeout, time),
                    buffer_str(&standing), id, id);
    return STATUS_TIMEOUT;
}

static void report_stop(const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];

    uuid_format(id, text);
    output_complain("no longer waiting; job %s goes on: 'thctl logs -f %s' waits on, 'thctl "
                    "cancel %s' ends it",
                    text, text, text);
}

enum status wait_for_end(struct session *session, const struct uuid *id, usec_t timeout)
{
    CLEANUP(job_list_done) struct job_list seen = {0};
    struct live live = live_on_stderr();
    const struct follow follow = {.seen = show_change, .context = &live, .stopped = stop_is_asked};
    struct error err;
    bool ended;

    output_flush(&session->out);
    stop_watch();
    bool followed = follow_job(session->store, id, timeout, &follow, &seen, &ended, &err);
    live_clear(&live);
    if (stop_is_asked() && !(followed && ended)) {
        report_stop(id);
        stop_obey();
    }
    if (!followed && err.code == TH_E_NOT_FOUND)
        return ending_report_missing(id);
    if (!followed)
        return session_fail(&err);
    print_json(session, &seen.items[0]);
    return ended ? ending_report(&seen.items[0]) : report_timeout(&seen.items[0], timeout);
}
