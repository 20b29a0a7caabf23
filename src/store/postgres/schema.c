/*
 * schema.c - brings tables, functions and views up to date, in one transaction and by one process
 * at a time.
 */
#include "store/postgres/schema.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"

#define FUNCTIONS_TEXTS
#include "postgres_functions.h"
#include "postgres_migrations.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NEWEST FUNCTIONS_VERSION

/* The lowest binary that may use a schema of version NEWEST. */
#define USABLE_FROM 1

/* A large schema may take its time, and so may those who wait for it. */
#define MIGRATE_DEADLINE (60 * USEC_PER_SEC)

#define SCRIPT_MAX ((size_t)1 << 20)

static_assert((int)COUNT_OF(sql_migrations) <= NEWEST, "the version is that of the tables too");

struct found {
    int version; /* 0: nothing is there */
    int usable_from;
    bool has_functions; /* of our version */
    bool are_ours;      /* and they are those that we know by this number */
    bool has_views;     /* as we know them */
    bool is_owner;      /* our user may replace all of it */
};

/* Before the first release versions had other numbers, which mean nothing now. */
static bool refuse_unreleased(struct postgres *postgres, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_UNRELEASED_SCHEMA);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    if (!pg_statement_run(&call, &answer, err))
        return false;
    return !pg_answer_next(&answer) ||
           error_set(err, TH_E_SCHEMA,
                     "postgres: schema %s was made before the first release: DROP SCHEMA %s "
                     "CASCADE, with its jobs, and it is made anew",
                     postgres->schema, postgres->schema);
}

static bool is_text(struct pg_answer *answer, const char *text)
{
    const bool is = !pg_answer_is_null(answer) && strcmp(pg_answer_raw(answer), text) == 0;

    pg_answer_skip(answer);
    return is;
}

static bool look(struct postgres *postgres, struct found *found_out, struct error *err)
{
    CLEANUP(pg_statement_done) struct pg_statement call = pg_statement_start(postgres, SQL_SCHEMA);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};
    struct error problem = {0};

    *found_out = (struct found){0};
    pg_statement_text(&call, "functions" FUNCTIONS_SUFFIX);
    if (!pg_statement_run(&call, &answer, &problem)) {
        if (problem.code == TH_E_SCHEMA)
            return refuse_unreleased(postgres, err);
        *err = problem;
        return false;
    }
    if (!pg_answer_next(&answer))
        return error_set(err, TH_E_SCHEMA, "postgres: schema %s has no version", postgres->schema);
    found_out->version = (int)pg_answer_int(&answer);
    found_out->usable_from = (int)pg_answer_int(&answer);
    postgres->only_offers = pg_answer_int(&answer) != 0;
    found_out->has_functions = !pg_answer_is_null(&answer);
    found_out->are_ours = is_text(&answer, FUNCTIONS_DIGEST);
    found_out->has_views = is_text(&answer, VIEWS_DIGEST);
    found_out->is_owner = pg_answer_int(&answer) != 0;
    return true;
}

static bool remark(struct postgres *postgres, struct store_schema *schema_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_NO_ROLES);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    if (!pg_statement_run(&call, &answer, err))
        return false;
    if (pg_answer_next(&answer))
        snprintf(
            schema_out->remark, sizeof schema_out->remark,
            "nobody can be allowed just to enqueue or to look: let somebody who may run CREATE "
            "ROLE taskharbor_producer; CREATE ROLE taskharbor_reader, and then run SELECT "
            "%s.grant_roles()",
            postgres->schema);
    return true;
}

bool pg_schema_look(struct postgres *postgres, struct store_schema *schema_out, struct error *err)
{
    struct found found;

    if (!look(postgres, &found, err))
        return false;
    *schema_out = (struct store_schema){
        .version = found.version, .usable_from = found.usable_from, .newest = NEWEST};
    return found.version == 0 || remark(postgres, schema_out, err);
}

/* ---- migrating ---- */

/* Of several processes that migrate at once one gets through: the others wait for the schema or the
 * table that it makes, or for the lock on `meta`, which keeps nobody from reading it and which
 * only its owner can take, and then fail. */
static void write_start(const struct postgres *postgres, int version, struct buffer *script)
{
    if (version == 0)
        buffer_printf(script, "CREATE SCHEMA IF NOT EXISTS \"%s\";", postgres->schema);
    else
        buffer_printf(script,
                      "LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE;"
                      "DO $$ BEGIN IF (SELECT version FROM meta) <> %d THEN RAISE EXCEPTION "
                      "'somebody else has just migrated it'; END IF; END $$;",
                      version);
}

/* The bodies are not looked at before all that they name is there. */
static void write_functions(const struct found *found, struct buffer *script)
{
    buffer_text(script, "SET LOCAL check_function_bodies = off;");
    buffer_text(script, functions_private);
    if (found->version <= NEWEST)
        buffer_text(script, functions_public);
    if (found->version <= NEWEST && !found->has_views)
        buffer_text(script, views_text);
}

static void write_end(const struct found *found, struct buffer *script)
{
    if (found->version == 0)
        buffer_text(script, "INSERT INTO meta (version, usable_from) VALUES (0, 0);");
    if (found->version < NEWEST)
        buffer_printf(script, "UPDATE meta SET version = %d, usable_from = %d;", NEWEST,
                      USABLE_FROM);
    if (found->version <= NEWEST)
        buffer_text(script, "INSERT INTO installed VALUES ('views', '" VIEWS_DIGEST "') "
                            "ON CONFLICT (part) DO UPDATE SET digest = excluded.digest;");
    buffer_text(script, "INSERT INTO installed VALUES ('functions" FUNCTIONS_SUFFIX
                        "', '" FUNCTIONS_DIGEST "') ON CONFLICT DO NOTHING;");
    buffer_text(script, "DO $$ BEGIN PERFORM set_rights" FUNCTIONS_SUFFIX "(); END $$");
}

/* All of it in one string is one transaction. */
static bool apply(struct postgres *postgres, const struct found *found, usec_t deadline,
                  struct error *err)
{
    CLEANUP(buffer_done) struct buffer script = BUFFER(SCRIPT_MAX);

    write_start(postgres, found->version, &script);
    for (size_t i = (size_t)found->version; i < COUNT_OF(sql_migrations); i++)
        if (sql_migrations[i])
            buffer_text(&script, sql_migrations[i]);
    write_functions(found, &script);
    write_end(found, &script);
    return buffer_ok(&script, err) &&
           (pg_connection_execute(postgres, buffer_str(&script), deadline, err) ||
            error_prefix(err, "migrate schema %s to version %d", postgres->schema, NEWEST));
}

static bool is_up_to_date(const struct found *found)
{
    return found->version >= NEWEST && found->has_functions;
}

/* One that failed looks whether another process has done it meanwhile. */
static bool migrate(struct postgres *postgres, const struct found *found, struct error *err)
{
    usec_t deadline = clock_boot() + MIGRATE_DEADLINE;
    struct found then;
    struct error ignored;

    if (!pg_connection_execute(postgres, "SET statement_timeout = 55000", deadline, err))
        return false;
    bool applied = apply(postgres, found, deadline, err) ||
                   (look(postgres, &then, &ignored) && is_up_to_date(&then));
    if (!pg_connection_execute(postgres, "SET statement_timeout = 4500", deadline, &ignored))
        pg_connection_drop(postgres);
    return applied;
}

/* ---- what is wrong with it ---- */

static bool check(const struct postgres *postgres, const struct found *found, struct error *err)
{
    if (found->version == 0)
        return error_set(err, TH_E_UNAVAILABLE,
                         "postgres: no schema %s here, or none that this user may use (the first "
                         "enqueue or 'thctl migrate' makes it)",
                         postgres->schema);
    if (found->version < NEWEST)
        return error_set(err, TH_E_SCHEMA,
                         "postgres: schema %s is at version %d and this program needs %d: run "
                         "'thctl migrate'",
                         postgres->schema, found->version, NEWEST);
    if (found->usable_from > NEWEST)
        return error_set(err, TH_E_SCHEMA,
                         "postgres: schema %s is at version %d and cannot be used by this program, "
                         "which knows %d: upgrade TaskHarbor here",
                         postgres->schema, found->version, NEWEST);
    if (!found->has_functions)
        return error_set(err, TH_E_SCHEMA,
                         "postgres: schema %s is at version %d and has no functions of version %d, "
                         "which this program needs: upgrade TaskHarbor here, or run its 'thctl "
                         "migrate'",
                         postgres->schema, found->version, NEWEST);
    return true;
}

/* Whatever else is to be said: what we call by our number is something else there. */
static bool check_digest(const struct postgres *postgres, const struct found *found,
                         struct error *err)
{
    return !found->has_functions || found->are_ours ||
           error_set(err, TH_E_SCHEMA,
                     "postgres: schema %s has functions of version %d that are not those of this "
                     "program: one of both is no release",
                     postgres->schema, NEWEST);
}

static bool is_to_migrate(const struct found *found, const struct store_options *options)
{
    if (!options->migrate || found->usable_from > NEWEST)
        return false;
    return !is_up_to_date(found) || (options->repair && found->is_owner);
}

bool pg_schema_prepare(struct postgres *postgres, const struct store_options *options,
                       struct error *err)
{
    struct found found;

    if (!look(postgres, &found, err))
        return false;
    if (options->any_schema)
        return true;
    if (!check_digest(postgres, &found, err))
        return false;
    if (is_to_migrate(&found, options) &&
        (!migrate(postgres, &found, err) || !look(postgres, &found, err)))
        return false;
    return check(postgres, &found, err);
}
