/*
 * crontab.h - the cron entries of a pool: one pass enqueues what is due.
 *
 * Every pool does this for its own entries; the store sees to it that a slot is enqueued once. An
 * entry that no pool has ever seen starts now: nothing before was missed.
 */
#ifndef PERIODIC_CRONTAB_H
#define PERIODIC_CRONTAB_H

#include "base/base.h"
#include "client/enqueue.h"
#include "job/cron_due.h"

struct config;
struct crontab_entry;

struct crontab {
    struct crontab_entry *entries; /* owned */
    size_t count;
    struct enqueue enqueue;
    struct cron_due due; /* of the entry at hand */
};

/* The entries that are enabled. Points into the config. */
bool crontab_init(struct crontab *crontab, const struct config *config,
                  struct error *err) MUST_CHECK;

/* *next_out, on the database's clock: when something is due next; 0: nothing will be for years. */
bool crontab_pass(struct crontab *crontab, struct store *store, usec_t now, usec_t *next_out,
                  struct error *err) MUST_CHECK;

void crontab_done(struct crontab *crontab);

#endif
