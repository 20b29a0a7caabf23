/*
 * watch.c - who looks at a job or at the pools says so, and until when.
 */
#include "base/cleanup.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

bool pg_watch(struct store *store, const struct watch *watch, usec_t until, usec_t now,
              struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_WATCH);
    static const struct uuid pools;

    call.writes = true;
    pg_statement_array(&call, ARRAY_UUID);
    if (watch->pools)
        pg_element_uuid(&call, &pools);
    for (size_t i = 0; i < watch->count; i++)
        pg_element_uuid(&call, &watch->jobs[i].id);
    pg_statement_int(&call, until);
    pg_statement_int(&call, now);
    return pg_statement_run(&call, NULL, err);
}
