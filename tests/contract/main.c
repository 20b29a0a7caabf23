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

static Suite *(*const suites[])(void) = {
    checks_suite,  enqueue_suite,  idempotency_suite, order_suite,    lease_suite,  reclaim_suite,
    extend_suite,  exchange_suite, ack_suite,         retry_suite,    dead_suite,   keyed_suite,
    blocked_suite, cancel_suite,   admin_suite,       failures_suite, limits_suite, full_suite,
    rate_suite,    faults_suite,   schema_suite,      wait_suite,     states_suite, held_suite,
    file_suite,    model_suite,
};

TCase *contract_group(Suite *suite, const char *name)
{
    TCase *group = tcase_create(name);

    tcase_set_timeout(group, CASE_TIMEOUT);
    suite_add_tcase(suite, group);
    return group;
}

static int run_suites(void)
{
    SRunner *runner = srunner_create(NULL);

    for (size_t i = 0; i < COUNT_OF(suites); i++)
        srunner_add_suite(runner, suites[i]());
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
    int failed = run_suites();
    scene_leave_backend();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
