/*
 * cron_entry.h - what a config says of a cron entry, for those who show it.
 */
#ifndef JOB_CRON_ENTRY_H
#define JOB_CRON_ENTRY_H

#include "base/base.h"
#include "job/cron.h"

struct cron_entry {
    const char *name, *schedule, *timezone;
    const char *type, *queue;
    const struct cron *times;
    const struct zone *zone; /* whose clock it is by */
    bool enabled;
};

#endif
