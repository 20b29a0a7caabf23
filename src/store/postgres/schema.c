/*
 * schema.c - numbered migrations, applied in one transaction by one process at a time.
 */
#include "store/postgres/schema.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"

#include "postgres_migrations.h"

#include <stdio.h>

#define NEWEST ((int)COUNT_OF(sql_migrations))

/* The lowest binary that may use a schema of version NEWEST. */
#define USABLE_FROM 8

/* A large schema may take its time, and so may those who wait for it. */
#define MIGRATE_DEADLINE (60 * USEC_PER_SEC)

#define SCRIPT_MAX ((size_t)1 << 20)

/* Version 0 is a schema that has nothing in it yet. */
bool pg_schema_read(struct postgres *postgres, struct store_schema *schema_out, struct error *err)
{
    CLEANUP(pg_statement_done) struct pg_statement call = pg_statement_start(postgres, SQL_SCHEMA);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};
    struct error problem = {0};

    *schema_out = (struct store_schema){.newest = NEWEST};
    if (!pg_statement_run(&call, &answer, &problem)) {
        if (problem.code == TH_E_SCHEMA)
            return true;
        *err = problem;
        return false;
    }
    if (!pg_answer_next(&answer))
        return error_set(err, TH_E_SCHEMA, "postgres: schema %s has no version", postgres->schema);
    schema_out->version = (int)pg_answer_int(&answer);
    schema_out->usable_from = (int)pg_answer_int(&answer);
    postgres->only_offers = pg_answer_int(&answer) != 0;
    return true;
}

bool pg_schema_remark(struct postgres *postgres, struct store_schema *schema_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_NO_ROLES);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    if (!pg_statement_run(&call, &answer, err))
        return false;
    if (pg_answer_next(&answer))
        snprintf(
            schema_out->remark, sizeof(schema_out->remark),
            "nobody can be allowed just to enqueue or to look: let somebody who may run CREATE "
            "ROLE taskharbor_producer; CREATE ROLE taskharbor_reader, and then run SELECT "
            "%s.grant_roles()",
            postgres->schema);
    return true;
}

/* All of it in one string is one transaction. Of several processes that migrate at once one gets
 * through: the others wait for the schema or the table that it makes, or for the lock on `meta`,
 * which nobody else can take, and then fail. */
static void write_script(const struct postgres *postgres, int version, struct buffer *script)
{
    buffer_printf(script, "CREATE SCHEMA IF NOT EXISTS %s;", postgres->schema);
    if (version > 0)
        buffer_printf(script,
                      "LOCK TABLE meta IN ACCESS EXCLUSIVE MODE;"
                      "DO $$ BEGIN IF (SELECT version FROM meta) <> %d THEN RAISE EXCEPTION "
                      "'somebody else has just migrated it'; END IF; END $$;",
                      version);
    for (int i = version; i < NEWEST; i++)
        buffer_text(script, sql_migrations[i]);
    buffer_printf(script, "DELETE FROM meta; INSERT INTO meta VALUES (%d, %d)", NEWEST,
                  USABLE_FROM);
}

static bool apply_missing(struct postgres *postgres, int version, usec_t deadline,
                          struct error *err)
{
    CLEANUP(buffer_done) struct buffer script = BUFFER(SCRIPT_MAX);

    write_script(postgres, version, &script);
    return buffer_ok(&script, err) &&
           (pg_connection_execute(postgres, buffer_str(&script), deadline, err) ||
            error_prefix(err, "migrate schema %s to version %d", postgres->schema, NEWEST));
}

/* One that failed looks whether another process has done it meanwhile. */
static bool migrate_schema(struct postgres *postgres, int version, struct error *err)
{
    usec_t deadline = clock_boot() + MIGRATE_DEADLINE;
    struct store_schema schema = {0};
    struct error ignored;

    if (!pg_connection_execute(postgres, "SET statement_timeout = 55000", deadline, err))
        return false;
    bool applied = apply_missing(postgres, version, deadline, err) ||
                   (pg_schema_read(postgres, &schema, &ignored) && schema.version >= NEWEST);
    if (!pg_connection_execute(postgres, "SET statement_timeout = 4500", deadline, &ignored))
        pg_connection_drop(postgres);
    return applied;
}

bool pg_schema_prepare(struct postgres *postgres, const struct store_options *options,
                       struct error *err)
{
    struct store_schema schema = {0};

    if (!pg_schema_read(postgres, &schema, err))
        return false;
    if (schema.version < NEWEST && options->migrate) {
        if (!migrate_schema(postgres, schema.version, err) ||
            !pg_schema_read(postgres, &schema, err))
            return false;
    }
    if (options->any_schema)
        return true;
    if (schema.version == 0)
        return error_set(err, TH_E_UNAVAILABLE,
                         "postgres: no schema %s here, or none that this user may use (the first "
                         "enqueue or 'thctl migrate' makes it)",
                         postgres->schema);
    if (schema.version < NEWEST)
        return error_set(err, TH_E_SCHEMA,
                         "postgres: schema %s is at version %d and this program needs %d: run "
                         "'thctl migrate'",
                         postgres->schema, schema.version, NEWEST);
    if (schema.usable_from > NEWEST)
        return error_set(err, TH_E_SCHEMA,
                         "postgres: schema %s is at version %d and cannot be used by this program, "
                         "which knows %d: upgrade TaskHarbor here",
                         postgres->schema, schema.version, NEWEST);
    return true;
}
