/*
 * durability.c - reads INFO: it may be asked for where CONFIG may not.
 */
#include "store/redis/ops/durability.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "store/redis/net/ahead.h"
#include "store/redis/ops/ops.h"

#include <stdio.h>
#include <string.h>

/* The value after "name:" at the start of a line; "" when there is none. */
static void info_value(const char *info, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    const char *line = info;

    value[0] = '\0';
    while (line && (strncmp(line, name, length) != 0 || line[length] != ':')) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (line)
        snprintf(value, size, "%.*s", (int)strcspn(line + length + 1, "\r\n"), line + length + 1);
}

static bool read_info(struct redis *redis, const char *section, redisReply **reply_out,
                      struct error *err)
{
    const char *const words[] = {"INFO", section};

    redis_ahead_hear(redis);
    return redis_node_open(redis, 0, err) &&
           redis_link_ask(&redis->nodes[0].link, words, COUNT_OF(words), redis->deadline, reply_out,
                          err);
}

bool redis_durability_check(struct redis *redis, struct error *err)
{
    REDIS_REPLY reply = NULL;
    char policy[64], most[32];

    if (!read_info(redis, "memory", &reply, err))
        return false;
    info_value(reply->str ? reply->str : "", "maxmemory_policy", policy, sizeof policy);
    info_value(reply->str ? reply->str : "", "maxmemory", most, sizeof most);
    if (policy[0] == '\0' || text_equal(policy, "noeviction") || text_equal(most, "0"))
        return true;
    return error_set(err, TH_E_UNAVAILABLE,
                     "%s: the server throws keys away when its memory is full (maxmemory-policy "
                     "%s), and with them jobs: set maxmemory-policy noeviction",
                     redis->address.shown, policy);
}

/* CONFIG may be forbidden: then it is "". */
static bool read_fsync(struct redis *redis, char fsync[32], struct error *err)
{
    static const char *const words[] = {"CONFIG", "GET", "appendfsync"};
    struct redis_link *link = &redis->nodes[0].link;
    REDIS_REPLY reply = NULL;

    fsync[0] = '\0';
    redis_link_add_words(link, words, COUNT_OF(words));
    if (!redis_link_reply(link, redis->deadline, &reply, err))
        return false;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2)
        snprintf(fsync, 32, "%s", reply->element[1]->str);
    return true;
}

static const char *loss(bool has_aof, const char *fsync)
{
    if (!has_aof)
        return "no append-only file: a crash loses what was confirmed since the last snapshot "
               "(appendonly yes keeps it)";
    if (text_equal(fsync, "always"))
        return "append-only file, written to disk before a job is confirmed";
    if (text_equal(fsync, "everysec"))
        return "append-only file, written to disk each second: a power loss, or a crash while the "
               "disk is busy, loses up to two seconds";
    return "append-only file, written to disk when the system likes: a power loss loses the "
           "latest jobs";
}

bool redis_durability(struct store *store, char text[STORE_DURABILITY_SIZE], bool *is_safe_out,
                      struct error *err)
{
    struct redis *redis = redis_of(store);
    REDIS_REPLY persistence = NULL;
    REDIS_REPLY replication = NULL;
    char has_aof[8], replicas[16], fsync[32];

    redis_begin(redis);
    if (!read_info(redis, "persistence", &persistence, err) ||
        !read_info(redis, "replication", &replication, err) || !read_fsync(redis, fsync, err))
        return false;
    info_value(persistence->str, "aof_enabled", has_aof, sizeof has_aof);
    info_value(replication->str, "connected_slaves", replicas, sizeof replicas);
    *is_safe_out = text_equal(has_aof, "1") && text_equal(fsync, "always");
    snprintf(text, STORE_DURABILITY_SIZE, "%s; %s replicas, of which %d confirm each job%s",
             loss(text_equal(has_aof, "1"), fsync), replicas, redis->address.wait_replicas,
             text_equal(replicas, "0") ? "" : ": a failover loses what they do not have yet");
    return true;
}
