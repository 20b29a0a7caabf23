/*
 * command_handler.c - the kind of handler that is a command.
 */
#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "worker/command.h"
#include "worker/command_config.h"
#include "worker/handler.h"
#include "worker/lifeline.h"

static bool is_for(const struct handler_config *config)
{
    return config->command.argv != NULL;
}

static bool prepare(const struct handler_config *config, struct arena *arena,
                    const void **prepared_out, struct error *err)
{
    struct command *command = arena_alloc(arena, sizeof *command);

    *prepared_out = command;
    if (!command)
        return error_no_memory(err);
    return command_config_read(config, &config->command, arena, command, err);
}

static bool run(const void *prepared, void *state, const struct handler_place *place,
                const struct handler_job *job, const struct handler_listener *listener,
                struct handler_report *report_out, struct error *err)
{
    (void)state;
    lifeline_outside(place->process);
    return command_run(prepared, job, place->execution, listener, report_out, err);
}

static void stop(void *state, const struct handler_place *place, enum stop_reason why, usec_t grace)
{
    (void)state;
    execution_stop(place->execution, why, grace);
}

const struct handler_kind handler_command = {
    .name = "command",
    .is_for = is_for,
    .prepare = prepare,
    .run = run,
    .stop = stop,
};
