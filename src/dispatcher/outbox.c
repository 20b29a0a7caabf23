/*
 * outbox.c - settlements that wait for the next exchange.
 */
#include "dispatcher/outbox.h"

#include "base/error.h"
#include "dispatcher/flights.h"

#include <stdlib.h>

static bool grow(struct outbox *outbox)
{
    const size_t capacity = outbox->capacity > 0 ? 2 * outbox->capacity : 64;
    void *settlements = realloc(outbox->settlements, capacity * sizeof *outbox->settlements);

    if (settlements)
        outbox->settlements = settlements;
    void *flights = realloc(outbox->flights, capacity * sizeof(struct flight *));
    if (flights)
        outbox->flights = flights;
    void *verdicts = realloc(outbox->verdicts, capacity * sizeof *outbox->verdicts);
    if (verdicts)
        outbox->verdicts = verdicts;
    if (!settlements || !flights || !verdicts)
        return false;
    outbox->capacity = capacity;
    return true;
}

bool outbox_add(struct outbox *outbox, struct flight *flight, const struct settlement *settlement,
                struct error *err)
{
    if (outbox->count == outbox->capacity && !grow(outbox))
        return error_no_memory(err);
    flight->is_concluded = true;
    outbox->settlements[outbox->count] = *settlement;
    outbox->flights[outbox->count] = flight;
    outbox->count++;
    return true;
}

void outbox_clear(struct outbox *outbox)
{
    arena_done(&outbox->arena);
    outbox->arena = (struct arena){0};
    outbox->count = 0;
}

void outbox_done(struct outbox *outbox)
{
    for (size_t i = 0; i < outbox->count; i++) {
        if (!outbox->flights[i]->has_hold)
            flight_free(outbox->flights[i]);
    }
    arena_done(&outbox->arena);
    free(outbox->settlements);
    free(outbox->flights);
    free(outbox->verdicts);
    *outbox = (struct outbox){0};
}
