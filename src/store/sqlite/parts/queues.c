/*
 * queues.c - a sorted array in front of the table `queue`.
 */
#include "store/sqlite/parts/queues.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"

#include <stdlib.h>
#include <string.h>

/* Where the name stands, or would. */
static size_t position(const struct sqlite_queues *queues, const char *name, bool *found_out)
{
    size_t low = 0, high = queues->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(queues->items[middle].name, name);
        if (order == 0) {
            *found_out = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found_out = false;
    return low;
}

static bool grow(struct sqlite_queues *queues)
{
    size_t capacity = queues->capacity ? queues->capacity * 2 : 8;
    struct sqlite_queue *items = realloc(queues->items, capacity * sizeof *items);

    if (!items)
        return false;
    queues->items = items;
    queues->capacity = capacity;
    return true;
}

static bool remember(struct sqlite_queues *queues, const char *name, int64_t id, struct error *err)
{
    bool found;
    size_t at = position(queues, name, &found);
    char *copy = strdup(name);

    if (!copy || (queues->count == queues->capacity && !grow(queues))) {
        free(copy);
        return error_no_memory(err);
    }
    memmove(queues->items + at + 1, queues->items + at,
            (queues->count - at) * sizeof *queues->items);
    queues->items[at] = (struct sqlite_queue){.name = copy, .id = id};
    queues->count++;
    return true;
}

bool sqlite_queues_find(struct sqlite *sqlite, const char *name, int64_t *id_out, struct error *err)
{
    bool found;
    size_t at = position(&sqlite->queues, name, &found);

    if (found) {
        *id_out = sqlite->queues.items[at].id;
        return true;
    }
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUE_FIND);
    sqlite_query_text(&query, name);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    *id_out = found ? sqlite_row_int(&query) : 0;
    return !found || remember(&sqlite->queues, name, *id_out, err);
}

bool sqlite_queues_find_or_add(struct sqlite *sqlite, const char *name, int64_t *id_out,
                               struct error *err)
{
    bool added;

    if (!sqlite_queues_find(sqlite, name, id_out, err))
        return false;
    if (*id_out != 0)
        return true;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUE_ADD);
    sqlite_query_text(&query, name);
    if (!sqlite_query_row(&query, &added, err))
        return false;
    *id_out = sqlite_row_int(&query);
    return remember(&sqlite->queues, name, *id_out, err);
}

void sqlite_queues_done(struct sqlite_queues *queues)
{
    for (size_t i = 0; i < queues->count; i++)
        free(queues->items[i].name);
    free(queues->items);
    *queues = (struct sqlite_queues){0};
}
