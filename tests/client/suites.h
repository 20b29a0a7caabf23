/*
 * suites.h - every suite of the client's tests.
 */
#ifndef TESTS_CLIENT_SUITES_H
#define TESTS_CLIENT_SUITES_H

#include <check.h>

Suite *open_suite(void);
Suite *enqueue_suite(void);
Suite *request_suite(void);
Suite *look_suite(void);
Suite *wait_suite(void);
Suite *crowd_suite(void);
Suite *steer_suite(void);

#endif
