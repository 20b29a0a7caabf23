/*
 * beat.h - one heartbeat: what it tells the store of this pool, and what it makes of the answers.
 */
#ifndef PERIODIC_BEAT_H
#define PERIODIC_BEAT_H

#include "base/base.h"

struct beat;
struct error;
struct pool_answer;
struct process;
struct store;

/* Of the process it reads the config, the pool's name, the two tables and the nudge. */
bool beat_new(const struct process *process, struct beat **beat_out, struct error *err) MUST_CHECK;
void beat_free(struct beat **beat);

/* Says that the pool lives, registers it where it is not known, extends the leases that it holds,
 * and passes on to the dispatcher which of them are lost or asked to cancel. The next beat comes
 * after `interval` at the latest: what nobody runs, and can wait for that one, is left out. */
bool beat_send(struct beat *beat, struct store *store, usec_t interval,
               struct error *err) MUST_CHECK;

/* What was answered of the pool itself. */
const struct pool_answer *beat_told(const struct beat *beat);

/* Whether somebody looks at the pool or at one of its jobs, and in between: tells them what is new,
 * if anything is. */
bool beat_is_watched(const struct beat *beat);
bool beat_tell_watchers(struct beat *beat, struct store *store, struct error *err) MUST_CHECK;

#endif
