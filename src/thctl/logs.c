/*
 * logs.c - `thctl logs`: what a job has printed.
 *
 * A pool stores the last few KiB of a running job's output with each heartbeat, at once while
 * somebody looks, and when the job ends all that its handler wants to be kept. Whoever follows
 * prints of each such tail what the one before did not have.
 *
 * Invariants:
 *   - A program that reads gets the bytes as they are; a terminal is shown all and obeys none.
 *   - The output of another execution is new, whatever it looks like; the tail of the one before
 *     stays where it is until the new one has printed something.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/display.h"
#include "client/follow.h"
#include "job/growth.h"
#include "thctl/ending.h"
#include "thctl/session.h"

#include <errno.h>
#include <string.h>

#define TAIL_MAX ((size_t)16 << 20)
#define TEXT_MAX ((size_t)64 << 20) /* a tail, escaped */

enum logs_option { LOGS_FOLLOW, LOGS_OPTIONS };

static const struct option logs_options[] = {
    [LOGS_FOLLOW] = {"follow", 'f', NULL, "print what is new, until the job has ended",
                     OPTION_FLAG},
    [LOGS_OPTIONS] = {.name = NULL},
};

/* What was printed so far. */
struct logs {
    struct session *session;
    bool is_first;        /* nothing was seen yet */
    enum job_state state; /* as last seen */
    struct buffer tail;   /* as last seen */
    int64_t execution;    /* that printed it */
    bool mid_line;        /* the terminal's cursor is not at the start of a line */
};

static void logs_done(struct logs *logs)
{
    buffer_done(&logs->tail);
}

static struct bytes seen_tail(const struct logs *logs)
{
    return (struct bytes){(const unsigned char *)buffer_str(&logs->tail), logs->tail.length};
}

static void print_json(struct logs *logs, const struct job *job, struct bytes output)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(TEXT_MAX);
    struct json_writer json = {.out = &line};
    char id[UUID_TEXT_SIZE];

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "id", uuid_format(&job->id, id));
    json_write_text(&json, "state", job_state_name(job->state));
    json_write_lossy_text(&json, "output", output);
    json_write_close(&json, '}');
    output_json(&logs->session->out, &line);
}

static void print_harmless(struct logs *logs, struct bytes output)
{
    CLEANUP(buffer_done) struct buffer shown = BUFFER(TEXT_MAX);

    display_add_lines(&shown, output, 0);
    if (shown.failed)
        logs->session->out.failure = ENOMEM; /* told by output_finish() */
    output_text(&logs->session->out, buffer_str(&shown));
    logs->mid_line = output.data[output.length - 1] != '\n';
}

static void print_output(struct logs *logs, struct bytes output)
{
    if (output.length == 0)
        return;
    if (logs->session->out.terminal)
        print_harmless(logs, output);
    else
        output_bytes(&logs->session->out, output);
}

/* Before anything else is written to the terminal, and at the end. */
static void end_line(struct logs *logs)
{
    if (logs->mid_line)
        output_text(&logs->session->out, "\n");
    logs->mid_line = false;
    output_flush(&logs->session->out);
}

static bool is_seen(const struct logs *logs, struct bytes tail)
{
    return tail.length == logs->tail.length &&
           memcmp(buffer_str(&logs->tail), tail.length > 0 ? (const char *)tail.data : "",
                  tail.length) == 0;
}

static struct bytes find_news(const struct logs *logs, const struct job *job, struct bytes tail,
                              bool *lost_out)
{
    *lost_out = false;
    if (is_seen(logs, tail))
        return (struct bytes){0};
    if (job->executions != logs->execution)
        return tail;
    return growth_since(seen_tail(logs), tail, lost_out);
}

static void remember(struct logs *logs, const struct job *job, struct bytes tail)
{
    if (logs->is_first || !is_seen(logs, tail))
        logs->execution = job->executions;
    buffer_clear(&logs->tail);
    buffer_add(&logs->tail, tail.data, tail.length);
    if (logs->tail.failed)
        logs->session->out.failure = ENOMEM; /* told by output_finish() */
    logs->state = job->state;
    logs->is_first = false;
}

static void tell_people(struct logs *logs, const struct job *job, struct bytes news, bool lost)
{
    bool moved = logs->is_first || job->state != logs->state;

    if (lost) {
        end_line(logs);
        output_remark("… (some output was not kept)");
    }
    print_output(logs, news);
    if (moved && job_state_is_waiting(job->state)) {
        end_line(logs);
        output_remark("(waiting: %s)", job_state_name(job->state));
    }
}

static void tell_programs(struct logs *logs, const struct job *job, struct bytes news, bool lost)
{
    if (lost)
        output_remark("… (some output was not kept)");
    if (logs->is_first || job->state != logs->state || news.length > 0)
        print_json(logs, job, news.length > 0 ? news : (struct bytes){0});
}

static bool show_news(const struct job *job, void *context)
{
    struct logs *logs = context;
    struct bytes tail = job->state == JOB_RUNNING ? text_whole_end(job->output) : job->output;
    bool lost;
    struct bytes news = find_news(logs, job, tail, &lost);

    if (logs->session->json)
        tell_programs(logs, job, news, lost);
    else
        tell_people(logs, job, news, lost);
    remember(logs, job, tail);
    output_flush(&logs->session->out);
    return logs->session->out.failure == 0;
}

static enum status follow_output(struct logs *logs, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list seen = {0};
    const struct follow follow = {.seen = show_news, .context = logs, .sees_output = true};
    struct error err;
    bool ended;

    bool followed = follow_job(logs->session->store, id, USEC_MAX, &follow, &seen, &ended, &err);
    end_line(logs);
    if (!followed && err.code == TH_E_NOT_FOUND)
        return ending_report_missing(id);
    if (!followed)
        return session_fail(&err);
    return ended ? ending_report(&seen.items[0]) : STATUS_OK;
}

static enum status print_once(struct logs *logs, const struct job *job)
{
    char id[UUID_TEXT_SIZE];

    if (logs->session->json)
        print_json(logs, job, job->output);
    else if (job->output.length == 0)
        output_remark("job %s (%s) has printed nothing%s", uuid_format(&job->id, id),
                      job_state_name(job->state), job_state_has_ended(job->state) ? "" : " so far");
    else
        print_output(logs, job->output);
    end_line(logs);
    return STATUS_OK;
}

static enum status run_logs(struct session *session, const struct option_value *options,
                            const struct words *arguments)
{
    CLEANUP(logs_done)
    struct logs logs = {.session = session, .is_first = true, .tail = BUFFER(TAIL_MAX)};
    CLEANUP(job_list_done) struct job_list job = {0};
    AUTO_FREE struct id_prefix *ids = NULL;
    struct error err;

    if (!id_prefix_parse_all(arguments, &ids, &err))
        return session_refuse(&err);
    enum status status = session_open(session, SESSION_LOOK);
    if (status != STATUS_OK)
        return status;
    if (!session_find_job(session, &ids[0], &job, &err))
        return session_fail(&err);
    return options[LOGS_FOLLOW].given ? follow_output(&logs, &job.items[0].id)
                                      : print_once(&logs, &job.items[0]);
}

static const char *const logs_examples[] = {
    "logs 0193f0a2-7c1d-7abc-8def-0123456789ab",
    "logs -f 0193f0a2-7c1d-7abc-8def-0123456789ab",
    NULL,
};

const struct command command_logs = {
    .name = "logs",
    .summary = "print what a job has printed",
    .arguments = "ID",
    .details = "The end of a job's output is kept: 4 KiB, or what output: of its handler says.\n"
               "While it runs it is the last 4 KiB, stored with each heartbeat of its pool.\n"
               "With -f it waits for the job to start, prints what is new as it comes, and\n"
               "exits with 0 if the job is done, with 1 if it is dead or cancelled.\n",
    .examples = logs_examples,
    .options = logs_options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_logs,
};
