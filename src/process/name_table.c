/*
 * name_table.c - names that are counted by, and the place of each.
 *
 * A name is written, then its slot, then the count: what a writer that was killed has left behind
 * is not counted, and is written over.
 */
#include "process/name_table.h"

#include "base/text.h"

#define OTHER "other"

/* FNV-1a */
static size_t hash(const char *name)
{
    uint32_t sum = 2166136261U;

    for (; *name; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619U;
    return sum;
}

/* Its place, or that of the slot where it belongs. */
static size_t look(const struct name_table *table, const char *name, size_t *slot_out)
{
    const uint32_t count = atomic_load_explicit(&table->count, memory_order_relaxed);

    for (size_t i = hash(name);; i++) {
        const size_t place = table->slots[i % COUNT_OF(table->slots)];

        *slot_out = i % COUNT_OF(table->slots);
        if (place == 0 || place > count)
            return NAME_TABLE_OTHER;
        if (strcmp(table->names[place - 1], name) == 0)
            return place - 1;
    }
}

static size_t use_other(struct name_table *table)
{
    atomic_store_explicit(&table->has_other, true, memory_order_relaxed);
    return NAME_TABLE_OTHER;
}

static size_t add(struct name_table *table, const char *name, size_t slot)
{
    const uint32_t place = atomic_load_explicit(&table->count, memory_order_relaxed);
    const size_t length = strlen(name);

    if (place >= NAME_TABLE_MAX || length >= sizeof table->names[0] || text_equal(name, OTHER))
        return use_other(table);
    memcpy(table->names[place], name, length + 1);
    table->slots[slot] = (uint16_t)(place + 1);
    atomic_store_explicit(&table->count, place + 1, memory_order_release);
    return place;
}

size_t name_table_look_up(struct name_table *table, const char *name)
{
    size_t slot;
    size_t place = look(table, name, &slot);

    if (place == NAME_TABLE_OTHER)
        place = add(table, name, slot);
    if (place != NAME_TABLE_OTHER)
        table->last = (uint16_t)(place + 1);
    return place;
}

const char *name_table_name(const struct name_table *table, size_t place)
{
    if (place == NAME_TABLE_OTHER)
        return atomic_load_explicit(&table->has_other, memory_order_relaxed) ? OTHER : NULL;
    return place < atomic_load_explicit(&table->count, memory_order_acquire) ? table->names[place]
                                                                             : NULL;
}
