/*
 * redis_durability.c - reads INFO: it may be asked for where CONFIG may not.
 */
#include "store/redis/redis_durability.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* The value behind "name:" at the start of a line; "" when there is none. */
static void info_value(const char *info, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    const char *line = info;

    value[0] = '\0';
    while (line != NULL && (strncmp(line, name, length) != 0 || line[length] != ':')) {
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    if (line != NULL)
        snprintf(value, size, "%.*s", (int)strcspn(line + length + 1, "\r\n"), line + length + 1);
}

static bool read_info(struct redis *redis, const char *section, redisReply **reply_out,
                      struct error *err)
{
    const char *const words[] = {"INFO", section};

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
    info_value(reply->str != NULL ? reply->str : "", "maxmemory_policy", policy, sizeof(policy));
    info_value(reply->str != NULL ? reply->str : "", "maxmemory", most, sizeof(most));
    if (policy[0] == '\0' || text_equal(policy, "noeviction") || text_equal(most, "0"))
        return true;
    return error_set(err, TH_E_UNAVAILABLE,
                     "%s: the server throws keys away when its memory is full (maxmemory-policy "
                     "%s), and with them jobs: set maxmemory-policy noeviction",
                     redis->address.shown, policy);
}
