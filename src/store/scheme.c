/*
 * scheme.c - the table of what else backends are called.
 */
#include "store/scheme.h"

#include "base/text.h"

#include <string.h>

#define POSTGRES "write postgres://user@host/database"
#define CLUSTER  "a cluster is found by any of its nodes: write redis://node:7000,node:7001"
#define TLS_NODE "a cluster is found by any of its nodes: write rediss://node:7000,node:7001"
#define SENTINEL "write redis+sentinel://host:26379,host:26379/master-name/0"
#define SOCKET                                                                                     \
    "Redis is reached by TCP alone: have it listen on 127.0.0.1 and write "                        \
    "redis://127.0.0.1:6379/0"

static const struct {
    const char *scheme, *advice;
} others[] = {
    {"pg", POSTGRES},
    {"psql", POSTGRES},
    {"pgsql", POSTGRES},
    {"jdbc", POSTGRES},
    {"redis+cluster", CLUSTER},
    {"rediss+cluster", TLS_NODE},
    {"sentinel", SENTINEL},
    {"redis-sentinel", SENTINEL},
    {"rediss-sentinel", "write rediss+sentinel://host:26379,host:26379/master-name/0"},
    {"unix", SOCKET},
    {"redis+unix", SOCKET},
    {"redis+socket", SOCKET},
    {"redis-socket", SOCKET},
    {"redis+tls", "write rediss://host:6379/0"},
    {"redis+ssl", "write rediss://host:6379/0"},
    {"valkey", "write redis://host:6379/0"},
    {"valkeys", "write rediss://host:6379/0"},
    {"sqlite3", "write sqlite:./jobs.db"},
    {"file", "write sqlite:./jobs.db"},
};

void scheme_add_url(struct buffer *url, const char *text)
{
    const size_t scheme = strcspn(text, ":");
    const size_t name = strcspn(text, "+:");
    const bool is_postgres =
        text_starts_with(text, "postgres+") || text_starts_with(text, "postgresql+");

    buffer_add(url, text, is_postgres ? name : scheme);
    buffer_text(url, text + scheme);
}

const char *scheme_advice(const char *scheme)
{
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (text_equal(others[i].scheme, scheme))
            return others[i].advice;
    return NULL;
}
