/*
 * cron_fields.c - an entry of the `cron:` section of jobs.yaml.
 */
#include "config/config.h"
#include "config/field.h"
#include "config/sections.h"

static const char *const catch_ups[] = {
    [CATCH_UP_LAST] = "last",
    [CATCH_UP_ALL] = "all",
    [CATCH_UP_NONE] = "none",
    NULL,
};

/* clang-format off */
const struct field cron_fields[] = {
    TEXT  (cron_config, schedule,     .fallback = NULL, .example = "\"0 3 * * *\"",
           .help = "minute, hour, day of month, month, day of week; or @daily"),
    TEXT  (cron_config, timezone,     .fallback = "UTC",
           .help = "whose clock that is, e.g. Europe/Berlin"),
    NAME  (cron_config, type,         .fallback = NULL, .example = "report:build",
           .help = "type of the job"),
    NAME  (cron_config, queue,        .fallback = "default", .help = "its queue"),
    JSON  (cron_config, payload,      .fallback = "null", .help = "its payload, any value"),
    COUNT (cron_config, priority,     .fallback = "5", .min = "0", .max = "9",
           .help = "0 is most urgent"),
    TEXT  (cron_config, key,          .fallback = FIELD_UNSET, .example = "nightly",
           .help = "of the jobs with one key, at most one waits and one runs"),
    CHOICE(cron_config, catch_up,     enum cron_catch_up, catch_ups, .fallback = "last",
           .help = "which missed times are made up for: last, all or none"),
    COUNT (cron_config, max_attempts, .fallback = FIELD_UNSET, .example = "4", .min = "1", .max = "1000000",
           .help = "failures that make the job dead; unset is the handler's"),
    FLAG  (cron_config, enabled,      .fallback = "true", .help = "false keeps it from running"),
    {.key = NULL},
};
/* clang-format on */
