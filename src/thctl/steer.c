/*
 * steer.c - `thctl pause` and `thctl resume`: whether queues are served.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/excerpt.h"
#include "base/json_writer.h"
#include "thctl/session.h"

#define LINE_MAX ((size_t)1024)

static bool check_names(const struct words *queues, struct error *err)
{
    char shown[EXCERPT_SIZE];

    for (size_t i = 0; i < queues->count; i++) {
        if (!job_name_is_valid(queues->items[i]))
            return error_set(err, TH_E_INVALID,
                             "'%s' is no name of a queue: use 1 to 128 of A-Z a-z 0-9 _ . : -",
                             excerpt_of(queues->items[i], shown));
    }
    return true;
}

static void print_answer(struct session *session, const char *queue, bool paused)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    if (session->json) {
        json_write_open(&json, NULL, '{');
        json_write_text(&json, "queue", queue);
        json_write_bool(&json, "paused", paused);
        json_write_close(&json, '}');
    } else {
        buffer_printf(&line, "%s %s", paused ? "paused" : "resumed", queue);
    }
    output_json(&session->out, &line);
}

static bool steer_one(struct session *session, const char *queue, bool pause, struct error *err)
{
    return pause ? store_pause(session->store, queue, store_now(session->store), err)
                 : store_resume(session->store, queue, err);
}

static enum status steer(struct session *session, const struct words *queues, bool pause)
{
    struct error err;

    if (!check_names(queues, &err))
        return session_refuse(&err);
    enum status status = session_open(session, SESSION_MAKE);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < queues->count; i++) {
        if (steer_one(session, queues->items[i], pause, &err)) {
            print_answer(session, queues->items[i], pause);
            continue;
        }
        error_prefix(&err, "%s %s", pause ? "pause" : "resume", queues->items[i]);
        status = session_fail(&err);
        if (status == STATUS_BACKEND)
            break;
    }
    return status;
}

static enum status run_pause(struct session *session, const struct option_value *options,
                             const struct words *arguments)
{
    (void)options;
    return steer(session, arguments, true);
}

static enum status run_resume(struct session *session, const struct option_value *options,
                              const struct words *arguments)
{
    (void)options;
    return steer(session, arguments, false);
}

static const char *const pause_examples[] = {"pause mail", "pause mail import", NULL};

const struct command command_pause = {
    .name = "pause",
    .summary = "stop serving queues; what runs goes on",
    .arguments = "QUEUE...",
    .examples = pause_examples,
    .options = options_none,
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = run_pause,
};

static const char *const resume_examples[] = {"resume mail", "resume mail import", NULL};

const struct command command_resume = {
    .name = "resume",
    .summary = "serve paused queues again",
    .arguments = "QUEUE...",
    .examples = resume_examples,
    .options = options_none,
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = run_resume,
};
