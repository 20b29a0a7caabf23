/*
 * outage.c - a store that is away: when to try again, and saying so once.
 */
#include "process/outage.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/random.h"

#define FIRST_DELAY (100 * USEC_PER_MSEC)
#define MAX_DELAY   (5 * USEC_PER_SEC)
#define JITTER      0.2

static usec_t add_jitter(usec_t delay)
{
    return (usec_t)((double)delay * (1 - JITTER + 2 * JITTER * random_unit()));
}

usec_t outage_note(struct outage *outage, const struct error *err)
{
    const usec_t now = clock_boot();

    outage->delay = backoff_next(outage->delay, FIRST_DELAY, MAX_DELAY);
    const usec_t wait = add_jitter(outage->delay);
    if (outage->since == 0) {
        outage->since = now;
        log_error("store_lost", "error=%s retry_ms=%" PRId64, err->text, wait / USEC_PER_MSEC);
    }
    return now + wait;
}

void outage_end(struct outage *outage)
{
    if (outage->since == 0)
        return;
    log_info("store_back", "away_ms=%" PRId64, (clock_boot() - outage->since) / USEC_PER_MSEC);
    *outage = (struct outage){0};
}

bool outage_may_pass(const struct error *err)
{
    return err->code == TH_E_UNAVAILABLE || err->code == TH_E_UNCERTAIN;
}
