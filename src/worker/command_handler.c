/*
 * command_handler.c - the kind of handler that is a command: its section of the config as a
 * struct command.
 */
#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "process/account.h"
#include "worker/command.h"
#include "worker/handler.h"

#define SHELL_TEXT 2 /* of /bin/sh -c TEXT */

static bool is_for(const struct handler_config *config)
{
    return config->command.argv != NULL;
}

static const struct command_variable *variables_of(const struct text_pairs *pairs,
                                                   struct arena *arena)
{
    struct command_variable *variables = arena_alloc(arena, (pairs->count + 1) * sizeof *variables);

    for (size_t i = 0; variables && i < pairs->count; i++)
        variables[i] = (struct command_variable){pairs->items[i].name, pairs->items[i].value};
    return variables;
}

static struct command command_of(const struct handler_config *config,
                                 const struct command_variable *env, const struct account *account)
{
    const struct command_line *line = &config->command;

    return (struct command){
        .argv = line->shell ? NULL : line->argv,
        .shell = line->shell ? line->argv[SHELL_TEXT] : NULL,
        .env = env,
        .env_count = config->env.count,
        .pass_env = config->pass_env.items,
        .pass_env_count = config->pass_env.count,
        .dead_exit_codes = config->dead_exit_codes.items,
        .dead_exit_code_count = config->dead_exit_codes.count,
        .result_is_stdout = config->result == RESULT_STDOUT,
        .may_gain_privileges = !config->no_new_privs,
        .account = account,
        .cwd = config->cwd,
        .umask = config->umask,
        .nice = config->nice,
        .limits = {.memory = config->limits.memory,
                   .cpu = config->limits.cpu,
                   .files = (uint64_t)config->limits.files},
        .base_delay = config->retry.base_delay,
    };
}

static bool prepare(const struct handler_config *config, struct arena *arena,
                    const void **prepared_out, struct error *err)
{
    const struct command_variable *env = variables_of(&config->env, arena);
    struct account *account = arena_alloc(arena, sizeof *account);
    struct command *command = arena_alloc(arena, sizeof *command);

    if (!env || !account || !command)
        return error_no_memory(err);
    if (!account_find(config->user, arena, account, err))
        return false;
    *command = command_of(config, env, account);
    *prepared_out = command;
    return true;
}

static bool run(const void *prepared, void *state, const struct handler_place *place,
                const struct handler_job *job, const struct handler_listener *listener,
                struct handler_report *report_out, struct error *err)
{
    (void)state;
    return command_run(prepared, job, place->execution, listener, report_out, err);
}

static void stop(void *state, const struct handler_place *place, enum execution_stop why,
                 usec_t grace)
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
