/*
 * dead_groups.c - what the newest dead jobs died of.
 */
#include "client/dead_groups.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static struct bytes error_of(const struct job *job)
{
    if (!job->last_error)
        return (struct bytes){0};
    return (struct bytes){(const unsigned char *)job->last_error, strlen(job->last_error)};
}

static struct dead_group *find(struct dead_groups *groups, const char *type, const char *shape)
{
    for (size_t i = 0; i < groups->count; i++)
        if (text_equal(groups->items[i].type, type) && text_equal(groups->items[i].error, shape))
            return &groups->items[i];
    return NULL;
}

static bool grow(struct dead_groups *groups)
{
    const size_t room = groups->room > 0 ? 2 * groups->room : 16;
    struct dead_group *items = reallocarray(groups->items, room, sizeof *items);

    if (!items)
        return false;
    groups->items = items;
    groups->room = room;
    return true;
}

/* NULL when out of memory. The newest comes first, so it is the last death and the example. */
static struct dead_group *add_group(struct dead_groups *groups, const struct job *job,
                                    const char *shape)
{
    if (groups->count == groups->room && !grow(groups))
        return NULL;
    struct dead_group *group = &groups->items[groups->count];
    *group = (struct dead_group){
        .type = arena_text(&groups->arena, job->type),
        .error = arena_text(&groups->arena, shape),
        .last = job->ended_at,
        .example = job->id,
    };
    if (!group->type || !group->error)
        return NULL;
    groups->count++;
    return group;
}

/* Beyond those that are named it is enough to know that there are more. */
static bool add_queue(struct dead_groups *groups, struct dead_group *group, const char *queue)
{
    for (size_t i = 0; i < group->queue_count && i < DEAD_GROUP_QUEUES; i++)
        if (text_equal(group->queues[i], queue))
            return true;
    if (group->queue_count >= DEAD_GROUP_QUEUES) {
        group->queue_count = DEAD_GROUP_QUEUES + 1;
        return true;
    }
    group->queues[group->queue_count] = arena_text(&groups->arena, queue);
    return group->queues[group->queue_count++] != NULL;
}

static bool add_job(struct dead_groups *groups, const struct job *job, struct error *err)
{
    char shape[ERROR_SHAPE_SIZE];

    error_shape(error_of(job), shape);
    struct dead_group *group = find(groups, job->type, shape);
    if (!group)
        group = add_group(groups, job, shape);
    if (!group || !add_queue(groups, group, job->queue))
        return error_no_memory(err);
    group->count++;
    group->first = job->ended_at;
    groups->looked_at++;
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct dead_group *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->last < y->last) - (x->last > y->last);
}

/* A page may be short, or empty, and still have a next one. */
static bool read_page(struct store *store, struct dead_groups *groups, struct job_cursor *at,
                      struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    const struct job_filter filter = {
        .by_state = true,
        .state = JOB_DEAD,
        .brief = true,
        .after = *at,
        .limit = DEAD_GROUPS_LOOKED_AT - groups->looked_at,
    };

    if (!store_list(store, &filter, &jobs, at, err))
        return false;
    for (size_t i = 0; i < jobs.count; i++)
        if (!add_job(groups, &jobs.items[i], err))
            return false;
    return true;
}

bool dead_groups_read(struct store *store, struct dead_groups *groups_out, struct error *err)
{
    struct job_cursor at = {0};

    *groups_out = (struct dead_groups){0};
    do {
        if (!read_page(store, groups_out, &at, err))
            return false;
    } while (at.is_set && groups_out->looked_at < DEAD_GROUPS_LOOKED_AT);
    groups_out->is_cut = at.is_set;
    if (groups_out->count > 0)
        qsort(groups_out->items, groups_out->count, sizeof *groups_out->items, compare);
    return true;
}

void dead_groups_done(struct dead_groups *groups)
{
    free(groups->items);
    arena_done(&groups->arena);
    *groups = (struct dead_groups){0};
}
