/*
 * handlers.c - what handlers run: users, folders, programs, residents, plugins, schemas.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "precheck/finding.h"
#include "process/account.h"
#include "worker/command.h"
#include "worker/plugin_trial.h"
#include "worker/program_find.h"
#include "worker/resident_trial.h"
#include "worker/schema.h"
#include "worker/start_look.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One handler, and who runs it. */
struct subject {
    const struct precheck *precheck;
    const struct handler_config *handler;
    struct account account;
    bool is_root_needed; /* to become that user, and we are not root */
};

/* handlers.PATTERN.KEY */
#define KEYS(handler, key) ((const char *const[]){"handlers", (handler)->pattern, (key), NULL})

/* False when there is no such user. One that only root can become is left to root's check. */
static bool find_user(struct subject *subject, struct arena *arena)
{
    struct account *account = &subject->account;
    struct error err;

    if (!account_find(subject->handler->user, arena, account, &err)) {
        finding_error(subject->precheck, KEYS(subject->handler, "user"), "%s", err.text);
        *account = (struct account){.is_self = true};
        return false;
    }
    subject->is_root_needed = !account->is_self && geteuid() != 0;
    account->is_self = account->is_self || geteuid() != 0;
    return true;
}

static int enter(const char *folder)
{
    return chdir(folder) ? errno : 0;
}

static bool check_folder(const struct subject *subject)
{
    const struct handler_config *handler = subject->handler;
    const char *const *keys = KEYS(handler, "cwd");
    struct stat status;

    if (stat(handler->cwd, &status)) {
        finding_error(subject->precheck, keys, "%s: %s", handler->cwd, strerror(errno));
        return false;
    }
    if (!S_ISDIR(status.st_mode)) {
        finding_error(subject->precheck, keys, "%s: not a folder", handler->cwd);
        return false;
    }
    const int problem = account_try(&subject->account, enter, handler->cwd);
    if (problem != 0)
        finding_error(subject->precheck, keys, "user %s cannot enter %s: %s", subject->account.name,
                      handler->cwd, strerror(problem));
    return problem == 0;
}

/* The PATH that its command gets: as the config says, ours if it is passed on, or the plain one. */
static const char *path_of(const struct handler_config *handler)
{
    const char *own = getenv("PATH");

    for (size_t i = 0; i < handler->env.count; i++) {
        if (text_equal(handler->env.items[i].name, "PATH"))
            return handler->env.items[i].value;
    }
    for (size_t i = 0; own && i < handler->pass_env.count; i++) {
        if (text_equal(handler->pass_env.items[i], "PATH"))
            return own;
    }
    return COMMAND_PATH;
}

static bool is_in_path(const char *program, const char *path)
{
    CLEANUP(buffer_done) struct buffer file = BUFFER(PATH_MAX);

    return program_find(program, path, &file);
}

static bool check_program(const struct subject *subject, const struct command_line *line,
                          const char *const *keys)
{
    const char *program = line->argv[0], *path = path_of(subject->handler);
    const bool is_path = strchr(program, '/') != NULL;
    const int problem = is_path ? program_why_not(program) : 0;

    if (problem != 0)
        finding_error(subject->precheck, keys, "%s: %s", program, program_complaint(problem));
    else if (!is_path && !is_in_path(program, path))
        finding_error(subject->precheck, keys, "there is no program '%s' in %s", program, path);
    else if (is_path && account_try(&subject->account, program_why_not, program) != 0)
        finding_error(subject->precheck, keys, "%s: user %s cannot run it", program,
                      subject->account.name);
    else
        return true;
    return false;
}

static bool check_look(const struct subject *subject, const struct command_line *line,
                       const char *const *keys)
{
    const struct handler_config *handler = subject->handler;
    struct error err = {0};

    if (start_look(line, path_of(handler), handler->cwd, &err))
        return true;
    finding_warning(subject->precheck, keys, "%s", err.text);
    return false;
}

static bool is_same_line(const struct command_line *a, const struct command_line *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!text_equal(a->argv[i], b->argv[i]))
            return false;
    }
    return true;
}

static bool is_same_env(const struct handler_config *a, const struct handler_config *b)
{
    if (a->env.count != b->env.count || a->pass_env.count != b->pass_env.count)
        return false;
    for (size_t i = 0; i < a->env.count; i++) {
        if (!text_equal(a->env.items[i].name, b->env.items[i].name) ||
            !text_equal(a->env.items[i].value, b->env.items[i].value))
            return false;
    }
    for (size_t i = 0; i < a->pass_env.count; i++) {
        if (!text_equal(a->pass_env.items[i], b->pass_env.items[i]))
            return false;
    }
    return true;
}

/* Handlers often share a program: to try it once is enough, if it is started in the same way. */
static bool was_tried(const struct subject *subject)
{
    const struct handler_config *handler = subject->handler;
    const struct handler_config *at = subject->precheck->config->handlers;

    for (; at < handler; at++) {
        if (at->resident.argv && is_same_line(&at->resident, &handler->resident) &&
            text_equal(at->cwd, handler->cwd) && text_equal(at->user, handler->user) &&
            is_same_env(at, handler))
            return true;
    }
    return false;
}

static void try_resident(const struct subject *subject, const char *const *keys)
{
    struct error err;

    if (subject->is_root_needed || was_tried(subject))
        return;
    if (!resident_trial(subject->handler, &err))
        finding_warning(subject->precheck, keys, "%s", err.text);
}

static void check_start(const struct precheck *precheck, const struct handler_config *handler)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct subject subject = {.precheck = precheck, .handler = handler};
    const bool stays = handler->resident.argv != NULL;
    const struct command_line *line = stays ? &handler->resident : &handler->command;
    const char *const *keys = KEYS(handler, stays ? "resident" : "command");
    const bool has_user = find_user(&subject, &arena);
    const bool has_folder = check_folder(&subject);

    if (check_program(&subject, line, keys) && has_user && has_folder &&
        check_look(&subject, line, keys) && stays)
        try_resident(&subject, keys);
}

/* A pattern that ends in * says nothing about the types that will come. */
static void check_plugin(const struct precheck *precheck, const struct handler_config *handler)
{
    const bool is_prefix = strchr(handler->pattern, '*') != NULL;
    const struct plugin_wish wish = {.path = handler->plugin,
                                     .type = is_prefix ? NULL : handler->pattern};
    struct error err;

    if (!plugin_trial(&wish, &err))
        finding_error(precheck, KEYS(handler, "plugin"), "%s", err.text);
}

static void check_schema(const struct precheck *precheck, const struct handler_config *handler)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema *schema = NULL;
    struct error err;

    if (handler->schema && !schema_load(handler->schema, &arena, &schema, &err))
        finding_error(precheck, KEYS(handler, "schema"), "%s", err.text);
}

void handlers_check(const struct precheck *precheck)
{
    for (size_t i = 0; i < precheck->config->handler_count; i++) {
        const struct handler_config *handler = &precheck->config->handlers[i];

        check_schema(precheck, handler);
        if (handler->plugin)
            check_plugin(precheck, handler);
        else
            check_start(precheck, handler);
    }
}

void middleware_check(const struct precheck *precheck)
{
    static const char *const keys[] = {"pool", "middleware", NULL};
    const struct text_list *paths = &precheck->config->pool.middleware;
    struct error err;

    for (size_t i = 0; i < paths->count; i++) {
        const struct plugin_wish wish = {.path = paths->items[i], .middleware = true};

        if (!plugin_trial(&wish, &err))
            finding_error(precheck, keys, "%s", err.text);
    }
}
