/*
 * schema.c - version and usable_from.
 */
#include "store/redis/schema.h"

#include "base/cleanup.h"
#include "store/checks.h"
#include "store/redis/net/run.h"

#include <stdio.h>

#define NEWEST 4

/* The lowest binary that may use a layout of version NEWEST. */
#define USABLE_FROM 4 /* records may have headers and tags */

static bool ask(struct redis *redis, bool migrate, struct store_schema *schema_out,
                struct error *err)
{
    static const char *const keys[] = {REDIS_SCHEMA_KEY};
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = redis_batch_on_keys(redis, &batch, SCRIPT_SCHEMA, keys, 1);

    if (!command)
        return error_no_memory(err);
    redis_command_int(command, migrate);
    redis_command_int(command, NEWEST);
    redis_command_int(command, USABLE_FROM);
    command->writes = false; /* to make it twice is to make it once */
    if (!redis_run(redis, &batch, err))
        return false;
    const redisReply *reply = batch.items[0].reply;
    schema_out->version = (int)redis_reply_int(reply->element[0]);
    schema_out->usable_from = (int)redis_reply_int(reply->element[1]);
    schema_out->newest = NEWEST;
    return true;
}

bool redis_schema_read(struct redis *redis, struct store_schema *schema_out, struct error *err)
{
    return ask(redis, false, schema_out, err);
}

bool redis_schema_prepare(struct redis *redis, const struct store_options *options,
                          struct error *err)
{
    struct store_schema schema = {0};
    char what[ERROR_TEXT_SIZE];

    if (!ask(redis, options->migrate, &schema, err))
        return false;
    if (options->any_schema)
        return true;
    if (schema.version == 0)
        return error_set(err, TH_E_SCHEMA,
                         "%s: TaskHarbor has not been here yet: run 'thctl migrate', or enqueue a "
                         "first job",
                         redis->address.shown);
    snprintf(what, sizeof what, "%s: the layout", redis->address.shown);
    return checks_version(&schema, what, err);
}
