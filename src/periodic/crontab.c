/*
 * crontab.c - the cron entries of a pool: one pass enqueues what is due.
 *
 * An entry sleeps until its next slot, but no longer than LOOK_EVERY: a clock that is set back must
 * not leave it asleep.
 */
#include "periodic/crontab.h"

#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "config/config.h"

#include <stdlib.h>

#define LOOK_EVERY  USEC_PER_MIN
#define RETRY_AFTER USEC_PER_SEC

struct crontab_entry {
    const struct cron_config *config;
    usec_t look_at;     /* on the database's clock; 0: at once */
    usec_t refused_for; /* the slot that was complained about; 0: none */
    usec_t doubted;     /* the stored slot that was complained about; 0: none */
};

bool crontab_init(struct crontab *crontab, const struct config *config, struct error *err)
{
    *crontab = (struct crontab){.enqueue = enqueue_defaults()};
    crontab->enqueue.idempotency_window = config->idempotency_window;
    crontab->entries = calloc(config->cron_count + 1, sizeof *crontab->entries);
    if (!crontab->entries)
        return error_no_memory(err);
    for (size_t i = 0; i < config->cron_count; i++) {
        if (config->cron[i].enabled)
            crontab->entries[crontab->count++].config = &config->cron[i];
    }
    return true;
}

static void say_doubt(struct crontab_entry *entry, usec_t doubted)
{
    char at[TIMESTAMP_SIZE];

    if (doubted != 0 && doubted != entry->doubted)
        log_warning("cron_doubted", "name=%s slot=%s hint=%s", entry->config->name,
                    timestamp_format(doubted, at),
                    "stored as its last slot when a clock was ahead; it goes on from now");
    entry->doubted = doubted;
}

/* One that nobody has seen before is remembered, so that a restart knows what was missed. */
static bool read_past(struct crontab_entry *entry, struct store *store, usec_t now,
                      struct cron_past *past_out, struct error *err)
{
    const char *name = entry->config->name;

    if (!store_cron_last(store, name, now, past_out, err))
        return false;
    say_doubt(entry, past_out->doubted);
    if (past_out->last != 0)
        return true;
    return store_cron_mark(store, name, cron_first_mark(now), now, err) &&
           store_cron_last(store, name, now, past_out, err);
}

/* With a key the job may be one that waited already. */
static void log_enqueued(const struct cron_config *config, usec_t slot, const struct job *job)
{
    char at[TIMESTAMP_SIZE], id[UUID_TEXT_SIZE];

    timestamp_format(slot, at);
    if (config->key)
        log_info("cron_enqueued", "name=%s slot=%s type=%s key=%s", config->name, at, job->type,
                 config->key);
    else
        log_info("cron_enqueued", "name=%s slot=%s type=%s job=%s", config->name, at, job->type,
                 uuid_format(&job->id, id));
}

/* The slot is not used up; it is tried again until another one comes. */
static void complain(struct crontab_entry *entry, usec_t slot, const struct error *err)
{
    char at[TIMESTAMP_SIZE];

    if (entry->refused_for != slot)
        log_warning("cron_refused", "name=%s slot=%s error=%s", entry->config->name,
                    timestamp_format(slot, at), err->text);
    entry->refused_for = slot;
}

static bool enqueue_slot(struct crontab *crontab, const struct crontab_entry *entry,
                         struct store *store, usec_t slot, usec_t now, struct error *err)
{
    struct job job = config_cron_job(entry->config);
    bool stored = false;

    enqueue_complete(&crontab->enqueue, &job, now);
    if (!store_cron_enqueue(store, entry->config->name, slot, &job, now, &stored, err))
        return false;
    if (stored)
        log_enqueued(entry->config, slot, &job);
    return true;
}

/* A job that is refused, as by a waiting one of another type with its key, stops nobody else. */
static bool enqueue_due(struct crontab *crontab, struct crontab_entry *entry, struct store *store,
                        usec_t now, bool *refused_out, struct error *err)
{
    *refused_out = false;
    for (size_t i = 0; i < crontab->due.count && !*refused_out; i++) {
        const usec_t slot = crontab->due.slots[i];

        if (enqueue_slot(crontab, entry, store, slot, now, err))
            continue;
        if (err->code != TH_E_CONFLICT && err->code != TH_E_INVALID)
            return error_prefix(err, "enqueue cron entry %s", entry->config->name);
        complain(entry, slot, err);
        *refused_out = true;
    }
    return true;
}

static usec_t earlier(usec_t a, usec_t b)
{
    return a != 0 && a < b ? a : b;
}

static bool visit(struct crontab *crontab, struct crontab_entry *entry, struct store *store,
                  usec_t now, struct error *err)
{
    const struct cron_config *config = entry->config;
    struct cron_past past;
    bool is_refused;

    if (!read_past(entry, store, now, &past, err))
        return error_prefix(err, "last slot of cron entry %s", config->name);
    cron_due(&config->times, config->zone, config->catch_up, past.last, now, &crontab->due);
    if (past.paused_at != 0)
        crontab->due.count = 0;
    if (!enqueue_due(crontab, entry, store, now, &is_refused, err))
        return false;
    if (crontab->due.count == CRON_SLOTS_MAX)
        entry->look_at = now;
    else if (is_refused)
        entry->look_at = now + RETRY_AFTER;
    else
        entry->look_at = earlier(cron_next(&config->times, config->zone, now), now + LOOK_EVERY);
    return true;
}

bool crontab_pass(struct crontab *crontab, struct store *store, usec_t now, usec_t *next_out,
                  struct error *err)
{
    *next_out = 0;
    for (size_t i = 0; i < crontab->count; i++) {
        struct crontab_entry *entry = &crontab->entries[i];
        const bool is_awake = entry->look_at <= now || entry->look_at > now + LOOK_EVERY;

        if (is_awake && !visit(crontab, entry, store, now, err))
            return false;
        if (*next_out == 0 || entry->look_at < *next_out)
            *next_out = entry->look_at;
    }
    return true;
}

void crontab_done(struct crontab *crontab)
{
    free(crontab->entries);
    *crontab = (struct crontab){0};
}
