/*
 * cases.h - those parts of a suite of this folder that have a file of their own.
 */
#ifndef TESTS_UNIT_JOB_CASES_H
#define TESTS_UNIT_JOB_CASES_H

#include "base/base.h"

#include <check.h>

TCase *job_validate_case(void);
TCase *job_json_read_case(void);

#endif
