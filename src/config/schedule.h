/*
 * schedule.h - the times of a cron entry: its schedule and its time zone.
 */
#ifndef CONFIG_SCHEDULE_H
#define CONFIG_SCHEDULE_H

#include "config/config.h"
#include "config/yaml_tree.h"

/* Reads what the entry has as text; the zone is put into the arena. What is wrong is added to the
 * diagnostics. */
void schedule_read(struct cron_config *cron, const struct node *entry, struct arena *arena,
                   struct diagnostics *diagnostics);

#endif
