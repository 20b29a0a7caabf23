/*
 * init.c - `thctl init`: the first config.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/display.h"
#include "config/reference.h"
#include "store/url.h"
#include "thctl/session.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define CONFIG_MAX      ((size_t)64 * 1024)
#define LINE_MAX        ((size_t)16 * 1024)
#define PATH_DEFAULT    "jobs.yaml"
#define BACKEND_DEFAULT "sqlite:./jobs.db"

enum init_option { INIT_ALL, INIT_OPTIONS };

static const struct option init_options[] = {
    [INIT_ALL] = {"all", 'a', NULL, "write every key with its default", OPTION_FLAG},
    [INIT_OPTIONS] = {.name = NULL},
};

/* What is good to know about a kind of backend. */
static const struct {
    const char *scheme;
    const char *advice;
} advices[] = {
    {"sqlite", "# One file on a local disk, for one machine; relative to this file.\n"},
    {"memory", "# For tests: gone when its last user is.\n"},
    {"postgres",
     "# A password is better kept out of here: postgres://user:${DB_PASSWORD}@host/db\n"},
    {"redis", "# A password is better kept out of here: redis://:${REDIS_PASSWORD}@host:6379/0\n"},
};

static const char starter[] =
    "\n"
    "pool:\n"
    "  num_workers: 4                # how many jobs run at once\n"
    "\n"
    "queues:\n"
    "  default: {}\n"
    "  # mail: {weight: 3, max_running: 10, rate: 100/s}\n"
    "\n"
    "# The type of a job picks its handler; the payload arrives on its standard input.\n"
    "handlers:\n"
    "  hello:\n"
    "    command: echo hello; cat    # a text runs under /bin/sh\n"
    "    result: stdout\n"
    "  # email:send:\n"
    "  #   command: [\"/usr/local/bin/send-email\"]    # a list runs as it is, without a shell\n"
    "  #   timeout: 30s\n"
    "  #   max_attempts: 10\n"
    "  # \"webhook:*\":                 # every type that starts so\n"
    "  #   command: ./hook.sh\n"
    "\n"
    "# http: {listen: 127.0.0.1:7460}    # API and dashboard\n";

static void add_starter(struct buffer *out, const char *backend, const char *scheme)
{
    buffer_text(out,
                "# What TaskHarbor runs, and where its jobs are. Every key: man jobs.yaml, or\n"
                "# thctl init --all all.yaml\n\n");
    for (size_t i = 0; i < COUNT_OF(advices); i++) {
        if (text_starts_with(scheme, advices[i].scheme))
            buffer_text(out, advices[i].advice);
    }
    buffer_text(out, "backend: ");
    reference_add_text(out, backend);
    buffer_char(out, '\n');
    buffer_text(out, starter);
}

/* Never over a file that is there. */
static bool write_new(const char *path, bool secret, const struct buffer *text, struct error *err)
{
    AUTO_CLOSE int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, secret ? 0600 : 0666);

    if (fd < 0 && errno == EEXIST)
        return error_set(err, TH_E_CONFLICT, "%s is there already and stays as it is", path);
    if (fd < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "create %s", path);
    if (io_write_all(fd, buffer_str(text), text->length, err))
        return true;
    unlink(path); /* half a config is worse than none */
    return error_prefix(err, "%s", path);
}

/* The commands that show it at work; a config of defaults has no handler to show. */
static void add_next(struct buffer *line, const char *path)
{
    buffer_text(line, "\nnext:  thctl");
    if (!text_equal(path, PATH_DEFAULT)) {
        buffer_text(line, " --config ");
        buffer_shell_word(line, path);
    }
    buffer_text(line, " enqueue hello '{\"name\": \"Ada\"}'\nthen:  thd --config ");
    buffer_shell_word(line, path);
}

static void report(struct session *session, const char *path, bool has_handler,
                   const struct store_url *url)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    if (session->json) {
        json_write_open(&json, NULL, '{');
        json_write_text(&json, "path", path);
        json_write_text(&json, "backend", url->shown);
        json_write_close(&json, '}');
    } else {
        buffer_text(&line, "wrote ");
        display_add_text(&line, path);
        if (has_handler)
            add_next(&line, path);
    }
    output_json(&session->out, &line);
}

static enum status run_init(struct session *session, const struct option_value *options,
                            const struct words *arguments)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(CONFIG_MAX);
    CLEANUP(url_done) struct store_url url = {0};
    const char *path = arguments->count > 0 ? arguments->items[0] : PATH_DEFAULT;
    const char *backend = session->backend_typed ? session->backend : BACKEND_DEFAULT;
    struct error err;

    if (!url_parse(backend, &url, &err))
        return session_refuse(&err);
    if (options[INIT_ALL].given)
        reference_add(&text, session->backend_typed ? backend : NULL);
    else
        add_starter(&text, backend, url.scheme);
    if (!buffer_ok(&text, &err) || !write_new(path, !text_equal(url.shown, url.text), &text, &err))
        return session_fail(&err);
    report(session, path, !options[INIT_ALL].given, &url);
    return STATUS_OK;
}

static const char *const init_examples[] = {"init", "init --backend postgres://jobs@db/jobs",
                                            "init --all all.yaml", NULL};

const struct command command_init = {
    .name = "init",
    .summary = "write a config to start with",
    .arguments = "[FILE]",
    .details = "Writes ./jobs.yaml, or FILE, for the backend given by --backend. A file that is\n"
               "there stays as it is.\n",
    .examples = init_examples,
    .options = init_options,
    .max_arguments = 1,
    .needs_no_backend = true,
    .run = run_init,
};
