/*
 * bare_redis.h - hiredis called directly, for the bare loops that the store is compared with.
 */
#ifndef BENCH_BARE_REDIS_H
#define BENCH_BARE_REDIS_H

#include "base/base.h"

#include <hiredis/hiredis.h>

/* URL is redis://HOST:PORT/0. */
redisContext *bare_redis_open(const char *url);

/* Loads a script and answers its hash, which the caller frees. */
char *bare_redis_load(redisContext *redis, const char *script);

/* Any failure ends the program. */
redisReply *bare_redis_run(redisContext *redis, int argc, const char **argv, const size_t *lengths);

/* The words of one command, up to a fixed number. */
struct bare_words {
    const char **words;
    size_t *lengths;
    int count;
};

struct bare_words bare_words_new(size_t capacity);
void bare_words_add(struct bare_words *words, const void *data, size_t length);
void bare_words_text(struct bare_words *words, const char *text);
void bare_words_free(struct bare_words *words);

#endif
