/*
 * precheck.c - thd --check: would a pool with this config work here?
 *
 * Looks at what only a start would show: users, programs, plugins, folders, schemas, the backend.
 * Nothing is created and nothing is changed.
 */
#include "precheck.h"

#include "backend.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/output.h"
#include "config/config.h"
#include "process/account.h"
#include "store/store.h"
#include "store/url.h"
#include "worker/command.h"
#include "worker/plugin_trial.h"
#include "worker/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SENTENCE_MAX 2048

struct check {
    const struct config *config;
    const struct backend *backend;
    size_t problems; /* of the config */
    const char *store_remark;
};

PRINTF_LIKE(3, 4)
static void complain(struct check *check, const struct handler_config *handler, const char *format,
                     ...)
{
    char sentence[SENTENCE_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    output_remark("%s: handler '%s': %s", check->config->path, handler->pattern, sentence);
    check->problems++;
}

/* ---- handlers ---- */

/* False when there is no such user. One that only root can become is left to root's check. */
static bool find_user(struct check *check, const struct handler_config *handler,
                      struct arena *arena, struct account *account_out)
{
    struct error err;

    if (!account_find(handler->user, arena, account_out, &err)) {
        complain(check, handler, "%s", err.text);
        return false;
    }
    account_out->is_self = account_out->is_self || geteuid() != 0;
    return true;
}

static int enter(const char *folder)
{
    return chdir(folder) ? errno : 0;
}

static void check_folder(struct check *check, const struct handler_config *handler,
                         const struct account *account)
{
    struct stat status;

    if (stat(handler->cwd, &status)) {
        complain(check, handler, "cwd: %s: %s", handler->cwd, strerror(errno));
        return;
    }
    if (!S_ISDIR(status.st_mode)) {
        complain(check, handler, "cwd: %s: not a folder", handler->cwd);
        return;
    }
    const int problem = account_try(account, enter, handler->cwd);
    if (problem != 0)
        complain(check, handler, "cwd: user %s cannot enter %s: %s", account->name, handler->cwd,
                 strerror(problem));
}

/* 0, or errno for why not. */
static int why_not_executable(const char *path)
{
    struct stat status;

    if (stat(path, &status))
        return errno;
    if (!S_ISREG(status.st_mode))
        return EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
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

    for (;;) {
        const size_t length = strcspn(path, ":");

        buffer_clear(&file);
        buffer_add(&file, length > 0 ? path : ".", length > 0 ? length : 1);
        buffer_printf(&file, "/%s", program);
        if (!file.failed && why_not_executable(buffer_str(&file)) == 0)
            return true;
        if (path[length] == '\0')
            return false;
        path += length + 1;
    }
}

static void check_program(struct check *check, const struct handler_config *handler,
                          const struct account *account)
{
    const bool stays = handler->resident.argv != NULL;
    const char *kind = stays ? "resident" : "command";
    const char *program = stays ? handler->resident.argv[0] : handler->command.argv[0];
    const char *path = path_of(handler);
    const bool is_path = strchr(program, '/') != NULL;
    const int problem = is_path ? why_not_executable(program) : 0;

    if (is_path && problem == 0 && account_try(account, why_not_executable, program) != 0)
        complain(check, handler, "%s: %s: user %s cannot run it", kind, program, account->name);
    else if (problem != 0)
        complain(check, handler, "%s: %s: %s", kind, program,
                 problem == EACCES ? "not an executable file" : strerror(problem));
    else if (!is_path && !is_in_path(program, path))
        complain(check, handler, "%s: no program '%s' in %s", kind, program, path);
}

/* A pattern that ends in * says nothing about the types that will come. */
static void check_plugin(struct check *check, const struct handler_config *handler)
{
    const bool is_prefix = strchr(handler->pattern, '*') != NULL;
    const struct plugin_wish wish = {.path = handler->plugin,
                                     .type = is_prefix ? NULL : handler->pattern};
    struct error err;

    if (!plugin_trial(&wish, &err))
        complain(check, handler, "plugin: %s", err.text);
}

static void check_middleware(struct check *check)
{
    const struct text_list *paths = &check->config->pool.middleware;
    struct error err;

    for (size_t i = 0; i < paths->count; i++) {
        const struct plugin_wish wish = {.path = paths->items[i], .middleware = true};

        if (plugin_trial(&wish, &err))
            continue;
        output_remark("%s: pool.middleware: %s", check->config->path, err.text);
        check->problems++;
    }
}

static void check_schema(struct check *check, const struct handler_config *handler)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema *schema = NULL;
    struct error err;

    if (handler->schema && !schema_load(handler->schema, &arena, &schema, &err))
        complain(check, handler, "schema: %s", err.text);
}

static void check_start(struct check *check, const struct handler_config *handler)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct account account;

    if (!find_user(check, handler, &arena, &account))
        account = (struct account){.is_self = true};
    check_folder(check, handler, &account);
    check_program(check, handler, &account);
}

static void check_handlers(struct check *check)
{
    for (size_t i = 0; i < check->config->handler_count; i++) {
        const struct handler_config *handler = &check->config->handlers[i];

        check_schema(check, handler);
        if (handler->plugin) {
            check_plugin(check, handler);
            continue;
        }
        check_start(check, handler);
    }
}

/* ---- the backend ---- */

/* A file that thd would create, or fill: there is nothing to open yet. */
static bool is_absent(const char *path)
{
    struct stat status;

    return stat(path, &status) ? errno == ENOENT : S_ISREG(status.st_mode) && status.st_size == 0;
}

static bool check_folder_of(const char *path, struct error *err)
{
    AUTO_FREE char *copy = strdup(path);

    if (!copy)
        return error_no_memory(err);
    const char *folder = dirname(copy);
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS))
        return error_errno(err, TH_E_UNAVAILABLE, errno, "sqlite: %s: cannot be created in %s",
                           path, folder);
    return true;
}

/* What the pool would make or migrate at its start is no problem of the config. */
static bool open_store(struct check *check, struct error *err)
{
    struct store_options options = {
        .any_schema = check->config->pool.migrate,
        .writable = true,
        .max_payload = (size_t)check->config->max_payload,
    };
    struct store_schema schema = {0};
    struct store *store = NULL;

    if (!store_open(check->backend->url, &options, &store, err))
        return false;
    const bool is_read = store_schema(store, &schema, err);

    store_close(&store);
    if (!is_read)
        return false;
    if (schema.version == 0)
        check->store_remark = " (will be created)";
    else if (schema.version < schema.newest)
        check->store_remark = " (will be migrated)";
    options.any_schema = false;
    if (schema.usable_from <= schema.newest)
        return true;
    return store_open(check->backend->url, &options, &store, err); /* says why it cannot */
}

static bool check_store(struct check *check, struct error *err)
{
    CLEANUP(url_done) struct store_url url = {0};

    check->store_remark = "";
    if (!url_parse(check->backend->url, &url, err))
        return false;
    const char *path = text_starts_with(url.path, "//") ? url.path + 2 : url.path;
    if (!text_equal(url.scheme, "sqlite") || !check->config->pool.migrate || !is_absent(path))
        return open_store(check, err);
    check->store_remark = " (will be created)";
    return check_folder_of(path, err);
}

static enum status refuse_store(const struct check *check, const struct error *err)
{
    output_remark("%s: backend: %s", check->backend->from_config ? check->config->path : "thd",
                  err->text);
    return err->code == TH_E_INVALID ? STATUS_CONFIG : STATUS_BACKEND;
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static enum status praise(const struct check *check)
{
    const struct config *config = check->config;
    struct output out = output_to_stdout();

    if (config->exposed != NULL)
        output_remark("%s: warning: others may write %s, and so decide what this pool runs",
                      config->path, config->exposed);
    output_printf(&out, "%s: ok\n", config->path);
    output_printf(&out, "%d worker%s, %zu queue%s, %zu handler%s, %s%s\n", config->pool.num_workers,
                  plural(config->pool.num_workers), config->queue_count,
                  plural((int64_t)config->queue_count), config->handler_count,
                  plural((int64_t)config->handler_count), check->backend->shown,
                  check->store_remark);
    return output_finish(&out) ? STATUS_OK : STATUS_FAILED;
}

enum status precheck_run(const struct config *config, const struct backend *backend)
{
    struct check check = {.config = config, .backend = backend};
    enum status status = STATUS_OK;
    struct error err;

    check_handlers(&check);
    check_middleware(&check);
    if (!check_store(&check, &err))
        status = refuse_store(&check, &err);
    if (check.problems > 0)
        return STATUS_CONFIG;
    return status == STATUS_OK ? praise(&check) : status;
}
