/*
 * excerpt.c - what somebody wrote, short and safe enough to repeat in a message.
 *
 * Messages end up on terminals and in logs: no control character of a stranger may reach them.
 */
#include "base/excerpt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

const char *excerpt_of(const char *text, char out[EXCERPT_SIZE])
{
    const size_t limit = EXCERPT_SIZE - sizeof "...";
    size_t used = 0;

    for (; *text != '\0'; text++) {
        size_t width = is_printable(*text) ? 1 : strlen("\\xNN");
        if (used + width > limit) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        if (is_printable(*text))
            out[used] = *text;
        else
            snprintf(out + used, EXCERPT_SIZE - used, "\\x%02x", (unsigned char)*text);
        used += width;
    }
    out[used] = '\0';
    return out;
}
