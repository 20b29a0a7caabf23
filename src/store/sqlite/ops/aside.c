/*
 * aside.c - ready jobs that nobody can run now: which there are, back into line, or to their end.
 */
#include "job/aside.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/ending.h"
#include "store/sqlite/parts/twins.h"

#define AT_ONCE 256

/* ---- which there are ---- */

static bool add_types(struct sqlite *sqlite, const char *queue, struct aside_list *types,
                      struct error *err)
{
    const char *name = NULL;
    int64_t queue_id;
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_ASIDE_TYPES);

    if (!sqlite_queues_find(sqlite, queue, &queue_id, err))
        return false;
    sqlite_query_int(&query, queue_id);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        struct aside_type *type = aside_list_add(types);
        if (!type)
            return error_no_memory(err);
        name = name ? name : arena_text(&types->arena, queue);
        type->queue = name;
        type->why = (enum job_aside)sqlite_row_int(&query);
        type->type = sqlite_row_text(&query, &types->arena);
        type->since = sqlite_row_int(&query);
    }
}

static bool add_all_types(struct sqlite *sqlite, struct aside_list *types, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUES_ASIDE);

    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        const char *queue = sqlite_row_text(&query, &types->arena);
        if (!queue)
            return error_no_memory(err);
        if (!add_types(sqlite, queue, types, err))
            return false;
    }
}

static bool list_types(struct sqlite *sqlite, const char *const *queues, size_t count,
                       struct aside_list *types, struct error *err)
{
    if (count == 0)
        return add_all_types(sqlite, types, err);
    for (size_t i = 0; i < count; i++)
        if (!add_types(sqlite, queues[i], types, err))
            return false;
    return true;
}

bool sqlite_aside(struct store *store, const char *const *queues, size_t count,
                  struct aside_list *types_out, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_read(sqlite, err) &&
           sqlite_end(sqlite, list_types(sqlite, queues, count, types_out, err), err) &&
           (!types_out->arena.failed || error_no_memory(err));
}

/* ---- what becomes of them ---- */

/* One call, inside its transaction. */
struct fetching {
    struct sqlite *sqlite;
    const struct aside_type *type;
    int64_t queue_id;
    usec_t before; /* 0: in line, whenever they were set aside */
    usec_t now;
};

/* What is done with one of them. */
typedef bool fetched_one(const struct fetching *fetching, int64_t seq, struct error *err);

static bool find_some(const struct fetching *fetching, size_t limit, int64_t *seqs_out,
                      size_t *count_out, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(
        fetching->sqlite, fetching->before == 0 ? SQL_ASIDE_FIRST : SQL_ASIDE_OLDEST);

    *count_out = 0;
    sqlite_query_int(&query, fetching->queue_id);
    sqlite_query_int(&query, fetching->type->why);
    sqlite_query_text(&query, fetching->type->type);
    sqlite_query_int(&query, (int64_t)limit);
    if (fetching->before != 0)
        sqlite_query_int(&query, fetching->before);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        seqs_out[(*count_out)++] = sqlite_row_int(&query);
    }
}

/* Reading comes before changing, because a scan must not run over a tree that changes under it. */
static bool fetch(const struct fetching *fetching, fetched_one *one, size_t limit,
                  size_t *count_out, struct error *err)
{
    int64_t seqs[AT_ONCE];
    size_t found = AT_ONCE;

    while (*count_out < limit && found == AT_ONCE) {
        const size_t left = limit - *count_out;
        if (!find_some(fetching, left < AT_ONCE ? left : AT_ONCE, seqs, &found, err))
            return false;
        for (size_t i = 0; i < found; i++)
            if (!one(fetching, seqs[i], err))
                return false;
        *count_out += found;
    }
    return true;
}

/* A look first: a call that finds nothing must not cost a write. */
static bool run(struct fetching *fetching, fetched_one *one, size_t limit, size_t *count_out,
                struct error *err)
{
    int64_t seq;
    size_t found;

    *count_out = 0;
    if (!sqlite_queues_find(fetching->sqlite, fetching->type->queue, &fetching->queue_id, err) ||
        !find_some(fetching, 1, &seq, &found, err))
        return false;
    if (found == 0)
        return true;
    return sqlite_begin_write(fetching->sqlite, err) &&
           sqlite_end(fetching->sqlite, fetch(fetching, one, limit, count_out, err), err);
}

static bool leave(const struct fetching *fetching, int64_t seq, struct error *err)
{
    return sqlite_tally_aside(fetching->sqlite, fetching->queue_id, fetching->type->why, -1, err) &&
           sqlite_query_on_seq(fetching->sqlite, SQL_ASIDE_REMOVE, seq, err);
}

static bool bring_one_back(const struct fetching *fetching, int64_t seq, struct error *err)
{
    fetching->sqlite->ring = true;
    return sqlite_query_on_seq(fetching->sqlite, SQL_READY_ADD_ASIDE, seq, err) &&
           leave(fetching, seq, err);
}

bool sqlite_bring_back(struct store *store, const struct aside_type *type, usec_t before,
                       size_t limit, size_t *moved_out, struct error *err)
{
    struct fetching fetching = {.sqlite = sqlite_of(store), .type = type, .before = before};

    return run(&fetching, bring_one_back, limit, moved_out, err);
}

static bool write_epitaph(const struct fetching *fetching, int64_t seq, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(fetching->sqlite, SQL_ASIDE_EPITAPH);

    sqlite_query_int(&query, seq);
    sqlite_query_text(&query, aside_epitaph(fetching->type->why));
    sqlite_query_int(&query, fetching->now);
    sqlite_query_int(&query, aside_reason(fetching->type->why));
    return sqlite_query_run(&query, err);
}

static bool give_one_up(const struct fetching *fetching, int64_t seq, struct error *err)
{
    const struct sqlite_ending ending = {.state = JOB_DEAD};
    struct sqlite *sqlite = fetching->sqlite;
    struct sqlite_standing standing;
    bool found;

    if (!sqlite_standing_load(sqlite, seq, &standing, &found, err))
        return false;
    if (!found) /* its job was deleted by hand */
        return sqlite_tally_jobs(sqlite, fetching->queue_id, JOB_READY, -1, err) &&
               leave(fetching, seq, err);
    return write_epitaph(fetching, seq, err) && sqlite_place_remove(sqlite, &standing.place, err) &&
           sqlite_ending_write(sqlite, &standing, &ending, fetching->now, err) &&
           sqlite_twins_waiting_left(sqlite, &standing, err);
}

bool sqlite_give_up(struct store *store, const struct aside_type *type, usec_t before, usec_t now,
                    size_t limit, size_t *ended_out, struct error *err)
{
    struct fetching fetching = {
        .sqlite = sqlite_of(store), .type = type, .before = before, .now = now};

    return run(&fetching, give_one_up, limit, ended_out, err);
}
