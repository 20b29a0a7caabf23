/*
 * tzif.h - the files that time zones come in (RFC 8536).
 */
#ifndef BASE_TZIF_H
#define BASE_TZIF_H

#include "base/base.h"
#include "base/zone.h"

struct arena;
struct error;

#define TZIF_MAX ((size_t)64 * 1024) /* bytes; the largest zone has a tenth of it */

/* What the file says, except the zone's name; shifts are put into the arena. Versions 2 and later
 * without leap seconds; anything else is TH_E_INVALID with a sentence. */
bool tzif_parse(struct bytes file, struct arena *arena, struct zone *zone_out,
                struct error *err) MUST_CHECK;

#endif
