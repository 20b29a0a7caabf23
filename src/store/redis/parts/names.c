/*
 * names.c - a sorted array: there are few names, and they are looked up more often than
 * added.
 */
#include "store/redis/parts/names.h"

#include <stdlib.h>
#include <string.h>

/* Where the name is, or would be. */
static size_t position(const struct redis_names *names, const char *name, bool *found_out)
{
    size_t low = 0, high = names->count;

    *found_out = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, names->items[middle]);
        *found_out = order == 0;
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool redis_names_have(const struct redis_names *names, const char *name)
{
    bool found;

    position(names, name, &found);
    return found;
}

static bool grow(struct redis_names *names)
{
    size_t capacity = names->capacity == 0 ? 8 : 2 * names->capacity;
    char **items = reallocarray(names->items, capacity, sizeof *items);

    if (!items)
        return false;
    names->items = items;
    names->capacity = capacity;
    return true;
}

bool redis_names_add(struct redis_names *names, const char *name)
{
    bool found;
    size_t at = position(names, name, &found);

    if (found)
        return true;
    if (names->count == names->capacity && !grow(names))
        return false;
    char *copy = strdup(name);
    if (!copy)
        return false;
    memmove(&names->items[at + 1], &names->items[at], (names->count - at) * sizeof *names->items);
    names->items[at] = copy;
    names->count++;
    return true;
}

void redis_names_done(struct redis_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct redis_names){0};
}
