/*
 * timestamp.h - moments as RFC 3339 text, exact to the microsecond.
 */
#ifndef BASE_TIMESTAMP_H
#define BASE_TIMESTAMP_H

#include "base/base.h"

struct error;

#define TIMESTAMP_SIZE 32

/* The moments a job may have: 1970-01-01 (exclusive) to the last microsecond of 9999. */
#define TIMESTAMP_2000 ((usec_t)946684800000000)
#define TIMESTAMP_MAX  ((usec_t)253402300799999999)

/* "2030-01-02T03:04:05.123456Z". Always with six decimals and in UTC. */
const char *timestamp_format(usec_t moment, char text[TIMESTAMP_SIZE]);

/* Date, T or a space, time with up to nine decimals (cut to microseconds), then Z or an offset
 * such as +01:00. A day that does not exist, 24:00, a leap second and a year outside 1970..9999
 * are refused with a sentence. */
bool timestamp_parse(const char *text, usec_t *moment_out, struct error *err) MUST_CHECK;

#endif
