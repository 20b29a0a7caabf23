/*
 * driver.c - postgres://user@host/database: jobs in a schema of a PostgreSQL database.
 */
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/conninfo.h"
#include "store/postgres/schema.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/net/sqlstate.h"
#include "store/postgres/net/statement.h"

static bool postgres_check_url(const struct store_url *url, struct error *err)
{
    const char *schema;

    return conninfo_schema(url, &schema, err) && conninfo_check(url, err);
}

static bool check_writable(struct postgres *postgres, struct error *err)
{
    CLEANUP(statement_done) struct statement call = statement_start(postgres, SQL_READ_ONLY);
    CLEANUP(answer_done) struct answer answer = {0};

    if (!statement_run(&call, &answer, err))
        return false;
    return !answer_next(&answer) || error_set(err, TH_E_UNAVAILABLE, "postgres: %s",
                                              sqlstate_find(SQLSTATE_READ_ONLY)->advice);
}

static bool postgres_open(const struct store_url *url, const struct store_options *options,
                          struct store **store_out, struct error *err)
{
    const char *schema;

    if (!conninfo_schema(url, &schema, err) || !conninfo_check(url, err))
        return false;
    AUTO_FREE char *conninfo = conninfo_make(url->text);
    struct postgres *postgres =
        conninfo != NULL ? postgres_new(conninfo, schema, store_caller(options)) : NULL;
    if (postgres == NULL)
        return error_no_memory(err);
    postgres->base.driver = &store_postgres;
    const usec_t deadline = store_deadline(&postgres->base);
    postgres->base.deadline = store_patience(options);
    if (!postgres_connect(postgres, deadline, err) ||
        (options->writable && !check_writable(postgres, err)) ||
        !pg_schema_prepare(postgres, options, err)) {
        postgres_free(postgres);
        return false;
    }
    *store_out = &postgres->base;
    return true;
}

static void postgres_close(struct store *store)
{
    postgres_free(postgres_of(store));
}

static bool postgres_schema(struct store *store, struct store_schema *schema_out, struct error *err)
{
    return pg_schema_read(postgres_of(store), schema_out, err) &&
           (schema_out->version == 0 || pg_schema_remark(postgres_of(store), schema_out, err));
}

static bool postgres_read_clock(struct store *store, usec_t *now_out, struct error *err)
{
    CLEANUP(statement_done) struct statement call = statement_start(postgres_of(store), SQL_CLOCK);
    CLEANUP(answer_done) struct answer answer = {0};

    if (!statement_run(&call, &answer, err))
        return false;
    if (!answer_next(&answer))
        return error_set(err, TH_E_INTERNAL, "postgres: the server has no clock");
    *now_out = answer_int(&answer);
    return true;
}

static bool postgres_wait_fd(struct store *store, int *fd_out, struct error *err)
{
    return pg_bell_fd(postgres_of(store), fd_out, err);
}

static bool postgres_wait(struct store *store, usec_t timeout, bool *rang_out, struct error *err)
{
    return pg_bell_wait(postgres_of(store), timeout, rang_out, err);
}

const struct store_driver store_postgres = {
    .scheme = "postgres",
    .check_url = postgres_check_url,
    .open = postgres_open,
    .close = postgres_close,
    .schema = postgres_schema,
    .read_clock = postgres_read_clock,
    .enqueue = postgres_enqueue,
    .exchange = postgres_exchange,
    .held = postgres_held,
    .heartbeat = postgres_heartbeat,
    .watch = postgres_watch,
    .promote = postgres_promote,
    .reclaim = postgres_reclaim,
    .aside = postgres_aside,
    .bring_back = postgres_bring_back,
    .give_up = postgres_give_up,
    .prune = postgres_prune,
    .publish = postgres_publish,
    .cron_enqueue = postgres_cron_enqueue,
    .cron_last = postgres_cron_last,
    .cron_pause = postgres_cron_pause,
    .cron_resume = postgres_cron_resume,
    .cron_mark = postgres_cron_mark,
    .pool_register = postgres_pool_register,
    .pools = postgres_pools,
    .pool_remove = postgres_pool_remove,
    .pool_remove_silent = postgres_pool_remove_silent,
    .wait_fd = postgres_wait_fd,
    .wait = postgres_wait,
    .get = postgres_get,
    .list = postgres_list,
    .failures = postgres_failures,
    .stats = postgres_stats,
    .count_before = postgres_count_before,
    .cancel = postgres_cancel,
    .run_now = postgres_run_now,
    .requeue = postgres_requeue,
    .remove = postgres_remove,
    .set_paused = postgres_set_paused,
    .hide_queue = postgres_hide_queue,
};

/* libpq takes either name. */
const struct store_driver store_postgresql = {
    .scheme = "postgresql", .check_url = postgres_check_url, .open = postgres_open};
