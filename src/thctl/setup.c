/*
 * setup.c - `thctl migrate`: the schema of the backend.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "thctl/session.h"

#define LINE_MAX ((size_t)1024)

/* The version that is there, without changing anything; 0: there is none. */
static int look_before(const struct session *session)
{
    struct store_options options = session_store_options(session, false);
    struct store_schema schema = {0};
    struct store *store = NULL;
    struct error err;

    options.any_schema = true;
    if (!store_open(session->backend, &options, &store, &err) ||
        !store_schema(store, &schema, &err))
        schema.version = 0;
    store_close(&store);
    return schema.version;
}

static void print_json(struct session *session, int before, const struct store_schema *schema)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    json_write_open(&json, NULL, '{');
    json_write_int(&json, "version", schema->version);
    json_write_int(&json, "usable_from", schema->usable_from);
    json_write_bool(&json, "created", before == 0);
    if (before > 0)
        json_write_int(&json, "from", before);
    else
        json_write_null(&json, "from");
    json_write_close(&json, '}');
    output_json(&session->out, &line);
}

static void print_text(struct session *session, int before, const struct store_schema *schema)
{
    output_printf(&session->out, "schema is at version %d ", schema->version);
    if (before == 0)
        output_text(&session->out, "(created)\n");
    else if (before == schema->version)
        output_text(&session->out, "(nothing to do)\n");
    else
        output_printf(&session->out, "(upgraded from %d)\n", before);
}

/* For those who enqueue without a config. */
static bool publish(struct session *session, struct error *err)
{
    const struct store_limits limits = {
        .max_payload = (size_t)session->config.max_payload,
        .idempotency_window = session->config.idempotency_window,
    };

    return !session->config.path || store_publish(session->store, &limits, err);
}

static enum status run_migrate(struct session *session, const struct option_value *options,
                               const struct words *arguments)
{
    const int before = look_before(session);
    struct store_schema schema;
    struct error err;

    (void)options;
    (void)arguments;
    enum status status = session_open(session, SESSION_MEND);
    if (status != STATUS_OK)
        return status;
    if (!store_schema(session->store, &schema, &err) || !publish(session, &err))
        return session_fail(&err);
    if (session->json)
        print_json(session, before, &schema);
    else
        print_text(session, before, &schema);
    if (schema.remark[0] != '\0')
        output_remark("%s", schema.remark);
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
