/*
 * cron_sight.c - a cron entry as it is shown: when it is due, when it was, who has paused it.
 */
#include "client/cron_sight.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "base/zone.h"
#include "job/cron_describe.h"
#include "job/cron_due.h"

#include <stdio.h>

#define WORDS_MAX ((size_t)64 * 1024)

static void look_ahead(struct cron_sight *sight, usec_t now)
{
    usec_t after = now;

    for (size_t i = 0; i < CRON_SIGHT_TIMES; i++) {
        sight->next[i] = cron_next(sight->entry.times, sight->entry.zone, after);
        if (sight->next[i] == 0)
            return;
        after = sight->next[i];
    }
}

bool cron_sight_look(struct store *store, const struct cron_entry *entry, usec_t now,
                     struct cron_sight *sight_out, struct error *err)
{
    struct cron_past past;

    if (!store_cron_last(store, entry->name, now, &past, err))
        return false;
    *sight_out = (struct cron_sight){
        .entry = *entry,
        .last = cron_is_mark(past.last) ? 0 : past.last,
        .paused_at = past.paused_at,
    };
    snprintf(sight_out->paused_by, sizeof sight_out->paused_by, "%s", past.paused_by);
    if (entry->enabled && past.paused_at == 0)
        look_ahead(sight_out, now);
    return true;
}

void cron_sight_add_words(struct buffer *out, const struct cron_entry *entry)
{
    cron_describe(entry->times, out);
    if (!text_equal(entry->timezone, zone_utc.name))
        buffer_printf(out, " (%s)", entry->timezone);
}

static void add_next_times(struct json_writer *json, const struct cron_sight *sight)
{
    json_write_open(json, "next_times", '[');
    for (size_t i = 0; i < CRON_SIGHT_TIMES && sight->next[i] != 0; i++)
        json_write_time(json, NULL, sight->next[i]);
    json_write_close(json, ']');
}

void cron_sight_add_json(struct json_writer *json, const struct cron_sight *sight)
{
    CLEANUP(buffer_done) struct buffer words = BUFFER(WORDS_MAX);
    const struct cron_entry *entry = &sight->entry;

    cron_sight_add_words(&words, entry);
    json_write_open(json, NULL, '{');
    json_write_text(json, "name", entry->name);
    json_write_text(json, "schedule", entry->schedule);
    json_write_text(json, "words", buffer_str(&words));
    json_write_text(json, "timezone", entry->timezone);
    json_write_time(json, "next", sight->next[0]);
    add_next_times(json, sight);
    json_write_time(json, "last", sight->last);
    json_write_text(json, "type", entry->type);
    json_write_text(json, "queue", entry->queue);
    json_write_bool(json, "enabled", entry->enabled);
    json_write_bool(json, "paused", sight->paused_at != 0);
    json_write_time(json, "paused_at", sight->paused_at);
    json_write_text(json, "paused_by", sight->paused_by[0] != '\0' ? sight->paused_by : NULL);
    json_write_close(json, '}');
}
