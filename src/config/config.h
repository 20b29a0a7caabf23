/*
 * config.h - jobs.yaml, read and checked.
 *
 * A config is loaded as a whole or not at all: what config_load() returns true for has every
 * default filled in, every value in its range, and every path absolute.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/arena.h"
#include "base/base.h"
#include "base/digest.h"
#include "base/log.h"
#include "config/diagnostics.h"
#include "config/field.h"
#include "job/cron_due.h"
#include "job/cron_entry.h"
#include "job/job.h"
#include "job/on_dead.h"
#include "job/retry.h"

/* What to do with a job whose type has no handler. */
enum unknown_types {
    UNKNOWN_DEAD,
    UNKNOWN_LEAVE,
};

struct pool_config {
    int num_workers;
    const char *pool_id; /* or "auto" */
    usec_t heartbeat_interval;
    usec_t reaper_interval;
    usec_t stale_threshold;
    bool enable_reaper;
    usec_t lease;
    usec_t shutdown_timeout;
    usec_t kill_grace;
    int max_jobs_per_worker; /* 0: no limit */
    bytes_t max_worker_rss;  /* 0: no limit */
    struct text_list middleware;
    enum unknown_types unknown_types;
    bool migrate;
};

struct queue_config {
    const char *name;
    int weight;
    int max_running;        /* 0: no limit */
    struct units_rate rate; /* count 0: no limit */
    bool remote;            /* this pool takes nothing from it: remote workers do */
};

/* 0: no limit */
struct limits_config {
    bytes_t memory;
    usec_t cpu;
    int files;
};

struct defaults_config {
    usec_t timeout;
    int max_attempts;
    int max_stalls;
    struct retry_policy retry;
    struct text_pairs env; /* these are for processes: handler_defaults.h */
    struct text_list pass_env;
    const char *cwd;  /* NULL: the folder of the file that has the handler */
    const char *user; /* NULL: that of thd */
    struct limits_config limits;
};

enum handler_result {
    RESULT_NONE,
    RESULT_STDOUT,
};

struct handler_config {
    const char *pattern; /* a type, or a prefix with a trailing * */
    struct command_line command, resident;
    const char *plugin; /* path; one of the three is set */
    usec_t timeout;     /* 0: as defaults say; so are the next two */
    int max_attempts;
    int max_stalls;
    struct retry_policy retry; /* complete: what is not said here is as defaults say */
    struct text_pairs env;     /* with those of defaults; so are the next, user, cwd and limits */
    struct text_list pass_env;
    struct number_list dead_exit_codes;
    enum handler_result result;
    bytes_t output;         /* of the end of what a job prints is kept */
    int concurrency;        /* jobs that a resident has at a time */
    const char *schema;     /* path; NULL: none */
    struct on_dead on_dead; /* what a job of its type brings that dies */
    bool no_new_privs;
    const char *user; /* NULL: that of thd */
    const char *cwd;
    int umask;
    int nice;
    struct limits_config limits;
};

struct cron_config {
    const char *name;
    const char *schedule; /* as written */
    const char *timezone;
    struct cron times;       /* what the schedule says */
    const struct zone *zone; /* whose clock it is by */
    const char *type;
    const char *queue;
    struct bytes payload; /* JSON */
    int priority;
    const char *key; /* NULL: none */
    enum cron_catch_up catch_up;
    int max_attempts; /* 0: as the handler says */
    bool enabled;
};

/* What opens a door: no more of it is kept. */
struct token {
    bool is_set;
    struct digest digest;
};

struct http_config {
    const char *listen;     /* HOST:PORT, [ADDRESS]:PORT or unix:PATH */
    const char *token_file; /* NULL: none */
    const char *read_token_file;
    struct text_list hosts;
    int connections;
    int connections_per_address;
    const char *title;              /* NULL: that of the program */
    struct token token, read_token; /* of the files; only where the config is read to run */
};

struct faktory_config {
    const char *listen;
    const char *password_file; /* NULL: none */
    bool allow_flush;
    bool allow_admin;
};

struct log_config {
    enum log_level level;
    enum log_format format;
};

/* How long ended jobs are kept; 0 is not at all. */
struct retention_config {
    usec_t done;
    int done_max; /* per queue */
    usec_t dead;
};

struct config {
    struct arena arena; /* owns all that is pointed to */
    const char *path;   /* as it was asked for */
    const char *folder; /* absolute: where relative SQLite paths start */
    const char *backend;
    bool has_backend;         /* it is written, not the default */
    struct text_list include; /* as written; the files have been read */
    struct pool_config pool;
    struct queue_config *queues; /* in the order of the file; at least one */
    size_t queue_count;
    struct defaults_config defaults;
    struct handler_config *handlers;
    size_t handler_count;
    struct cron_config *cron;
    size_t cron_count;
    bool has_http, has_faktory; /* there is such a section */
    const char
        *exposed; /* a file that others may write and that says what runs; NULL: there is none */
    struct http_config http;
    struct faktory_config faktory;
    struct log_config log;
    bytes_t max_payload;
    usec_t idempotency_window;
    struct retention_config retention;
};

/* What a config is read for. */
enum config_use {
    CONFIG_TO_RUN, /* a pool: it has to have something to do */
    CONFIG_TO_ASK, /* where the jobs are: a producer's config may say no more than that */
};

/* Who reads a config. */
struct config_reader {
    enum config_use use;
    /* Adds what else is wrong with it for this reader; NULL: nothing is. The config may be wrong
     * already: a value that was refused is 0 or NULL. */
    void (*check)(void *context, const struct config *config, struct diagnostics *diagnostics);
    void *context;
};

/* Reads the file and all it includes. False when anything is wrong; the diagnostics then have all
 * of it, in the order of its place, and the config is empty. */
bool config_load(const char *path, const struct config_reader *reader, struct config *config_out,
                 struct diagnostics *diagnostics) MUST_CHECK;

/* The config of whoever names none: jobs.yaml, else /etc/taskharbor/jobs.yaml; NULL: neither is
 * there. One that is there counts, even if it cannot be read: silence would hide a mistake. */
const char *config_find_file(void);

/* Where the value of a key is, or the key of a map: {"handlers", "email:send", "cwd", NULL}. For a
 * key that was left out it is the place of the last of the keys that is there, or the file as a
 * whole. Only for a config that was loaded with these diagnostics. */
struct place config_place(const struct diagnostics *diagnostics, const char *const *keys);

/* Whether the log would be JSON, even if something else in the config is wrong. */
bool config_wants_json(const struct diagnostics *diagnostics);

/* The queue or cron entry of that name; NULL: there is none. For a type see handler_match.h. */
const struct queue_config *config_find_queue(const struct config *config, const char *name);
const struct cron_config *config_find_cron(const struct config *config, const char *name);

/* The limits that job_limits_resolve() takes. */
struct job_limits config_default_limits(const struct config *config);
struct job_limits config_handler_limits(const struct handler_config *handler);

/* The job that an entry stands for, without an id. It points into the config. */
struct job config_cron_job(const struct cron_config *cron);

/* The entry as it is shown; points into the config. */
struct cron_entry config_cron_entry(const struct cron_config *cron);

void config_done(struct config *config);

#endif
