/*
 * offer.c - what a pool offers, as JSON for people.
 */
#include "periodic/offer.h"

#include "base/json_writer.h"
#include "base/units.h"
#include "config/config.h"
#include "job/lease.h"

/* Names are plain: each byte of one is one byte of JSON. */
#define ITEM_MAX (JOB_NAME_MAX + 192)

size_t offer_limit(const struct config *config)
{
    return 64 + (config->queue_count + config->handler_count) * ITEM_MAX;
}

static void write_queue(struct json_writer *json, const struct queue_config *queue)
{
    char rate[UNITS_TEXT_SIZE];

    json_write_open(json, NULL, '{');
    json_write_text(json, "name", queue->name);
    json_write_int(json, "weight", queue->weight);
    if (queue->max_running > 0)
        json_write_int(json, "max_running", queue->max_running);
    else
        json_write_null(json, "max_running");
    json_write_text(json, "rate",
                    queue->rate.count > 0 ? units_format_rate(&queue->rate, rate) : NULL);
    json_write_close(json, '}');
}

static const char *kind_of(const struct handler_config *handler)
{
    if (handler->plugin)
        return "plugin";
    return handler->resident.argv ? "resident" : "command";
}

static void write_handler(struct json_writer *json, const struct config *config,
                          const struct handler_config *handler)
{
    static const struct job says_nothing = {0};
    const struct job_limits own = config_handler_limits(handler);
    const struct job_limits defaults = config_default_limits(config);
    const struct job_limits limits = job_limits_resolve(&says_nothing, &own, &defaults);

    json_write_open(json, NULL, '{');
    json_write_text(json, "pattern", handler->pattern);
    json_write_text(json, "kind", kind_of(handler));
    json_write_int(json, "max_attempts", limits.max_attempts);
    json_write_int(json, "timeout_ms", limits.timeout / USEC_PER_MSEC);
    json_write_close(json, '}');
}

void offer_write(const struct config *config, struct json_writer *json)
{
    const struct pool_config *pool = &config->pool;
    const usec_t interval = lease_renewal_interval(pool->heartbeat_interval, pool->lease);

    json_write_int(json, "heartbeat_ms", interval / USEC_PER_MSEC);
    json_write_open(json, "queues", '[');
    for (size_t i = 0; i < config->queue_count; i++) {
        if (!config->queues[i].remote)
            write_queue(json, &config->queues[i]);
    }
    json_write_close(json, ']');
    json_write_open(json, "handlers", '[');
    for (size_t i = 0; i < config->handler_count; i++)
        write_handler(json, config, &config->handlers[i]);
    json_write_close(json, ']');
}
