/*
 * on_dead_circle.c - handlers whose on_dead leads back to them.
 *
 * A dead job brings at most one other, and its type has at most one handler, so from each handler
 * there is one way, and as many steps as there are handlers tell whether it comes back.
 */
#include "config/on_dead_circle.h"

#include "base/buffer.h"
#include "config/handler_match.h"

static const struct handler_config *next(const struct config *config,
                                         const struct handler_config *handler)
{
    const char *type = handler->on_dead.type;

    return type ? handler_match(config, type) : NULL;
}

static bool is_first_of_circle(const struct config *config, const struct handler_config *handler)
{
    const struct handler_config *at = next(config, handler);

    for (size_t steps = 0; at && steps < config->handler_count; steps++) {
        if (at == handler)
            return true;
        if (at < handler)
            return false; /* either it is in the circle and was found before, or we are not */
        at = next(config, at);
    }
    return false;
}

bool on_dead_circle_starts(const struct config *config, const struct handler_config *handler,
                           struct buffer *path)
{
    const struct handler_config *at = handler;

    if (!is_first_of_circle(config, handler))
        return false;
    do {
        buffer_printf(path, "%s -> ", at->on_dead.type);
        at = next(config, at);
    } while (at != handler);
    buffer_text(path, handler->on_dead.type);
    return true;
}
