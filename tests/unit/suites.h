/*
 * suites.h - every unit test suite, in the order of the layers.
 */
#ifndef TESTS_UNIT_SUITES_H
#define TESTS_UNIT_SUITES_H

#include "base/base.h"

#include <check.h>

/* base */
Suite *arena_suite(void);
Suite *base64_suite(void);
Suite *buffer_suite(void);
Suite *clock_suite(void);
Suite *error_suite(void);
Suite *excerpt_suite(void);
Suite *io_suite(void);
Suite *json_suite(void);
Suite *json_writer_suite(void);
Suite *random_suite(void);
Suite *text_suite(void);
Suite *timestamp_suite(void);
Suite *units_suite(void);
Suite *uuid_suite(void);

#endif
