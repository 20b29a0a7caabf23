/*
 * driver.c - postgres://user@host/database: jobs in a schema of a PostgreSQL database.
 */
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/conninfo.h"
#include "store/postgres/net/sqlstate.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/schema.h"

static bool pg_check_url(const struct store_url *url, struct error *err)
{
    const char *schema;

    return pg_conninfo_schema(url, &schema, err) && pg_conninfo_check(url, err);
}

static bool check_writable(struct postgres *postgres, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_READ_ONLY);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    if (!pg_statement_run(&call, &answer, err))
        return false;
    return !pg_answer_next(&answer) || error_set(err, TH_E_UNAVAILABLE, "postgres: %s",
                                                 pg_sqlstate_find(SQLSTATE_READ_ONLY)->advice);
}

static bool pg_open(const struct store_url *url, const struct store_options *options,
                    struct store **store_out, struct error *err)
{
    const char *schema;

    if (!pg_conninfo_schema(url, &schema, err) || !pg_conninfo_check(url, err))
        return false;
    AUTO_FREE char *conninfo = pg_conninfo_make(url->text);
    struct postgres *postgres =
        conninfo ? pg_connection_new(conninfo, schema, store_caller(options)) : NULL;
    if (!postgres)
        return error_no_memory(err);
    postgres->base.driver = &store_postgres;
    const usec_t deadline = store_deadline(&postgres->base);
    postgres->base.deadline = store_patience(options);
    if (!pg_connection_ensure(postgres, deadline, err) ||
        (options->writable && !check_writable(postgres, err)) ||
        !pg_schema_prepare(postgres, options, err)) {
        pg_connection_free(postgres);
        return false;
    }
    *store_out = &postgres->base;
    return true;
}

static void pg_close(struct store *store)
{
    pg_exchanges_forget(pg_of(store));
    pg_connection_free(pg_of(store));
}

static bool pg_schema(struct store *store, struct store_schema *schema_out, struct error *err)
{
    return pg_schema_look(pg_of(store), schema_out, err);
}

static bool pg_read_clock(struct store *store, usec_t *now_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_CLOCK);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    if (!pg_statement_run(&call, &answer, err))
        return false;
    if (!pg_answer_next(&answer))
        return error_set(err, TH_E_INTERNAL, "postgres: the server has no clock");
    *now_out = pg_answer_int(&answer);
    return true;
}

static bool pg_wait_fd(struct store *store, int *fd_out, struct error *err)
{
    return pg_bell_fd(pg_of(store), fd_out, err);
}

static bool pg_wait(struct store *store, usec_t timeout, bool *rang_out, struct error *err)
{
    return pg_bell_wait(pg_of(store), timeout, rang_out, err);
}

const struct store_driver store_postgres = {
    .scheme = "postgres",
    .check_url = pg_check_url,
    .open = pg_open,
    .close = pg_close,
    .schema = pg_schema,
    .read_clock = pg_read_clock,
    .enqueue = pg_enqueue,
    .exchange = pg_exchange,
    .exchange_begin = pg_exchange_begin,
    .exchange_end = pg_exchange_end,
    .exchange_fd = pg_exchange_fd,
    .held = pg_held,
    .heartbeat = pg_heartbeat,
    .watch = pg_watch,
    .promote = pg_promote,
    .reclaim = pg_reclaim,
    .aside = pg_aside,
    .bring_back = pg_bring_back,
    .give_up = pg_give_up,
    .prune = pg_prune,
    .publish = pg_publish,
    .cron_enqueue = pg_cron_enqueue,
    .cron_last = pg_cron_last,
    .cron_pause = pg_cron_pause,
    .cron_resume = pg_cron_resume,
    .cron_mark = pg_cron_mark,
    .pool_register = pg_pool_register,
    .pools = pg_pools,
    .pool_remove = pg_pool_remove,
    .pool_want = pg_pool_want,
    .pool_remove_silent = pg_pool_remove_silent,
    .wait_fd = pg_wait_fd,
    .wait = pg_wait,
    .get = pg_get,
    .list = pg_list,
    .failures = pg_failures,
    .stats = pg_stats,
    .count_before = pg_count_before,
    .cancel = pg_cancel,
    .run_now = pg_run_now,
    .requeue = pg_requeue,
    .remove = pg_remove,
    .set_paused = pg_set_paused,
    .hide_queue = pg_hide_queue,
};

/* libpq takes either name. */
const struct store_driver store_postgresql = {
    .scheme = "postgresql", .check_url = pg_check_url, .open = pg_open};
