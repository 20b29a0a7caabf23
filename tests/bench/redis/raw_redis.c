/*
 * raw_redis.c - the store's own scripts on its own layout, called by hiredis: what is left when the
 * driver around them is taken away.
 *
 * The words of a batch are made as simply as can be; of the answers only what the next call needs
 * is looked at.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/redis/bare_redis.h"
#include "bench/redis/redis_ways.h"
#include "bench/store_ways.h"
#define REDIS_SCRIPTS
#include "redis_scripts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE     "th:{default}:"
#define MEMBER_ID 35
#define ID_LENGTH 36
#define TOKEN     "bbbbbbbbbbbbbbbb"
#define END_SIZE  256

struct raw_loop {
    redisContext *redis;
    struct bare_words words;
    redisReply *last;
    char (*ends)[END_SIZE];
    bool forget;
    size_t taken;
};

static void add_end(struct raw_loop *loop, size_t i, const char *now)
{
    char *end = loop->ends[i];

    memcpy(end, "5T" TOKEN, 18);
    for (int k = 0; k < 4; k++)
        end[18 + k] = (char)(i >> (24 - 8 * k));
    int length = snprintf(end + 22, END_SIZE - 22,
                          " 0 1 0 0 %s 2 1 %s 1000 500 300 2000 -1 0 - bench", now + 2, now + 2);
    bare_words_add(&loop->words, end, 22 + (size_t)length);
}

/* All that was reserved before, as one run: src/store/redis/scripts/parts/settle.lua. */
static void add_finished(struct raw_loop *loop, const char *count, const char *now)
{
    const redisReply *members = loop->last->element[4];
    const char *const head[] = {loop->forget ? "F" : "K", count, TOKEN, "0"};

    for (size_t i = 0; i < COUNT_OF(head); i++)
        bare_words_text(&loop->words, head[i]);
    for (size_t i = 0; i < members->elements; i++)
        bare_words_add(&loop->words, members->element[i]->str + MEMBER_ID, ID_LENGTH);
    for (size_t i = 0; !loop->forget && i < members->elements; i++)
        add_end(loop, i, now);
}

static bool exchange_once(struct raw_loop *loop, const char *batch)
{
    usec_t moment = clock_wall();
    char now[24], expires[24], count[24];
    size_t finished = loop->last ? loop->last->element[4]->elements : 0;

    snprintf(now, sizeof now, "%018lld", (long long)moment);
    snprintf(expires, sizeof expires, "%018lld", (long long)(moment + BENCH_LEASE));
    snprintf(count, sizeof count, "%zu", finished);
    loop->words.count = 0;
    const char *const head[] = {
        "EVALSHA", redis_scripts[SCRIPT_EXCHANGE].sha, "2", QUEUE, QUEUE "state", now, "0", count};
    const char *const tail[] = {batch, expires, TOKEN, "0", "16", "bench", "0", "0", "0", ""};
    for (size_t i = 0; i < COUNT_OF(head); i++)
        bare_words_text(&loop->words, head[i]);
    if (finished > 0)
        add_finished(loop, count, now);
    for (size_t i = 0; i < COUNT_OF(tail); i++)
        bare_words_text(&loop->words, tail[i]);
    redisReply *next =
        bare_redis_run(loop->redis, loop->words.count, loop->words.words, loop->words.lengths);
    bench_expect("raw: jobs settled", strspn(next->element[0]->str, "o"), finished);
    if (loop->last)
        freeReplyObject(loop->last);
    loop->last = next;
    loop->taken += next->element[4]->elements;
    return next->element[4]->elements > 0;
}

static usec_t exchange(const char *url, struct bench_size size, bool forget)
{
    struct store *store = bench_store(bench_fresh_path(url));
    struct raw_loop loop = {
        .redis = bare_redis_open(url),
        .words = bare_words_new(2 * size.batch + 32),
        .ends = calloc(size.batch, sizeof *loop.ends),
        .forget = forget,
    };
    char batch[24];

    bench_fill(store, (struct bench_size){size.jobs, size.batch < 100 ? 100 : size.batch});
    free(bare_redis_load(loop.redis, redis_scripts[SCRIPT_EXCHANGE].text));
    snprintf(batch, sizeof batch, "%zu", size.batch);
    usec_t start = clock_boot();
    while (exchange_once(&loop, batch))
        continue;
    usec_t elapsed = clock_boot() - start;
    bench_expect("raw: jobs taken", loop.taken, size.jobs);
    freeReplyObject(loop.last);
    redisFree(loop.redis);
    bare_words_free(&loop.words);
    free(loop.ends);
    store_close(&store);
    return elapsed;
}

usec_t raw_redis_exchange_keep(const char *url, struct bench_size size)
{
    return exchange(url, size, false);
}

usec_t raw_redis_exchange_forget(const char *url, struct bench_size size)
{
    return exchange(url, size, true);
}
