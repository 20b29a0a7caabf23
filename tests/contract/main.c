/*
 * main.c - runs the contract against one backend: contract-tests sqlite
 *
 * One suite or group of it by libcheck's variables: CK_RUN_SUITE=keyed contract-tests memory
 */
#include "contract.h"

#include "base/random.h"
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>

#define CASE_TIMEOUT 120 /* seconds */

typedef Suite *(suite_maker)(void);

/* Cases that block the store, are killed, or change what their process has: each has its own. */
static suite_maker *const lonely_suites[] = {
    checks_suite, schema_suite, clock_suite, faults_suite, file_suite,
    links_suite,  wait_suite,   model_suite, races_suite,
};

/* All others share one process and its handle: to fork, to connect and to look for leaks takes
 * longer than what most of them do. Those with racers come first: a fork copies what all before
 * have left behind. */
static suite_maker *const suites[] = {
    reclaim_suite, limits_suite,   ack_suite,        idempotency_suite, groups_suite,
    keyed_suite,   cron_suite,     rate_suite,       full_suite,        enqueue_suite,
    order_suite,   lease_suite,    extend_suite,     watch_suite,       exchange_suite,
    retry_suite,   run_now_suite,  dead_suite,       aside_suite,       blocked_suite,
    cancel_suite,  admin_suite,    states_suite,     vectors_suite,     held_suite,
    damage_suite,  failures_suite, doors_suite,      bring_back_suite,  list_suite,
    pages_suite,   batch_suite,    batch_told_suite, redis_batch_suite, redis_pages_suite,
    overlap_suite, extras_suite,   bulk_suite,       dead_groups_suite, claims_suite,
    pools_suite,
};

/* What a way in for producers has to pass: enqueue, idempotency and keys. */
static suite_maker *const producer_suites[] = {
    enqueue_suite, idempotency_suite, keyed_suite, blocked_suite, producers_suite, extras_suite,
};

/* Whatever looks at a lease. */
static suite_maker *const lonely_lease_suites[] = {model_suite, races_suite};
static suite_maker *const lease_suites[] = {
    reclaim_suite,  limits_suite, ack_suite,        lease_suite,   extend_suite,
    exchange_suite, retry_suite,  dead_suite,       cancel_suite,  states_suite,
    held_suite,     batch_suite,  batch_told_suite, overlap_suite, claims_suite,
};

/* What is kept of freed memory is copied by each fork. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8";
}

TCase *contract_group(Suite *suite, const char *name)
{
    TCase *group = tcase_create(name);

    tcase_set_timeout(group, CASE_TIMEOUT);
    suite_add_tcase(suite, group);
    return group;
}

static int run_suites(suite_maker *const *makers, size_t count, enum fork_status fork)
{
    SRunner *runner = srunner_create(NULL);

    for (size_t i = 0; i < count; i++)
        srunner_add_suite(runner, makers[i]());
    srunner_set_fork_status(runner, fork);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed;
}

#define RUN(suites, mode) run_suites(suites, COUNT_OF(suites), mode)

static int run_contract(const struct backend *backend)
{
    int failed = 0;

    if (!backend->adopt)
        failed +=
            backend->about_leases ? RUN(lonely_lease_suites, CK_FORK) : RUN(lonely_suites, CK_FORK);
    scene_share_handle();
    if (backend->adopt)
        return failed + RUN(producer_suites, CK_NOFORK);
    return failed + (backend->about_leases ? RUN(lease_suites, CK_NOFORK) : RUN(suites, CK_NOFORK));
}

int main(int argc, char **argv)
{
    const struct backend *backend = argc == 2 ? backend_find(argv[1]) : NULL;
    char root[32];
    uint32_t run;

    if (!backend) {
        fprintf(stderr, "usage: %s BACKEND, which is one of\n", argv[0]);
        backend_print_names(stderr);
        return 2;
    }
    random_bytes(&run, sizeof run);
    snprintf(root, sizeof root, "%08x", run);
    scene_use_backend(backend, root);
    int failed = run_contract(backend);
    scene_leave_backend();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
