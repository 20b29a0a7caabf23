/*
 * test_services.c - the four services as the master runs them: each in a process of its own.
 */
#include "base/cleanup.h"
#include "periodic/heartbeater.h"
#include "periodic/reaper.h"
#include "periodic/retrier.h"
#include "periodic/scene.h"
#include "periodic/scheduler.h"
#include "process/known_clocks.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "suites.h"

#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct service {
    pid_t pid;
    int master; /* our end of its control socket */
    char url[64];
    struct config config;
    struct process process;
    struct known_clocks *known_clocks;
};

static void begin(struct service *service, int (*main)(struct process *process))
{
    struct process *process = &service->process;
    struct error err;
    int ends[2];

    snprintf(service->url, sizeof service->url, "memory:test-services-%d", getpid());
    service->config.pool = (struct pool_config){
        .heartbeat_interval = LEASE, .reaper_interval = USEC_PER_SEC, .lease = LEASE};
    MUST(message_pair(ends, &err));
    service->master = ends[0];
    *process = (struct process){.name = "service",
                                .config = &service->config,
                                .backend = service->url,
                                .pool = POOL,
                                .control = ends[1],
                                .due = -1,
                                .nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    MUST(lease_table_open(1, &process->leases, &err));
    MUST(scoreboard_open(1, 1, &process->scoreboard, &err));
    MUST(known_clocks_open(1, &service->known_clocks, &err));
    process->known_clock = known_clocks_of(service->known_clocks, 0);
    scoreboard_enter(process->scoreboard, 0, process->name, 0, 1, getpid());
    service->pid = fork();
    ck_assert_int_ge(service->pid, 0);
    if (service->pid == 0)
        _exit(process_begin(process, &err) ? main(process) : PROCESS_FAILED);
    close(ends[1]);
}

static void end(struct service *service)
{
    known_clocks_close(&service->known_clocks);
    scoreboard_close(&service->process.scoreboard);
    lease_table_close(&service->process.leases);
    close(service->process.nudge);
    close(service->master);
}

static void await_ready(const struct service *service)
{
    struct pollfd word = {.fd = service->master, .events = POLLIN};
    struct report report;
    struct error err;

    ck_assert_int_eq(poll(&word, 1, -1), 1);
    ck_assert_int_eq(report_receive(service->master, &report, &err), DELIVERY_DONE);
    ck_assert_int_eq(report.kind, REPORT_READY);
}

static void expect_exit(const struct service *service, int exit_code)
{
    const struct order order = {.kind = ORDER_EXIT};
    struct error err;
    int status;

    ck_assert_int_eq(order_send(service->master, &order, -1, &err), DELIVERY_DONE);
    ck_assert_int_eq(waitpid(service->pid, &status, 0), service->pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), exit_code);
}

static int (*const mains[])(struct process *process) = {heartbeater_main, scheduler_main,
                                                        retrier_main, reaper_main};

START_TEST(a_service_gets_ready_and_exits_when_it_is_asked_to)
{
    CLEANUP(end) struct service service = {0};

    begin(&service, mains[_i]);
    await_ready(&service);
    expect_exit(&service, PROCESS_OK);
}
END_TEST

START_TEST(a_pool_is_there_from_its_first_beat_until_its_heartbeater_exits)
{
    CLEANUP(end) struct service service = {0};
    CLEANUP(scene_close) struct scene scene = {0};
    CLEANUP(pool_list_done) struct pool_list before = {0}, after = {0};
    const struct store_options options = {.migrate = true};
    struct error err;

    begin(&service, heartbeater_main);
    await_ready(&service);
    MUST(store_open(service.url, &options, &scene.store, &err));
    const struct pool *pool = scene_pool(&scene, POOL, &before);
    ck_assert_ptr_nonnull(pool);
    ck_assert_int_eq(pool->pid, getpid());
    expect_exit(&service, PROCESS_OK);
    ck_assert_ptr_null(scene_pool(&scene, POOL, &after));
}
END_TEST

START_TEST(a_pool_that_somebody_removed_need_not_be_removed)
{
    CLEANUP(end) struct service service = {0};
    CLEANUP(scene_close) struct scene scene = {0};
    const struct store_options options = {.migrate = true};
    struct error err;

    begin(&service, heartbeater_main);
    await_ready(&service);
    MUST(store_open(service.url, &options, &scene.store, &err));
    MUST(store_pool_remove(scene.store, POOL, &err));
    expect_exit(&service, PROCESS_OK);
}
END_TEST

Suite *services_suite(void)
{
    Suite *suite = suite_create("periodic/services");
    TCase *life = tcase_create("life");

    tcase_add_loop_test(life, a_service_gets_ready_and_exits_when_it_is_asked_to, 0,
                        COUNT_OF(mains));
    tcase_add_test(life, a_pool_is_there_from_its_first_beat_until_its_heartbeater_exits);
    tcase_add_test(life, a_pool_that_somebody_removed_need_not_be_removed);
    suite_add_tcase(suite, life);
    return suite;
}
