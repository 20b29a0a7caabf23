/*
 * driver.c - memory:, a store that ends with the processes that use it.
 *
 * The SQLite driver on a file in a scratch folder, without waiting for a disk. `memory:` is a store
 * of its own for each handle; all handles on `memory:NAME` share one. For tests and --once.
 */
#include "store/sqlite/driver.h"
#include "base/cleanup.h"
#include "base/random.h"
#include "job/job.h"
#include "store/sqlite/file/scratch.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME_SIZE (JOB_NAME_MAX + 1)

static bool choose_name(const struct store_url *url, char name[NAME_SIZE], struct error *err)
{
    uint64_t random;

    if (url->path[0] == '\0') {
        random_bytes(&random, sizeof random);
        snprintf(name, NAME_SIZE, "%016" PRIx64, random);
        return true;
    }
    if (!job_name_check(url->path, JOB_NAME_MAX, err))
        return error_prefix(err, "%s", url->shown);
    snprintf(name, NAME_SIZE, "%s", url->path);
    return true;
}

static bool memory_check_url(const struct store_url *url, struct error *err)
{
    char name[NAME_SIZE];

    return url_check_options(url, NULL, 0, err) && choose_name(url, name, err);
}

static bool memory_open(const struct store_url *url, const struct store_options *options,
                        struct store **store_out, struct error *err)
{
    const struct store_options fresh = {.migrate = true};
    CLEANUP(sqlite_scratch_leave) struct sqlite_scratch scratch = {0};
    AUTO_FREE char *path = NULL;
    char name[NAME_SIZE];

    (void)options; /* there is nothing to migrate: a store in memory is as old as its users */
    if (!url_check_options(url, NULL, 0, err) || !choose_name(url, name, err) ||
        !sqlite_scratch_enter(name, &scratch, err))
        return false;
    if (asprintf(&path, "%s/jobs.db", scratch.folder) < 0)
        return error_no_memory(err);
    if (!sqlite_driver_open(path, SYNC_OFF, &fresh, store_out, err))
        return false;
    ((struct sqlite *)*store_out)->scratch = scratch;
    scratch = (struct sqlite_scratch){0};
    return true;
}

const struct store_driver store_memory = {
    .scheme = "memory", .check_url = memory_check_url, .open = memory_open};
