/*
 * handler_fields.c - the `defaults:` section of jobs.yaml and an entry of `handlers:`.
 */
#include "config/config.h"
#include "config/field.h"
#include "config/sections.h"

static const char *const policies[] = {
    [RETRY_EXPONENTIAL] = "exponential",
    [RETRY_LINEAR] = "linear",
    [RETRY_FIXED] = "fixed",
    NULL,
};

static const char *const results[] = {
    [RESULT_NONE] = "none",
    [RESULT_STDOUT] = "stdout",
    NULL,
};

/* clang-format off */
const struct field retry_fields[] = {
    {.key = "policy", .kind = FIELD_POLICY, .fallback = "exponential", .choices = policies,
     .help = "exponential, linear, fixed, or a list such as [1s, 5s, 1m]"},
    DURATION(retry_policy, base_delay, .fallback = "10s", .max = "30d",
             .help = "after the first failure"),
    DURATION(retry_policy, max_delay,  .fallback = "1h", .max = "365d",
             .help = "and never longer than this"),
    FRACTION(retry_policy, jitter,     .fallback = "0",
             .help = "spread: the delay times 1-jitter to 1+jitter; 0 to 1"),
    {.key = NULL},
};

static const struct field limits_fields[] = {
    SIZE    (limits_config, memory, .fallback = "0", .help = "address space; 0 is no limit"),
    DURATION(limits_config, cpu,    .fallback = "0", .max = "365d",
             .help = "CPU time; 0 is no limit"),
    COUNT   (limits_config, files,  .fallback = "0", .min = "0", .max = "1048576",
             .help = "open files; 0 is no limit"),
    {.key = NULL},
};

const struct field defaults_fields[] = {
    DURATION(defaults_config, timeout,      .fallback = "5m", .min = "1ms", .max = "365d",
             .help = "how long one execution may take"),
    COUNT   (defaults_config, max_attempts, .fallback = "4", .min = "1", .max = "1000000",
             .help = "failures that make a job dead: one run and three retries"),
    COUNT   (defaults_config, max_stalls,   .fallback = "3", .min = "1", .max = "1000000",
             .help = "lost leases that make a job dead"),
    SECTION (defaults_config, retry, struct retry_policy, retry_fields,
             .help = "how long a failed job waits"),
    PAIRS   (defaults_config, env,          .fallback = "{}", .example = "{RAILS_ENV: production}",
             .help = "variables that every command and resident gets"),
    TEXTS   (defaults_config, pass_env,     .fallback = "[]", .example = "[HTTP_PROXY]",
             .help = "variables of thd they get as well"),
    PATH    (defaults_config, cwd,          .fallback = FIELD_UNSET, .example = "/srv/app",
             .help = "their folder; unset is that of the file that has them"),
    TEXT    (defaults_config, user,         .fallback = FIELD_UNSET, .example = "worker",
             .help = "who runs them; unset is the user of thd"),
    SECTION (defaults_config, limits, struct limits_config, limits_fields,
             .help = "what one execution may use"),
    {.key = NULL},
};

static const struct field on_dead_fields[] = {
    NAME(on_dead, type,  .fallback = NULL, .example = "alert", .help = "type of that job"),
    NAME(on_dead, queue, .fallback = "default", .help = "and its queue"),
    {.key = NULL},
};

const struct field handler_fields[] = {
    COMMAND (handler_config, command,         .fallback = FIELD_UNSET, .example = "[\"/usr/local/bin/send-email\"]",
             .help = "argv of a process per job, no shell; a text runs under /bin/sh -c"),
    PATH    (handler_config, plugin,          .fallback = FIELD_UNSET, .example = "./libthumbnail.so",
             .help = "or a shared object, loaded by the worker"),
    COMMAND (handler_config, resident,        .fallback = FIELD_UNSET, .example = "[\"python3\", \"report.py\"]",
             .help = "or a program that stays and reads one JSON line per job"),
    DURATION(handler_config, timeout,         .fallback = FIELD_UNSET, .example = "30s", .min = "1ms", .max = "365d",
             .help = "how long one execution may take; unset is defaults.timeout"),
    COUNT   (handler_config, max_attempts,    .fallback = FIELD_UNSET, .example = "4", .min = "1", .max = "1000000",
             .help = "failures that make a job dead; unset is defaults.max_attempts"),
    COUNT   (handler_config, max_stalls,      .fallback = FIELD_UNSET, .example = "3", .min = "1", .max = "1000000",
             .help = "lost leases that make a job dead; unset is defaults.max_stalls"),
    SECTION (handler_config, retry, struct retry_policy, retry_fields, .inherits = true,
             .help = "how long a failed job waits; what is unset is as defaults.retry"),
    PAIRS   (handler_config, env,             .fallback = "{}", .example = "{SMTP_HOST: mail.internal}",
             .help = "variables it gets, besides those of defaults.env"),
    TEXTS   (handler_config, pass_env,        .fallback = "[]", .example = "[HTTP_PROXY]",
             .help = "variables of thd it gets, besides defaults.pass_env"),
    NUMBERS (handler_config, dead_exit_codes, .fallback = "[]", .example = "[3, 4]", .min = "1", .max = "255",
             .help = "exit codes that mean: dead, no retry; 65 always does"),
    CHOICE  (handler_config, result,          enum handler_result, results, .fallback = "none",
             .help = "what is kept as the job's result: none or stdout"),
    SIZE    (handler_config, output,          .fallback = "4K", .min = "1", .max = "1M",
             .help = "how much of the end of what it prints is kept"),
    COUNT   (handler_config, concurrency,     .fallback = "1", .min = "1", .max = "1000",
             .help = "how many jobs a resident may have at a time"),
    PATH    (handler_config, schema,          .fallback = FIELD_UNSET, .example = "./email.schema.json",
             .help = "JSON schema; a payload that does not fit is dead at once"),
    SECTION (handler_config, on_dead, struct on_dead, on_dead_fields, .optional = true,
             .help = "a job to enqueue with [id, payload, error] when one of these dies"),
    FLAG    (handler_config, no_new_privs,    .fallback = "true",
             .help = "setuid programs give it no more rights"),
    TEXT    (handler_config, user,            .fallback = FIELD_UNSET, .example = "mailer",
             .help = "who runs it; unset is defaults.user"),
    PATH    (handler_config, cwd,             .fallback = ".",
             .help = "its folder; unset is defaults.cwd; . is that of this file"),
    MODE    (handler_config, umask,           .fallback = "022",
             .help = "its umask, in octal"),
    COUNT   (handler_config, nice,            .fallback = "0", .min = "-20", .max = "19",
             .help = "its niceness"),
    SECTION (handler_config, limits, struct limits_config, limits_fields, .inherits = true,
             .help = "what one execution may use; what is unset is as defaults.limits"),
    {.key = NULL},
};
/* clang-format on */
