/*
 * lists.c - the lists that stores answer with.
 */
#include "store/driver.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more item of this size, zeroed; the count is the caller's. Grows by doubling, at
 * the powers of two, so that no list needs to remember its capacity. */
static void *add_item(void **items, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0) {
        void *grown = realloc(*items, (count == 0 ? 1 : count * 2) * size);
        if (!grown)
            return NULL;
        *items = grown;
    }
    return memset((char *)*items + count * size, 0, size);
}

struct pool *pool_list_add(struct pool_list *list)
{
    void *items = list->items;
    struct pool *pool = add_item(&items, list->count, sizeof *pool);

    list->items = items;
    list->count += pool != NULL;
    return pool;
}

void pool_list_done(struct pool_list *list)
{
    arena_done(&list->arena);
    free(list->items);
    *list = (struct pool_list){0};
}

struct queue_stats *queue_stats_list_add(struct queue_stats_list *list)
{
    void *items = list->items;
    struct queue_stats *stats = add_item(&items, list->count, sizeof *stats);

    list->items = items;
    list->count += stats != NULL;
    return stats;
}

struct aside_type *aside_list_add(struct aside_list *list)
{
    void *items = list->items;
    struct aside_type *type = add_item(&items, list->count, sizeof *type);

    list->items = items;
    list->count += type != NULL;
    return type;
}

void aside_list_done(struct aside_list *list)
{
    arena_done(&list->arena);
    free(list->items);
    *list = (struct aside_list){0};
}

void queue_stats_list_done(struct queue_stats_list *list)
{
    arena_done(&list->arena);
    free(list->items);
    *list = (struct queue_stats_list){0};
}

struct job_run *job_run_add(struct job *job, struct arena *arena)
{
    if (!job->runs)
        job->runs = arena_alloc(arena, JOB_RUNS_KEPT * sizeof *job->runs);
    if (!job->runs)
        return NULL;
    if (job->run_count == JOB_RUNS_KEPT) {
        job->run_count--;
        memmove(job->runs, job->runs + 1, job->run_count * sizeof *job->runs);
    }
    return memset(&job->runs[job->run_count++], 0, sizeof *job->runs);
}
