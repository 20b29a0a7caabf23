/*
 * handler_match.c - a type to its handler: the longest prefix wins.
 */
#include "config/handler_match.h"

#include "base/text.h"

#include <string.h>

/* The length of the prefix that a pattern stands for, if it matches; -1 when it does not. An exact
 * match is longer than any prefix. */
static int match_length(const char *pattern, const char *type)
{
    const size_t length = strlen(pattern);

    if (text_equal(pattern, type))
        return JOB_NAME_MAX + 1;
    if (pattern[length - 1] != '*' || strncmp(pattern, type, length - 1) != 0)
        return -1;
    return (int)length - 1;
}

const struct handler_config *handler_match(const struct config *config, const char *type)
{
    const struct handler_config *best = NULL;
    int best_length = -1;

    for (size_t i = 0; i < config->handler_count; i++) {
        const int length = match_length(config->handlers[i].pattern, type);

        if (length > best_length) {
            best = &config->handlers[i];
            best_length = length;
        }
    }
    return best;
}
