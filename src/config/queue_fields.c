/*
 * queue_fields.c - an entry of the `queues:` section of jobs.yaml.
 */
#include "config/config.h"
#include "config/field.h"
#include "config/sections.h"

/* clang-format off */
const struct field queue_fields[] = {
    COUNT(queue_config, weight,      .fallback = "1", .min = "1", .max = "1000",
          .help = "this queue's share of what the pool reserves"),
    COUNT(queue_config, max_running, .fallback = "0", .min = "0", .max = "1000000",
          .help = "jobs running at once, in all pools; 0 is no limit"),
    RATE (queue_config, rate,        .fallback = FIELD_UNSET, .example = "100/s",
          .help = "jobs started per s, m, h or d, in all pools; unset is no limit"),
    FLAG (queue_config, remote,      .fallback = "false",
          .help = "true leaves its jobs to remote workers"),
    {.key = NULL},
};
/* clang-format on */
