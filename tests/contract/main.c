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

static suite_maker *const suites[] = {
    checks_suite,  enqueue_suite,    idempotency_suite, order_suite,    lease_suite,
    reclaim_suite, clock_suite,      extend_suite,      exchange_suite, ack_suite,
    retry_suite,   run_now_suite,    dead_suite,        keyed_suite,    blocked_suite,
    cancel_suite,  admin_suite,      failures_suite,    limits_suite,   full_suite,
    rate_suite,    faults_suite,     schema_suite,      wait_suite,     states_suite,
    held_suite,    file_suite,       links_suite,       damage_suite,   model_suite,
    list_suite,    pages_suite,      cron_suite,        doors_suite,    races_suite,
    aside_suite,   bring_back_suite, watch_suite,       vectors_suite,  redis_batch_suite,
};

/* What a way in for producers has to pass: A1, A2 and A9. */
static suite_maker *const producer_suites[] = {
    enqueue_suite, idempotency_suite, keyed_suite, blocked_suite, producers_suite,
};

TCase *contract_group(Suite *suite, const char *name)
{
    TCase *group = tcase_create(name);

    tcase_set_timeout(group, CASE_TIMEOUT);
    suite_add_tcase(suite, group);
    return group;
}

static int run_suites(suite_maker *const *makers, size_t count)
{
    SRunner *runner = srunner_create(NULL);

    for (size_t i = 0; i < count; i++)
        srunner_add_suite(runner, makers[i]());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed;
}

int main(int argc, char **argv)
{
    const struct backend *backend = argc == 2 ? backend_find(argv[1]) : NULL;
    char root[32];
    uint32_t run;

    if (backend == NULL) {
        fprintf(stderr, "usage: %s BACKEND, which is one of\n", argv[0]);
        backend_print_names(stderr);
        return 2;
    }
    random_bytes(&run, sizeof run);
    snprintf(root, sizeof root, "%08x", run);
    scene_use_backend(backend, root);
    int failed = backend->adopt != NULL ? run_suites(producer_suites, COUNT_OF(producer_suites))
                                        : run_suites(suites, COUNT_OF(suites));
    scene_leave_backend();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
