/*
 * cron.c - the last slot of each schedule, and the job of the next one.
 */
#include "base/cleanup.h"
#include "job/cron_due.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_jobs.h"

static bool take_slot(struct sqlite *sqlite, const char *name, usec_t slot, usec_t now,
                      bool *taken_out, struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_CRON_ADVANCE);

    query_text(&query, name);
    query_int(&query, slot);
    query_int(&query, cron_horizon(now));
    if (!query_run(&query, err))
        return false;
    *taken_out = query_changes(&query) == 1;
    return true;
}

static bool enqueue_slot(struct sqlite *sqlite, const char *name, usec_t slot,
                         const struct job *job, usec_t now, bool *stored_out, struct error *err)
{
    struct enqueued enqueued;

    if (!take_slot(sqlite, name, slot, now, stored_out, err))
        return false;
    return !*stored_out || enqueue_one(sqlite, job, now, &enqueued, err);
}

bool sqlite_cron_enqueue(struct store *store, const char *name, usec_t slot, const struct job *job,
                         usec_t now, bool *stored_out, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, enqueue_slot(sqlite, name, slot, job, now, stored_out, err), err);
}

static bool read_last(struct sqlite *sqlite, const char *name, usec_t *slot_out, struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_CRON_LAST);

    query_text(&query, name);
    if (!query_row(&query, &found, err))
        return false;
    *slot_out = found ? column_int(&query) : 0;
    return true;
}

bool sqlite_cron_last(struct store *store, const char *name, usec_t now, usec_t *slot_out,
                      usec_t *doubted_out, struct error *err)
{
    usec_t slot;

    if (!read_last(sqlite_of(store), name, &slot, err))
        return false;
    *slot_out = slot <= cron_horizon(now) ? slot : 0;
    *doubted_out = slot - *slot_out;
    return true;
}

static bool put_mark(struct sqlite *sqlite, const char *name, usec_t slot, usec_t now,
                     struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_CRON_MARK);

    query_text(&query, name);
    query_int(&query, slot);
    query_int(&query, cron_horizon(now));
    return query_run(&query, err);
}

bool sqlite_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now,
                      struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, put_mark(sqlite, name, slot, now, err), err);
}
