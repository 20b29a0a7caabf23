/*
 * starts.c - handlers that cannot be started.
 */
#include "dispatcher/starts.h"

#include "base/backoff.h"
#include "job/aside.h"

#include <stdio.h>

#define DELAY_FIRST USEC_PER_SEC
#define DELAY_MAX   (5 * USEC_PER_MIN)

static enum start_advice probe(struct start *start, enum start_advice otherwise)
{
    if (start->is_probing)
        return otherwise;
    start->is_probing = true;
    return START_PROBE;
}

enum start_advice starts_ask(struct start *start, usec_t due, usec_t now)
{
    if (start->failing_since == 0)
        return start->doubted_since == 0 ? START_GO : probe(start, START_GO);
    if (aside_since(ASIDE_CANNOT_START, start->failing_since, due, now) <= aside_cutoff(now))
        return START_GIVE_UP;
    return now >= start->probe_at ? probe(start, START_WAIT) : START_WAIT;
}

enum start_fetch starts_fetch(struct start *start, usec_t since, usec_t now)
{
    if (start->has_worked)
        return FETCH_ALL;
    if (start->failing_since == 0) {
        if (start->doubted_since == 0 || since < start->doubted_since)
            start->doubted_since = since;
        return start->is_probing ? FETCH_NONE : FETCH_ONE;
    }
    if (since <= aside_cutoff(now))
        return FETCH_OLD;
    return now >= start->probe_at && !start->is_probing ? FETCH_ONE : FETCH_NONE;
}

usec_t starts_next_probe(const struct start *start)
{
    return start->failing_since == 0 || start->is_probing ? 0 : start->probe_at;
}

bool starts_note_failure(struct start *start, bool was_probe, const char *error, usec_t now)
{
    const bool is_first = start->failing_since == 0;

    snprintf(start->error, sizeof start->error, "%s", error ? error : "");
    start->has_worked = false;
    if (is_first) {
        start->failing_since = start->doubted_since != 0 ? start->doubted_since : now;
        start->doubted_since = 0;
        start->delay = DELAY_FIRST;
        start->probe_at = now + start->delay;
    } else if (was_probe) {
        start->delay = backoff_next(start->delay, DELAY_FIRST, DELAY_MAX);
        start->probe_at = now + start->delay;
    }
    if (was_probe)
        start->is_probing = false;
    return is_first;
}

bool starts_note_success(struct start *start)
{
    const bool was_waited_for = start->failing_since != 0 || start->doubted_since != 0;

    if (start->has_worked)
        return false; /* and nothing has been noted since */
    *start = (struct start){.has_worked = true};
    return was_waited_for;
}

void starts_forget_probe(struct start *start)
{
    start->is_probing = false;
}
