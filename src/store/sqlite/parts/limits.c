/*
 * limits.c - live leases are counted, starts are paid for.
 */
#include "store/sqlite/parts/limits.h"

#include "base/cleanup.h"
#include "job/rate.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"

/* A statement that answers one number about the queue. */
static bool ask_number(struct sqlite *sqlite, enum sql_statement which, int64_t queue_id,
                       int64_t *number_out, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, which);

    sqlite_query_int(&query, queue_id);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    *number_out = sqlite_row_int(&query);
    return true;
}

bool sqlite_limits_load(struct sqlite *sqlite, struct sqlite_limits *limits, struct error *err)
{
    const struct queue_share *share = limits->share;
    int64_t running;

    limits->running_room = limits->rate_room = SIZE_MAX;
    if (share->rate.count > 0)
        limits->rate_room = (size_t)rate_allows(&share->rate, limits->spent_until, limits->now);
    if (share->max_running == 0)
        return true;
    if (!ask_number(sqlite, SQL_RUNNING_COUNT, limits->queue_id, &running, err))
        return false;
    limits->running_room =
        (size_t)running < share->max_running ? share->max_running - (size_t)running : 0;
    return true;
}

size_t sqlite_limits_max(const struct sqlite_limits *limits)
{
    size_t max = limits->share->max;

    if (limits->running_room < max)
        max = limits->running_room;
    return limits->rate_room < max ? limits->rate_room : max;
}

static bool spend(struct sqlite *sqlite, struct sqlite_limits *limits, size_t taken,
                  struct error *err)
{
    if (limits->rate_room == SIZE_MAX || taken == 0)
        return true;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUE_SET_SPENT);
    limits->spent_until =
        rate_spend(&limits->share->rate, limits->spent_until, limits->now, (int64_t)taken);
    limits->rate_room -= taken;
    sqlite_query_int(&query, limits->queue_id);
    sqlite_query_int(&query, limits->spent_until);
    return sqlite_query_run(&query, err);
}

static void occupy(struct sqlite *sqlite, struct sqlite_limits *limits, size_t taken)
{
    if (limits->running_room == SIZE_MAX)
        return;
    limits->running_room -= taken;
    if (limits->running_room == 0)
        sqlite_vacancy_forget(sqlite, limits->queue_id);
}

/* Of a queue that has more to give than it may. */
static bool explain(struct sqlite *sqlite, const struct sqlite_limits *limits,
                    struct share_limit *limit_out, struct error *err)
{
    const bool is_full = limits->running_room == 0;

    if (limit_out)
        *limit_out = (struct share_limit){
            .is_full = is_full,
            .limited_until = limits->rate_room == 0
                                 ? rate_next(&limits->share->rate, limits->spent_until, limits->now)
                                 : 0,
        };
    return !is_full || sqlite_vacancy_await(sqlite, limits->queue_id, err);
}

bool sqlite_limits_apply(struct sqlite *sqlite, struct sqlite_limits *limits, size_t taken,
                         struct share_limit *limit_out, struct error *err)
{
    int64_t is_more = 0;

    if (!spend(sqlite, limits, taken, err))
        return false;
    occupy(sqlite, limits, taken);
    if (taken == limits->share->max || (limits->running_room > 0 && limits->rate_room > 0))
        return true;
    if (!ask_number(sqlite, SQL_READY_ANY, limits->queue_id, &is_more, err))
        return false;
    return !is_more || explain(sqlite, limits, limit_out, err);
}
