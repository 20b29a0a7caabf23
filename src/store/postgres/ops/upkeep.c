/*
 * upkeep.c - what becomes due, what ran out, and what has been kept for long enough.
 */
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

static int64_t at_most(size_t count)
{
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

bool pg_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                size_t *moved_out, usec_t *next_due_out, struct error *err)
{
    struct postgres *postgres = pg_of(store);
    CLEANUP(pg_statement_done) struct pg_statement call = pg_statement_start(postgres, SQL_PROMOTE);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = true;
    pg_statement_int4(&call, (int)state);
    pg_statement_int(&call, now);
    pg_statement_int(&call, at_most(limit));
    if (!pg_statement_run(&call, &answer, err))
        return false;
    *moved_out = 0;
    *next_due_out = 0;
    if (pg_answer_next(&answer)) {
        *moved_out = (size_t)pg_answer_int(&answer);
        *next_due_out = pg_answer_int(&answer);
    }
    pg_scan_starts_forget(&postgres->scan_starts);
    if (*moved_out > 0)
        pg_bell_ring(postgres);
    return true;
}

bool pg_reclaim(struct store *store, usec_t now, size_t limit, size_t *moved_out, struct error *err)
{
    struct postgres *postgres = pg_of(store);
    CLEANUP(pg_statement_done) struct pg_statement call = pg_statement_start(postgres, SQL_RECLAIM);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = true;
    pg_statement_int(&call, now);
    pg_statement_int(&call, at_most(limit));
    pg_statement_bool(&call, store->is_clocked);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    pg_scan_starts_forget(&postgres->scan_starts);
    *moved_out = pg_answer_next(&answer) ? (size_t)pg_answer_int(&answer) : 0;
    if (*moved_out > 0 && pg_answer_int(&answer) != 0)
        pg_bell_ring(postgres);
    return true;
}

/* The moment before which jobs of this age are past their time. */
static usec_t age_limit(usec_t now, usec_t age)
{
    return age >= now ? 0 : now - age;
}

bool pg_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
              size_t *removed_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_PRUNE);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = true;
    pg_statement_int(&call, age_limit(now, keep->done));
    pg_statement_int(&call, age_limit(now, keep->dead));
    pg_statement_int(&call, at_most(keep->done_max));
    pg_statement_int(&call, now);
    pg_statement_int(&call, at_most(limit));
    if (!pg_statement_run(&call, &answer, err))
        return false;
    *removed_out = pg_answer_next(&answer) ? (size_t)pg_answer_int(&answer) : 0;
    return true;
}

bool pg_publish(struct store *store, const struct store_limits *limits, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_PUBLISH);

    call.writes = true;
    pg_statement_int(&call, (int64_t)limits->max_payload);
    pg_statement_int(&call, limits->idempotency_window);
    return pg_statement_run(&call, NULL, err);
}
