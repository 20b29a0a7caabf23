/*
 * zone_load.c - a time zone by its name, from the machine's files.
 */
#include "base/zone_load.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/io.h"
#include "base/text.h"
#include "base/tzif.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER          "/usr/share/zoneinfo"
#define NAME_MAX_LENGTH 128

/* No dot is allowed, so that no name leads out of the folder. */
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/"

static bool is_name(const char *name)
{
    const size_t length = strlen(name);

    return length > 0 && length <= NAME_MAX_LENGTH && name[0] != '/' &&
           strspn(name, LETTERS) == length;
}

static const char *folder(void)
{
    const char *chosen = getenv("TZDIR");

    return text_is_blank(chosen) ? FOLDER : chosen;
}

static bool refuse_name(const char *name, struct error *err)
{
    char shown[EXCERPT_SIZE];

    excerpt_of(name, shown);
    if (access(folder(), X_OK) != 0)
        return error_set(err, TH_E_NOT_FOUND,
                         "'%s' cannot be looked up: there is no %s (install tzdata)", shown,
                         folder());
    return error_set(err, TH_E_NOT_FOUND, "'%s' is not a time zone", shown);
}

static bool read_zone(const char *name, struct buffer *file, struct error *err)
{
    CLEANUP(buffer_done) struct buffer path = BUFFER(PATH_MAX);

    buffer_printf(&path, "%s/%s", folder(), name);
    return buffer_ok(&path, err) && io_read_regular(buffer_str(&path), file, err);
}

bool zone_load(const char *name, struct arena *arena, const struct zone **zone_out,
               struct error *err)
{
    CLEANUP(buffer_done) struct buffer file = BUFFER(TZIF_MAX);

    if (text_equal(name, zone_utc.name)) {
        *zone_out = &zone_utc;
        return true;
    }
    if (!is_name(name) || !read_zone(name, &file, err))
        return refuse_name(name, err);

    struct zone *zone = arena_alloc(arena, sizeof *zone);
    if (!zone)
        return error_no_memory(err);
    const struct bytes bytes = {(const unsigned char *)buffer_str(&file), file.length};
    if (!tzif_parse(bytes, arena, zone, err))
        return error_prefix(err, "time zone %s", name);
    zone->name = arena_text(arena, name);
    *zone_out = zone;
    return !arena->failed || error_no_memory(err);
}
