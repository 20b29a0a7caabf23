/*
 * cron.c - the last slot of each schedule, the job of the next one, and its pause.
 */
#include "base/cleanup.h"
#include "job/cron_due.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"

static bool take_slot(struct sqlite *sqlite, const char *name, usec_t slot, usec_t now,
                      bool *taken_out, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_CRON_ADVANCE);

    sqlite_query_text(&query, name);
    sqlite_query_int(&query, slot);
    sqlite_query_int(&query, cron_horizon(now));
    if (!sqlite_query_run(&query, err))
        return false;
    *taken_out = sqlite_query_changes(&query) == 1;
    return true;
}

static bool enqueue_slot(struct sqlite *sqlite, const char *name, usec_t slot,
                         const struct job *job, usec_t now, bool *stored_out, struct error *err)
{
    struct enqueued enqueued;

    if (!take_slot(sqlite, name, slot, now, stored_out, err))
        return false;
    return !*stored_out || sqlite_enqueue_one(sqlite, job, now, &enqueued, err);
}

bool sqlite_cron_enqueue(struct store *store, const char *name, usec_t slot, const struct job *job,
                         usec_t now, bool *stored_out, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, enqueue_slot(sqlite, name, slot, job, now, stored_out, err), err);
}

bool sqlite_cron_last(struct store *store, const char *name, usec_t now, struct cron_past *past_out,
                      struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite_of(store), SQL_CRON_LAST);

    sqlite_query_text(&query, name);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    const usec_t slot = found ? sqlite_row_int(&query) : 0;
    past_out->last = slot <= cron_horizon(now) ? slot : 0;
    past_out->doubted = slot - past_out->last;
    past_out->paused_at = found ? sqlite_row_int(&query) : 0;
    if (found)
        sqlite_row_copy(&query, past_out->paused_by, sizeof past_out->paused_by);
    return true;
}

static bool put_mark(struct sqlite *sqlite, const char *name, usec_t slot, usec_t now,
                     struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_CRON_MARK);

    sqlite_query_text(&query, name);
    sqlite_query_int(&query, slot);
    sqlite_query_int(&query, cron_horizon(now));
    return sqlite_query_run(&query, err);
}

bool sqlite_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now,
                      struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, put_mark(sqlite, name, slot, now, err), err);
}

static bool put_pause(struct sqlite *sqlite, const char *name, const char *by, usec_t mark,
                      usec_t now, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_CRON_PAUSE);

    sqlite_query_text(&query, name);
    sqlite_query_int(&query, mark);
    sqlite_query_int(&query, now);
    sqlite_query_text(&query, by);
    return sqlite_query_run(&query, err);
}

bool sqlite_cron_pause(struct store *store, const char *name, const char *by, usec_t mark,
                       usec_t now, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, put_pause(sqlite, name, by, mark, now, err), err);
}

static bool end_pause(struct sqlite *sqlite, const char *name, usec_t mark, usec_t now,
                      struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_CRON_RESUME);

    sqlite_query_text(&query, name);
    sqlite_query_int(&query, mark);
    sqlite_query_int(&query, cron_horizon(now));
    return sqlite_query_run(&query, err);
}

bool sqlite_cron_resume(struct store *store, const char *name, usec_t mark, usec_t now,
                        struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, end_pause(sqlite, name, mark, now, err), err);
}
