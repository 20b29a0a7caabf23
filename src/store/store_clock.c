/*
 * store_clock.c - the database's clock, as this process follows it.
 *
 * A database that is on this machine goes by its wall time, which is read each time; any other is
 * asked, and what it said is kept (timekeeper.h).
 */
#include "base/clock.h"
#include "store/driver.h"

/* After which the database is asked for the time again, by whatever call comes next. */
#define AGE_MAX (5 * USEC_PER_SEC)

static bool is_local(const struct store *store)
{
    return !store->driver->read_clock;
}

/* Nothing to ask, nothing to wait for. */
static void note_wall_time(struct store *store, usec_t boot)
{
    const struct timekeeper_sample sample = {boot, boot, clock_wall()};

    timekeeper_note(store->clock, &sample);
}

bool store_read_clock(struct store *store, usec_t *now_out, struct error *err)
{
    if (!store)
        return error_set(err, TH_E_INVALID, "the store is closed");
    if (!is_local(store))
        return store->driver->read_clock(store, now_out, err);
    *now_out = clock_wall();
    return true;
}

bool store_clock_measure(struct store *store, struct error *err)
{
    struct timekeeper_sample sample = {.asked_at = clock_boot()};

    if (is_local(store)) {
        note_wall_time(store, sample.asked_at);
        return true;
    }
    if (!store->driver->read_clock(store, &sample.answer, err))
        return false;
    sample.answered_at = clock_boot();
    timekeeper_note(store->clock, &sample);
    return true;
}

bool store_follow_clock(struct store *store, usec_t age, struct error *err)
{
    const bool is_known = !is_local(store) && clock_boot() - store->clock->asked_at < age;

    return is_known || store_clock_measure(store, err);
}

/* The call before has worked: if the database does not answer now, the next call says so. */
void store_clock_refresh(struct store *store)
{
    struct error ignored;

    if (!store_follow_clock(store, AGE_MAX, &ignored))
        store->clock->asked_at = clock_boot();
}

usec_t store_now(struct store *store)
{
    const usec_t boot = clock_boot();

    if (is_local(store))
        note_wall_time(store, boot);
    return timekeeper_now(store->clock, boot);
}

usec_t store_lead(const struct store *store)
{
    return timekeeper_lead(store->clock, clock_boot());
}

usec_t store_lease_left(struct store *store, usec_t expires_at)
{
    return expires_at - store_now(store) - store_lead(store);
}

usec_t store_over_at(const struct store *store, usec_t now)
{
    const usec_t wall = store->is_clocked ? clock_wall() : now;

    return wall < now ? wall : now;
}

const struct timekeeper *store_clock(const struct store *store)
{
    return store->clock;
}

usec_t store_clock_error(const struct store *store)
{
    const struct timekeeper *clock = store->clock;
    const usec_t ahead = clock_wall() - clock_boot() - clock->offset;
    const usec_t doubt = clock->width / 2;

    if (is_local(store) || (ahead >= -doubt && ahead <= doubt))
        return 0;
    return ahead > 0 ? ahead - doubt : ahead + doubt;
}
