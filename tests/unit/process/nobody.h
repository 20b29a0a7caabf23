/*
 * nobody.h - the same test without root's rights.
 */
#ifndef TESTS_UNIT_PROCESS_NOBODY_H
#define TESTS_UNIT_PROCESS_NOBODY_H

#include <check.h>
#include <grp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NOBODY_UID 65534

/* Nothing to do where the tests run without root anyway. */
static inline void nobody_become(void)
{
    if (geteuid() != 0)
        return;
    ck_assert_int_eq(setgroups(0, NULL), 0);
    ck_assert_int_eq(setresgid(NOBODY_UID, NOBODY_UID, NOBODY_UID), 0);
    ck_assert_int_eq(setresuid(NOBODY_UID, NOBODY_UID, NOBODY_UID), 0);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* the leak sanitizer reads /proc/self */
}

#endif
