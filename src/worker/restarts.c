/*
 * restarts.c - when a resident that died may be started again.
 */
#include "worker/restarts.h"

#include "base/error.h"
#include "base/units.h"

static usec_t delay_after(unsigned deaths)
{
    usec_t delay = RESTARTS_DELAY_MIN;

    if (deaths < 2)
        return 0;
    for (unsigned i = 2; i < deaths && delay < RESTARTS_DELAY_MAX; i++)
        delay *= 2;
    return delay < RESTARTS_DELAY_MAX ? delay : RESTARTS_DELAY_MAX;
}

void restarts_note_death(struct restarts *restarts, usec_t lived, bool has_answered, usec_t now)
{
    if (has_answered || lived >= RESTARTS_SOON)
        restarts->deaths = 0;
    else
        restarts->deaths++;
    restarts->next = now + delay_after(restarts->deaths);
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
