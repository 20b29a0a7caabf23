/*
 * cases.h - those parts of a suite of this folder that have a file of their own.
 */
#ifndef TESTS_UNIT_BASE_CASES_H
#define TESTS_UNIT_BASE_CASES_H

#include "base/base.h"

#include <check.h>

TCase *json_scan_case(void);
TCase *json_verdicts_case(void);
TCase *log_waiting_case(void);

#endif
