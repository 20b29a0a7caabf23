/*
 * queue_json.h - the numbers of queues as JSON: what `thctl --json` and the HTTP API say of them.
 *
 * Each call writes the members of an object that its caller has opened.
 */
#ifndef CLIENT_QUEUE_JSON_H
#define CLIENT_QUEUE_JSON_H

#include "base/base.h"
#include "store/store.h"

struct json_writer;

/* How many jobs are in each state, and what has ever been done and failed. */
void queue_json_add_stats(struct json_writer *json, const struct queue_stats *stats, usec_t now);

/* The same without its name. */
void queue_json_add_counts(struct json_writer *json, const struct queue_stats *stats, usec_t now);

/* Whether it is paused, and what waits and runs. */
void queue_json_add_queue(struct json_writer *json, const struct queue_stats *stats, usec_t now);

/* The same counts of all queues together. */
void queue_json_add_totals(struct json_writer *json, const struct queue_stats_list *list,
                           usec_t now);

/* How long the oldest ready job has been waiting; negative when none is ready. */
usec_t queue_json_oldest_age(const struct queue_stats *stats, usec_t now);

int64_t queue_json_count_waiting(const struct queue_stats *stats);

#endif
