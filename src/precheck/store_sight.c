/*
 * store_sight.c - what --check sees of the backend.
 */
#include "precheck/store_sight.h"

#include "backend.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "store/url.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool is_usable(const struct store_schema *schema)
{
    return schema->version > 0 && schema->usable_from <= schema->newest;
}

/* What the pool would create or migrate when it starts is not a problem of the config. */
static bool open_store(const struct precheck *precheck, struct store_sight *sight,
                       struct error *err)
{
    struct store_options options = {
        .any_schema = precheck->config->pool.migrate,
        .writable = true,
        .max_payload = (size_t)precheck->config->max_payload,
        .caller = "thd --check",
    };
    struct store_schema schema = {0};
    struct store *store = NULL;

    if (!store_open(precheck->backend->url, &options, &store, err))
        return false;
    const struct pool_config *pool = &precheck->config->pool;
    const bool is_read =
        store_schema(store, &schema, err) &&
        (!is_usable(&schema) || schema.version < schema.newest ||
         offers_read_besides(store, pool->pool_id, pool->stale_threshold, &sight->offers, err));

    store_close(&store);
    if (!is_read)
        return false;
    if (schema.version == 0)
        sight->remark = " (will be created)";
    else if (schema.version < schema.newest)
        sight->remark = " (will be migrated)";
    options.any_schema = false;
    if (schema.usable_from <= schema.newest)
        return true;
    return store_open(precheck->backend->url, &options, &store, err); /* says why it cannot */
}

bool store_sight_take(const struct precheck *precheck, struct store_sight *sight, struct error *err)
{
    CLEANUP(url_done) struct store_url url = {0};

    *sight = (struct store_sight){.remark = ""};
    if (!url_parse(precheck->backend->url, &url, err))
        return false;
    const char *path = text_starts_with(url.path, "//") ? url.path + 2 : url.path;
    if (!text_equal(url.scheme, "sqlite") || !precheck->config->pool.migrate || !is_absent(path))
        return open_store(precheck, sight, err);
    sight->remark = " (will be created)";
    return check_folder_of(path, err);
}

void store_sight_done(struct store_sight *sight)
{
    offers_done(&sight->offers);
    *sight = (struct store_sight){0};
}
