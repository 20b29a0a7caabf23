/*
 * exchange.c - settle, then reserve, in one round trip and one transaction: all that a dispatcher
 * does under load.
 *
 * Acks without result or output go as arrays, everything else as JSON; the server finds out which
 * of the former are not as plain as they look, and which of the latter have to be settled one by
 * one. What comes back is a list of rows of several kinds, see the type `exchanged`.
 */
#include "base/cleanup.h"
#include "store/postgres/codec/columns.h"
#include "store/postgres/codec/ref.h"
#include "store/postgres/codec/spec.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/ops/plain_acks.h"
#include "store/postgres/ops/queue_names.h"
#include "store/postgres/ops/wanted.h"
#include "store/postgres/protocol.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* One call. */
struct exchange {
    struct postgres *postgres;
    const struct settlement_list *finished;
    struct pg_wanted wanted;
    enum th_error_code *verdicts;
    struct job_list *jobs;
    size_t first; /* of this call in the list, which may have had jobs before */

    struct pg_queue_names queues;
    struct pg_plain_acks plain;
    struct buffer items;
    bool has_items;
    bool came_back; /* jobs that were settled, or their twins, to places before others */
    bool rings;
};

static void exchange_done(struct exchange *exchange)
{
    pg_queue_names_done(&exchange->queues);
    pg_plain_acks_done(&exchange->plain);
    buffer_done(&exchange->items);
}

/* ---- what is settled ---- */

/* Everything that is not plain, as JSON. */
static bool write_items(struct exchange *exchange, struct error *err)
{
    const struct settlement_list *finished = exchange->finished;
    struct json_writer json = {.out = &exchange->items};

    json_write_open(&json, NULL, '[');
    for (size_t i = 0; i < finished->count; i++) {
        exchange->verdicts[i] = TH_OK;
        if (pg_plain_acks_have(&exchange->plain, &finished->items[i]))
            continue;
        exchange->has_items = true;
        pg_spec_add_settlement(&json, (int)i + 1, &finished->items[i]);
    }
    json_write_close(&json, ']');
    return buffer_ok(&exchange->items, err);
}

static bool name_queues(struct exchange *exchange, struct error *err)
{
    const struct settlement_list *finished = exchange->finished;
    const struct pg_wanted *wanted = &exchange->wanted;

    for (size_t i = 0; i < finished->count; i++)
        if (pg_queue_names_add(&exchange->queues, finished->items[i].queue) == 0)
            return error_no_memory(err);
    for (size_t i = 0; i < wanted->count; i++)
        for (size_t k = 0; k < wanted->items[i].queue_count; k++)
            if (pg_queue_names_add(&exchange->queues, wanted->items[i].queues[k].queue) == 0)
                return error_no_memory(err);
    return true;
}

static bool bind_settlements(struct exchange *exchange, struct pg_statement *call,
                             struct error *err)
{
    /* Whoever has results was not idle: what has come since the bell is to be had in its order. */
    if (exchange->finished->count > 0)
        pg_scan_starts_pay(&exchange->postgres->scan_starts);
    pg_statement_int(call, exchange->wanted.now);
    if (!name_queues(exchange, err))
        return false;
    pg_queue_names_bind(&exchange->queues, call);
    if (!pg_plain_acks_bind(&exchange->plain, &exchange->queues, call, err))
        return false;
    pg_statement_text(call, exchange->has_items ? buffer_str(&exchange->items) : NULL);
    return true;
}

/* ---- the answer ---- */

/* Jobs of one reservation and queue come together, and share the names. */
static void name_share(struct exchange *exchange, const struct pg_wanted_share *from,
                       struct job *job)
{
    struct arena *arena = &exchange->jobs->arena;
    const bool is_first = exchange->jobs->count - exchange->first == 1;

    job->reservation = (uint32_t)from->reservation;
    job->pool = !is_first && job[-1].reservation == job->reservation
                    ? job[-1].pool
                    : arena_text(arena, exchange->wanted.items[from->reservation].pool);
    job->queue = !is_first && strcmp(job[-1].queue, from->share->queue) == 0
                     ? job[-1].queue
                     : arena_text(arena, from->share->queue);
}

static bool read_job(struct exchange *exchange, struct pg_answer *answer, struct error *err)
{
    const struct pg_wanted *wanted = &exchange->wanted;
    struct job *job = job_list_add(exchange->jobs);
    struct columns columns = pg_columns_of(answer, &exchange->jobs->arena);

    if (!job)
        return error_no_memory(err);
    const uint32_t number = (uint32_t)pg_answer_int(answer);
    const struct pg_wanted_share from = pg_wanted_share(wanted, (size_t)pg_answer_int(answer));
    const struct reservation *reservation = &wanted->items[from.reservation];
    (void)columns_reserved(&columns, job);
    columns_extras(&columns, job);
    name_share(exchange, &from, job);
    job->token = lease_token_make(&reservation->batch, number);
    job->state = JOB_RUNNING;
    job->executions++;
    job->expires_at =
        wanted->now + wanted->lead +
        lease_length(reservation->lease_for, job->timeout, reservation->lease_default);
    job->started_at = wanted->now;
    return true;
}

/* From the code on. */
static void skip_to_due(struct pg_answer *answer)
{
    for (int i = 0; i < 5; i++)
        pg_answer_skip(answer);
}

static void read_limit(const struct exchange *exchange, struct pg_answer *answer)
{
    const struct pg_wanted_share from =
        pg_wanted_share(&exchange->wanted, (size_t)pg_answer_int(answer));
    struct share_limit limit = {.is_full = pg_answer_int(answer) != 0};

    skip_to_due(answer);
    limit.limited_until = pg_answer_int(answer);
    if (from.limit)
        *from.limit = limit;
}

static bool read_looked(const struct exchange *exchange, struct pg_answer *answer,
                        struct error *err)
{
    const struct pg_wanted_share from =
        pg_wanted_share(&exchange->wanted, (size_t)pg_answer_int(answer));
    const bool found_all = pg_answer_int(answer) != 0;
    struct pg_scan_start *start =
        pg_scan_starts_find(&exchange->postgres->scan_starts, from.share->queue);

    if (!start)
        return error_no_memory(err);
    skip_to_due(answer);
    pg_scan_start_looked(start, exchange->wanted.now, pg_answer_int(answer), found_all);
    return true;
}

static void read_verdict(const struct exchange *exchange, struct pg_answer *answer)
{
    size_t n = (size_t)pg_answer_int(answer) - 1;

    exchange->verdicts[n] = (enum th_error_code)pg_answer_int(answer);
}

static bool read_row(struct exchange *exchange, struct pg_answer *answer, struct error *err)
{
    enum pg_row kind = (enum pg_row)pg_answer_int(answer);

    assert(exchange->wanted.count > 0 || kind == ROW_VERDICT || kind == ROW_BELL);
    switch (kind) {
    case ROW_VERDICT:
        read_verdict(exchange, answer);
        return true;
    case ROW_JOB:
        return read_job(exchange, answer, err);
    case ROW_LIMIT:
        read_limit(exchange, answer);
        return true;
    case ROW_BELL:
        exchange->rings = true;
        pg_answer_skip(answer);
        exchange->came_back = pg_answer_int(answer) != 0;
        return true;
    case ROW_LOOKED:
        return read_looked(exchange, answer, err);
    }
    return error_set(err, TH_E_INTERNAL, "postgres: an exchange answered a row of no known kind");
}

static int compare_places(const void *a, const void *b)
{
    const struct job *first = a, *second = b;

    if (first->priority != second->priority)
        return first->priority - second->priority;
    if (first->due != second->due)
        return first->due < second->due ? -1 : 1;
    const int64_t first_seq = pg_ref_seq(first->ref);
    const int64_t second_seq = pg_ref_seq(second->ref);

    return (first_seq > second_seq) - (first_seq < second_seq);
}

/* The server answers one share after the other, but the jobs of a share in any order. */
static void sort_shares(struct exchange *exchange)
{
    struct job *jobs = exchange->jobs->items;
    size_t from = exchange->first;

    for (size_t i = from + 1; i <= exchange->jobs->count; i++) {
        if (i < exchange->jobs->count && jobs[i].queue == jobs[from].queue &&
            jobs[i].reservation == jobs[from].reservation)
            continue;
        qsort(jobs + from, i - from, sizeof *jobs, compare_places);
        from = i;
    }
}

static bool note_scan_starts(struct exchange *exchange, struct error *err)
{
    for (size_t i = exchange->first; i < exchange->jobs->count; i++) {
        const struct job *job = &exchange->jobs->items[i];
        struct pg_scan_start *start =
            pg_scan_starts_find(&exchange->postgres->scan_starts, job->queue);
        if (!start)
            return error_no_memory(err);
        pg_scan_start_took(start, job);
    }
    return true;
}

static void clear_limits(const struct pg_wanted *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const struct reservation *item = &wanted->items[i];

        for (size_t k = 0; item->limits_out && k < item->queue_count; k++)
            item->limits_out[k] = (struct share_limit){0};
    }
}

static bool read_answer(struct exchange *exchange, struct pg_answer *answer, struct error *err)
{
    const bool has_types = pg_wanted_has_types(&exchange->wanted);

    clear_limits(&exchange->wanted);
    while (pg_answer_next(answer))
        if (!read_row(exchange, answer, err))
            return false;
    if (pg_scan_starts_pay(&exchange->postgres->scan_starts))
        pg_bell_rings(exchange->postgres);
    if (exchange->came_back || has_types)
        pg_scan_starts_forget(&exchange->postgres->scan_starts);
    if (exchange->wanted.count == 0)
        return true;
    sort_shares(exchange);
    if (!exchange->came_back && !has_types && !note_scan_starts(exchange, err))
        return false;
    return !exchange->jobs->arena.failed || error_no_memory(err);
}

/* ---- the whole ---- */

static struct exchange exchange_of(struct postgres *postgres,
                                   const struct settlement_list *finished,
                                   const struct reservation *wanted, size_t wanted_count,
                                   usec_t now, enum th_error_code *verdicts, struct job_list *jobs)
{
    return (struct exchange){
        .postgres = postgres,
        .finished = finished,
        .wanted = {wanted, wanted_count, now, store_lead(&postgres->base)},
        .verdicts = verdicts,
        .jobs = jobs,
        .first = wanted_count > 0 ? jobs->count : 0,
        .items = BUFFER(PG_SPEC_MAX),
    };
}

/* With all settlements one by one if `together` is false. */
static bool bind(struct exchange *exchange, bool together, struct pg_statement *call,
                 struct error *err)
{
    call->writes = true;
    if ((together && !pg_plain_acks_take(&exchange->plain, exchange->finished, err)) ||
        !write_items(exchange, err) || !bind_settlements(exchange, call, err) ||
        !pg_wanted_bind(exchange->postgres, &exchange->wanted, &exchange->queues, call, err))
        return false;
    pg_statement_bool(call, exchange->postgres->base.is_clocked);
    return true;
}

/* Whether it is `done`. */
static bool conclude(struct exchange *exchange, bool done)
{
    if (!done) /* it may have been done all the same */
        pg_scan_starts_forget(&exchange->postgres->scan_starts);
    /* Whoever tries again with the same list must not find jobs in it that were never leased. */
    if (!done && exchange->wanted.count > 0)
        exchange->jobs->count = exchange->first;
    if (done && exchange->wanted.count > 0 && exchange->jobs->count > exchange->first)
        pg_bell_found(&exchange->postgres->bell);
    if (done && exchange->rings)
        pg_bell_ring(exchange->postgres);
    exchange_done(exchange);
    return done;
}

static bool settle_and_reserve(struct exchange exchange, bool together, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(exchange.postgres, SQL_EXCHANGE);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    return conclude(&exchange, bind(&exchange, together, &call, err) &&
                                   pg_statement_run(&call, &answer, err) &&
                                   read_answer(&exchange, &answer, err));
}

/* A lease changed under the statement, or is locked, and only the long way copes with that. */
static bool takes_the_long_way(const struct error *err)
{
    return err->code == TH_E_LEASE_MISMATCH;
}

bool pg_exchange(struct store *store, const struct settlement_list *finished,
                 const struct reservation *wanted, size_t wanted_count, usec_t now,
                 enum th_error_code *verdicts_out, struct job_list *jobs_out, struct error *err)
{
    const struct exchange exchange =
        exchange_of(pg_of(store), finished, wanted, wanted_count, now, verdicts_out, jobs_out);

    return settle_and_reserve(exchange, true, err) ||
           (takes_the_long_way(err) && settle_and_reserve(exchange, false, err));
}

/* ---- in two steps ---- */

/* One that is out. */
struct pg_begun {
    struct settlement_list finished;
    struct reservation wanted;
    struct exchange exchange;
    struct pg_statement call;
    struct pg_begun *next;
};

static void begun_free(struct pg_begun *begun)
{
    pg_statement_done(&begun->call);
    free(begun);
}

static void add_begun(struct postgres *postgres, struct pg_begun *begun)
{
    struct pg_begun **place = &postgres->begun;

    while (*place)
        place = &(*place)->next;
    *place = begun;
}

bool pg_exchange_begin(struct store *store, const struct settlement_list *finished,
                       const struct reservation *wanted, usec_t now,
                       enum th_error_code *verdicts_out, struct job_list *jobs_out,
                       struct error *err)
{
    struct postgres *postgres = pg_of(store);
    struct pg_begun *begun = calloc(1, sizeof *begun);

    if (!begun)
        return error_no_memory(err);
    begun->finished = *finished;
    if (wanted)
        begun->wanted = *wanted;
    begun->exchange = exchange_of(postgres, &begun->finished, &begun->wanted, wanted ? 1 : 0, now,
                                  verdicts_out, jobs_out);
    begun->call = pg_statement_start(postgres, SQL_EXCHANGE);
    if (bind(&begun->exchange, true, &begun->call, err) && pg_statement_send(&begun->call, err)) {
        add_begun(postgres, begun);
        return true;
    }
    conclude(&begun->exchange, false);
    begun_free(begun);
    return false;
}

static bool end(struct pg_begun *begun, struct error *err)
{
    struct exchange *exchange = &begun->exchange;
    /* The one before may have filled the same list. */
    exchange->first = exchange->wanted.count > 0 ? exchange->jobs->count : 0;
    const struct exchange again = exchange_of(
        exchange->postgres, exchange->finished, exchange->wanted.items, exchange->wanted.count,
        exchange->wanted.now, exchange->verdicts, exchange->jobs);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    return conclude(exchange, pg_statement_receive(&begun->call, &answer, err) &&
                                  read_answer(exchange, &answer, err)) ||
           (takes_the_long_way(err) && settle_and_reserve(again, false, err));
}

bool pg_exchange_end(struct store *store, struct error *err)
{
    struct postgres *postgres = pg_of(store);
    struct pg_begun *begun = postgres->begun;

    postgres->begun = begun->next;
    const bool done = end(begun, err);
    begun_free(begun);
    return done;
}

int pg_exchange_fd(const struct store *store)
{
    const struct postgres *postgres = (const struct postgres *)store;

    /* What follows an answer may have been read together with it. */
    return postgres->sent && PQisBusy(postgres->conn) ? PQsocket(postgres->conn) : -1;
}

void pg_exchanges_forget(struct postgres *postgres)
{
    while (postgres->begun) {
        struct pg_begun *begun = postgres->begun;

        postgres->begun = begun->next;
        exchange_done(&begun->exchange);
        begun_free(begun);
    }
}
