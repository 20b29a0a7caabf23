/*
 * driver.c - sqlite:PATH: the embedded store, one file.
 */
#include "store/sqlite/driver.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "store/sqlite/file/file.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/schema.h"

#include <stdio.h>

static const char *const option_names[] = {"synchronous"};

static bool read_options(const struct store_url *url, enum sqlite_sync *sync_out, struct error *err)
{
    const char *value = url_option(url, "synchronous");

    if (!url_check_options(url, option_names, COUNT_OF(option_names), err))
        return false;
    *sync_out = SYNC_FULL;
    if (!value || text_equal(value, "full"))
        return true;
    *sync_out = SYNC_NORMAL;
    return text_equal(value, "normal") ||
           error_set(err, TH_E_INVALID, "%s: synchronous is full or normal, not '%s'", url->shown,
                     value);
}

/* sqlite:///srv/jobs.db names the same file as sqlite:/srv/jobs.db. With a host there is none. */
static bool file_of(const struct store_url *url, const char **path_out, struct error *err)
{
    const char *path = url->path;

    if (path[0] == '/' && path[1] == '/') {
        if (path[2] != '/')
            return error_set(
                err, TH_E_INVALID,
                "%s: a file has no host: write sqlite:./jobs.db or sqlite:/srv/jobs.db",
                url->shown);
        path += 2;
    }
    if (path[0] == '\0')
        return error_set(err, TH_E_INVALID, "%s: names no file: write sqlite:./jobs.db",
                         url->shown);
    *path_out = path;
    return true;
}

/* Relative paths start at the folder of the options. They always get one: ":memory:" alone would
 * be SQLite's word for a database that is gone when it is closed. */
static char *full_path(const char *path, const char *folder)
{
    bool absolute = path[0] == '/';
    char *full = NULL;

    if (!folder)
        folder = ".";
    while (text_starts_with(path, "./"))
        path += 2;
    return asprintf(&full, "%s%s%s", absolute ? "" : folder, absolute ? "" : "/", path) < 0 ? NULL
                                                                                            : full;
}

bool sqlite_driver_open(const char *path, enum sqlite_sync sync,
                        const struct store_options *options, struct store **store_out,
                        struct error *err)
{
    struct sqlite *sqlite = NULL;

    if (!sqlite_connect(path, sync, options->migrate, &sqlite, err))
        return false;
    if (!sqlite_schema_prepare(sqlite, options, err) || !sqlite_companions_note(sqlite, err)) {
        sqlite_disconnect(sqlite);
        return false;
    }
    sqlite->base.driver = &store_sqlite;
    *store_out = &sqlite->base;
    return true;
}

static bool sqlite_check_url(const struct store_url *url, struct error *err)
{
    enum sqlite_sync sync;
    const char *file;

    return read_options(url, &sync, err) && file_of(url, &file, err);
}

static bool sqlite_open(const struct store_url *url, const struct store_options *options,
                        struct store **store_out, struct error *err)
{
    enum sqlite_sync sync;
    const char *file = url->path;

    if (!read_options(url, &sync, err) || !file_of(url, &file, err))
        return false;
    AUTO_FREE char *path = full_path(file, options->folder);
    if (!path)
        return error_no_memory(err);
    return sqlite_driver_open(path, sync, options, store_out, err);
}

static void sqlite_close(struct store *store)
{
    sqlite_disconnect(sqlite_of(store));
}

static bool sqlite_durability(struct store *store, char text[STORE_DURABILITY_SIZE],
                              bool *is_safe_out, struct error *err)
{
    (void)err;
    sqlite_file_tell_folder(sqlite3_db_filename(sqlite_of(store)->db, "main"), text);
    *is_safe_out = text[0] == '\0';
    return true;
}

static bool sqlite_schema(struct store *store, struct store_schema *schema_out, struct error *err)
{
    return sqlite_schema_read(sqlite_of(store), schema_out, err);
}

static bool sqlite_wait_fd(struct store *store, int *fd_out, struct error *err)
{
    return sqlite_bell_listen_fd(&sqlite_of(store)->bell, fd_out, err);
}

static bool sqlite_wait(struct store *store, usec_t timeout, bool *rang_out, struct error *err)
{
    return sqlite_bell_listen(&sqlite_of(store)->bell, timeout, rang_out, err);
}

static bool sqlite_check_bell(struct store *store, struct error *err)
{
    return sqlite_bell_check(&sqlite_of(store)->bell, err);
}

const struct store_driver store_sqlite = {
    .scheme = "sqlite",
    .check_url = sqlite_check_url,
    .open = sqlite_open,
    .close = sqlite_close,
    .durability = sqlite_durability,
    .schema = sqlite_schema,
    .enqueue = sqlite_enqueue,
    .exchange = sqlite_exchange,
    .held = sqlite_held,
    .heartbeat = sqlite_heartbeat,
    .watch = sqlite_watch,
    .promote = sqlite_promote,
    .reclaim = sqlite_reclaim,
    .aside = sqlite_aside,
    .bring_back = sqlite_bring_back,
    .give_up = sqlite_give_up,
    .prune = sqlite_prune,
    .cron_enqueue = sqlite_cron_enqueue,
    .cron_last = sqlite_cron_last,
    .cron_pause = sqlite_cron_pause,
    .cron_resume = sqlite_cron_resume,
    .cron_mark = sqlite_cron_mark,
    .pool_register = sqlite_pool_register,
    .pools = sqlite_pools,
    .pool_remove = sqlite_pool_remove,
    .pool_want = sqlite_pool_want,
    .pool_remove_silent = sqlite_pool_remove_silent,
    .wait_fd = sqlite_wait_fd,
    .wait = sqlite_wait,
    .check_bell = sqlite_check_bell,
    .get = sqlite_get,
    .list = sqlite_list,
    .failures = sqlite_failures,
    .stats = sqlite_stats,
    .count_before = sqlite_count_before,
    .cancel = sqlite_cancel,
    .run_now = sqlite_run_now,
    .requeue = sqlite_requeue,
    .remove = sqlite_remove,
    .set_paused = sqlite_set_paused,
    .hide_queue = sqlite_hide_queue,
};
