/*
 * wait_many.c - `--bulk --wait`: many jobs that were stored are followed to their ends.
 *
 * A terminal sees a bar; at the end the first few that failed are named.
 */
#include "thctl/wait_many.h"

#include "base/backoff.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "job/job_json.h"
#include "thctl/live.h"
#include "thctl/stop.h"

#define DELAY_FIRST    (20 * USEC_PER_MSEC)
#define DELAY_MAX      (250 * USEC_PER_MSEC)
#define REST           4 /* times as long as the last look took, if nothing ended */
#define FAILURES_SHOWN 5
#define FAILURE_MAX    ((size_t)4096)
#define JOB_JSON_MAX   ((size_t)64 << 20)

struct waiting {
    struct session *session;
    struct crowd *crowd;
    struct live live;
    usec_t started, timeout; /* boot time */
    struct buffer failures[FAILURES_SHOWN];
    size_t failure_count; /* of those */
};

static void waiting_done(struct waiting *waiting)
{
    live_clear(&waiting->live);
    for (size_t i = 0; i < waiting->failure_count; i++)
        buffer_done(&waiting->failures[i]);
}

static size_t not_done(const struct crowd *crowd)
{
    return crowd->ended[JOB_DEAD] + crowd->ended[JOB_CANCELLED] + crowd->gone;
}

/* "ID dead (exhausted): the last line of its error" */
static void keep_failure(struct waiting *waiting, const struct job *job)
{
    const char *reason = job_reason_name(job->reason);
    char id[UUID_TEXT_SIZE];

    if (waiting->failure_count == FAILURES_SHOWN)
        return;
    struct buffer *line = &waiting->failures[waiting->failure_count++];
    *line = (struct buffer)BUFFER(FAILURE_MAX);
    buffer_printf(line, "%s %s", uuid_format(&job->id, id), job_state_name(job->state));
    if (reason)
        buffer_printf(line, " (%s)", reason);
    if (job->state == JOB_DEAD && job->last_error) {
        struct bytes last = text_last_line(job->last_error);
        buffer_text(line, ": ");
        buffer_add(line, last.data, last.length);
    }
}

static void print_json(struct session *session, const struct job *job)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(JOB_JSON_MAX);

    job_json_add(&line, job);
    output_json(&session->out, &line);
}

static void take_end(const struct job *job, void *context)
{
    struct waiting *waiting = context;

    if (job->state != JOB_DONE)
        keep_failure(waiting, job);
    if (waiting->session->json)
        print_json(waiting->session, job);
}

static void show_bar(struct waiting *waiting)
{
    const struct crowd *crowd = waiting->crowd;
    size_t ended = crowd->count - crowd->left;
    char count[OUTPUT_NUMBER_SIZE], all[OUTPUT_NUMBER_SIZE], failed[OUTPUT_NUMBER_SIZE], rest[128];

    if (!live_is_due(&waiting->live))
        return;
    snprintf(rest, sizeof rest, "%s of %s %s ended%s%s%s", output_number((int64_t)ended, count),
             output_number((int64_t)crowd->count, all), output_jobs((int64_t)crowd->count),
             not_done(crowd) > 0 ? ", " : "",
             not_done(crowd) > 0 ? output_number((int64_t)not_done(crowd), failed) : "",
             not_done(crowd) > 0 ? " not done" : "");
    live_show_bar(&waiting->live, "waiting", (int)(100 * ended / crowd->count), rest);
}

static bool is_over(const struct waiting *waiting)
{
    return waiting->crowd->left == 0 || stop_is_asked() ||
           (waiting->timeout != USEC_MAX && clock_boot() - waiting->started >= waiting->timeout);
}

static usec_t time_left(const struct waiting *waiting)
{
    return waiting->timeout == USEC_MAX ? USEC_MAX
                                        : waiting->timeout - (clock_boot() - waiting->started);
}

static usec_t min_usec(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

/* While jobs end it looks again at once, otherwise less and less often, and never so often that
 * looking takes more than a fifth of the time. */
static bool watch(struct waiting *waiting, struct error *err)
{
    const struct crowd_watcher watcher = {
        .ended = take_end, .context = waiting, .in_full = waiting->session->json};
    usec_t delay = DELAY_FIRST;
    bool moved;

    for (;;) {
        usec_t start = clock_boot();
        bool looked = crowd_look(waiting->crowd, waiting->session->store, &watcher, &moved, err);
        usec_t rest = REST * (clock_boot() - start);

        if (!looked && err->code != TH_E_UNAVAILABLE && err->code != TH_E_UNCERTAIN)
            return false;
        output_flush(&waiting->session->out);
        show_bar(waiting);
        if (is_over(waiting))
            return looked;
        delay = moved ? DELAY_FIRST : backoff_next(delay, DELAY_FIRST, DELAY_MAX);
        clock_sleep(min_usec(rest > delay ? rest : delay, time_left(waiting)));
    }
}

static void add_count(struct buffer *line, size_t count, const char *what)
{
    char number[OUTPUT_NUMBER_SIZE];

    if (count > 0)
        buffer_printf(line, "%s%s %s", line->length > 0 ? ", " : "",
                      output_number((int64_t)count, number), what);
}

/* "1,000 jobs ended in 12s: 997 done, 2 dead, 1 cancelled", and the first failures. */
static enum status report_ends(const struct waiting *waiting)
{
    CLEANUP(buffer_done) struct buffer counts = BUFFER(FAILURE_MAX);
    const struct crowd *crowd = waiting->crowd;
    size_t failed = crowd->ended[JOB_DEAD] + crowd->ended[JOB_CANCELLED];
    char number[OUTPUT_NUMBER_SIZE], time[UNITS_TEXT_SIZE];

    add_count(&counts, crowd->ended[JOB_DONE], "done");
    add_count(&counts, crowd->ended[JOB_DEAD], "dead");
    add_count(&counts, crowd->ended[JOB_CANCELLED], "cancelled");
    add_count(&counts, crowd->gone, "deleted before their end was seen");
    for (size_t i = 0; i < waiting->failure_count; i++)
        output_remark("%s", buffer_str(&waiting->failures[i]));
    if (failed > waiting->failure_count)
        output_remark("and %s more (see 'thctl ls --state dead')",
                      output_number((int64_t)(failed - waiting->failure_count), number));
    output_remark("%s %s ended in %s: %s", output_number((int64_t)crowd->count, number),
                  output_jobs((int64_t)crowd->count),
                  units_format_duration(clock_boot() - waiting->started, time),
                  buffer_str(&counts));
    return not_done(crowd) > 0 ? STATUS_FAILED : STATUS_OK;
}

static enum status report_left(const struct waiting *waiting)
{
    const struct crowd *crowd = waiting->crowd;
    char left[OUTPUT_NUMBER_SIZE], all[OUTPUT_NUMBER_SIZE], time[UNITS_TEXT_SIZE], start[64];

    if (stop_is_asked())
        snprintf(start, sizeof start, "no longer waiting");
    else
        snprintf(start, sizeof start, "after %s", units_format_duration(waiting->timeout, time));
    output_complain("%s: %s of %s %s have not ended; they go on: 'thctl stats' counts them", start,
                    output_number((int64_t)crowd->left, left),
                    output_number((int64_t)crowd->count, all), output_jobs((int64_t)crowd->count));
    return STATUS_TIMEOUT;
}

enum status wait_for_all(struct session *session, struct crowd *crowd, usec_t timeout)
{
    CLEANUP(waiting_done)
    struct waiting waiting = {
        .session = session,
        .crowd = crowd,
        .live = live_on_stderr(),
        .started = clock_boot(),
        .timeout = timeout,
    };
    struct error err;

    if (crowd->count == 0)
        return STATUS_OK;
    stop_watch();
    bool watched = watch(&waiting, &err);
    live_clear(&waiting.live);
    if (crowd->left > 0 && (watched || stop_is_asked())) {
        enum status status = report_left(&waiting);
        stop_obey();
        return status;
    }
    return watched ? report_ends(&waiting) : session_fail(&err);
}
