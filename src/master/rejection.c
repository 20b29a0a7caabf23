/*
 * rejection.c - a refused config, in the log.
 */
#include "master/rejection.h"

#include "base/log.h"
#include "config/diagnostics.h"

static void log_one(const struct diagnostic *item)
{
    const struct place *place = &item->place;

    if (place->line == 0)
        log_error("config_rejected", "file=%s error=%s", place->source->name, item->text);
    else
        log_error("config_rejected", "file=%s line=%zu column=%zu error=%s", place->source->name,
                  place->line, place->column, item->text);
}

void rejection_log(const struct diagnostics *diagnostics, const char *text, const char *hint)
{
    log_hold();
    for (size_t i = 0; i < diagnostics->count; i++)
        log_one(&diagnostics->items[i]);
    log_error("config_rejected", "error=%s hint=%s", text, hint);
    log_release();
}
