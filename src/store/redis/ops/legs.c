/*
 * legs.c - an exchange in parts, each of which is one command to one queue.
 */
#include "store/redis/ops/legs.h"

#include <stdlib.h>
#include <string.h>

#define SHARE_MAX 1000000 /* jobs of one queue in one call */

bool redis_legs_init(struct redis_legs *legs, size_t settlements, const struct reservation *wanted,
                     size_t wanted_count, struct error *err)
{
    size_t shares = 0;

    for (size_t i = 0; i < wanted_count; i++)
        shares += wanted[i].queue_count;
    legs->items = calloc(settlements + shares + 1, sizeof *legs->items);
    legs->claims = calloc(wanted_count + 1, sizeof *legs->claims);
    legs->leg_of = calloc(settlements + 1, sizeof *legs->leg_of);
    legs->order = calloc(settlements + 1, sizeof *legs->order);
    if (!legs->items || !legs->claims || !legs->leg_of || !legs->order)
        return error_no_memory(err);
    for (size_t i = 0; i < wanted_count; i++)
        legs->claims[legs->claim_count++] = (struct redis_claim){.wanted = &wanted[i]};
    return true;
}

void redis_legs_done(struct redis_legs *legs)
{
    free(legs->items);
    free(legs->claims);
    free(legs->leg_of);
    free(legs->order);
}

/* Settlements of one queue come in a row more often than not: from the end. */
static struct redis_leg *leg_for(struct redis_legs *legs, const char *queue)
{
    size_t i = legs->count;

    while (i > 0 && strcmp(legs->items[i - 1].queue, queue) != 0)
        i--;
    if (i > 0)
        return &legs->items[i - 1];
    legs->items[legs->count] = (struct redis_leg){.queue = queue, .behind = ""};
    return &legs->items[legs->count++];
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool is_live(const struct reservation *wanted, size_t i)
{
    const bool no_type = wanted->types && wanted->type_count == 0;

    return wanted->queues[i].max > 0 && !no_type;
}

static void ask_for(struct redis_leg *leg, size_t most)
{
    leg->turn = REDIS_TURN_NOW;
    leg->max = smaller(smaller(leg->share->max, most), SHARE_MAX);
    leg->first = leg->claim->next_index;
    leg->claim->next_index += (uint32_t)leg->max;
}

static void add_share(struct redis_legs *legs, struct redis_claim *claim, size_t i, bool is_first)
{
    const struct queue_share *share = &claim->wanted->queues[i];
    struct share_limit *limits = claim->wanted->limits_out;
    const bool looks = claim->is_rationed && !is_first;
    struct redis_leg *leg = leg_for(legs, share->queue);

    if (leg->share || (looks && leg->settlements > 0)) {
        /* Asked for twice, or not yet: a leg of its own, after the first. */
        leg = &legs->items[legs->count++];
        *leg = (struct redis_leg){.queue = share->queue, .behind = ""};
    }
    leg->share = share;
    leg->claim = claim;
    leg->limit = limits ? &limits[i] : NULL;
    if (looks)
        leg->turn = REDIS_TURN_LOOK;
    else
        ask_for(leg, claim->left);
}

static void add_claim(struct redis_legs *legs, struct redis_claim *claim)
{
    const struct reservation *wanted = claim->wanted;
    size_t live = 0;
    bool is_first = true;

    for (size_t i = 0; i < wanted->queue_count; i++) {
        if (wanted->limits_out)
            wanted->limits_out[i] = (struct share_limit){0};
        live += is_live(wanted, i);
    }
    claim->left = wanted->max_total != 0 ? wanted->max_total : SIZE_MAX;
    claim->is_rationed = wanted->max_total != 0 && live > 1;
    for (size_t i = 0; i < wanted->queue_count; i++) {
        if (!is_live(wanted, i))
            continue;
        add_share(legs, claim, i, is_first);
        is_first = false;
    }
}

static void sort_by_leg(struct redis_legs *legs, size_t settlements)
{
    size_t end = 0;

    for (size_t i = 0; i < legs->count; i++) {
        end += legs->items[i].settlements;
        legs->items[i].from = end;
    }
    for (size_t i = settlements; i-- > 0;)
        if (legs->leg_of[i] != REDIS_NO_LEG)
            legs->order[--legs->items[legs->leg_of[i]].from] = i;
}

void redis_legs_divide(struct redis_legs *legs, const struct settlement_list *finished)
{
    for (size_t i = 0; i < finished->count; i++) {
        if (legs->leg_of[i] == REDIS_NO_LEG)
            continue;
        struct redis_leg *leg = leg_for(legs, finished->items[i].queue);
        leg->settlements++;
        legs->leg_of[i] = (size_t)(leg - legs->items);
    }
    for (size_t i = 0; i < legs->claim_count; i++)
        add_claim(legs, &legs->claims[i]);
    sort_by_leg(legs, finished->count);
}

/* How many a leg may give at most, as it was seen. Nobody has looked at the types. */
static size_t expected_of(const struct redis_leg *leg)
{
    return leg->claim->wanted->types ? leg->share->max : smaller(leg->share->max, leg->has);
}

/* Those of one claim stand in its order. */
static bool plan(struct redis_legs *legs, const struct redis_claim *claim)
{
    size_t left = claim->left;
    bool any = false;

    for (size_t i = 0; i < legs->count; i++) {
        struct redis_leg *leg = &legs->items[i];

        if (leg->claim != claim || leg->turn != REDIS_TURN_LATER || left == 0)
            continue;
        ask_for(leg, smaller(left, expected_of(leg)));
        left -= leg->max;
        any = true;
    }
    return any;
}

bool redis_legs_go_on(struct redis_legs *legs)
{
    bool any = false;

    for (size_t i = 0; i < legs->claim_count; i++)
        if (legs->claims[i].is_rationed && plan(legs, &legs->claims[i]))
            any = true;
    return any;
}
