/*
 * steer.c - `thctl pause` and `thctl resume`: whether queues are served.
 */
#include "thctl/steer.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "thctl/known_queues.h"
#include "thctl/whoami.h"

#define LINE_MAX ((size_t)1024)

void steer_print(struct session *session, const char *kind, const char *name, bool paused)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    if (session->json) {
        json_write_open(&json, NULL, '{');
        json_write_text(&json, kind, name);
        json_write_bool(&json, "paused", paused);
        json_write_close(&json, '}');
    } else {
        buffer_printf(&line, "%s %s", paused ? "paused" : "resumed", name);
    }
    output_json(&session->out, &line);
}

static bool check_names(const struct words *queues, struct error *err)
{
    for (size_t i = 0; i < queues->count; i++) {
        if (!job_name_check(queues->items[i], JOB_NAME_MAX, err))
            return error_prefix(err, "queue");
    }
    return true;
}

static bool steer_one(struct session *session, const char *queue, bool pause, struct error *err)
{
    char by[STORE_BY_SIZE];

    return pause ? store_pause(session->store, queue, whoami(by), store_now(session->store), err)
                 : store_resume(session->store, queue, err);
}

/* What is wanted of which queues. */
struct order {
    const struct words *queues;
    bool pause;  /* else resume */
    bool create; /* whether or not there is such a queue */
};

/* A queue that nobody uses is most likely a mistyped one. */
static bool check_known(const struct known_queues *known, const struct order *order,
                        const char *queue, struct error *err)
{
    if (order->create || known_queues_has(known, queue))
        return true;
    return known_queues_refuse(known, queue, order->pause ? "; --create pauses it anyway" : "",
                               err);
}

/* A backend is only made for a queue that is meant to be there. */
static enum session_access access_for(const struct session *session, const struct order *order)
{
    bool is_meant = order->create;

    for (size_t i = 0; i < order->queues->count; i++)
        is_meant |= config_find_queue(&session->config, order->queues->items[i]) != NULL;
    return is_meant ? SESSION_MAKE : SESSION_LOOK;
}

static enum status steer_all(struct session *session, const struct order *order,
                             const struct known_queues *known)
{
    enum status status = STATUS_OK;
    struct error err;

    for (size_t i = 0; i < order->queues->count && status != STATUS_BACKEND; i++) {
        const char *queue = order->queues->items[i];

        if (!check_known(known, order, queue, &err)) {
            status = session_fail(&err);
        } else if (steer_one(session, queue, order->pause, &err)) {
            steer_print(session, "queue", queue, order->pause);
        } else {
            error_prefix(&err, "%s %s", order->pause ? "pause" : "resume", queue);
            status = session_fail(&err);
        }
    }
    return status;
}

static enum status steer(struct session *session, const struct order *order)
{
    CLEANUP(known_queues_done) struct known_queues known = {0};
    struct error err;

    if (!check_names(order->queues, &err))
        return session_refuse(&err);
    enum status status = session_open(session, access_for(session, order));
    if (status != STATUS_OK)
        return status;
    if (!order->create && !known_queues_read(session, &known, &err))
        return session_fail(&err);
    return steer_all(session, order, &known);
}

enum pause_option { PAUSE_CREATE, PAUSE_OPTIONS };

/* clang-format off */
static const struct option pause_options[] = {
    [PAUSE_CREATE] = {"create", 0, NULL, "pause a queue that nobody has used yet", OPTION_FLAG},
    [PAUSE_OPTIONS] = {.name = NULL},
};
/* clang-format on */

static enum status run_pause(struct session *session, const struct option_value *options,
                             const struct words *arguments)
{
    const struct order order = {arguments, true, options[PAUSE_CREATE].given};

    return steer(session, &order);
}

static enum status run_resume(struct session *session, const struct option_value *options,
                              const struct words *arguments)
{
    const struct order order = {arguments, false, false};

    (void)options;
    return steer(session, &order);
}

static const char *const pause_examples[] = {"pause mail", "pause mail import",
                                             "pause --create later", NULL};

const struct command command_pause = {
    .name = "pause",
    .summary = "stop serving queues; what runs goes on",
    .arguments = "QUEUE...",
    .examples = pause_examples,
    .options = pause_options,
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
