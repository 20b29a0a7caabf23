/*
 * upkeep.c - what becomes due, what ran out, and what has been kept for long enough.
 */
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/net/statement.h"

static int64_t at_most(size_t count)
{
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

bool postgres_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                      size_t *moved_out, usec_t *next_due_out, struct error *err)
{
    struct postgres *postgres = postgres_of(store);
    CLEANUP(statement_done) struct statement call = statement_start(postgres, SQL_PROMOTE);
    CLEANUP(answer_done) struct answer answer = {0};

    call.writes = true;
    statement_int4(&call, (int)state);
    statement_int(&call, now);
    statement_int(&call, at_most(limit));
    if (!statement_run(&call, &answer, err))
        return false;
    *moved_out = 0;
    *next_due_out = 0;
    if (answer_next(&answer)) {
        *moved_out = (size_t)answer_int(&answer);
        *next_due_out = answer_int(&answer);
    }
    heads_forget(&postgres->heads);
    if (*moved_out > 0)
        pg_bell_ring(postgres);
    return true;
}

bool postgres_reclaim(struct store *store, usec_t now, size_t limit, size_t *moved_out,
                      struct error *err)
{
    struct postgres *postgres = postgres_of(store);
    CLEANUP(statement_done) struct statement call = statement_start(postgres, SQL_RECLAIM);
    CLEANUP(answer_done) struct answer answer = {0};

    call.writes = true;
    statement_int(&call, now);
    statement_int(&call, at_most(limit));
    statement_bool(&call, store->is_clocked);
    if (!statement_run(&call, &answer, err))
        return false;
    heads_forget(&postgres->heads);
    *moved_out = answer_next(&answer) ? (size_t)answer_int(&answer) : 0;
    if (*moved_out > 0 && answer_int(&answer) != 0)
        pg_bell_ring(postgres);
    return true;
}

/* The moment before which jobs of this age are past their time. */
static usec_t age_limit(usec_t now, usec_t age)
{
    return age >= now ? 0 : now - age;
}

bool postgres_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
                    size_t *removed_out, struct error *err)
{
    CLEANUP(statement_done) struct statement call = statement_start(postgres_of(store), SQL_PRUNE);
    CLEANUP(answer_done) struct answer answer = {0};

    call.writes = true;
    statement_int(&call, age_limit(now, keep->done));
    statement_int(&call, age_limit(now, keep->dead));
    statement_int(&call, at_most(keep->done_max));
    statement_int(&call, now);
    statement_int(&call, at_most(limit));
    if (!statement_run(&call, &answer, err))
        return false;
    *removed_out = answer_next(&answer) ? (size_t)answer_int(&answer) : 0;
    return true;
}

bool postgres_publish(struct store *store, const struct store_limits *limits, struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_PUBLISH);

    call.writes = true;
    statement_int(&call, (int64_t)limits->max_payload);
    statement_int(&call, limits->idempotency_window);
    return statement_run(&call, NULL, err);
}
