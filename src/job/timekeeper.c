/*
 * timekeeper.c - what a process knows of the database's clock.
 */
#include "job/timekeeper.h"

static usec_t smaller(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

static usec_t larger(usec_t a, usec_t b)
{
    return a > b ? a : b;
}

/* A step that a lease's safety margins do not cover; see lease_grace(). */
static bool is_step(const struct timekeeper *keeper, usec_t distance)
{
    return keeper->lease > 0 && (distance < 0 ? -distance : distance) > keeper->lease / 6;
}

/* Less than was believed, and no more so than was in doubt: the clock itself has not moved. How
 * well a clock was known that was recalled, nobody can say. */
static bool is_refined(const struct timekeeper *keeper, usec_t before, usec_t doubt)
{
    return doubt < USEC_MAX && keeper->offset < before &&
           before - keeper->offset <= (doubt + keeper->width) / 2;
}

/* One step may follow another before all have seen the first. */
static void note_step(struct timekeeper *keeper, usec_t before, usec_t now)
{
    const bool again = now < keeper->until;

    keeper->low = smaller(again ? keeper->low : before, keeper->offset);
    keeper->high = larger(again ? keeper->high : before, keeper->offset);
    keeper->until = now + keeper->lease;
    keeper->last_step = keeper->offset - before;
    keeper->steps++;
}

void timekeeper_note(struct timekeeper *keeper, const struct timekeeper_sample *sample)
{
    const usec_t least = sample->answer - sample->answered_at;
    const usec_t most = sample->answer - sample->asked_at;
    const usec_t before = keeper->offset;
    const usec_t doubt = keeper->width;
    const bool was_set = keeper->is_set;
    const bool is_contradicted = before < least || before > most;

    keeper->asked_at = sample->answered_at;
    keeper->is_set = true;
    keeper->told = 0;
    if (!was_set || most - least <= keeper->width) {
        keeper->offset = least + (most - least) / 2;
        keeper->width = most - least;
    } else if (is_contradicted) {
        keeper->offset = before < least ? least : most;
        keeper->width = most - least;
    }
    if (was_set && is_refined(keeper, before, doubt))
        keeper->told = sample->answered_at + before;
    if (was_set && is_step(keeper, keeper->offset - before))
        note_step(keeper, before, sample->answered_at);
}

usec_t timekeeper_now(const struct timekeeper *keeper, usec_t boot)
{
    return larger(boot + (boot < keeper->until ? keeper->low : keeper->offset), keeper->told);
}

usec_t timekeeper_lead(const struct timekeeper *keeper, usec_t boot)
{
    return boot < keeper->until ? keeper->high - keeper->low : 0;
}
