/*
 * setup.c - `thctl migrate`: the schema of the backend.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "thctl/session.h"

#define LINE_MAX ((size_t)1024)

/* What was there before. */
struct before {
    bool existed;
    int version; /* 0: cannot be told */
};

/* Looks without changing anything. What cannot be opened now may become so by migrating. */
static struct before look_before(const struct session *session)
{
    struct store_options options = session_store_options(session, false);
    struct store_schema schema;
    struct store *store = NULL;
    struct before before = {0};
    struct error err;

    if (store_open(session->backend, &options, &store, &err)) {
        before.existed = true;
        if (store_schema(store, &schema, &err))
            before.version = schema.version;
    } else {
        before.existed = err.code == TH_E_SCHEMA;
    }
    store_close(&store);
    return before;
}

static void print_json(struct session *session, const struct before *before,
                       const struct store_schema *schema)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    json_write_open(&json, NULL, '{');
    json_write_int(&json, "version", schema->version);
    json_write_int(&json, "usable_from", schema->usable_from);
    json_write_bool(&json, "created", !before->existed);
    if (before->version > 0)
        json_write_int(&json, "from", before->version);
    else
        json_write_null(&json, "from");
    json_write_close(&json, '}');
    output_line(&session->out, &line);
}

static void print_text(struct session *session, const struct before *before,
                       const struct store_schema *schema)
{
    output_printf(&session->out, "schema is at version %d ", schema->version);
    if (!before->existed)
        output_text(&session->out, "(created)\n");
    else if (before->version == schema->version)
        output_text(&session->out, "(nothing to do)\n");
    else if (before->version > 0)
        output_printf(&session->out, "(upgraded from %d)\n", before->version);
    else
        output_text(&session->out, "(upgraded)\n");
}

static enum status run_migrate(struct session *session, const struct option_value *options,
                               const struct words *arguments)
{
    struct before before = look_before(session);
    struct store_schema schema;
    struct error err;

    (void)options;
    (void)arguments;
    enum status status = session_open(session, SESSION_MAKE);
    if (status != STATUS_OK)
        return status;
    if (!store_schema(session->store, &schema, &err))
        return session_fail(&err);
    if (session->json)
        print_json(session, &before, &schema);
    else
        print_text(session, &before, &schema);
    return STATUS_OK;
}

static const char *const migrate_examples[] = {"--backend sqlite:./jobs.db migrate", "migrate",
                                               NULL};

const struct command command_migrate = {
    .name = "migrate",
    .summary = "create the schema, or bring it up to date",
    .arguments = "",
    .details = "Safe to repeat, and safe while pools are at work.\n",
    .examples = migrate_examples,
    .options = options_none,
    .run = run_migrate,
};
