/*
 * zone_load.h - a time zone by its name, from the machine's files.
 */
#ifndef BASE_ZONE_LOAD_H
#define BASE_ZONE_LOAD_H

#include "base/base.h"
#include "base/zone.h"

struct arena;
struct error;

/* "Europe/Berlin", from $TZDIR or /usr/share/zoneinfo, into the arena. UTC is built in. A name that
 * is unknown here or could leave the folder is TH_E_NOT_FOUND, a file that cannot be used
 * TH_E_INVALID. */
bool zone_load(const char *name, struct arena *arena, const struct zone **zone_out,
               struct error *err) MUST_CHECK;

#endif
