/*
 * cron_sight.h - a cron entry as it is shown: when it is due, when it was, who has paused it.
 *
 * What runs when is in a config, what has run and what is paused is in the store.
 */
#ifndef CLIENT_CRON_SIGHT_H
#define CLIENT_CRON_SIGHT_H

#include "base/base.h"
#include "job/cron_entry.h"
#include "store/store.h"

struct buffer;
struct error;
struct json_writer;

#define CRON_SIGHT_TIMES 5

struct cron_sight {
    struct cron_entry entry;
    usec_t next[CRON_SIGHT_TIMES]; /* in their order; 0: none, as for one that is paused */
    usec_t last;                   /* 0: none */
    usec_t paused_at;              /* 0: it is not */
    char paused_by[STORE_BY_SIZE];
};

bool cron_sight_look(struct store *store, const struct cron_entry *entry, usec_t now,
                     struct cron_sight *sight_out, struct error *err) MUST_CHECK;

/* "at 03:00 every day (Europe/Berlin)" */
void cron_sight_add_words(struct buffer *out, const struct cron_entry *entry);

/* An object. */
void cron_sight_add_json(struct json_writer *json, const struct cron_sight *sight);

#endif
