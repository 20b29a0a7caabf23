/*
 * pool_sight.h - a pool as it is shown: what it said with its last heartbeat, or that it is silent.
 */
#ifndef THCTL_POOL_SIGHT_H
#define THCTL_POOL_SIGHT_H

#include "base/arena.h"
#include "base/base.h"
#include "client/pool_status.h"
#include "store/store.h"
#include "thctl/table.h"

struct pool_sight {
    const struct pool *pool;
    struct pool_status status;
    bool silent; /* not heard of for a minute, whatever it said then */
};

/* All of them, in order and in the arena; they point into the list. */
bool pool_sight_all(const struct pool_list *pools, usec_t now, struct arena *arena,
                    struct pool_sight **sights_out, struct error *err) MUST_CHECK;

/* NULL when it never said. */
const char *pool_sight_state(const struct pool_sight *sight);

/* What a state of a pool or a process looks like. */
enum colour pool_sight_colour(const char *state);

/* How many of its workers run a job, and of how many. */
size_t pool_sight_workers(const struct pool_sight *sight, size_t *busy_out);

/* A row of a table with these columns. */
#define POOL_SIGHT_COLUMNS 7
extern const struct table_column pool_sight_columns[POOL_SIGHT_COLUMNS];
void pool_sight_add(struct table *table, const struct pool_sight *sight, usec_t now);

/* Cells: "running", or "3 jobs" of a worker that has three; "3s ago", never in the future, empty
 * for 0; and "40% resizing". */
void pool_sight_add_state(struct table *table, const struct pool_process *process);
void pool_sight_add_ago(struct table *table, enum colour colour, usec_t moment, usec_t now);
void pool_sight_add_progress(struct table *table, const struct pool_process *process);

#endif
