/*
 * server_fields.c - the top level of jobs.yaml, and its sections `http:`, `faktory:`, `log:` and
 * `retention:`.
 */
#include "config/config.h"
#include "config/field.h"
#include "config/sections.h"

static const char *const levels[] = {
    [LEVEL_ERROR] = "error",
    [LEVEL_WARNING] = "warning",
    [LEVEL_INFO] = "info",
    [LEVEL_DEBUG] = "debug",
    NULL,
};

static const char *const formats[] = {
    [FORMAT_LOGFMT] = "logfmt",
    [FORMAT_JSON] = "json",
    NULL,
};

/* clang-format off */
const struct field http_fields[] = {
    TEXT (http_config, listen,          .fallback = "127.0.0.1:7460",
          .help = "HOST:PORT, [ADDRESS]:PORT or unix:PATH"),
    PATH (http_config, token_file,      .fallback = FIELD_UNSET, .example = "./token",
          .help = "file with the bearer token; needed unless only this machine can connect"),
    PATH (http_config, read_token_file, .fallback = FIELD_UNSET, .example = "./read-token",
          .help = "file with a token that may only look"),
    TEXTS(http_config, hosts,           .fallback = "[]", .example = "[jobs.example.org]",
          .help = "names that it is reached by, besides the address and localhost"),
    COUNT(http_config, connections,     .fallback = "1024", .min = "1", .max = "65536",
          .help = "connections at once"),
    COUNT(http_config, connections_per_address, .fallback = "64", .min = "1", .max = "65536",
          .help = "and from one address; this machine may have all"),
    TEXT (http_config, title,           .fallback = FIELD_UNSET, .example = "Jobs of the shop",
          .help = "what the dashboard is called"),
    {.key = NULL},
};

const struct field faktory_fields[] = {
    TEXT(faktory_config, listen,        .fallback = "127.0.0.1:7419",
         .help = "HOST:PORT, [ADDRESS]:PORT or unix:PATH"),
    PATH(faktory_config, password_file, .fallback = FIELD_UNSET, .example = "./faktory-password",
         .help = "file with the password; needed unless only this machine can connect"),
    FLAG(faktory_config, allow_flush,   .fallback = "false",
         .help = "whether FLUSH may delete all jobs"),
    FLAG(faktory_config, allow_admin,   .fallback = "false",
         .help = "whether clients may remove and change jobs of others"),
    {.key = NULL},
};

const struct field log_fields[] = {
    CHOICE(log_config, level,  enum log_level, levels, .fallback = "info",
           .help = "error, warning, info or debug"),
    CHOICE(log_config, format, enum log_format, formats, .fallback = "logfmt",
           .help = "logfmt or json; under systemd with the prefixes of journald"),
    {.key = NULL},
};

const struct field retention_fields[] = {
    DURATION(retention_config, done,     .fallback = "1h", .max = "36500d",
             .help = "how long done and cancelled jobs are kept; 0 is not at all"),
    COUNT   (retention_config, done_max, .fallback = "100000", .min = "0", .max = "1000000000",
             .help = "and how many of them per queue, whichever comes first"),
    DURATION(retention_config, dead,     .fallback = "30d", .max = "36500d",
             .help = "how long dead jobs are kept; 0 is not at all"),
    {.key = NULL},
};

const struct field top_fields[] = {
    TEXT    (config, backend,            .fallback = "sqlite:./jobs.db",
             .help = "where jobs live; also postgres://user@host/db  redis://host:6379/0"),
    TEXTS   (config, include,            .fallback = "[]", .example = "[conf.d/*.yaml]",
             .help = "files with more queues, handlers and cron entries"),
    SECTION (config, pool,      struct pool_config,      pool_fields,
             .help = "this thd"),
    {.key = "queues", .kind = FIELD_ENTRIES, .fields = queue_fields, .example = "default",
     .fallback = FIELD_UNSET, .help = "which queues this pool serves; without any: default"},
    SECTION (config, defaults,  struct defaults_config,  defaults_fields,
             .help = "for jobs and handlers that do not say otherwise"),
    {.key = "handlers", .kind = FIELD_ENTRIES, .fields = handler_fields, .example = "email:send",
     .fallback = FIELD_UNSET, .optional = true,
     .help = "type to handler; a trailing * matches a prefix, the longest match wins"},
    {.key = "cron", .kind = FIELD_ENTRIES, .fields = cron_fields, .example = "nightly",
     .fallback = FIELD_UNSET, .optional = true, .help = "jobs that are enqueued by the clock"},
    SECTION (config, http,      struct http_config,      http_fields, .optional = true,
             .help = "HTTP API and dashboard; only served when this section is there"),
    SECTION (config, faktory,   struct faktory_config,   faktory_fields, .optional = true,
             .help = "Faktory's protocol; only spoken when this section is there"),
    SECTION (config, log,       struct log_config,       log_fields,
             .help = "what thd says"),
    SIZE    (config, max_payload,        .fallback = "1M", .min = "1", .max = "16M",
             .help = "the largest payload of a job"),
    DURATION(config, idempotency_window, .fallback = "24h", .max = "365d",
             .help = "how long an idempotency key is remembered"),
    SECTION (config, retention, struct retention_config, retention_fields,
             .help = "how long ended jobs are kept"),
    {.key = NULL},
};
/* clang-format on */
