/*
 * growth.c - the end of a stream, looked at again and again: what is new in it.
 */
#include "thctl/growth.h"

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
    *lost_out = true;
    return after;
}

/* How many bytes a character has that begins so; 1 where no character does. */
static size_t length_announced(unsigned char first)
{
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 1;
}

struct bytes growth_whole(struct bytes end)
{
    for (size_t count = 1; count <= min_size(end.length, 3); count++) {
        const unsigned char c = end.data[end.length - count];

        if (length_announced(c) > count)
            return (struct bytes){end.data, end.length - count};
        if ((c & 0xc0) != 0x80)
            return end;
    }
    return end;
}
