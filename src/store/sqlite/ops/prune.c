/*
 * prune.c - what has been kept for long enough.
 *
 * How many jobs a queue has of each state is known, so a pass costs what it removes, and a look at
 * each queue that has ended jobs. It looks first: one that finds nothing to do writes nothing. What
 * it removes it removes in short transactions, so that whoever has jobs to settle gets in between.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/ending.h"

#define TURN    2500 /* jobs in one transaction, of some 10 ms: more than an exchange ends */
#define AT_ONCE 256  /* of them, read before they are removed */

/* One call of sqlite_prune(). */
struct pruning {
    struct sqlite *sqlite;
    const struct retention *keep;
    usec_t now;
    size_t limit;     /* of this transaction */
    size_t removed;   /* in it */
    int64_t queue_id; /* that it is at */
    bool look;        /* only find out whether there is anything to do */
    bool found;
};

/* The ended jobs of one queue and state. */
struct group {
    enum job_state state;
    int64_t queue_id;
    size_t count;
};

/* ---- one group ---- */

static bool remove_found(struct pruning *pruning, const struct group *group,
                         struct sqlite_query *query, struct error *err)
{
    struct sqlite_place places[AT_ONCE];
    bool traces[AT_ONCE];
    size_t count = 0;
    bool found;

    while (count < COUNT_OF(places)) {
        if (!sqlite_query_row(query, &found, err))
            return false;
        if (!found)
            break;
        places[count] = (struct sqlite_place){
            .seq = sqlite_row_int(query), .queue_id = group->queue_id, .state = group->state};
        traces[count++] = sqlite_row_int(query) != 0;
    }
    sqlite_query_done(query);
    pruning->found = pruning->found || count > 0;
    for (size_t i = 0; i < count && !pruning->look; i++) {
        if (!sqlite_ending_forget(pruning->sqlite, &places[i], traces[i], err))
            return false;
        pruning->removed++;
    }
    return true;
}

/* The oldest `most` jobs of the group that ended at or before `before`, a few at a time. */
static bool remove_oldest(struct pruning *pruning, const struct group *group, usec_t before,
                          size_t most, struct error *err)
{
    size_t room = pruning->limit - pruning->removed;
    size_t goal = pruning->removed + (most < room ? most : room);
    size_t seen;

    do {
        CLEANUP(sqlite_query_done)
        struct sqlite_query query = sqlite_query_start(pruning->sqlite, SQL_ENDED_BEFORE);
        size_t wanted = goal - pruning->removed;
        seen = pruning->removed;
        sqlite_query_int(&query, group->state);
        sqlite_query_int(&query, group->queue_id);
        sqlite_query_int(&query, before);
        sqlite_query_int(&query, (int64_t)(wanted < AT_ONCE ? wanted : AT_ONCE));
        if (!remove_found(pruning, group, &query, err))
            return false;
    } while (pruning->removed > seen && pruning->removed < goal);
    return true;
}

/* The moment before which jobs of this age are past their time. */
static usec_t age_limit(usec_t now, usec_t age)
{
    return age >= now ? 0 : now - age;
}

/* Rows that were deleted by hand are still counted: if fewer are found than that, the count is put
 * right. */
static bool remove_surplus(struct pruning *pruning, const struct group *group, size_t count,
                           struct error *err)
{
    size_t before = pruning->removed;

    if (pruning->look) {
        pruning->found = true;
        return true;
    }
    if (!remove_oldest(pruning, group, USEC_MAX, count - pruning->keep->done_max, err))
        return false;
    size_t removed = pruning->removed - before;
    if (removed == count - pruning->keep->done_max || pruning->removed == pruning->limit)
        return true;
    return sqlite_tally_jobs(pruning->sqlite, group->queue_id, group->state,
                             -(int64_t)(count - removed), err);
}

static bool prune_group(struct pruning *pruning, const struct group *group, struct error *err)
{
    const struct retention *keep = pruning->keep;
    bool dead = group->state == JOB_DEAD;
    size_t before = pruning->removed;

    if (group->count == 0)
        return true;
    if (!remove_oldest(pruning, group, age_limit(pruning->now, dead ? keep->dead : keep->done),
                       SIZE_MAX, err))
        return false;
    size_t aged = pruning->removed - before;
    size_t count = group->count > aged ? group->count - aged : 0;
    if (dead || count <= keep->done_max || pruning->removed == pruning->limit)
        return true;
    return remove_surplus(pruning, group, count, err);
}

/* ---- all of them ---- */

/* The queue after the one that it is at, in three groups; none after the last. */
static bool next_queue(struct pruning *pruning, struct group groups[3], bool *found_out,
                       struct error *err)
{
    static const enum job_state states[] = {JOB_DONE, JOB_DEAD, JOB_CANCELLED};
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(pruning->sqlite, SQL_QUEUE_NEXT_ENDED);

    sqlite_query_int(&query, pruning->queue_id);
    if (!sqlite_query_row(&query, found_out, err))
        return false;
    if (!*found_out)
        return true;
    int64_t queue_id = sqlite_row_int(&query);
    for (size_t i = 0; i < COUNT_OF(states); i++) {
        int64_t count = sqlite_row_int(&query);
        groups[i] = (struct group){states[i], queue_id, count > 0 ? (size_t)count : 0};
    }
    return true;
}

static bool is_over(const struct pruning *pruning)
{
    return pruning->look ? pruning->found : pruning->removed == pruning->limit;
}

static bool prune_records(struct pruning *pruning, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query any = sqlite_query_start(pruning->sqlite, SQL_IDEMPOTENCY_EXPIRED_ANY);
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(pruning->sqlite, SQL_IDEMPOTENCY_PRUNE);

    if (pruning->look) {
        sqlite_query_int(&any, pruning->now);
        if (!sqlite_query_row(&any, &found, err))
            return false;
        pruning->found = pruning->found || sqlite_row_int(&any) != 0;
        return true;
    }
    sqlite_query_int(&query, pruning->now);
    sqlite_query_int(&query, (int64_t)(pruning->limit - pruning->removed));
    if (!sqlite_query_run(&query, err))
        return false;
    pruning->removed += (size_t)sqlite_query_changes(&query);
    return true;
}

/* From the queue after the one that it is at, until there is no more to remove or to look for. */
static bool prune(struct pruning *pruning, struct error *err)
{
    struct group groups[3];
    bool found;

    for (;;) {
        if (!next_queue(pruning, groups, &found, err))
            return false;
        if (!found)
            return prune_records(pruning, err);
        for (size_t i = 0; i < COUNT_OF(groups) && !is_over(pruning); i++)
            if (!prune_group(pruning, &groups[i], err))
                return false;
        if (is_over(pruning)) /* with this queue perhaps not */
            return true;
        pruning->queue_id = groups[0].queue_id;
    }
}

static bool prune_turn(struct pruning *pruning, size_t limit, struct error *err)
{
    pruning->limit = limit < TURN ? limit : TURN;
    pruning->removed = 0;
    return sqlite_begin_write(pruning->sqlite, err) &&
           sqlite_end(pruning->sqlite, prune(pruning, err), err);
}

bool sqlite_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
                  size_t *removed_out, struct error *err)
{
    struct pruning pruning = {
        .sqlite = sqlite_of(store), .keep = keep, .now = now, .limit = limit, .look = true};

    *removed_out = 0;
    sqlite_companions_shrink(pruning.sqlite);
    if (!prune(&pruning, err))
        return false;
    if (!pruning.found)
        return true;
    pruning.look = false;
    do {
        if (!prune_turn(&pruning, limit - *removed_out, err))
            return false;
        *removed_out += pruning.removed;
    } while (pruning.removed == pruning.limit && *removed_out < limit);
    return true;
}
