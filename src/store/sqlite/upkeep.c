/*
 * upkeep.c - what becomes due, and what has been kept for long enough.
 *
 * Every pass looks first: one that finds nothing to do writes nothing, so an idle pool does not
 * keep the disk awake.
 */
#include "base/cleanup.h"
#include "store/sqlite/ending.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_jobs.h"

/* ---- promote ---- */

static bool next_due(struct sqlite *sqlite, enum job_state state, usec_t *due_out,
                     struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_PROMOTE_NEXT);

    query_int(&query, state);
    if (!query_row(&query, &found, err))
        return false;
    *due_out = column_int(&query);
    return true;
}

static bool move_due(struct sqlite *sqlite, enum sql_statement which, enum job_state state,
                     usec_t now, size_t limit, size_t *moved_out, struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, which);

    query_int(&query, state);
    query_int(&query, now);
    query_int(&query, (int64_t)limit);
    if (!query_run(&query, err))
        return false;
    *moved_out = (size_t)query_changes(&query);
    return true;
}

static bool promote(struct sqlite *sqlite, enum job_state state, usec_t now, size_t limit,
                    size_t *moved_out, usec_t *next_due_out, struct error *err)
{
    size_t removed;

    if (!move_due(sqlite, SQL_PROMOTE_ADD, state, now, limit, moved_out, err) ||
        !move_due(sqlite, SQL_PROMOTE_REMOVE, state, now, limit, &removed, err))
        return false;
    sqlite->ring = *moved_out > 0;
    return next_due(sqlite, state, next_due_out, err);
}

bool sqlite_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                    size_t *moved_out, usec_t *next_due_out, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    *moved_out = 0;
    if (!next_due(sqlite, state, next_due_out, err))
        return false;
    if (*next_due_out == 0 || *next_due_out > now)
        return true;
    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite, promote(sqlite, state, now, limit, moved_out, next_due_out, err),
                      err);
}

/* ---- prune ---- */

/* The ended jobs of one queue and state. */
struct group {
    enum job_state state;
    int64_t queue_id;
    int64_t count;
};

#define PRUNE_AT_ONCE 256

struct pruning {
    struct sqlite *sqlite;
    const struct retention *keep;
    usec_t now;
    size_t limit;
    size_t removed;
    bool look; /* only find out whether there is anything to do */
    bool found;
};

/* The group after this one; *found_out is false behind the last. */
static bool next_group(struct sqlite *sqlite, struct group *group, bool *found_out,
                       struct error *err)
{
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_ENDED_NEXT_GROUP);

    query_int(&query, group->state);
    query_int(&query, group->queue_id);
    if (!query_row(&query, found_out, err))
        return false;
    if (*found_out) {
        group->state = (enum job_state)column_int(&query);
        group->queue_id = column_int(&query);
        group->count = column_int(&query);
    }
    return true;
}

static bool remove_found(struct pruning *pruning, struct query *query, struct error *err)
{
    int64_t seqs[PRUNE_AT_ONCE];
    size_t count = 0;
    bool found;

    while (count < COUNT_OF(seqs)) {
        if (!query_row(query, &found, err))
            return false;
        if (!found)
            break;
        seqs[count++] = column_int(query);
    }
    query_done(query);
    pruning->found = pruning->found || count > 0;
    for (size_t i = 0; i < count && !pruning->look; i++) {
        if (!ending_forget(pruning->sqlite, seqs[i], err))
            return false;
        pruning->removed++;
    }
    return true;
}

/* The oldest `most` jobs of the group that ended at or before `before`, a few at a time. */
static bool remove_oldest(struct pruning *pruning, const struct group *group, usec_t before,
                          size_t most, struct error *err)
{
    size_t goal =
        most < pruning->limit - pruning->removed ? pruning->removed + most : pruning->limit;
    size_t seen;

    do {
        CLEANUP(query_done) struct query query = query_start(pruning->sqlite, SQL_ENDED_BEFORE);
        size_t wanted = goal - pruning->removed;
        seen = pruning->removed;
        query_int(&query, group->state);
        query_int(&query, group->queue_id);
        query_int(&query, before);
        query_int(&query, (int64_t)(wanted < PRUNE_AT_ONCE ? wanted : PRUNE_AT_ONCE));
        if (!remove_found(pruning, &query, err))
            return false;
    } while (pruning->removed > seen && pruning->removed < goal);
    return true;
}

/* The moment before which jobs of this age are past their time. */
static usec_t age_limit(usec_t now, usec_t age)
{
    return age >= now ? 0 : now - age;
}

static bool prune_group(struct pruning *pruning, const struct group *group, struct error *err)
{
    const struct retention *keep = pruning->keep;
    bool dead = group->state == JOB_DEAD;
    size_t count = (size_t)group->count;
    size_t before = pruning->removed;

    if (!remove_oldest(pruning, group, age_limit(pruning->now, dead ? keep->dead : keep->done),
                       SIZE_MAX, err))
        return false;
    count -= pruning->removed - before;
    if (dead || count <= keep->done_max)
        return true;
    return remove_oldest(pruning, group, USEC_MAX, count - keep->done_max, err);
}

static bool prune_records(struct pruning *pruning, struct error *err)
{
    bool found;
    CLEANUP(query_done)
    struct query any = query_start(pruning->sqlite, SQL_IDEMPOTENCY_EXPIRED_ANY);
    CLEANUP(query_done) struct query query = query_start(pruning->sqlite, SQL_IDEMPOTENCY_PRUNE);

    if (pruning->look) {
        query_int(&any, pruning->now);
        if (!query_row(&any, &found, err))
            return false;
        pruning->found = pruning->found || column_int(&any) != 0;
        return true;
    }
    query_int(&query, pruning->now);
    query_int(&query, (int64_t)(pruning->limit - pruning->removed));
    if (!query_run(&query, err))
        return false;
    pruning->removed += (size_t)query_changes(&query);
    return true;
}

static bool prune(struct pruning *pruning, struct error *err)
{
    struct group group = {0};
    bool found = true;

    while (found && pruning->removed < pruning->limit) {
        if (!next_group(pruning->sqlite, &group, &found, err))
            return false;
        if (found && !prune_group(pruning, &group, err))
            return false;
    }
    return prune_records(pruning, err);
}

bool sqlite_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
                  size_t *removed_out, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);
    struct pruning pruning = {
        .sqlite = sqlite, .keep = keep, .now = now, .limit = limit, .look = true};

    *removed_out = 0;
    if (!prune(&pruning, err))
        return false;
    if (!pruning.found)
        return true;
    pruning.look = false;
    if (!sqlite_begin_write(sqlite, err) || !sqlite_end(sqlite, prune(&pruning, err), err))
        return false;
    *removed_out = pruning.removed;
    return true;
}
