/*
 * tail.c - the last bytes of a stream.
 */
#include "worker/tail.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST ((size_t)4096)

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* While it may grow nothing has been overwritten: byte n is at n. */
static void make_room(struct tail *tail, size_t added)
{
    size_t wanted = tail->capacity > 0 ? tail->capacity : min_size(CAPACITY_FIRST, tail->size);

    while (wanted < tail->size && wanted < tail->total + added)
        wanted = min_size(2 * wanted, tail->size);
    if (wanted == tail->capacity)
        return;
    unsigned char *bytes = realloc(tail->bytes, wanted);
    if (!bytes) {
        tail->failed = true;
        return;
    }
    tail->bytes = bytes;
    tail->capacity = wanted;
}

void tail_add(struct tail *tail, struct bytes data)
{
    if (data.length == 0)
        return;
    make_room(tail, data.length);
    tail->total += data.length;
    if (tail->failed)
        return;
    if (data.length > tail->capacity)
        data = (struct bytes){data.data + data.length - tail->capacity, tail->capacity};

    const size_t start = (size_t)((tail->total - data.length) % tail->capacity);
    const size_t first = min_size(data.length, tail->capacity - start);
    memcpy(tail->bytes + start, data.data, first);
    memcpy(tail->bytes, data.data + first, data.length - first);
}

bool tail_is_mid_line(const struct tail *tail)
{
    return tail->total > 0 && !tail->failed &&
           tail->bytes[(tail->total - 1) % tail->capacity] != '\n';
}

struct bytes tail_read(const struct tail *tail, struct arena *arena)
{
    if (tail->total == 0 || tail->failed)
        return (struct bytes){0};
    const size_t kept = tail->total < tail->size ? (size_t)tail->total : tail->size;
    const size_t oldest = (size_t)((tail->total - kept) % tail->capacity);
    const size_t first = min_size(kept, tail->capacity - oldest);
    unsigned char *bytes = arena_alloc(arena, kept);

    if (!bytes)
        return (struct bytes){0};
    memcpy(bytes, tail->bytes + oldest, first);
    memcpy(bytes + first, tail->bytes, kept - first);
    return (struct bytes){bytes, kept};
}

void tail_done(struct tail *tail)
{
    free(tail->bytes);
    *tail = (struct tail){.size = tail->size};
}
