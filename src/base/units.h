/*
 * units.h - numbers as people write them: 500ms 10s 5m 2h 7d, 64K 512M 1G, 100/s.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "base/base.h"

struct error;

#define UNITS_TEXT_SIZE 64

/* One number and one unit (us ms s m h d); fractions as in 1.5h. 0 may stand alone. Refused, with
 * the reason: negative, no unit, garbage after it, over 100 years. */
bool units_parse_duration(const char *text, usec_t *duration_out, struct error *err) MUST_CHECK;

/* A whole number of bytes, or of K, M, G or T: multiples of 1024. Refused, with the reason:
 * negative, a fraction, another unit, over 1024T. */
bool units_parse_size(const char *text, bytes_t *size_out, struct error *err) MUST_CHECK;

/* This many in each period. count 0 is "no limit"; it is never parsed. */
struct units_rate {
    int64_t count;
    usec_t period;
};

/* A whole number from 1 to a billion, a slash, and s, m, h or d. */
bool units_parse_rate(const char *text, struct units_rate *rate_out, struct error *err) MUST_CHECK;

/* As it is written: "100/s". The rate has been parsed. */
const char *units_format_rate(const struct units_rate *rate, char text[UNITS_TEXT_SIZE]);

/* The largest two units that matter: "1.2s" under a minute, "5m 20s", "3d 4h". For people. */
const char *units_format_duration(usec_t duration, char text[UNITS_TEXT_SIZE]);

/* "812 B", "1.5 KiB", "3.0 MiB". For people. */
const char *units_format_size(uint64_t size, char text[UNITS_TEXT_SIZE]);

#endif
