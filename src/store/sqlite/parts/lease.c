/*
 * lease.c - a job's own row in `lease`.
 */
#include "store/sqlite/parts/lease.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"

bool sqlite_lease_add(struct sqlite *sqlite, const struct sqlite_lease *lease, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_LEASE_ADD);

    sqlite_query_int(&query, lease->seq);
    sqlite_query_int(&query, lease->queue_id);
    sqlite_query_int(&query, lease->execution);
    sqlite_query_token(&query, &lease->token);
    sqlite_query_int(&query, lease->expires_at);
    sqlite_query_text(&query, lease->pool);
    sqlite_query_int(&query, lease->started_at);
    sqlite_query_int(&query, lease->traces);
    return sqlite_query_run(&query, err);
}
