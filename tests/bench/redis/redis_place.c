/*
 * redis_place.c - the benchmarks of the Redis store have a server for themselves, and empty it.
 */
#include "bench/bench.h"
#include "bench/redis/bare_redis.h"
#include "bench/store_ways.h"

const char *bench_fresh_path(const char *folder)
{
    const char *argv[] = {"FLUSHALL"};
    const size_t lengths[] = {8};
    redisContext *redis = bare_redis_open(folder);

    freeReplyObject(bare_redis_run(redis, 1, argv, lengths));
    redisFree(redis);
    return folder;
}

struct store *bench_store(const char *path)
{
    struct store_options options = {.migrate = true};
    struct store *store = NULL;
    struct error err;

    if (!store_open(path, &options, &store, &err))
        bench_die("open", &err);
    return store;
}
