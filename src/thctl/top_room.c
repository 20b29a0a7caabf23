/*
 * top_room.c - what fits into the lines of a screen.
 */
#include "thctl/top_room.h"

void top_room_share(size_t lines, const size_t *wanted, size_t *given_out, size_t count)
{
    bool gave = true;

    for (size_t i = 0; i < count; i++)
        given_out[i] = 0;
    while (gave && lines > 0) {
        gave = false;
        for (size_t i = 0; i < count && lines > 0; i++) {
            if (given_out[i] >= wanted[i])
                continue;
            given_out[i]++;
            lines--;
            gave = true;
        }
    }
}

size_t top_room_first(size_t asked, size_t rows, size_t lines)
{
    size_t last = rows > lines ? rows - lines : 0;

    return asked < last ? asked : last;
}
