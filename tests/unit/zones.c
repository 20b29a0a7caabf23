/*
 * zones.c - the time zones in tests/fixtures/zoneinfo, the same on every machine.
 */
#include "zones.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "base/zone_load.h"

#include <check.h>
#include <stdlib.h>

#define FOLDER TH_SOURCE_DIR "/tests/fixtures/zoneinfo"

void zones_use_fixtures(void)
{
    ck_assert_int_eq(setenv("TZDIR", FOLDER, 1), 0);
}

const struct zone *zones_get(const char *name)
{
    static struct arena arena;
    const struct zone *zone = NULL;
    struct error err;

    zones_use_fixtures();
    ck_assert_msg(zone_load(name, &arena, &zone, &err), "%s", err.text);
    return zone;
}

int64_t zones_seconds(const char *text)
{
    struct error err;
    usec_t moment = 0;

    ck_assert_msg(timestamp_parse(text, &moment, &err), "%s", err.text);
    return moment / USEC_PER_SEC;
}
