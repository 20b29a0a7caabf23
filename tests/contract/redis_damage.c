/*
 * redis_damage.c - every kind of record that a queue in Redis has, and every way to damage it.
 */
#include "redis_damage.h"

#include <stdio.h>

struct kind {
    const char *what; /* 'hash', 'zset' or 'key', as redis_damage.lua has them */
    const char *key;  /* after the queue's base, or after the prefix if it starts with ':' */
    const char *name; /* field ("": the first), or part of the member; NULL: the victim's id */
    enum damage_victim victim;
    bool takes_all; /* jobs are lost with it */
};

static const struct kind kinds[] = {
    {"hash", "job", NULL, VICTIM_READY, false},
    {"hash", "job", NULL, VICTIM_SCHEDULED, false},
    {"hash", "job", NULL, VICTIM_RETRY, false},
    {"hash", "job", NULL, VICTIM_RUNNING, false},
    {"hash", "job", NULL, VICTIM_KEYED, false},
    {"hash", "job", NULL, VICTIM_BLOCKED, false},
    {"hash", "job", NULL, VICTIM_DONE, false},
    {"hash", "job", NULL, VICTIM_DEAD, false},
    {"hash", "lease", NULL, VICTIM_RUNNING, false},
    {"hash", "lease", NULL, VICTIM_KEYED, false},
    {"hash", "batch", "", VICTIM_RUNNING, false},
    {"hash", "batch_ids", "", VICTIM_RUNNING, false},
    {"hash", "ended", NULL, VICTIM_DONE, false},
    {"hash", "ended", NULL, VICTIM_DEAD, false},
    {"hash", "ended", NULL, VICTIM_CANCELLED, false},
    {"hash", "payload", NULL, VICTIM_LARGE, false},
    {"hash", "aside", NULL, VICTIM_ASIDE, false},
    {"hash", "job", NULL, VICTIM_ASIDE, false},
    {"hash", "keyed", "a key", VICTIM_NONE, false},
    {"hash", "idempotency", "once", VICTIM_NONE, false},
    {"hash", ":cron", "daily", VICTIM_NONE, false},
    {"hash", "state", "seq", VICTIM_NONE, false},
    {"hash", "state", "next_expiry", VICTIM_NONE, false},
    {"hash", "state", "done_total", VICTIM_NONE, false},
    {"hash", "state", "failed_total", VICTIM_NONE, false},
    {"zset", "ready", NULL, VICTIM_READY, false},
    {"zset", "scheduled", NULL, VICTIM_SCHEDULED, false},
    {"zset", "retry", NULL, VICTIM_RETRY, false},
    {"zset", "blocked", NULL, VICTIM_BLOCKED, false},
    {"zset", "done", NULL, VICTIM_DONE, false},
    {"zset", "dead", NULL, VICTIM_DEAD, false},
    {"zset", "cancelled", NULL, VICTIM_CANCELLED, false},
    {"zset", "aside_place", NULL, VICTIM_ASIDE, false},
    {"zset", "aside_age", NULL, VICTIM_ASIDE, false},
    {"zset", "aside_due", NULL, VICTIM_ASIDE, false},
    {"zset", "ids", NULL, VICTIM_READY, false},
    {"zset", "failed", NULL, VICTIM_DEAD, false},
    {"zset", "tags", NULL, VICTIM_SCHEDULED, false},
    {"zset", "idempotency_expiry", "once", VICTIM_NONE, false},
    {"zset", "idempotency_ids", "once", VICTIM_NONE, false},
};

static const char *const ways[] = {"gone", "garbage", "first", "half", "letters", "nines"};

/* Whole keys: what was in them is gone, and everything else goes on. */
static const struct kind keys[] = {
    {"key", "detail:", NULL, VICTIM_DEAD, false},
    {"key", "detail:", NULL, VICTIM_RUNNING, false},
    {"key", "runs:", NULL, VICTIM_RUNNING, false},
    {"key", "runs:", NULL, VICTIM_RETRY, false},
    {"key", "ids", "", VICTIM_NONE, false},
    {"key", "ids_pages", "", VICTIM_NONE, false},
    {"key", "ready_pages", "", VICTIM_NONE, false},
    {"key", "failed", "", VICTIM_NONE, false},
    {"key", "tags", "", VICTIM_NONE, false},
    {"key", "idempotency", "", VICTIM_NONE, false},
    {"key", "idempotency_expiry", "", VICTIM_NONE, false},
    {"key", "idempotency_ids", "", VICTIM_NONE, false},
    {"key", "state", "", VICTIM_NONE, false},
    {"key", ":{pools}:pool", "", VICTIM_NONE, false},
    {"key", ":{pools}:beat", "", VICTIM_NONE, false},
    {"key", ":queues", "", VICTIM_NONE, false},
    {"key", ":cron", "", VICTIM_NONE, false},
    {"key", "keyed", "", VICTIM_BLOCKED, false},
    {"key", "job", "", VICTIM_NONE, true},
    {"key", "payload", "", VICTIM_LARGE, false},
    {"key", "ready", "", VICTIM_NONE, true},
    {"key", "scheduled", "", VICTIM_SCHEDULED, false},
    {"key", "retry", "", VICTIM_RETRY, false},
    {"key", "blocked", "", VICTIM_BLOCKED, false},
    {"key", "aside", "", VICTIM_NONE, false},
    {"key", "aside_place", "", VICTIM_NONE, false},
    {"key", "aside_age", "", VICTIM_NONE, false},
    {"key", "aside_due", "", VICTIM_NONE, false},
    {"key", "lease", "", VICTIM_NONE, true},
    {"key", "batch", "", VICTIM_RUNNING, false},
    {"key", "batch_ids", "", VICTIM_RUNNING, false},
    {"key", "ended", "", VICTIM_NONE, true},
    {"key", "done", "", VICTIM_NONE, false},
    {"key", "dead", "", VICTIM_NONE, false},
    {"key", "cancelled", "", VICTIM_NONE, false},
};

static const char *const key_ways[] = {"other", "lost"};

static const struct damage *fill(const struct kind *kind, const char *way)
{
    static struct damage damage;
    static char what[128];

    snprintf(what, sizeof what, "%s %s %s, %s", kind->what, kind->key,
             kind->name ? kind->name : "of a job", way);
    damage = (struct damage){.what = what,
                             .kind = kind->what,
                             .key = kind->key,
                             .name = kind->name,
                             .way = way,
                             .victim = kind->victim,
                             .takes_all = kind->takes_all};
    return &damage;
}

const struct damage *redis_damage(size_t number)
{
    const size_t records = COUNT_OF(kinds) * COUNT_OF(ways);

    if (number < records)
        return fill(&kinds[number / COUNT_OF(ways)], ways[number % COUNT_OF(ways)]);
    number -= records;
    if (number < COUNT_OF(keys) * COUNT_OF(key_ways))
        return fill(&keys[number / COUNT_OF(key_ways)], key_ways[number % COUNT_OF(key_ways)]);
    return NULL;
}
