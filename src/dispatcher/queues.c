/*
 * queues.c - which queue is next.
 *
 * Each job goes to the queue with the most credit; a queue earns its weight with every job, and the
 * one that is chosen pays the sum of all weights. So shares are exact over any stretch, and a queue
 * of small weight gets its turn in between instead of in a row.
 */
#include "dispatcher/queues.h"

#include "base/error.h"
#include "base/text.h"
#include "config/config.h"

#include <stdlib.h>

bool queues_init(struct queues *queues, const struct config *config, struct error *err)
{
    *queues = (struct queues){
        .items = calloc(config->queue_count, sizeof *queues->items),
        .shares = calloc(config->queue_count, sizeof *queues->shares),
        .count = config->queue_count,
    };
    if (!queues->items || !queues->shares)
        return error_no_memory(err);
    for (size_t i = 0; i < queues->count; i++) {
        const struct queue_config *queue = &config->queues[i];

        queues->items[i] = (struct queue_turn){
            .name = queue->name,
            .weight = queue->weight,
            .max_running = (size_t)queue->max_running,
        };
    }
    return true;
}

void queues_done(struct queues *queues)
{
    free(queues->items);
    free(queues->shares);
    *queues = (struct queues){0};
}

void queues_wake(struct queues *queues)
{
    for (size_t i = 0; i < queues->count; i++)
        queues->items[i].is_dry = false;
}

static struct queue_turn *find(struct queues *queues, const char *name)
{
    for (size_t i = 0; i < queues->count; i++) {
        if (text_equal(queues->items[i].name, name))
            return &queues->items[i];
    }
    return NULL;
}

void queues_note_end(struct queues *queues, const char *queue)
{
    struct queue_turn *turn = find(queues, queue);

    if (turn && turn->max_running > 0)
        turn->is_dry = false;
}

bool queues_are_dry(const struct queues *queues)
{
    for (size_t i = 0; i < queues->count; i++) {
        if (!queues->items[i].is_dry)
            return false;
    }
    return true;
}

/* NULL when all are dry. */
static struct queue_turn *choose(struct queues *queues)
{
    struct queue_turn *best = NULL;
    int64_t sum = 0;

    for (size_t i = 0; i < queues->count; i++) {
        struct queue_turn *queue = &queues->items[i];

        if (queue->is_dry)
            continue;
        sum += queue->weight;
        queue->credit += queue->weight;
        if (!best || queue->credit > best->credit)
            best = queue;
    }
    if (best)
        best->credit -= sum;
    return best;
}

size_t queues_share(struct queues *queues, size_t room)
{
    size_t count = 0;

    for (size_t i = 0; i < queues->count; i++)
        queues->items[i].asked = queues->items[i].got = 0;
    for (size_t i = 0; i < room; i++) {
        struct queue_turn *queue = choose(queues);

        if (!queue)
            return 0;
        queue->asked++;
    }
    for (size_t i = 0; i < queues->count; i++) {
        const struct queue_turn *queue = &queues->items[i];

        if (queue->asked > 0)
            queues->shares[count++] = (struct queue_share){
                .queue = queue->name, .max = queue->asked, .max_running = queue->max_running};
    }
    return count;
}

void queues_count(struct queues *queues, const char *queue)
{
    struct queue_turn *turn = find(queues, queue);

    if (turn)
        turn->got++;
}

/* What was empty does not save up: it would take a long turn alone when it fills. */
void queues_conclude(struct queues *queues)
{
    for (size_t i = 0; i < queues->count; i++) {
        struct queue_turn *queue = &queues->items[i];

        if (queue->got >= queue->asked)
            continue;
        queue->is_dry = true;
        queue->credit = 0;
    }
}
