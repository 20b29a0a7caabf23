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
    ck_assert_int_eq(pool->unknown_types, UNKNOWN_DEAD);
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

/* The one of product.md. */
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
    "  unknown_types: dead\n"
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
#define CIRCLE " (give one of them a handler without on_dead)\n"
#define NO_ADDRESS(address)                                                                        \
    "jobs.yaml:1:16: http.listen: '" address                                                       \
    "' is no address: write HOST:PORT, [ADDRESS]:PORT or unix:PATH\n"

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
    {"two of them", "handlers:\n  a:\n    command: x\n    plugin: y.so\n",
     "jobs.yaml:4:5: handlers.a: has both command and plugin: keep one of them\n"},
    {"all three", "handlers:\n  a:\n    command: x\n    plugin: y.so\n    resident: z\n",
     "jobs.yaml:4:5: handlers.a: has both command and plugin: keep one of them\n"
     "jobs.yaml:5:5: handlers.a: has both plugin and resident: keep one of them\n"},
    {"what is for processes in a plugin",
     "handlers: {a: {plugin: y.so, user: u, limits: {cpu: 1s}}}\n",
     "jobs.yaml:1:30: handlers.a.user: is not for a plugin, which runs inside the worker\n"
     "jobs.yaml:1:39: handlers.a.limits: is not for a plugin, which runs inside the worker\n"},
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
     "jobs.yaml:1:12: handlers: 'a*b' is no type: use 1 to 128 of A-Z a-z 0-9 _ . : -, and at the "
     "end maybe a *\n"},
    {"two stars", "handlers: {'a**': {command: x}}\n",
     "jobs.yaml:1:12: handlers: 'a**' is no type: use 1 to 128 of A-Z a-z 0-9 _ . : -, and at the "
     "end maybe a *\n"},
    {"a queue that is no name", "queues: {'a b': {}}\n",
     "jobs.yaml:1:10: queues: 'a b' is no name: use 1 to 128 of A-Z a-z 0-9 _ . : -\n"},
    {"a cron entry that is no name", "cron: {'': {schedule: '@daily', type: t}}\n",
     "jobs.yaml:1:8: cron: '' is no name: use 1 to 128 of A-Z a-z 0-9 _ . : -\n"},
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
     "jobs.yaml:1:42: cron.n.timezone: 'Europe/Berln' is no time zone (did you mean "
     "'Europe/Berlin'?)\n"},
    {"a zone out of the folder", "cron: {n: {schedule: '@daily', timezone: ../x, type: t}}\n",
     "jobs.yaml:1:42: cron.n.timezone: '../x' is no time zone\n"},
    {"both are wrong", "cron: {n: {schedule: '@dayly', timezone: utc, type: t}}\n",
     "jobs.yaml:1:22: cron.n.schedule: '@dayly' is no schedule (did you mean '@daily'?)\n"
     "jobs.yaml:1:42: cron.n.timezone: 'utc' is no time zone (did you mean 'UTC'?)\n"},
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
};

START_TEST(values_that_do_not_fit_each_other_are_refused)
{
    folder_expect_for(pairs[_i].rule, pairs[_i].text, pairs[_i].errors);
}
END_TEST

START_TEST(a_socket_is_relative_to_the_file)
{
    CLEANUP(config_done) struct config config = {0};
    char expected[512];

    folder_load_text("http: {listen: 'unix:./th.sock'}\n", &config);
    snprintf(expected, sizeof(expected), "unix:%s/th.sock", folder_path());
    ck_assert_str_eq(config.http.listen, expected);
}
END_TEST

START_TEST(a_key_of_256_bytes_is_long_enough)
{
    char text[512];

    snprintf(text, sizeof(text), "cron: {n: {schedule: '@daily', type: t, key: %0*d}}\n", 256, 1);
    folder_expect_for("256", text, "");
    snprintf(text, sizeof(text), "cron: {n: {schedule: '@daily', type: t, key: %0*d}}\n", 257, 1);
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
    tcase_add_test(values, a_socket_is_relative_to_the_file);
    suite_add_tcase(suite, values);

    tcase_add_checked_fixture(checks, folder_setup, folder_teardown);
    tcase_add_loop_test(checks, values_that_do_not_fit_each_other_are_refused, 0, COUNT_OF(pairs));
    tcase_add_test(checks, a_key_of_256_bytes_is_long_enough);
    suite_add_tcase(suite, checks);
    return suite;
}
