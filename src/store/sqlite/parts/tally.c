/*
 * tally.c - the numbers in `queue`.
 */
#include "store/sqlite/parts/tally.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"

#include <stdlib.h>

static bool grow(struct sqlite_tallies *tallies)
{
    size_t capacity = tallies->capacity != 0 ? tallies->capacity * 2 : 8;
    struct sqlite_tally *items = reallocarray(tallies->items, capacity, sizeof *items);

    if (!items)
        return false;
    tallies->items = items;
    tallies->capacity = capacity;
    return true;
}

/* Mostly the same queue again and again: from the end. NULL when out of memory. */
static struct sqlite_tally *tally_of(struct sqlite *sqlite, int64_t queue_id)
{
    struct sqlite_tallies *tallies = &sqlite->tallies;

    for (size_t i = tallies->count; i-- > 0;)
        if (tallies->items[i].queue_id == queue_id)
            return &tallies->items[i];
    if (tallies->count == tallies->capacity && !grow(tallies))
        return NULL;
    tallies->items[tallies->count] = (struct sqlite_tally){.queue_id = queue_id};
    return &tallies->items[tallies->count++];
}

bool sqlite_tally_jobs(struct sqlite *sqlite, int64_t queue_id, enum job_state state,
                       int64_t change, struct error *err)
{
    struct sqlite_tally *tally = tally_of(sqlite, queue_id);

    if (!tally)
        return error_no_memory(err);
    tally->jobs[state] += change;
    return true;
}

bool sqlite_tally_aside(struct sqlite *sqlite, int64_t queue_id, enum job_aside why, int64_t change,
                        struct error *err)
{
    struct sqlite_tally *tally = tally_of(sqlite, queue_id);

    if (!tally)
        return error_no_memory(err);
    tally->aside[why] += change;
    return true;
}

bool sqlite_tally_executions(struct sqlite *sqlite, int64_t queue_id, int64_t done, int64_t failed,
                             struct error *err)
{
    struct sqlite_tally *tally = tally_of(sqlite, queue_id);

    if (!tally)
        return error_no_memory(err);
    tally->done += done;
    tally->failed += failed;
    return true;
}

static bool has_changed(const struct sqlite_tally *tally)
{
    int64_t changes = tally->done | tally->failed;

    for (size_t i = 0; i < JOB_STATES; i++)
        changes |= tally->jobs[i];
    for (size_t i = 0; i < JOB_ASIDES; i++)
        changes |= tally->aside[i];
    return changes != 0;
}

bool sqlite_tally_write(struct sqlite *sqlite, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUE_TALLY);

    for (size_t i = 0; i < sqlite->tallies.count; i++) {
        const struct sqlite_tally *tally = &sqlite->tallies.items[i];
        if (!has_changed(tally))
            continue;
        sqlite_query_again(&query);
        sqlite_query_int(&query, tally->queue_id);
        sqlite_query_int(&query, tally->done);
        sqlite_query_int(&query, tally->failed);
        for (size_t state = 0; state < JOB_STATES; state++)
            sqlite_query_int(&query, tally->jobs[state]);
        sqlite_query_int(&query, tally->aside[ASIDE_NO_HANDLER]);
        sqlite_query_int(&query, tally->aside[ASIDE_CANNOT_START]);
        if (!sqlite_query_run(&query, err))
            return false;
    }
    return true;
}

void sqlite_tallies_done(struct sqlite_tallies *tallies)
{
    free(tallies->items);
    *tallies = (struct sqlite_tallies){0};
}
