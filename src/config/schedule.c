/*
 * schedule.c - the times of a cron entry: its schedule and its time zone.
 */
#include "config/schedule.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "base/zone_load.h"
#include "job/cron_parse.h"

/* What a misspelt name may have meant. The machine knows hundreds; most people live in these. */
static const char *const common_zones[] = {
    "Africa/Cairo",
    "Africa/Johannesburg",
    "Africa/Lagos",
    "Africa/Nairobi",
    "America/Argentina/Buenos_Aires",
    "America/Bogota",
    "America/Chicago",
    "America/Denver",
    "America/Los_Angeles",
    "America/Mexico_City",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Toronto",
    "America/Vancouver",
    "Asia/Bangkok",
    "Asia/Dubai",
    "Asia/Hong_Kong",
    "Asia/Istanbul",
    "Asia/Jakarta",
    "Asia/Karachi",
    "Asia/Kolkata",
    "Asia/Manila",
    "Asia/Seoul",
    "Asia/Shanghai",
    "Asia/Singapore",
    "Asia/Tehran",
    "Asia/Tokyo",
    "Australia/Melbourne",
    "Australia/Sydney",
    "Etc/UTC",
    "Europe/Amsterdam",
    "Europe/Athens",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/Helsinki",
    "Europe/Istanbul",
    "Europe/Kyiv",
    "Europe/Lisbon",
    "Europe/London",
    "Europe/Madrid",
    "Europe/Moscow",
    "Europe/Paris",
    "Europe/Prague",
    "Europe/Rome",
    "Europe/Stockholm",
    "Europe/Vienna",
    "Europe/Warsaw",
    "Europe/Zurich",
    "Pacific/Auckland",
    "UTC",
};

/* Where a key is, or the entry if it was left out. */
static struct place place_of(const struct node *entry, const char *key)
{
    const struct node *node = node_find(entry, key);

    return node ? node->place : entry->key->place;
}

static void read_times(struct cron_config *cron, const struct node *entry,
                       struct diagnostics *diagnostics)
{
    struct error err;
    char shown[EXCERPT_SIZE];

    if (!cron->schedule || cron_parse(cron->schedule, &cron->times, &err))
        return;
    diagnostics_add(diagnostics, place_of(entry, "schedule"), "cron.%s.schedule: %s",
                    excerpt_of(entry->key->text, shown), err.text);
}

static void read_zone(struct cron_config *cron, const struct node *entry, struct arena *arena,
                      struct diagnostics *diagnostics)
{
    struct error err;
    char shown[EXCERPT_SIZE];

    if (!cron->timezone || zone_load(cron->timezone, arena, &cron->zone, &err))
        return;
    diagnostics_add(
        diagnostics, place_of(entry, "timezone"), "cron.%s.timezone: %s%s",
        excerpt_of(entry->key->text, shown), err.text,
        diagnostics_hint(diagnostics, cron->timezone, common_zones, COUNT_OF(common_zones)));
}

void schedule_read(struct cron_config *cron, const struct node *entry, struct arena *arena,
                   struct diagnostics *diagnostics)
{
    read_times(cron, entry, diagnostics);
    read_zone(cron, entry, arena, diagnostics);
}
