/*
 * command_config.c - a handler's section of the config as a struct command.
 */
#include "worker/command_config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "process/account.h"
#include "worker/command.h"

#define SHELL_TEXT 2 /* of /bin/sh -c TEXT */

static const struct command_variable *variables_of(const struct text_pairs *pairs,
                                                   struct arena *arena)
{
    struct command_variable *variables = arena_alloc(arena, (pairs->count + 1) * sizeof *variables);

    for (size_t i = 0; variables && i < pairs->count; i++)
        variables[i] = (struct command_variable){pairs->items[i].name, pairs->items[i].value};
    return variables;
}

static struct command command_of(const struct handler_config *config,
                                 const struct command_line *line,
                                 const struct command_variable *env, const struct account *account)
{
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

bool command_config_read(const struct handler_config *config, const struct command_line *line,
                         struct arena *arena, struct command *command_out, struct error *err)
{
    const struct command_variable *env = variables_of(&config->env, arena);
    struct account *account = arena_alloc(arena, sizeof *account);

    if (!env || !account)
        return error_no_memory(err);
    if (!account_find(config->user, arena, account, err))
        return false;
    *command_out = command_of(config, line, env, account);
    return true;
}

static bool is_same_argv(const char *const *a, const char *const *b)
{
    while (*a && text_equal(*a, *b)) {
        a++;
        b++;
    }
    return !*a && !*b;
}

static bool is_same_list(const char *const *a, size_t count, const char *const *b, size_t other)
{
    for (size_t i = 0; i < count && count == other; i++) {
        if (!text_equal(a[i], b[i]))
            return false;
    }
    return count == other;
}

/* In any order: each name is there once. */
static bool has_all(const struct command *command, const struct command *other)
{
    for (size_t i = 0; i < command->env_count; i++) {
        size_t k = 0;

        while (k < other->env_count && !text_equal(command->env[i].name, other->env[k].name))
            k++;
        if (k == other->env_count || !text_equal(command->env[i].value, other->env[k].value))
            return false;
    }
    return true;
}

static bool is_same_limits(const struct spawn_limits *a, const struct spawn_limits *b)
{
    return a->memory == b->memory && a->cpu == b->cpu && a->files == b->files;
}

bool command_config_is_same(const char *const *argv, const struct command *command,
                            const char *const *other_argv, const struct command *other)
{
    return is_same_argv(argv, other_argv) && command->env_count == other->env_count &&
           has_all(command, other) &&
           is_same_list(command->pass_env, command->pass_env_count, other->pass_env,
                        other->pass_env_count) &&
           command->may_gain_privileges == other->may_gain_privileges &&
           command->account->uid == other->account->uid &&
           text_equal(command->account->name, other->account->name) &&
           text_equal(command->cwd, other->cwd) && command->umask == other->umask &&
           command->nice == other->nice && is_same_limits(&command->limits, &other->limits);
}
