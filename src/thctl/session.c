/*
 * session.c - one run of thctl: the global options, the store, the output.
 */
#include "thctl/session.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/excerpt.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIAGNOSTICS_TEXT_MAX ((size_t)1 << 20)

/* Where a config is looked for. */
static const char *const config_paths[] = {"./jobs.yaml", "/etc/taskharbor/jobs.yaml"};

/* Line by line, so that no name of a key can move the cursor. */
static void show(const struct diagnostics *diagnostics)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(DIAGNOSTICS_TEXT_MAX);

    diagnostics_print(diagnostics, isatty(STDERR_FILENO) == 1, &text);
    for (const char *line = buffer_str(&text); *line != '\0';) {
        const size_t length = strcspn(line, "\n");

        output_remark("%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* What a person would type. */
static const char *shown_path(const char *path)
{
    return text_starts_with(path, "./") ? path + 2 : path;
}

static enum status load_config(struct session *session, const char *path)
{
    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};

    if (config_load(path, &session->config, &diagnostics))
        return STATUS_OK;
    show(&diagnostics);
    return STATUS_CONFIG;
}

/* What is there is read, even if it cannot be: silence would hide a mistake. */
static enum status find_config(struct session *session)
{
    for (size_t i = 0; i < COUNT_OF(config_paths); i++) {
        if (access(config_paths[i], F_OK) == 0)
            return load_config(session, shown_path(config_paths[i]));
    }
    return STATUS_OK;
}

/* Whoever types a backend and no config has said all there is to say. */
static enum status read_config(struct session *session)
{
    if (session->config_typed != NULL)
        return load_config(session, session->config_typed);
    return session->backend_typed ? STATUS_OK : find_config(session);
}

enum status session_configure(struct session *session)
{
    const char *fallback = getenv("TASKHARBOR_BACKEND");
    enum status status = read_config(session);

    if (status != STATUS_OK || session->backend_typed)
        return status;
    session->backend = text_is_blank(fallback) ? session->config.backend : fallback;
    return STATUS_OK;
}

/* Relative paths that the config has start at its folder, those of a person at the current one. */
static bool is_from_config(const struct session *session)
{
    return session->backend != NULL && session->backend == session->config.backend;
}

struct store_options session_store_options(const struct session *session, bool migrate)
{
    return (struct store_options){
        .folder = is_from_config(session) ? session->config.folder : NULL,
        .migrate = migrate,
        .max_payload = (size_t)session->config.max_payload,
    };
}

struct enqueue session_enqueue(const struct session *session)
{
    struct enqueue enqueue = enqueue_defaults();

    if (session->config.path != NULL) {
        enqueue.max_payload = (size_t)session->config.max_payload;
        enqueue.idempotency_window = session->config.idempotency_window;
    }
    return enqueue;
}

/* A store that cannot be opened is out of reach, unless the fault is in the URL or the schema. */
static enum status status_of_open(const struct session *session, enum th_error_code code)
{
    switch (code) {
    case TH_E_INVALID:
        return is_from_config(session) ? STATUS_CONFIG : STATUS_USAGE;
    case TH_E_SCHEMA:
    case TH_E_NO_MEMORY:
    case TH_E_INTERNAL:
        return STATUS_FAILED;
    case TH_OK:
    case TH_E_UNAVAILABLE:
    case TH_E_UNCERTAIN:
    case TH_E_NOT_FOUND:
    case TH_E_NOT_RUNNING:
    case TH_E_LEASE_EXPIRED:
    case TH_E_LEASE_MISMATCH:
    case TH_E_CONFLICT:
        return STATUS_BACKEND;
    }
    return STATUS_BACKEND;
}

enum status session_open(struct session *session, enum session_access wanted)
{
    struct store_options options = session_store_options(session, wanted == SESSION_MAKE);
    struct error err;

    if (store_open(session->backend, &options, &session->store, &err))
        return STATUS_OK;
    if (is_from_config(session) && err.code == TH_E_INVALID)
        error_prefix(&err, "%s", session->config.path);
    output_complain("%s", err.text);
    return status_of_open(session, err.code);
}

enum status session_refuse(const struct error *err)
{
    output_complain("%s", err->text);
    return STATUS_USAGE;
}

enum status session_fail(const struct error *err)
{
    bool away = err->code == TH_E_UNAVAILABLE || err->code == TH_E_UNCERTAIN;

    output_complain("%s", err->text);
    return away ? STATUS_BACKEND : STATUS_FAILED;
}

bool session_parse_ids(const struct words *arguments, struct uuid **ids_out, struct error *err)
{
    struct uuid *ids = calloc(arguments->count + 1, sizeof *ids);
    char shown[EXCERPT_SIZE];

    if (ids == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < arguments->count; i++) {
        if (uuid_parse(arguments->items[i], &ids[i]) && !uuid_is_nil(&ids[i]))
            continue;
        free(ids);
        return error_set(err, TH_E_INVALID, "'%s' is no id of a job: use a UUID",
                         excerpt_of(arguments->items[i], shown));
    }
    *ids_out = ids;
    return true;
}

bool session_get_job(struct session *session, const struct uuid *id, struct job_list *job_out,
                     struct error *err)
{
    char text[UUID_TEXT_SIZE];

    if (store_get(session->store, id, job_out, err))
        return true;
    if (err->code != TH_E_NOT_FOUND)
        return false;
    return error_set(err, TH_E_NOT_FOUND, "job %s does not exist", uuid_format(id, text));
}

void session_done(struct session *session)
{
    store_close(&session->store);
    config_done(&session->config);
    free(session->typed_url);
}
