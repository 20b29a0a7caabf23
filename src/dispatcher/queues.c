/*
 * queues.c - which queue is next.
 *
 * A job costs its queue one turn divided by the queue's weight, and goes to the queue that would
 * have had least with it. So those that can give share by their weights over any stretch, whatever
 * the others do, and a queue of small weight gets its turn in between instead of in a row.
 */
#include "dispatcher/queues.h"

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"

#include <stdlib.h>

bool queue_asking_init(struct queue_asking *asking, size_t queue_count, struct error *err)
{
    *asking = (struct queue_asking){
        .shares = calloc(queue_count, sizeof *asking->shares),
        .limits = calloc(queue_count, sizeof *asking->limits),
        .got = calloc(queue_count, sizeof *asking->got),
    };
    return (asking->shares && asking->limits && asking->got) || error_no_memory(err);
}

void queue_asking_done(struct queue_asking *asking)
{
    free(asking->shares);
    free(asking->limits);
    free(asking->got);
    *asking = (struct queue_asking){0};
}

bool queues_init(struct queues *queues, const struct config *config, struct error *err)
{
    *queues = (struct queues){.items = calloc(config->queue_count, sizeof *queues->items)};
    if (!queues->items)
        return error_no_memory(err);
    if (!queue_asking_init(&queues->asking, config->queue_count, err))
        return false;
    for (size_t i = 0; i < config->queue_count; i++) {
        const struct queue_config *queue = &config->queues[i];

        if (queue->remote)
            continue;
        queues->items[queues->count++] = (struct queue_turn){
            .name = queue->name,
            .weight = queue->weight,
            .max_running = (size_t)queue->max_running,
            .rate = queue->rate,
        };
    }
    return true;
}

void queues_done(struct queues *queues)
{
    free(queues->items);
    queue_asking_done(&queues->asking);
    *queues = (struct queues){0};
}

void queues_wake(struct queues *queues)
{
    for (size_t i = 0; i < queues->count; i++) {
        struct queue_turn *queue = &queues->items[i];

        if (queue->state != QUEUE_LIMITED)
            queue->state = QUEUE_OPEN;
    }
}

static struct queue_turn *find(struct queues *queues, const char *name)
{
    for (size_t i = 0; i < queues->count; i++) {
        if (text_equal(queues->items[i].name, name))
            return &queues->items[i];
    }
    return NULL;
}

bool queues_have_full(const struct queues *queues)
{
    for (size_t i = 0; i < queues->count; i++) {
        if (queues->items[i].state == QUEUE_FULL)
            return true;
    }
    return false;
}

void queues_note_end(struct queues *queues, const char *queue)
{
    struct queue_turn *turn = find(queues, queue);

    if (turn && turn->state == QUEUE_FULL)
        turn->state = QUEUE_OPEN;
}

usec_t queues_note_time(struct queues *queues, usec_t now)
{
    usec_t next = 0;

    for (size_t i = 0; i < queues->count; i++) {
        struct queue_turn *queue = &queues->items[i];

        if (queue->state != QUEUE_LIMITED)
            continue;
        if (queue->limited_until <= now)
            queue->state = QUEUE_OPEN;
        else if (next == 0 || queue->limited_until < next)
            next = queue->limited_until;
    }
    return next;
}

bool queues_may_give(const struct queues *queues)
{
    for (size_t i = 0; i < queues->count; i++) {
        if (queues->items[i].state == QUEUE_OPEN)
            return true;
    }
    return false;
}

bool queues_are_dry(const struct queues *queues)
{
    for (size_t i = 0; i < queues->count; i++) {
        if (queues->items[i].state != QUEUE_DRY)
            return false;
    }
    return true;
}

bool queues_are_away(const struct queues *queues)
{
    for (size_t i = 0; i < queues->count; i++) {
        if (!queues->items[i].is_away)
            return false;
    }
    return queues->count > 0;
}

bool queues_miss_any(const struct queues *queues)
{
    for (size_t i = 0; i < queues->count; i++) {
        if (queues->items[i].is_away)
            return true;
    }
    return false;
}

/* What a job costs. A turn can be divided by all small weights. */
static int64_t cost_of(const struct queue_turn *queue)
{
    const int64_t turn = 72072000;

    return turn / queue->weight;
}

/* Counts anew from the open queue that had least. A queue that could not give meanwhile saves
 * nothing up, or it would take a long turn alone afterwards. */
static void level(struct queues *queues)
{
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < queues->count; i++) {
        const struct queue_turn *queue = &queues->items[i];

        if (queue->state == QUEUE_OPEN && queue->had < least)
            least = queue->had;
    }
    if (least == INT64_MAX)
        return;
    for (size_t i = 0; i < queues->count; i++) {
        struct queue_turn *queue = &queues->items[i];

        queue->had = queue->had > least ? queue->had - least : 0;
    }
}

/* NULL when none is open. */
static struct queue_turn *choose(struct queues *queues)
{
    struct queue_turn *best = NULL;

    for (size_t i = 0; i < queues->count; i++) {
        struct queue_turn *queue = &queues->items[i];

        if (queue->state != QUEUE_OPEN)
            continue;
        if (!best || queue->had + cost_of(queue) < best->had + cost_of(best))
            best = queue;
    }
    if (best)
        best->had += cost_of(best);
    return best;
}

static void add_share(struct queue_asking *asking, const struct queue_turn *queue)
{
    asking->got[asking->count] = 0;
    asking->shares[asking->count++] = (struct queue_share){
        .queue = queue->name,
        .max = queue->asked,
        .max_running = queue->max_running,
        .rate = queue->rate,
    };
}

size_t queues_share(struct queues *queues, size_t room)
{
    queues->asking.count = 0;
    for (size_t i = 0; i < queues->count; i++)
        queues->items[i].asked = 0;
    level(queues);
    for (size_t i = 0; i < room; i++) {
        struct queue_turn *queue = choose(queues);

        if (!queue)
            return 0;
        queue->asked++;
    }
    for (size_t i = 0; i < queues->count; i++)
        if (queues->items[i].asked > 0)
            add_share(&queues->asking, &queues->items[i]);
    return queues->asking.count;
}

void queues_swap_asking(struct queues *queues, struct queue_asking *asking)
{
    const struct queue_asking last = queues->asking;

    queues->asking = *asking;
    *asking = last;
}

void queues_count(struct queues *queues, const char *queue)
{
    struct queue_asking *asking = &queues->asking;

    for (size_t i = 0; i < asking->count; i++)
        if (text_equal(asking->shares[i].queue, queue)) {
            asking->got[i]++;
            return;
        }
}

static void close_queue(struct queue_turn *queue, size_t missing, const struct share_limit *limit,
                        usec_t clock_shift)
{
    queue->had -= (int64_t)missing * cost_of(queue);
    queue->state = limit->is_full ? QUEUE_FULL : QUEUE_DRY;
    if (limit->limited_until == 0)
        return;
    queue->state = QUEUE_LIMITED;
    queue->limited_until = limit->limited_until + clock_shift;
}

void queues_conclude(struct queues *queues, usec_t clock_shift)
{
    const struct queue_asking *asking = &queues->asking;

    for (size_t i = 0; i < asking->count; i++) {
        struct queue_turn *queue = find(queues, asking->shares[i].queue);
        const size_t missing = asking->shares[i].max - asking->got[i];

        queue->is_away = asking->limits[i].is_away;
        if (missing > 0)
            close_queue(queue, missing, &asking->limits[i], clock_shift);
        else if (queue->state != QUEUE_LIMITED) /* another exchange had found less before */
            queue->state = QUEUE_OPEN;
    }
}

static void tell_lost(struct queues *queues, struct queue_turn *queue, const struct error *why,
                      usec_t now)
{
    queue->lost_at = now;
    log_error("queue_lost", "queue=%s error=%s", queue->name, why->text);
    queues_wake(queues); /* so that soon we know whether all are */
}

static void tell_back(struct queue_turn *queue, usec_t now)
{
    log_info("queue_back", "queue=%s away_ms=%" PRId64, queue->name,
             (now - queue->lost_at) / USEC_PER_MSEC);
    queue->lost_at = 0;
}

bool queues_tell_away(struct queues *queues, const struct error *why, usec_t now,
                      bool *any_back_out, struct error *err)
{
    *any_back_out = false;
    if (why->code != TH_OK && queues_are_away(queues)) {
        *err = *why;
        return false;
    }
    for (size_t i = 0; i < queues->count; i++) {
        struct queue_turn *queue = &queues->items[i];

        if (queue->is_away && queue->lost_at == 0) {
            tell_lost(queues, queue, why, now);
        } else if (!queue->is_away && queue->lost_at != 0) {
            tell_back(queue, now);
            *any_back_out = true;
        }
    }
    return true;
}
