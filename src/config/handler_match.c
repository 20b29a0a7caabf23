/*
 * handler_match.c - a type to its handler: the longest prefix wins.
 */
#include "config/handler_match.h"

#include "job/pattern.h"

const struct handler_config *handler_match(const struct config *config, const char *type)
{
    const struct handler_config *best = NULL;
    int best_fit = -1;

    for (size_t i = 0; i < config->handler_count; i++) {
        const int fit = pattern_fit(config->handlers[i].pattern, type);

        if (fit > best_fit) {
            best = &config->handlers[i];
            best_fit = fit;
        }
    }
    return best;
}
