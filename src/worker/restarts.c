/*
 * restarts.c - when a resident that died may be started again.
 */
#include "worker/restarts.h"

#include "base/backoff.h"
#include "base/error.h"
#include "base/units.h"

void restarts_note_death(struct restarts *restarts, usec_t lived, bool has_answered, usec_t now)
{
    if (has_answered || lived >= RESTARTS_SOON)
        *restarts = (struct restarts){0};
    else if (++restarts->deaths > 1)
        restarts->delay = backoff_next(restarts->delay, RESTARTS_DELAY_MIN, RESTARTS_DELAY_MAX);
    restarts->next = now + restarts->delay;
}

usec_t restarts_wait(const struct restarts *restarts, usec_t now)
{
    return restarts->next > now ? restarts->next - now : 0;
}

bool restarts_check(const struct restarts *restarts, const char *resident, usec_t now,
                    struct error *err)
{
    const usec_t wait = restarts_wait(restarts, now);
    char duration[UNITS_TEXT_SIZE];

    return wait == 0 ||
           error_set(err, TH_E_UNAVAILABLE,
                     "resident %s died %u times before it answered: next start in %s", resident,
                     restarts->deaths, units_format_duration(wait, duration));
}
