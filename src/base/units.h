/*
 * units.h - numbers as people write them: 500ms 10s 5m 2h 7d.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "base/base.h"

struct error;

#define UNITS_TEXT_SIZE 64

/* One number and one unit (us ms s m h d); fractions as in 1.5h. 0 may stand alone. Refused, with
 * the reason: negative, no unit, garbage behind it, over 100 years. */
bool units_parse_duration(const char *text, usec_t *duration_out, struct error *err) MUST_CHECK;

/* The largest two units that matter: "1.2s" under a minute, "5m 20s", "3d 4h". For people. */
const char *units_format_duration(usec_t duration, char text[UNITS_TEXT_SIZE]);

/* "812 B", "1.5 KiB", "3.0 MiB". For people. */
const char *units_format_size(uint64_t size, char text[UNITS_TEXT_SIZE]);

#endif
