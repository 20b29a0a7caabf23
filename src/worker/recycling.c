/*
 * recycling.c - a worker that has done its share, or has grown, ends; the master starts a fresh
 * one.
 */
#include "worker/recycling.h"

#include "base/log.h"
#include "base/units.h"
#include "config/config.h"

#include <stdio.h>
#include <unistd.h>

static bytes_t own_memory(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (bytes_t)pages * (bytes_t)sysconf(_SC_PAGESIZE);
}

bool recycling_is_due(const struct pool_config *pool, int64_t jobs_done)
{
    const bytes_t memory = pool->max_worker_rss > 0 ? own_memory() : 0;
    char size[UNITS_TEXT_SIZE];

    if (pool->max_jobs_per_worker > 0 && jobs_done >= pool->max_jobs_per_worker)
        log_info("worker_recycled", "reason=max_jobs_per_worker jobs=%" PRId64, jobs_done);
    else if (pool->max_worker_rss > 0 && memory > pool->max_worker_rss)
        log_info("worker_recycled", "reason=max_worker_rss memory=%s jobs=%" PRId64,
                 units_format_size(memory, size), jobs_done);
    else
        return false;
    return true;
}
