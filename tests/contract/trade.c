/*
 * trade.c - what an actor does with the leases that it holds: it gives some back and asks for
 * others, in one exchange or in two that are out at once.
 *
 * Of jobs that one reserve has given, some end plainly and some do not, by several trades: a store
 * that keeps their leases together has to take them apart.
 */
#include "trade.h"

#include "moves.h"

#include <string.h>

#define UNSAID TH_E_INTERNAL /* a verdict that no store gives */

struct trade {
    struct hold given[HELD_MAX]; /* what it settles */
    struct settlement finished[HELD_MAX];
    enum th_error_code verdicts[HELD_MAX];
    struct settlement_list list;
    struct queue_share shares[QUEUES];
    struct reservation wanted;
    struct job_list taken;
};

static void trade_done(struct trade *trade)
{
    job_list_done(&trade->taken);
}

/* ---- what is sent ---- */

static struct settlement settle_plainly(const struct actor *actor, const struct hold *hold)
{
    return (struct settlement){
        .job = hold->job,
        .queue = actor->queues[hold->queue],
        .token = hold->token,
        .ref = hold->ref,
        .kind = SETTLE_ACK,
        .has_run = true,
        .run = {.pool = POOL, .worker = 1, .started_at = actor->now, .exit_code = 0},
    };
}

static struct settlement settle_somehow(struct actor *actor, const struct hold *hold)
{
    struct settlement settlement = settle_plainly(actor, hold);

    if (actor_by_chance(actor, 4))
        settlement.ref = 0;
    settlement.kind = (enum settlement_kind)actor_pick(actor, SETTLE_ASIDE + 1);
    settlement.aside = (enum job_aside)(ASIDE_NO_HANDLER + actor_pick(actor, 2));
    settlement.aside_since = actor->now;
    settlement.counts = actor_by_chance(actor, 2);
    settlement.run_at = actor_by_chance(actor, 2) ? actor->now + SECONDS(actor_pick(actor, 30)) : 0;
    settlement.error = "it failed";
    settlement.has_run = actor_by_chance(actor, 2);
    return settlement;
}

/* Not its token, but that of its neighbour, or one of another batch. */
static void forge(struct actor *actor, struct settlement *settlement)
{
    settlement->token.bytes[actor_by_chance(actor, 2) ? LEASE_TOKEN_SIZE - 1 : 0] ^= 1;
}

static bool is_forged(const struct trade *trade, size_t i)
{
    return !lease_token_equal(&trade->finished[i].token, &trade->given[i].token);
}

/* All that is held, or half of it, or a third. */
static void give(struct actor *actor, struct trade *trade)
{
    const unsigned one_in = 1 + actor_pick(actor, 3);
    const bool all_plain = actor_by_chance(actor, 2);
    const bool forget = actor->report_fd < 0 && actor_by_chance(actor, 2);

    for (size_t i = actor->held_count; i-- > 0;) {
        if (!actor_by_chance(actor, one_in))
            continue;
        const size_t n = trade->list.count++;
        trade->given[n] = actor_let_go(actor, i);
        trade->finished[n] = all_plain || actor_by_chance(actor, 2)
                                 ? settle_plainly(actor, &trade->given[n])
                                 : settle_somehow(actor, &trade->given[n]);
        trade->finished[n].forget = forget;
        trade->verdicts[n] = UNSAID;
        if (actor_by_chance(actor, 20))
            forge(actor, &trade->finished[n]);
    }
    trade->list.items = trade->finished;
}

/* At most `room` jobs. */
static void ask(struct actor *actor, struct trade *trade, size_t room)
{
    trade->wanted = (struct reservation){.queues = trade->shares,
                                         .queue_count = QUEUES,
                                         .pool = POOL,
                                         .batch = batch_fresh(),
                                         .lease_for = SECONDS(1 + actor_pick(actor, 20))};
    for (size_t i = 0; i < QUEUES; i++)
        trade->shares[i] =
            (struct queue_share){.queue = actor->queues[i],
                                 .max = actor_pick(actor, (unsigned)(room / QUEUES) + 1),
                                 .max_running = actor_by_chance(actor, 8) ? 5 : 0,
                                 .rate = {actor_by_chance(actor, 8) ? 5 : 0, USEC_PER_SEC}};
}

/* ---- what is answered ---- */

static void check_verdict(const struct actor *actor, const struct trade *trade, size_t i)
{
    const struct hold *hold = &trade->given[i];
    const enum th_error_code verdict = trade->verdicts[i];

    actor_must(actor, verdict != UNSAID, "a settlement without a verdict");
    if (is_forged(trade, i))
        actor_must(actor, verdict != TH_OK, "a settlement with another's token was taken");
    else if (actor_is_sure_of(hold))
        actor_must(actor, verdict == TH_OK || (verdict == TH_E_UNAVAILABLE && !actor->is_alone),
                   "a settlement with a valid lease was refused");
    else if (lease_has_expired(hold->expires_at, actor->now))
        actor_must(actor, verdict != TH_OK || settlement_is_unstarted(&trade->finished[i]),
                   "a settlement was taken after its lease had ended");
}

static void take_verdicts(struct actor *actor, const struct trade *trade)
{
    for (size_t i = 0; i < trade->list.count; i++) {
        check_verdict(actor, trade, i);
        if (is_forged(trade, i) || trade->verdicts[i] == TH_E_UNAVAILABLE)
            actor_hold(actor, &trade->given[i]);
        else if (trade->verdicts[i] == TH_OK && trade->finished[i].kind == SETTLE_ACK)
            actor->done[trade->given[i].queue]++;
    }
}

static size_t queue_of(const struct actor *actor, const struct job *job)
{
    for (size_t i = 0; i < QUEUES; i++)
        if (strcmp(actor->queues[i], job->queue) == 0)
            return i;
    actor_must(actor, false, "a job of a queue that was not asked for");
    return 0;
}

/* A job has one valid lease at most. */
static void check_new(const struct actor *actor, const struct job *job)
{
    for (size_t i = 0; i < actor->held_count; i++)
        actor_must(actor,
                   memcmp(&actor->held[i].job, &job->id, sizeof job->id) != 0 ||
                       !actor_is_sure_of(&actor->held[i]),
                   "a job was given twice");
}

static void take_job(struct actor *actor, const struct trade *trade, const struct job *job)
{
    const struct lease_token own = lease_token_make(&trade->wanted.batch, 0);
    const struct hold hold = {.job = job->id,
                              .queue = queue_of(actor, job),
                              .token = job->token,
                              .ref = job->ref,
                              .expires_at = job->expires_at};

    actor_must(actor, lease_token_compare_batches(&job->token, &own) == 0,
               "a job with the lease of another exchange");
    actor_must(actor, job->expires_at == actor->now + trade->wanted.lease_for,
               "a lease of another length");
    check_new(actor, job);
    actor_hold(actor, &hold);
}

static void take_jobs(struct actor *actor, const struct trade *trade)
{
    size_t counts[QUEUES] = {0};

    for (size_t i = 0; i < trade->taken.count; i++) {
        take_job(actor, trade, &trade->taken.items[i]);
        counts[queue_of(actor, &trade->taken.items[i])]++;
    }
    for (size_t i = 0; i < QUEUES; i++) {
        const struct queue_share *share = &trade->shares[i];
        actor_must(actor,
                   counts[i] <= share->max &&
                       (share->max_running == 0 || counts[i] <= share->max_running),
                   "more of a queue than was asked for");
    }
}

static void take_answer(struct actor *actor, const struct trade *trade)
{
    take_verdicts(actor, trade);
    take_jobs(actor, trade);
}

/* ---- one, or two ---- */

static bool trade_once(struct actor *actor, struct error *err)
{
    CLEANUP(trade_done) struct trade trade = {0};

    give(actor, &trade);
    ask(actor, &trade, HELD_MAX - actor->held_count - trade.list.count);
    if (!store_exchange(actor->store, &trade.list, &trade.wanted, 1, actor->now, trade.verdicts,
                        &trade.taken, err))
        return false;
    take_answer(actor, &trade);
    return true;
}

static bool begin(struct actor *actor, struct trade *trade, struct error *err)
{
    actor->out++;
    return store_exchange_begin(actor->store, &trade->list, &trade->wanted, actor->now,
                                trade->verdicts, &trade->taken, err);
}

static bool end(struct actor *actor, const struct trade *trade, struct error *err)
{
    actor->out--;
    if (!store_exchange_end(actor->store, err))
        return false;
    take_answer(actor, trade);
    return true;
}

/* And perhaps something else while they are out. */
static bool trade_twice(struct actor *actor, struct error *err)
{
    CLEANUP(trade_done) struct trade first = {0};
    CLEANUP(trade_done) struct trade second = {0};

    give(actor, &first);
    give(actor, &second);
    const size_t room = HELD_MAX - actor->held_count - first.list.count - second.list.count;
    ask(actor, &first, room / 2);
    ask(actor, &second, room / 2);
    return begin(actor, &first, err) && begin(actor, &second, err) &&
           (actor_by_chance(actor, 2) || moves_make_other(actor, err)) && end(actor, &first, err) &&
           end(actor, &second, err);
}

bool trade_some(struct actor *actor, struct error *err)
{
    if (store_can_overlap(actor->store) && actor_by_chance(actor, 2))
        return trade_twice(actor, err);
    return trade_once(actor, err);
}
