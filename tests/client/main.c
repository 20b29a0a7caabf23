/*
 * main.c - runs the client's tests, or those of one suite: CK_RUN_SUITE=client/open client-tests
 */
#include "suites.h"

#include "base/base.h"

#include <stdlib.h>

static Suite *(*const suites[])(void) = {
    open_suite, enqueue_suite, request_suite, look_suite, wait_suite, crowd_suite, steer_suite,
};

int main(void)
{
    SRunner *runner = srunner_create(NULL);

    for (size_t i = 0; i < COUNT_OF(suites); i++)
        srunner_add_suite(runner, suites[i]());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
