/*
 * bare_redis.c - the few calls that every bare loop needs.
 */
#include "bench/redis/bare_redis.h"

#include "base/error.h"
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what, const char *why)
{
    struct error err;

    error_set(&err, TH_E_INTERNAL, "%s", why);
    bench_die(what, &err);
}

redisContext *bare_redis_open(const char *url)
{
    char host[256];
    int port;

    if (sscanf(url, "redis://%255[^:/]:%d", host, &port) != 2)
        die(url, "write redis://HOST:PORT/0");
    redisContext *redis = redisConnect(host, port);
    if (!redis || redis->err != 0)
        die(url, !redis ? "out of memory" : redis->errstr);
    return redis;
}

redisReply *bare_redis_run(redisContext *redis, int argc, const char **argv, const size_t *lengths)
{
    redisReply *reply = redisCommandArgv(redis, argc, argv, lengths);

    if (!reply)
        die(argv[0], redis->errstr);
    if (reply->type == REDIS_REPLY_ERROR)
        die(argv[0], reply->str);
    return reply;
}

char *bare_redis_load(redisContext *redis, const char *script)
{
    const char *argv[] = {"SCRIPT", "LOAD", script};
    const size_t lengths[] = {6, 4, strlen(script)};
    redisReply *reply = bare_redis_run(redis, 3, argv, lengths);
    char *sha = strdup(reply->str);

    freeReplyObject(reply);
    return sha;
}

struct bare_words bare_words_new(size_t capacity)
{
    return (struct bare_words){calloc(capacity, sizeof(char *)), calloc(capacity, sizeof(size_t)),
                               0};
}

void bare_words_add(struct bare_words *words, const void *data, size_t length)
{
    words->words[words->count] = data;
    words->lengths[words->count++] = length;
}

void bare_words_text(struct bare_words *words, const char *text)
{
    bare_words_add(words, text, strlen(text));
}

void bare_words_free(struct bare_words *words)
{
    free(words->words);
    free(words->lengths);
}
