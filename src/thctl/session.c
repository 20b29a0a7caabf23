/*
 * session.c - one run of thctl: the global options, the store, the output.
 */
#include "thctl/session.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "config/backend_offers.h"

#include <stdlib.h>
#include <unistd.h>

#define DIAGNOSTICS_TEXT_MAX ((size_t)1 << 20)

static void show(const struct diagnostics *diagnostics)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(DIAGNOSTICS_TEXT_MAX);

    diagnostics_print(diagnostics, isatty(STDERR_FILENO) == 1, &text);
    output_remark_lines(buffer_str(&text));
}

/* Its URL counts only where nobody has named another backend. */
static void check_backend(void *context, const struct config *config,
                          struct diagnostics *diagnostics)
{
    const struct session *session = context;
    const struct backend_offers offers =
        backend_offers_find(session->typed_url, config, session->config_typed != NULL);
    const enum backend_source source = backend_offers_choose(&offers);
    struct error err;

    if (source < BACKEND_SOURCES && offers.urls[source] == config->backend &&
        !store_check_url(config->backend, config->folder, &err))
        backend_offers_refuse(diagnostics, err.text);
}

static enum status load_config(struct session *session, const char *path)
{
    const struct config_reader reader = {CONFIG_TO_ASK, check_backend, session};

    if (config_load(path, &reader, &session->config, &session->diagnostics))
        return STATUS_OK;
    show(&session->diagnostics);
    return STATUS_CONFIG;
}

/* Whoever types a backend and no config has said all there is to say. */
static enum status read_config(struct session *session)
{
    const char *path = session->config_typed;

    if (!path && !session->backend_typed)
        path = config_find_file();
    return path ? load_config(session, path) : STATUS_OK;
}

enum status session_configure(struct session *session)
{
    enum status status = read_config(session);

    if (status != STATUS_OK || session->backend_typed)
        return status;
    const struct backend_offers offers =
        backend_offers_find(NULL, &session->config, session->config_typed != NULL);
    const enum backend_source source = backend_offers_choose(&offers);
    session->backend = source < BACKEND_SOURCES ? offers.urls[source] : NULL;
    return STATUS_OK;
}

/* Relative paths that the config has start at its folder, those of a person at the current one. */
static bool is_from_config(const struct session *session)
{
    return session->backend && session->backend == session->config.backend;
}

struct store_options session_store_options(const struct session *session, bool migrate)
{
    return (struct store_options){
        .folder = is_from_config(session) ? session->config.folder : NULL,
        .migrate = migrate,
        .max_payload = (size_t)session->config.max_payload,
        .caller = session->caller,
    };
}

struct enqueue session_enqueue(const struct session *session)
{
    struct enqueue enqueue = enqueue_defaults();

    if (session->config.path) {
        enqueue.max_payload = (size_t)session->config.max_payload;
        enqueue.idempotency_window = session->config.idempotency_window;
    }
    return enqueue;
}

/* A store that cannot be opened is out of reach, unless the fault is in the URL or the schema. */
static enum status status_of_open(enum th_error_code code)
{
    switch (code) {
    case TH_E_INVALID:
        return STATUS_USAGE;
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

/* The URL in the config cannot be one. */
static enum status refuse_configured(struct session *session, const struct error *err)
{
    backend_offers_refuse(&session->diagnostics, err->text);
    show(&session->diagnostics);
    return STATUS_CONFIG;
}

enum status session_open(struct session *session, enum session_access wanted)
{
    struct store_options options = session_store_options(session, wanted != SESSION_LOOK);
    struct error err;

    options.repair = wanted == SESSION_MEND;
    if (store_check_url(session->backend, options.folder, &err) &&
        store_open(session->backend, &options, &session->store, &err))
        return STATUS_OK;
    if (is_from_config(session) && err.code == TH_E_INVALID)
        return refuse_configured(session, &err);
    output_complain("%s", err.text);
    return status_of_open(err.code);
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

bool session_find_job(struct session *session, const struct id_prefix *prefix,
                      struct job_list *job_out, struct error *err)
{
    char text[UUID_TEXT_SIZE];
    struct uuid id;

    if (!id_prefix_find(prefix, session->store, &id, err))
        return false;
    if (store_get(session->store, &id, job_out, err))
        return true;
    if (err->code != TH_E_NOT_FOUND)
        return false;
    return error_set(err, TH_E_NOT_FOUND, "job %s does not exist", uuid_format(&id, text));
}

enum status session_each_job(struct session *session, const struct words *arguments,
                             session_look *look)
{
    AUTO_FREE struct id_prefix *ids = NULL;
    struct error err;

    if (!id_prefix_parse_all(arguments, &ids, &err))
        return session_refuse(&err);
    enum status status = session_open(session, SESSION_LOOK);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < arguments->count && status != STATUS_BACKEND; i++) {
        if (!look(session, &ids[i], i, &err))
            status = session_fail(&err);
    }
    return status;
}

void session_done(struct session *session)
{
    store_close(&session->store);
    config_done(&session->config);
    diagnostics_done(&session->diagnostics);
    free(session->typed_url);
}
