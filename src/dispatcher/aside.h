/*
 * aside.h - jobs that were set aside, here or by another pool, and that this pool may run.
 *
 * When it starts (so after each reload, too), every 5 s, and when a handler is to be tried again or
 * can be started again, the dispatcher looks which types of its queues are aside, and brings back
 * those that it can run. Reserving knows nothing of all this.
 */
#ifndef DISPATCHER_ASIDE_H
#define DISPATCHER_ASIDE_H

#include "base/base.h"

struct dispatcher;
struct error;

/* Looks, if it is time. What could not be brought back now is tried again at the next look. */
bool aside_look(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* Looks again after `delay` at the latest. */
void aside_look_in(struct dispatcher *dispatcher, usec_t delay);

/* Shows people what is known of the starts of one handler. */
void aside_show_start(const struct dispatcher *dispatcher, size_t handler);

/* Warns of a type that this pool has no handler for, once. */
void aside_tell(struct dispatcher *dispatcher, const char *type, const char *queue);

#endif
