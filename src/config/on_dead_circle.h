/*
 * on_dead_circle.h - handlers whose on_dead leads back to them.
 *
 *     "webhook:*": {on_dead: {type: webhook:alert}}
 *
 * If the jobs of such a handler die, they bring each other forever.
 */
#ifndef CONFIG_ON_DEAD_CIRCLE_H
#define CONFIG_ON_DEAD_CIRCLE_H

#include "config/config.h"

struct buffer;

/* Whether on_dead of this handler leads back to it, and no handler before it is in the same circle:
 * each circle is found once. Adds the types of the jobs: "alert -> page -> alert". */
bool on_dead_circle_starts(const struct config *config, const struct handler_config *handler,
                           struct buffer *path);

#endif
