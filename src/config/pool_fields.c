/*
 * pool_fields.c - the `pool:` section of jobs.yaml.
 */
#include "config/config.h"
#include "config/field.h"
#include "config/sections.h"

static const char *const unknown_types[] = {
    [UNKNOWN_DEAD] = "dead",
    [UNKNOWN_LEAVE] = "leave",
    NULL,
};

/* clang-format off */
const struct field pool_fields[] = {
    COUNT   (pool_config, num_workers,         .fallback = "4", .min = "1", .max = "1024",
             .help = "worker processes: how many jobs run at once"),
    NAME    (pool_config, pool_id,             .fallback = "auto", .max = "100",
             .help = "name of this pool; auto is host-pid"),
    DURATION(pool_config, heartbeat_interval,  .fallback = "5s", .min = "100ms", .max = "1d",
             .help = "how often leases are extended; shorter than lease"),
    DURATION(pool_config, reaper_interval,     .fallback = "30s", .min = "100ms", .max = "1d",
             .help = "how often dead pools are looked for"),
    DURATION(pool_config, stale_threshold,     .fallback = "60s", .min = "1s", .max = "30d",
             .help = "a pool silent for this long is dead; over twice heartbeat_interval"),
    FLAG    (pool_config, enable_reaper,       .fallback = "true",
             .help = "whether this pool looks for dead ones"),
    DURATION(pool_config, lease,               .fallback = "30s", .min = "1s", .max = "1d",
             .help = "how long a job stays ours without a heartbeat"),
    DURATION(pool_config, shutdown_timeout,    .fallback = "30s", .max = "7d",
             .help = "how long a drain waits for running jobs"),
    DURATION(pool_config, kill_grace,          .fallback = "5s", .max = "1h",
             .help = "time between TERM and KILL; at most a sixth of lease"),
    COUNT   (pool_config, max_jobs_per_worker, .fallback = "0", .min = "0", .max = "1000000000",
             .help = "recycle a worker after this many jobs; 0 is never"),
    SIZE    (pool_config, max_worker_rss,      .fallback = "0",
             .help = "or when it has grown this large, e.g. 512M; 0 is never"),
    PATHS   (pool_config, middleware,          .fallback = "[]",
             .help = "plugins wrapped around every handler"),
    CHOICE  (pool_config, unknown_types,       enum unknown_types, unknown_types, .fallback = "leave",
             .help = "jobs without a handler: leave, to other pools, or dead"),
    FLAG    (pool_config, migrate,             .fallback = "true",
             .help = "bring the schema up to date at start"),
    {.key = NULL},
};
/* clang-format on */
