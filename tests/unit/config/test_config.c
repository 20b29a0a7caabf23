/*
 * test_config.c - a config as a whole: its defaults, and values that do not fit each other.
 */
#include "base/cleanup.h"
#include "config/config.h"
#include "config/folder.h"
#include "job/idempotency.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

static void check_pool_defaults(const struct pool_config *pool)
{
    ck_assert_int_eq(pool->num_workers, 4);
    ck_assert_str_eq(pool->pool_id, "auto");
    ck_assert_int_eq(pool->heartbeat_interval, 5 * USEC_PER_SEC);
    ck_assert_int_eq(pool->reaper_interval, 30 * USEC_PER_SEC);
    ck_assert_int_eq(pool->stale_threshold, 60 * USEC_PER_SEC);
    ck_assert(pool->enable_reaper);
    ck_assert_int_eq(pool->lease, 30 * USEC_PER_SEC);
    ck_assert_int_eq(pool->shutdown_timeout, 30 * USEC_PER_SEC);
    ck_assert_int_eq(pool->kill_grace, 5 * USEC_PER_SEC);
    ck_assert_int_eq(pool->max_jobs_per_worker, 0);
    ck_assert_uint_eq(pool->max_worker_rss, 0);
    ck_assert_uint_eq(pool->middleware.count, 0);
    ck_assert_int_eq(pool->unknown_types, UNKNOWN_LEAVE);
    ck_assert(pool->migrate);
}

START_TEST(an_empty_config_has_the_documented_defaults)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("", &config);
    ck_assert_str_eq(config.backend, "sqlite:./jobs.db");
    check_pool_defaults(&config.pool);
    ck_assert_uint_eq(config.queue_count, 1);
    ck_assert_str_eq(config.queues[0].name, "default");
    ck_assert_int_eq(config.queues[0].weight, 1);
    ck_assert_uint_eq(config.handler_count, 0);
    ck_assert_uint_eq(config.cron_count, 0);
    ck_assert(!config.has_http);
    ck_assert_str_eq(config.http.listen, "127.0.0.1:7460");
    ck_assert_int_eq(config.log.level, LEVEL_INFO);
    ck_assert_int_eq(config.log.format, FORMAT_LOGFMT);
    ck_assert_uint_eq(config.max_payload, JOB_PAYLOAD_DEFAULT);
    ck_assert_int_eq(config.idempotency_window, IDEMPOTENCY_WINDOW_DEFAULT);
    ck_assert_int_eq(config.retention.done, USEC_PER_HOUR);
    ck_assert_int_eq(config.retention.done_max, 100000);
    ck_assert_int_eq(config.retention.dead, 30 * USEC_PER_DAY);
}
END_TEST

START_TEST(the_defaults_of_jobs_are_those_of_the_rules)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("", &config);
    const struct job_limits limits = config_default_limits(&config);
    ck_assert_int_eq(limits.timeout, job_limits_default.timeout);
    ck_assert_int_eq(limits.max_attempts, job_limits_default.max_attempts);
    ck_assert_int_eq(limits.max_stalls, job_limits_default.max_stalls);
    ck_assert_int_eq(config.defaults.retry.kind, retry_policy_default.kind);
    ck_assert_int_eq(config.defaults.retry.base_delay, retry_policy_default.base_delay);
    ck_assert_int_eq(config.defaults.retry.max_delay, retry_policy_default.max_delay);
    ck_assert_double_eq(config.defaults.retry.jitter, retry_policy_default.jitter);
}
END_TEST

START_TEST(a_handler_leaves_to_the_defaults_what_it_does_not_say)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("handlers: {a: {command: x}, b: {command: x, timeout: 30s}}\n", &config);
    const struct handler_config *handler = &config.handlers[0];
    ck_assert_int_eq(config_handler_limits(handler).timeout, 0);
    ck_assert_int_eq(config_handler_limits(&config.handlers[1]).timeout, 30 * USEC_PER_SEC);
    ck_assert(handler->no_new_privs);
    ck_assert_int_eq(handler->umask, 022);
    ck_assert_str_eq(handler->cwd, folder_path());
    ck_assert_ptr_null(handler->user);
    ck_assert_ptr_null(handler->on_dead.type);
    ck_assert_ptr_null(handler->plugin);
    ck_assert_ptr_null(handler->resident.argv);
    ck_assert_int_eq(handler->result, RESULT_NONE);
}
END_TEST

/* All sections at once, as a real config may have them. */
static const char *const documented =
    "backend: sqlite:./jobs.db\n"
    "pool:\n"
    "  num_workers: 4\n"
    "  pool_id: auto\n"
    "  heartbeat_interval: 5s\n"
    "  reaper_interval: 30s\n"
    "  stale_threshold: 60s\n"
    "  enable_reaper: true\n"
    "  lease: 30s\n"
    "  shutdown_timeout: 30s\n"
    "  kill_grace: 5s\n"
    "  max_jobs_per_worker: 0\n"
    "  max_worker_rss: 0\n"
    "  middleware: []\n"
    "  unknown_types: leave\n"
    "  migrate: true\n"
    "queues:\n"
    "  default: {}\n"
    "  mail: {weight: 3, max_running: 10, rate: 100/s}\n"
    "defaults: {timeout: 5m, max_attempts: 4, max_stalls: 3, retry: {policy: exponential, "
    "base_delay: 10s, max_delay: 1h, jitter: 0}}\n"
    "handlers:\n"
    "  email:send:\n"
    "    command: [\"/usr/local/bin/send-email\"]\n"
    "    timeout: 30s\n"
    "    env: {SMTP_HOST: mail.internal}\n"
    "    user: mailer\n"
    "    limits: {memory: 256M, cpu: 60s, files: 256}\n"
    "  thumbnail:\n"
    "    plugin: ./libthumbnail.so\n"
    "  report:build:\n"
    "    resident: [\"python3\", \"report.py\"]\n"
    "  \"webhook:*\":\n"
    "    command: ./hook.sh\n"
    "    schema: ./webhook.schema.json\n"
    "    on_dead: {type: alert}\n"
    "cron:\n"
    "  nightly: {schedule: \"0 3 * * *\", timezone: Europe/Berlin, catch_up: last, type: "
    "report:build, payload: {day: yesterday}}\n"
    "http: {listen: 127.0.0.1:7460, token_file: ./token}\n"
    "log: {level: info, format: logfmt}\n"
    "max_payload: 1M\n"
    "idempotency_window: 24h\n"
    "retention: {done: 1h, done_max: 100000, dead: 30d}\n";

START_TEST(the_documented_config_is_read_as_documented)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text(documented, &config);
    check_pool_defaults(&config.pool);
    ck_assert_uint_eq(config.queue_count, 2);
    ck_assert_int_eq(config.queues[1].weight, 3);
    ck_assert_int_eq(config.queues[1].max_running, 10);
    ck_assert_int_eq(config.queues[1].rate.count, 100);
    ck_assert_uint_eq(config.handler_count, 4);
    ck_assert_str_eq(config.handlers[0].pattern, "email:send");
    ck_assert_str_eq(config.handlers[0].env.items[0].name, "SMTP_HOST");
    ck_assert_uint_eq(config.handlers[0].limits.memory, (bytes_t)256 << 20);
    ck_assert_int_eq(config.handlers[0].limits.cpu, USEC_PER_MIN);
    ck_assert_str_eq(config.handlers[2].resident.argv[1], "report.py");
    ck_assert_str_eq(config.handlers[3].on_dead.type, "alert");
    ck_assert_str_eq(config.handlers[3].on_dead.queue, "default");
    ck_assert_str_eq(config.cron[0].schedule, "0 3 * * *");
    ck_assert_str_eq(config.cron[0].timezone, "Europe/Berlin");
    ck_assert_uint_eq(config.cron[0].times.hours, 1 << 3);
    ck_assert_str_eq(config.cron[0].zone->name, "Europe/Berlin");
    const struct job job = config_cron_job(&config.cron[0]);
    ck_assert_str_eq(job.type, "report:build");
    ck_assert_str_eq(job.queue, "default");
    ck_assert_int_eq(job.priority, 5);
    ck_assert_str_eq((const char *)job.payload.data, "{\"day\":\"yesterday\"}");
    ck_assert(config.has_http);
}
END_TEST

#define REACHABLE(address)                                                                         \
    "jobs.yaml:1:16: http.listen: other machines can reach '" address                              \
    "': set token_file, or listen on 127.0.0.1\n"
#define LATE   ": one late beat must not make a pool dead\n"
#define CIRCLE " (give one of them a handler without on_dead)\n"
#define NO_ADDRESS(address)                                                                        \
    "jobs.yaml:1:16: http.listen: '" address                                                       \
    "' is not an address: write HOST:PORT, [ADDRESS]:PORT or unix:PATH\n"

static const struct {
    const char *rule;
    const char *text;
    const char *errors;
} pairs[] = {
    {"a heartbeat as long as the lease", "pool:\n  lease: 36s\n  heartbeat_interval: 36s\n",
     "jobs.yaml:3:23: pool.heartbeat_interval (36s) must be shorter than lease (36s)\n"},
    {"a lease shorter than the default heartbeat", "pool: {lease: 4s, kill_grace: 0}\n",
     "jobs.yaml:1:15: pool.heartbeat_interval (5s) must be shorter than lease (4s)\n"},
    {"a heartbeat shorter than the lease", "pool: {lease: 30s, heartbeat_interval: 29s}\n", ""},
    {"a heartbeat of half the threshold",
     "pool:\n  heartbeat_interval: 10s\n  stale_threshold: 20s\n",
     "jobs.yaml:3:20: pool.stale_threshold (20s) must be over twice heartbeat_interval (10s)" LATE},
    {"a threshold that the default heartbeat is too slow for", "pool: {stale_threshold: 10s}\n",
     "jobs.yaml:1:25: pool.stale_threshold (10s) must be over twice heartbeat_interval (5s)" LATE},
    {"a heartbeat that is too slow for the default threshold",
     "pool: {heartbeat_interval: 30s, lease: 60s}\n",
     "jobs.yaml:1:28: pool.stale_threshold (1m) must be over twice heartbeat_interval (30s)" LATE},
    {"a threshold of over two heartbeats", "pool: {stale_threshold: 10.1s}\n", ""},
    {"a threshold that was refused is not compared", "pool: {stale_threshold: 0s}\n",
     "jobs.yaml:1:25: pool.stale_threshold: 0s is too small: use 1s to 30d\n"},
    {"a grace of more than a sixth", "pool: {lease: 30s, kill_grace: 5.1s}\n",
     "jobs.yaml:1:32: pool.kill_grace (5.1s) must be at most a sixth of lease (30s)\n"},
    {"a lease less than six times the default grace", "pool: {lease: 29s}\n",
     "jobs.yaml:1:15: pool.kill_grace (5s) must be at most a sixth of lease (29s)\n"},
    {"a grace of a sixth", "pool: {lease: 12s, kill_grace: 2s}\n", ""},
    {"a lease that was refused is not compared", "pool: {lease: 0s}\n",
     "jobs.yaml:1:15: pool.lease: 0s is too small: use 1s to 1d\n"},
    {"no handler in a handler", "handlers:\n  a: {timeout: 3s}\n  b:\n",
     "jobs.yaml:2:3: handlers.a: needs one of command, plugin and resident\n"
     "jobs.yaml:3:3: handlers.b: needs one of command, plugin and resident\n"},
    {"a key that reads like one is none", "handlers: {a: {result: stdout, retry: [1s]}}\n",
     "jobs.yaml:1:12: handlers.a: needs one of command, plugin and resident\n"},
    {"a handler that is misspelt is told of once", "handlers:\n  a: {comand: x}\n",
     "jobs.yaml:2:7: unknown key 'comand' in 'handlers.a' (did you mean 'command'?)\n"},
    {"two of them", "handlers:\n  a:\n    command: x\n    plugin: y.so\n",
     "jobs.yaml:4:5: handlers.a: has both command and plugin: keep one of them\n"},
    {"all three", "handlers:\n  a:\n    command: x\n    plugin: y.so\n    resident: z\n",
     "jobs.yaml:4:5: handlers.a: has both command and plugin: keep one of them\n"
     "jobs.yaml:5:5: handlers.a: has both plugin and resident: keep one of them\n"},
    {"what is for processes in a plugin",
     "handlers: {a: {plugin: y.so, user: u, limits: {cpu: 1s}}}\n",
     "jobs.yaml:1:30: handlers.a.user: is not for a plugin, which runs inside the worker\n"
     "jobs.yaml:1:39: handlers.a.limits: is not for a plugin, which runs inside the worker\n"},
    {"several jobs for what runs one at a time", "handlers: {a: {command: x, concurrency: 2}}\n",
     "jobs.yaml:1:28: handlers.a.concurrency: is for a resident; of anything else each worker runs "
     "one job at a time (raise pool.num_workers)\n"},
    {"several jobs in middleware",
     "pool: {middleware: [m.so]}\nhandlers: {a: {resident: x, concurrency: 2}}\n",
     "jobs.yaml:2:29: handlers.a.concurrency: cannot go with pool.middleware, which is wrapped "
     "around "
     "one job at a time: remove one of them\n"},
    {"one job in middleware",
     "pool: {middleware: [m.so]}\nhandlers: {a: {resident: x, concurrency: 1}}\n", ""},
    {"what is for any job in a plugin",
     "handlers: {a: {plugin: y.so, timeout: 3s, pass_env: [A], on_dead: {type: b}}}\n", ""},
    {"an on_dead that leads to another handler",
     "handlers: {a: {command: x, on_dead: {type: b}}, b: {command: x}}\n", ""},
    {"an on_dead that nobody handles here", "handlers: {a: {command: x, on_dead: {type: b}}}\n",
     ""},
    {"an on_dead that leads to itself", "handlers: {a: {command: x, on_dead: {type: a}}}\n",
     "jobs.yaml:1:37: handlers.a.on_dead: leads in a circle if these jobs die too: a -> a" CIRCLE},
    {"an on_dead that a pattern leads back",
     "handlers:\n  'webhook:*':\n    command: x\n    on_dead: {type: webhook:alert}\n",
     "jobs.yaml:4:14: handlers.webhook:*.on_dead: leads in a circle if these jobs die too: "
     "webhook:alert -> webhook:alert" CIRCLE},
    {"an on_dead that a longer pattern leads away",
     "handlers:\n  'webhook:*': {command: x, on_dead: {type: webhook:alert}}\n"
     "  'webhook:a*': {command: x}\n",
     ""},
    {"a circle of three is told once",
     "handlers:\n  z: {command: x, on_dead: {type: a}}\n  a: {command: x, on_dead: {type: b:1}}\n"
     "  'b:*': {command: x, on_dead: {type: c}}\n  c: {command: x, on_dead: {type: a}}\n",
     "jobs.yaml:3:28: handlers.a.on_dead: leads in a circle if these jobs die too: "
     "b:1 -> c -> a -> b:1" CIRCLE},
    {"two circles",
     "handlers:\n  a: {command: x, on_dead: {type: a}}\n  b: {command: x, on_dead: {type: b}}\n",
     "jobs.yaml:2:28: handlers.a.on_dead: leads in a circle if these jobs die too: a -> a" CIRCLE
     "jobs.yaml:3:28: handlers.b.on_dead: leads in a circle if these jobs die too: b -> b" CIRCLE},
    {"a handler for everything", "handlers: {'*': {command: x}}\n", ""},
    {"a star that is not at the end", "handlers: {'a*b': {command: x}}\n",
     "jobs.yaml:1:12: handlers: 'a*b' is not a type: use 1 to 128 of A-Z a-z 0-9 _ . : -, and at "
     "the "
     "end maybe a *\n"},
    {"two stars", "handlers: {'a**': {command: x}}\n",
     "jobs.yaml:1:12: handlers: 'a**' is not a type: use 1 to 128 of A-Z a-z 0-9 _ . : -, and at "
     "the "
     "end maybe a *\n"},
    {"a queue that is no name", "queues: {'a b': {}}\n",
     "jobs.yaml:1:10: queues: 'a b' is not a name: use 1 to 128 of A-Z a-z 0-9 _ . : -\n"},
    {"a cron entry that is no name", "cron: {'': {schedule: '@daily', type: t}}\n",
     "jobs.yaml:1:8: cron: '' is not a name: use 1 to 128 of A-Z a-z 0-9 _ . : -\n"},
    {"a payload over max_payload",
     "max_payload: 8\ncron: {n: {schedule: '@daily', type: t, payload: 'much too long'}}\n",
     "jobs.yaml:2:50: cron.n.payload: is 15 bytes long, which is over max_payload\n"},
    {"a schedule that is none", "cron: {n: {schedule: s, type: t}}\n",
     "jobs.yaml:1:22: cron.n.schedule: a schedule has five fields, minute, hour, day of month, "
     "month and day of week, or six with the second before them; this one has 1\n"},
    {"a minute that is none", "cron:\n  n: {type: t, schedule: 61 * * * *}\n",
     "jobs.yaml:2:26: cron.n.schedule: minute '61' is not within 0 to 59\n"},
    {"a day that never comes", "cron: {n: {schedule: 0 0 30 2 *, type: t}}\n",
     "jobs.yaml:1:22: cron.n.schedule: this never comes: none of its months has such a day\n"},
    {"a misspelt zone", "cron: {n: {schedule: '@daily', timezone: Europe/Berln, type: t}}\n",
     "jobs.yaml:1:42: cron.n.timezone: 'Europe/Berln' is not a time zone (did you mean "
     "'Europe/Berlin'?)\n"},
    {"a zone out of the folder", "cron: {n: {schedule: '@daily', timezone: ../x, type: t}}\n",
     "jobs.yaml:1:42: cron.n.timezone: '../x' is not a time zone\n"},
    {"both are wrong", "cron: {n: {schedule: '@dayly', timezone: utc, type: t}}\n",
     "jobs.yaml:1:22: cron.n.schedule: '@dayly' is not a schedule (did you mean '@daily'?)\n"
     "jobs.yaml:1:42: cron.n.timezone: 'utc' is not a time zone (did you mean 'UTC'?)\n"},
    {"what is not enabled is read, too", "cron: {n: {schedule: s, type: t, enabled: no}}\n",
     "jobs.yaml:1:22: cron.n.schedule: a schedule has five fields, minute, hour, day of month, "
     "month and day of week, or six with the second before them; this one has 1\n"
     "jobs.yaml:1:43: cron.n.enabled: 'no' is neither true nor false\n"},
    {"all addresses without a token", "http: {listen: '0.0.0.0:7460'}\n",
     REACHABLE("0.0.0.0:7460")},
    {"an address without a token", "http: {listen: '10.0.0.1:7460'}\n", REACHABLE("10.0.0.1:7460")},
    {"IPv6 without a token", "http: {listen: '[::]:7460'}\n", REACHABLE("[::]:7460")},
    {"a name that looks local", "http: {listen: '127.evil.org:7460'}\n",
     REACHABLE("127.evil.org:7460")},
    {"a name that starts as local", "http: {listen: 'localhost.org:7460'}\n",
     REACHABLE("localhost.org:7460")},
    {"all addresses with a token", "http: {listen: '0.0.0.0:7460', token_file: ./token}\n", ""},
    {"loopback", "http: {listen: '127.0.0.1:80'}\n", ""},
    {"all of loopback", "http: {listen: '127.1.2.3:80'}\n", ""},
    {"localhost", "http: {listen: 'localhost:80'}\n", ""},
    {"loopback of IPv6", "http: {listen: '[::1]:80'}\n", ""},
    {"a socket", "http: {listen: 'unix:./th.sock'}\n", ""},
    {"any port", "http: {listen: '127.0.0.1:0'}\n", ""},
    {"no port", "http: {listen: '127.0.0.1'}\n", NO_ADDRESS("127.0.0.1")},
    {"no host", "http: {listen: ':7460'}\n", NO_ADDRESS(":7460")},
    {"a port too large", "http: {listen: '127.0.0.1:65536'}\n", NO_ADDRESS("127.0.0.1:65536")},
    {"IPv6 without brackets", "http: {listen: '::1:80'}\n", NO_ADDRESS("::1:80")},
    {"a socket without a path", "http: {listen: 'unix:'}\n", NO_ADDRESS("unix:")},
    {"Faktory without a password", "faktory: {listen: '0.0.0.0:7419'}\n",
     "jobs.yaml:1:19: faktory.listen: other machines can reach '0.0.0.0:7419': set password_file, "
     "or listen on 127.0.0.1\n"},
    {"Faktory with a password", "faktory: {listen: '0.0.0.0:7419', password_file: ./p}\n", ""},
};

START_TEST(values_that_do_not_fit_each_other_are_refused)
{
    folder_expect_for(pairs[_i].rule, pairs[_i].text, pairs[_i].errors);
}
END_TEST

static const char *value_of(const struct handler_config *handler, const char *name)
{
    for (size_t i = 0; i < handler->env.count; i++) {
        if (strcmp(handler->env.items[i].name, name) == 0)
            return handler->env.items[i].value;
    }
    return NULL;
}

static bool passes(const struct handler_config *handler, const char *name)
{
    for (size_t i = 0; i < handler->pass_env.count; i++) {
        if (strcmp(handler->pass_env.items[i], name) == 0)
            return true;
    }
    return false;
}

static const char *const process_defaults = "defaults:\n"
                                            "  env: {A: all, B: all, C: all}\n"
                                            "  pass_env: [D, E]\n"
                                            "  cwd: ./work\n"
                                            "  user: worker\n"
                                            "  limits: {memory: 1M, cpu: 9s}\n"
                                            "handlers:\n"
                                            "  plain: {command: x}\n"
                                            "  own:\n"
                                            "    resident: [x]\n"
                                            "    env: {B: mine, D: mine}\n"
                                            "    pass_env: [C, F]\n"
                                            "    cwd: .\n"
                                            "    user: root\n"
                                            "    limits: {cpu: 0, files: 3}\n";

START_TEST(a_handler_starts_as_defaults_say)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text(process_defaults, &config);
    const struct handler_config *plain = &config.handlers[0];
    ck_assert_uint_eq(plain->env.count, 3);
    ck_assert_str_eq(value_of(plain, "A"), "all");
    ck_assert(passes(plain, "D") && passes(plain, "E"));
    ck_assert_ptr_nonnull(strstr(plain->cwd, "/work"));
    ck_assert_str_eq(plain->user, "worker");
    ck_assert_uint_eq(plain->limits.memory, (bytes_t)1 << 20);
    ck_assert_int_eq(plain->limits.cpu, 9 * USEC_PER_SEC);
}
END_TEST

START_TEST(each_of_them_is_enough)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("defaults: {pass_env: [D]}\nhandlers: {a: {command: x}}\n", &config);
    ck_assert(passes(&config.handlers[0], "D"));
    config_done(&config);
    folder_load_text("defaults: {env: {A: all}}\nhandlers: {a: {command: x}}\n", &config);
    ck_assert_str_eq(value_of(&config.handlers[0], "A"), "all");
}
END_TEST

START_TEST(what_a_handler_says_itself_wins_variable_by_variable)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text(process_defaults, &config);
    const struct handler_config *own = &config.handlers[1];
    ck_assert_uint_eq(own->env.count, 3);
    ck_assert_str_eq(value_of(own, "A"), "all");
    ck_assert_str_eq(value_of(own, "B"), "mine");
    ck_assert_str_eq(value_of(own, "D"), "mine");
    ck_assert_uint_eq(own->pass_env.count, 3);
    ck_assert(passes(own, "C") && passes(own, "E") && passes(own, "F"));
    ck_assert_str_eq(own->cwd, folder_path());
    ck_assert_str_eq(own->user, "root");
    ck_assert_uint_eq(own->limits.memory, (bytes_t)1 << 20);
    ck_assert_int_eq(own->limits.cpu, 0);
    ck_assert_int_eq(own->limits.files, 3);
}
END_TEST

START_TEST(a_plugin_runs_as_its_worker_whatever_defaults_say)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("defaults: {user: worker, cwd: /, env: {A: all}, limits: {cpu: 1s}}\n"
                     "handlers: {a: {plugin: ./x.so}}\n",
                     &config);
    ck_assert_ptr_null(config.handlers[0].user);
    ck_assert_uint_eq(config.handlers[0].env.count, 0);
    ck_assert_int_eq(config.handlers[0].limits.cpu, 0);
}
END_TEST

START_TEST(without_a_folder_in_defaults_a_handler_is_in_that_of_its_file)
{
    CLEANUP(config_done) struct config config = {0};

    folder_write("more/a.yaml", "handlers: {b: {command: x}}\n");
    folder_load_text("defaults: {env: {A: all}}\ninclude: more/a.yaml\n"
                     "handlers: {a: {command: x}}\n",
                     &config);
    ck_assert_str_eq(config.handlers[0].cwd, folder_path());
    ck_assert_ptr_nonnull(strstr(config.handlers[1].cwd, "/more"));
    ck_assert_str_eq(value_of(&config.handlers[1], "A"), "all");
}
END_TEST

#define NOTHING                                                                                    \
    "there are no handlers, so no job could run: add one under 'handlers:', such as hello: "       \
    "{command: cat}\n"

static const struct {
    const char *rule;
    const char *text;
    const char *errors;
} purposes[] = {
    {"an empty file", "", "jobs.yaml: " NOTHING},
    {"a producer's", "backend: redis://host\n", "jobs.yaml: " NOTHING},
    {"nothing under handlers", "pool: {}\nhandlers:\n", "jobs.yaml:2:1: " NOTHING},
    {"an empty map", "handlers: {}\n", "jobs.yaml:1:1: " NOTHING},
    {"nothing but a clock", "cron: {n: {schedule: '@daily', type: t}}\n", "jobs.yaml: " NOTHING},
    {"with all else that is wrong", "pool: {lease: 3}\n",
     "jobs.yaml: " NOTHING
     "jobs.yaml:1:15: pool.lease: '3' is not a duration: write a number and a "
     "unit, such as 500ms, 10s, 5m, 2h or 7d\n"},
    {"a misspelt key is told of once", "handler: {a: {command: x}}\n",
     "jobs.yaml:1:1: unknown key 'handler' (did you mean 'handlers'?)\n"},
    {"handlers that are none are told of once", "handlers: [x]\n",
     "jobs.yaml:1:11: handlers: expected a map, not a list\n"},
    {"a handler", "handlers: {a: {command: x}}\n", ""},
    {"a door for remote workers", "http:\n", ""},
    {"or for those of Faktory", "faktory: {}\n", ""},
};

START_TEST(a_pool_needs_something_to_run)
{
    folder_expect_to_run(purposes[_i].rule, purposes[_i].text, purposes[_i].errors);
}
END_TEST

START_TEST(handlers_may_be_in_an_included_file)
{
    folder_write("more.yaml", "handlers: {a: {command: x}}\n");
    folder_expect_to_run("an included handler", "include: more.yaml\nhandlers:\n", "");
}
END_TEST

START_TEST(a_mark_that_editors_put_before_utf8_is_passed_over)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("\xef\xbb\xbfmax_payload: 7\n", &config);
    ck_assert_uint_eq(config.max_payload, 7);
    folder_expect_for("places do not count it", "\xef\xbb\xbfmax_paylod: 7\n",
                      "jobs.yaml:1:1: unknown key 'max_paylod' (did you mean 'max_payload'?)\n");
}
END_TEST

START_TEST(a_producers_config_needs_no_handlers)
{
    folder_expect_for("where the jobs are", "backend: redis://host\n", "");
}
END_TEST

START_TEST(doors_have_the_documented_keys)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("queues: {a: {}, b: {remote: true}}\n"
                     "http: {read_token_file: ./r, hosts: [jobs.example.org], connections: 9,"
                     " connections_per_address: 3, title: Shop}\n"
                     "faktory: {listen: 'unix:f.sock', password_file: ./p, allow_flush: true,"
                     " allow_admin: true}\n",
                     &config);
    ck_assert(!config.queues[0].remote);
    ck_assert(config.queues[1].remote);
    ck_assert(config.has_http && config.has_faktory);
    ck_assert_str_eq(config.http.hosts.items[0], "jobs.example.org");
    ck_assert_int_eq(config.http.connections, 9);
    ck_assert_int_eq(config.http.connections_per_address, 3);
    ck_assert_str_eq(config.http.title, "Shop");
    ck_assert_ptr_nonnull(strstr(config.http.read_token_file, "/r"));
    ck_assert_ptr_nonnull(strstr(config.faktory.listen, "/f.sock"));
    ck_assert_ptr_nonnull(strstr(config.faktory.password_file, "/p"));
    ck_assert(config.faktory.allow_flush && config.faktory.allow_admin);
}
END_TEST

START_TEST(queues_and_cron_entries_are_found_by_name)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("queues: {a: {}, b: {}}\n"
                     "handlers: {t: {command: cat}}\n"
                     "cron: {daily: {schedule: '@daily', type: t}}\n",
                     &config);
    ck_assert_ptr_eq(config_find_queue(&config, "b"), &config.queues[1]);
    ck_assert_ptr_null(config_find_queue(&config, "daily"));
    ck_assert_ptr_eq(config_find_cron(&config, "daily"), &config.cron[0]);
    ck_assert_ptr_null(config_find_cron(&config, "Daily"));
}
END_TEST

START_TEST(a_socket_is_relative_to_the_file)
{
    CLEANUP(config_done) struct config config = {0};
    char expected[512];

    folder_load_text("http: {listen: 'unix:./th.sock'}\n", &config);
    snprintf(expected, sizeof expected, "unix:%s/th.sock", folder_path());
    ck_assert_str_eq(config.http.listen, expected);
}
END_TEST

START_TEST(a_key_of_256_bytes_is_long_enough)
{
    char text[512];

    snprintf(text, sizeof text, "cron: {n: {schedule: '@daily', type: t, key: %0*d}}\n", 256, 1);
    folder_expect_for("256", text, "");
    snprintf(text, sizeof text, "cron: {n: {schedule: '@daily', type: t, key: %0*d}}\n", 257, 1);
    folder_expect_for("257", text, "jobs.yaml:1:46: cron.n.key: is 257 bytes long: use 1 to 256\n");
}
END_TEST

Suite *config_suite(void)
{
    Suite *suite = suite_create("config/config");
    TCase *values = tcase_create("values");
    TCase *checks = tcase_create("checks");

    tcase_add_checked_fixture(values, folder_setup, folder_teardown);
    tcase_add_test(values, an_empty_config_has_the_documented_defaults);
    tcase_add_test(values, the_defaults_of_jobs_are_those_of_the_rules);
    tcase_add_test(values, a_handler_leaves_to_the_defaults_what_it_does_not_say);
    tcase_add_test(values, the_documented_config_is_read_as_documented);
    tcase_add_test(values, doors_have_the_documented_keys);
    tcase_add_test(values, queues_and_cron_entries_are_found_by_name);
    tcase_add_test(values, a_socket_is_relative_to_the_file);
    suite_add_tcase(suite, values);

    tcase_add_checked_fixture(checks, folder_setup, folder_teardown);
    tcase_add_test(checks, a_handler_starts_as_defaults_say);
    tcase_add_test(checks, each_of_them_is_enough);
    tcase_add_test(checks, what_a_handler_says_itself_wins_variable_by_variable);
    tcase_add_test(checks, a_plugin_runs_as_its_worker_whatever_defaults_say);
    tcase_add_test(checks, without_a_folder_in_defaults_a_handler_is_in_that_of_its_file);
    tcase_add_loop_test(checks, a_pool_needs_something_to_run, 0, COUNT_OF(purposes));
    tcase_add_test(checks, handlers_may_be_in_an_included_file);
    tcase_add_test(checks, a_mark_that_editors_put_before_utf8_is_passed_over);
    tcase_add_test(checks, a_producers_config_needs_no_handlers);
    tcase_add_loop_test(checks, values_that_do_not_fit_each_other_are_refused, 0, COUNT_OF(pairs));
    tcase_add_test(checks, a_key_of_256_bytes_is_long_enough);
    suite_add_tcase(suite, checks);
    return suite;
}
