/*
 * destinations.h - jobs that the config itself brings, by cron and on_dead: would anybody run them?
 */
#ifndef PRECHECK_DESTINATIONS_H
#define PRECHECK_DESTINATIONS_H

#include "precheck/precheck.h"

struct store_sight;

void destinations_check(const struct precheck *precheck, const struct store_sight *sight);

#endif
