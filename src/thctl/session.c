/*
 * session.c - one run of thctl: the global options, the store, the output.
 */
#include "thctl/session.h"

#include "base/excerpt.h"

#include <stdlib.h>

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

enum status session_open(struct session *session, enum session_access access)
{
    struct store_options options = {.migrate = access == SESSION_MAKE};
    struct error err;

    if (store_open(session->backend, &options, &session->store, &err))
        return STATUS_OK;
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

void session_done(struct session *session)
{
    store_close(&session->store);
}
