/*
 * growth.c - the end of a stream, looked at again and again: what is new in it.
 */
#include "job/growth.h"

#include <string.h>

/* Where fewer bytes agree, that is more likely a coincidence than the same piece of the stream. */
#define OVERLAP_MIN ((size_t)16)

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The last bytes of the one are the first of the other. */
static bool overlaps(struct bytes before, struct bytes after, size_t length)
{
    return memcmp(before.data + before.length - length, after.data, length) == 0;
}

/* What follows the last place in `after` that has all of `before`; absent if there is none. */
static struct bytes rest_behind(struct bytes before, struct bytes after)
{
    struct bytes rest = {0};
    const unsigned char *end = after.data + after.length;
    const unsigned char *found = after.data;

    while ((found = memmem(found, (size_t)(end - found), before.data, before.length))) {
        rest = (struct bytes){found + before.length, (size_t)(end - found) - before.length};
        found++;
    }
    return rest;
}

struct bytes growth_since(struct bytes before, struct bytes after, bool *lost_out)
{
    const size_t least = min_size(before.length, OVERLAP_MIN);

    *lost_out = false;
    if (before.length == 0 || after.length == 0)
        return after;
    for (size_t length = min_size(before.length, after.length); length >= least; length--) {
        if (overlaps(before, after, length))
            return (struct bytes){after.data + length, after.length - length};
    }
    const struct bytes rest = rest_behind(before, after);
    if (rest.data && before.length >= OVERLAP_MIN)
        return rest;
    *lost_out = true;
    return after;
}
