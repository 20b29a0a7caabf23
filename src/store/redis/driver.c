/*
 * driver.c - redis://HOST/DB: a Redis server, a cluster, or what sentinels watch over;
 * rediss:// for the same by TLS.
 */
#include "store/driver.h"
#include "base/cleanup.h"
#include "store/redis/net/reply.h"
#include "store/redis/ops/durability.h"
#include "store/redis/ops/ops.h"
#include "store/redis/schema.h"

static bool check_url(const struct store_url *url, struct error *err)
{
    CLEANUP(redis_address_done) struct redis_address address = {0};

    if (!redis_address_parse(url, &address, err))
        return false;
    return redis_tls_check(&address.tls, err) || error_prefix(err, "%s", url->shown);
}

static bool open_at(struct redis_address *address, const struct store_options *options,
                    struct store **store_out, struct error *err)
{
    struct redis *redis = NULL;

    if (!redis_connect(address, &redis, err))
        return false;
    if (!redis_durability_check(redis, err) || !redis_schema_prepare(redis, options, err)) {
        redis_disconnect(redis);
        return false;
    }
    *store_out = &redis->base;
    return true;
}

static const struct store_driver *driver_of(const struct redis *redis);

static bool open_url(const struct store_url *url, const struct store_options *options,
                     struct store **store_out, struct error *err)
{
    CLEANUP(redis_address_done) struct redis_address address = {0};

    if (!redis_address_parse(url, &address, err))
        return false;
    address.caller = arena_text(&address.arena, store_caller(options));
    if (!address.caller)
        return error_no_memory(err);
    if (!open_at(&address, options, store_out, err))
        return false;
    (*store_out)->driver = driver_of(redis_of(*store_out));
    return true;
}

static void close_store(struct store *store)
{
    redis_exchanges_forget(redis_of(store));
    redis_disconnect(redis_of(store));
}

static bool read_schema(struct store *store, struct store_schema *schema_out, struct error *err)
{
    struct redis *redis = redis_of(store);

    redis_begin(redis);
    return redis_schema_read(redis, schema_out, err);
}

/* In a cluster it is the first node's: their clocks are the operator's business. */
static bool read_clock(struct store *store, usec_t *now_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    struct redis_command *command = redis_batch_add(&batch);

    if (!command)
        return error_no_memory(err);
    redis_command_text(command, "TIME");
    redis_begin(redis);
    if (!redis_run(redis, &batch, err))
        return false;
    const redisReply *reply = batch.items[0].reply;
    if (reply->elements != 2)
        return error_set(err, TH_E_INTERNAL, "redis: TIME answered %zu fields", reply->elements);
    *now_out =
        redis_reply_int(reply->element[0]) * USEC_PER_SEC + redis_reply_int(reply->element[1]);
    return true;
}

/* clang-format off */
#define OPERATIONS                                                                                 \
    .check_url = check_url,                                                                        \
    .open = open_url,                                                                              \
    .close = close_store,                                                                          \
    .schema = read_schema,                                                                         \
    .read_clock = read_clock,                                                                      \
    .durability = redis_durability,                                                                \
    .enqueue = redis_enqueue,                                                                      \
    .exchange = redis_exchange,                                                                    \
    .held = redis_held,                                                                            \
    .heartbeat = redis_heartbeat,                                                                  \
    .watch = redis_watch,                                                                          \
    .promote = redis_promote,                                                                      \
    .reclaim = redis_reclaim,                                                                      \
    .aside = redis_aside,                                                                      \
    .bring_back = redis_bring_back,                                                                      \
    .give_up = redis_give_up,                                                                      \
    .prune = redis_prune,                                                                          \
    .publish = redis_publish,                                                                      \
    .cron_enqueue = redis_cron_enqueue,                                                            \
    .cron_last = redis_cron_last,                                                                  \
    .cron_pause = redis_cron_pause,                                                                \
    .cron_resume = redis_cron_resume,                                                              \
    .cron_mark = redis_cron_mark,                                                                  \
    .pool_register = redis_pool_register,                                                          \
    .pools = redis_pools,                                                                          \
    .pool_remove = redis_pool_remove,                                                              \
    .pool_want = redis_pool_want,                                                                  \
    .pool_remove_silent = redis_pool_remove_silent,                                                \
    .wait_fd = redis_wait_fd,                                                                      \
    .wait = redis_wait,                                                                            \
    .check_bell = redis_check_bell,                                                                \
    .get = redis_get,                                                                              \
    .list = redis_list,                                                                            \
    .failures = redis_failures,                                                                    \
    .stats = redis_stats,                                                                          \
    .count_before = redis_count_before,                                                            \
    .cancel = redis_cancel,                                                                        \
    .run_now = redis_run_now,                                                                      \
    .requeue = redis_requeue,                                                                      \
    .remove = redis_remove,                                                                        \
    .set_paused = redis_set_paused,                                                                \
    .hide_queue = redis_hide_queue

#define OVERLAP                                                                                    \
    .exchange_begin = redis_exchange_begin,                                                        \
    .exchange_end = redis_exchange_end,                                                            \
    .exchange_fd = redis_exchange_fd
/* clang-format on */

const struct store_driver store_redis = {.scheme = "redis", OPERATIONS, OVERLAP};
const struct store_driver store_redis_sentinel = {.scheme = "redis+sentinel", OPERATIONS, OVERLAP};
const struct store_driver store_rediss = {.scheme = "rediss", OPERATIONS, OVERLAP};
const struct store_driver store_rediss_sentinel = {
    .scheme = "rediss+sentinel", OPERATIONS, OVERLAP};

/* Whether it is a cluster is found, not said by the URL. Its nodes answer in no order. */
static const struct store_driver *driver_of(const struct redis *redis)
{
    static const struct store_driver cluster = {.scheme = "redis", OPERATIONS};

    return redis->slot_nodes ? &cluster : &store_redis;
}
