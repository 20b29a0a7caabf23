/*
 * minimal_redis.c - the least that could be called a queue in Redis: a list of numbers, a hash of
 * payloads, a hash of states. No tokens, no leases, no ids, no history.
 */
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/redis/bare_redis.h"
#include "bench/redis/redis_ways.h"

#include <stdio.h>
#include <stdlib.h>

static const char enqueue_script[] = "local id = redis.call('INCRBY', 'seq', #ARGV) - #ARGV\n"
                                     "for i = 1, #ARGV do\n"
                                     "  redis.call('HSET', 'payload', id + i, ARGV[i])\n"
                                     "  redis.call('RPUSH', 'ready', id + i)\n"
                                     "end\n";

/* ARGV: how many to take, what becomes of those that are finished, and these. */
static const char exchange_script[] =
    "local finish = ARGV[2]\n"
    "for i = 3, #ARGV do\n"
    "  if finish == 'keep' then\n"
    "    redis.call('HSET', 'state', ARGV[i], 2)\n"
    "  else\n"
    "    redis.call('HDEL', 'state', ARGV[i])\n"
    "    redis.call('HDEL', 'payload', ARGV[i])\n"
    "  end\n"
    "end\n"
    "local ids = redis.call('LPOP', 'ready', ARGV[1])\n"
    "if not ids then return {} end\n"
    "local answer = {}\n"
    "for i, id in ipairs(ids) do\n"
    "  redis.call('HSET', 'state', id, 1)\n"
    "  answer[2 * i - 1], answer[2 * i] = id, redis.call('HGET', 'payload', id)\n"
    "end\n"
    "return answer\n";

static void fill(redisContext *redis, struct bench_size size)
{
    char *sha = bare_redis_load(redis, enqueue_script);
    struct bare_words words = bare_words_new(size.batch + 3);
    struct bytes payload = bench_payload();

    bare_words_text(&words, "EVALSHA");
    bare_words_text(&words, sha);
    bare_words_text(&words, "0");
    for (size_t i = 0; i < size.batch; i++)
        bare_words_add(&words, payload.data, payload.length);
    for (size_t done = 0; done < size.jobs; done += size.batch)
        freeReplyObject(bare_redis_run(redis, words.count, words.words, words.lengths));
    bare_words_free(&words);
    free(sha);
}

usec_t minimal_redis_enqueue(const char *url, struct bench_size size)
{
    redisContext *redis = bare_redis_open(bench_fresh_path(url));
    usec_t start = clock_boot();

    fill(redis, size);
    usec_t elapsed = clock_boot() - start;
    redisFree(redis);
    return elapsed;
}

static usec_t exchange(const char *url, struct bench_size size, const char *finish)
{
    redisContext *redis = bare_redis_open(bench_fresh_path(url));
    redisReply *last = NULL;
    char batch[24];
    bool more = true;

    fill(redis, (struct bench_size){size.jobs, size.batch < 100 ? 100 : size.batch});
    char *sha = bare_redis_load(redis, exchange_script);
    struct bare_words words = bare_words_new(size.batch + 5);
    snprintf(batch, sizeof batch, "%zu", size.batch);
    usec_t start = clock_boot();
    while (more) {
        words.count = 0;
        bare_words_text(&words, "EVALSHA");
        bare_words_text(&words, sha);
        bare_words_text(&words, "0");
        bare_words_text(&words, batch);
        bare_words_text(&words, finish);
        for (size_t i = 0; last && i < last->elements; i += 2)
            bare_words_add(&words, last->element[i]->str, last->element[i]->len);
        redisReply *next = bare_redis_run(redis, words.count, words.words, words.lengths);
        if (last)
            freeReplyObject(last);
        last = next;
        more = last->elements > 0;
    }
    usec_t elapsed = clock_boot() - start;
    freeReplyObject(last);
    bare_words_free(&words);
    free(sha);
    redisFree(redis);
    return elapsed;
}

usec_t minimal_redis_exchange_keep(const char *url, struct bench_size size)
{
    return exchange(url, size, "keep");
}

usec_t minimal_redis_exchange_forget(const char *url, struct bench_size size)
{
    return exchange(url, size, "forget");
}
