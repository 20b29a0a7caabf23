/*
 * resident_handler.c - the kind of handler that is a program that stays.
 */
#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "worker/command_config.h"
#include "worker/handler.h"
#include "worker/lifeline.h"
#include "worker/resident.h"

static bool is_for(const struct handler_config *config)
{
    return config->resident.argv != NULL;
}

static bool prepare(const struct handler_config *config, struct arena *arena,
                    const void **prepared_out, struct error *err)
{
    struct resident_plan *plan = arena_alloc(arena, sizeof *plan);

    *prepared_out = plan;
    if (!plan)
        return error_no_memory(err);
    plan->name = config->pattern;
    plan->argv = config->resident.argv;
    plan->concurrency = (size_t)config->concurrency;
    return command_config_read(config, &config->resident, arena, &plan->command, err);
}

static bool open_state(const void *prepared, const struct handler_place *place, void **state_out,
                       struct error *err)
{
    struct resident *resident = NULL;
    const bool opened = resident_open(prepared, place, &resident, err);

    *state_out = resident;
    return opened;
}

static void close_state(void *state)
{
    struct resident *resident = state;

    resident_close(&resident);
}

static bool run(const void *prepared, void *state, const struct handler_place *place,
                const struct handler_job *job, const struct handler_listener *listener,
                struct handler_report *report_out, struct error *err)
{
    lifeline_outside(place->process);
    return resident_run(state, prepared, job, listener, report_out, err);
}

static void stop(void *state, const struct handler_place *place, enum stop_reason why, usec_t grace)
{
    (void)place;
    resident_stop(state, why, grace);
}

static bool is_same(const void *prepared, const void *other)
{
    const struct resident_plan *a = prepared, *b = other;

    return command_config_is_same(a->argv, &a->command, b->argv, &b->command);
}

static bool has_room(const void *prepared, const void *state)
{
    return resident_has_room(state, prepared);
}

static bool begin(const void *prepared, void *state, const struct handler_place *place,
                  struct handler_run *run, struct error *err)
{
    lifeline_outside(place->process);
    return resident_begin(state, prepared, run, err);
}

static void halt(void *state, struct handler_run *run, enum stop_reason why, usec_t grace)
{
    resident_halt(state, run, why, grace);
}

static bool serve(void *state, struct error *err)
{
    return resident_serve(state, err);
}

static const struct handler_sharing sharing = {
    .is_same = is_same,
    .has_room = has_room,
    .begin = begin,
    .halt = halt,
    .serve = serve,
};

const struct handler_kind handler_resident = {
    .name = "resident",
    .is_for = is_for,
    .prepare = prepare,
    .open = open_state,
    .close = close_state,
    .run = run,
    .stop = stop,
    .sharing = &sharing,
};
