/*
 * when.h - moments as people say them, and as they like to read them.
 *
 *   2026-01-31T10:00:00Z   a moment anywhere on earth
 *   2026-01-31 10:00       what the local clock will show
 *   09:00                  the next time the local clock shows it
 *   tomorrow 09:00
 *   +5m                    from now
 *   -5m                    ago, where the past is asked for
 *
 * `now` is handed in; of the machine only the rules of its time zone are used.
 */
#ifndef THCTL_WHEN_H
#define THCTL_WHEN_H

#include "base/base.h"

struct error;

#define WHEN_FORMS     "2026-01-31T10:00:00Z, '2026-01-31 10:00', 09:00, 'tomorrow 09:00' or +5m"
#define WHEN_TEXT_SIZE 64

/* Refused with a sentence: any other form, a day that does not exist, an hour that the clocks skip
 * that day, a year outside 1970..9999. Of an hour that comes twice, the first one is meant. */
bool when_parse(const char *text, usec_t now, usec_t *moment_out, struct error *err) MUST_CHECK;

/* For what has happened: -5m as well, and 09:00 is the last time that the local clock showed it. */
bool when_parse_past(const char *text, usec_t now, usec_t *moment_out,
                     struct error *err) MUST_CHECK;

/* "in 5m", "3s ago", "now". */
const char *when_relative(usec_t moment, usec_t now, char text[WHEN_TEXT_SIZE]);

/* "2026-01-31 10:00:00 +0100 (3s ago)", by the local clock. */
const char *when_format(usec_t moment, usec_t now, char text[WHEN_TEXT_SIZE]);

#endif
