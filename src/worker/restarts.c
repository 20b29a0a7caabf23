/*
 * restarts.c - when a resident that died may be started again.
 */
#include "worker/restarts.h"

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
