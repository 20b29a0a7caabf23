/*
 * known_queues.h - the names of queues that somebody uses, so that a mistyped one is noticed.
 */
#ifndef THCTL_KNOWN_QUEUES_H
#define THCTL_KNOWN_QUEUES_H

#include "base/arena.h"
#include "thctl/session.h"

struct known_queues {
    const char **names;
    size_t count;
    struct arena arena;
};

/* Those of the store, of its live pools and of the config, and `default`. */
bool known_queues_read(struct session *session, struct known_queues *known_out,
                       struct error *err) MUST_CHECK;
void known_queues_done(struct known_queues *known);

bool known_queues_has(const struct known_queues *known, const char *queue);

/* The one that was most likely meant; NULL: none is close. */
const char *known_queues_closest(const struct known_queues *known, const char *queue);

/* Says that there is no such queue, and which one may be meant; `advice` ends the sentence. Returns
 * false. */
bool known_queues_refuse(const struct known_queues *known, const char *queue, const char *advice,
                         struct error *err);

#endif
