/*
 * zones.h - the time zones in tests/fixtures/zoneinfo, the same on every machine.
 */
#ifndef TESTS_UNIT_ZONES_H
#define TESTS_UNIT_ZONES_H

#include "base/zone.h"

/* From here on zones come from there; for a check fixture or the start of a test. */
void zones_use_fixtures(void);

/* Lives until the process ends. */
const struct zone *zones_get(const char *name);

/* "2024-03-31T01:00:00Z" or, as a local time, "2024-03-31T03:00:00Z", in seconds. */
int64_t zones_seconds(const char *text);

#endif
