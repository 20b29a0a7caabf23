/*
 * queue_rm.c - `thctl queues rm`: an empty queue is out of sight until its next job.
 */
#include "thctl/queue_rm.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "thctl/known_queues.h"

#define LINE_MAX ((size_t)1024)

/* "3 done, 1 dead" */
static void add_counts(struct buffer *out, const struct queue_stats *stats)
{
    char number[OUTPUT_NUMBER_SIZE];

    for (int state = 0; state < JOB_STATES; state++) {
        if (stats->jobs[state] == 0)
            continue;
        buffer_printf(out, "%s%s %s", out->length > 0 ? ", " : "",
                      output_number(stats->jobs[state], number),
                      job_state_name((enum job_state)state));
    }
}

/* What it has, as far as that can be found out. */
static bool refuse_full(struct session *session, const char *queue, struct error *err)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list list = {0};
    CLEANUP(buffer_done) struct buffer counts = BUFFER(LINE_MAX);
    struct error ignored;

    if (store_stats(session->store, &list, &ignored)) {
        for (size_t i = 0; i < list.count; i++) {
            if (text_equal(list.items[i].queue, queue))
                add_counts(&counts, &list.items[i]);
        }
    }
    return error_set(err, TH_E_CONFLICT,
                     "queue '%s' still has jobs (%s): thctl cancel and thctl rm take --all --queue "
                     "%s, or wait for its retention",
                     queue, counts.length > 0 ? buffer_str(&counts) : "unknown", queue);
}

/* Which one is meant, as far as that can be found out. */
static bool refuse_unknown(struct session *session, const char *queue, struct error *err)
{
    CLEANUP(known_queues_done) struct known_queues known = {0};
    struct error ignored;

    return known_queues_read(session, &known, &ignored) && !known_queues_has(&known, queue) &&
           known_queues_refuse(&known, queue, "", err);
}

static bool hide(struct session *session, const char *queue, struct error *err)
{
    if (store_hide_queue(session->store, queue, err))
        return true;
    if (err->code == TH_E_NOT_FOUND)
        return refuse_unknown(session, queue, err);
    return err->code == TH_E_CONFLICT && refuse_full(session, queue, err);
}

static void print_answer(struct session *session, const char *queue, const char *error)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "queue", queue);
    json_write_bool(&json, "ok", !error);
    json_write_text(&json, "error", error);
    json_write_close(&json, '}');
    output_json(&session->out, &line);
}

static bool is_away(const struct error *err)
{
    return err->code == TH_E_UNAVAILABLE || err->code == TH_E_UNCERTAIN;
}

enum status queue_rm(struct session *session, const char *const *queues, size_t count)
{
    struct error err;
    enum status status = session_open(session, SESSION_LOOK);

    for (size_t i = 0; status != STATUS_BACKEND && session->store && i < count; i++) {
        bool done = hide(session, queues[i], &err);

        if (!done && (is_away(&err) || !session->json))
            status = session_fail(&err);
        else if (!done)
            status = STATUS_FAILED;
        if (session->json && (done || !is_away(&err)))
            print_answer(session, queues[i], done ? NULL : err.text);
        else if (done)
            output_printf(&session->out, "removed %s\n", queues[i]);
    }
    return status;
}
