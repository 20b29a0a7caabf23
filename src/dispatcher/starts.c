/*
 * starts.c - handlers that cannot be started.
 */
#include "dispatcher/starts.h"

#define DELAY_FIRST USEC_PER_SEC
#define DELAY_MAX   (5 * USEC_PER_MIN)

static usec_t later_of(usec_t a, usec_t b)
{
    return a > b ? a : b;
}

enum start_advice starts_ask(struct start *start, usec_t created_at, usec_t now, usec_t *until_out)
{
    if (start->failing_since == 0)
        return START_GO;
    if (now - later_of(start->failing_since, created_at) >= STARTS_PATIENCE)
        return START_GIVE_UP;
    if (now >= start->probe_at && !start->is_probing) {
        start->is_probing = true;
        return START_PROBE;
    }
    *until_out = later_of(start->probe_at, now + DELAY_FIRST);
    return START_WAIT;
}

usec_t starts_note_failure(struct start *start, bool was_probe, usec_t now, bool *first_out)
{
    *first_out = start->failing_since == 0;
    if (*first_out) {
        start->failing_since = now;
        start->delay = DELAY_FIRST;
        start->probe_at = now + start->delay;
    } else if (was_probe) {
        start->delay = 2 * start->delay < DELAY_MAX ? 2 * start->delay : DELAY_MAX;
        start->probe_at = now + start->delay;
    }
    if (was_probe)
        start->is_probing = false;
    return later_of(start->probe_at, now + DELAY_FIRST);
}

bool starts_note_success(struct start *start)
{
    const bool was_failing = start->failing_since != 0;

    *start = (struct start){0};
    return was_failing;
}

void starts_forget_probe(struct start *start)
{
    start->is_probing = false;
}
