/*
 * heartbeat.c - pools say that they live, and extend what they hold.
 */
#include "base/cleanup.h"
#include "store/postgres/codec/ref.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/ops/queue_names.h"

#include <stdlib.h>
#include <string.h>

/* One call. */
struct beating {
    const struct heartbeat *pools;
    size_t count;
    const struct lease_beat **leases; /* owned; of all of them */
    size_t lease_count;
    usec_t *lease_fors; /* owned; of each lease */
};

static void beating_done(struct beating *beating)
{
    free(beating->leases);
    free(beating->lease_fors);
}

static bool list_leases(struct beating *beating, usec_t lead, struct error *err)
{
    size_t room = 1;

    for (size_t i = 0; i < beating->count; i++)
        room += beating->pools[i].lease_count;
    beating->leases = calloc(room, sizeof(struct lease_beat *));
    beating->lease_fors = calloc(room, sizeof *beating->lease_fors);
    if (!beating->leases || !beating->lease_fors)
        return error_no_memory(err);
    for (size_t i = 0; i < beating->count; i++) {
        const struct heartbeat *pool = &beating->pools[i];

        for (size_t k = 0; k < pool->lease_count; k++) {
            const struct lease_beat *lease = &pool->leases[k];
            const usec_t lease_for = lease->lease_for != 0 ? lease->lease_for : pool->lease_for;

            beating->leases[beating->lease_count] = lease;
            beating->lease_fors[beating->lease_count++] = lease_for + lead;
        }
    }
    return true;
}

static void bind_pools(struct pg_statement *call, const struct beating *beating)
{
    pg_statement_array(call, ARRAY_TEXT);
    for (size_t i = 0; i < beating->count; i++)
        pg_element_text(call, beating->pools[i].pool);
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < beating->count; i++)
        pg_element_bytes(call, beating->pools[i].status);
}

static bool bind_queues(struct pg_statement *call, const struct beating *beating, struct error *err)
{
    CLEANUP(pg_queue_names_done) struct pg_queue_names names = {0};

    for (size_t i = 0; i < beating->lease_count; i++)
        if (pg_queue_names_add(&names, beating->leases[i]->queue) == 0)
            return error_no_memory(err);
    pg_queue_names_bind(&names, call);
    return true;
}

static struct bytes bytes_of(const char *text)
{
    struct bytes bytes = {(const unsigned char *)text, 0};

    if (text)
        bytes.length = strlen(text);
    return bytes;
}

static void bind_leases(struct pg_statement *call, const struct beating *beating)
{
    const size_t count = beating->lease_count;

    pg_statement_array(call, ARRAY_UUID);
    for (size_t i = 0; i < count; i++)
        pg_element_uuid(call, &beating->leases[i]->job);
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, pg_ref_seq(beating->leases[i]->ref));
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        pg_element_token(call, &beating->leases[i]->token);
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, beating->lease_fors[i]);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4_or_null(call, beating->leases[i]->worker);
}

/* What the executions have to tell. */
static void bind_news(struct pg_statement *call, const struct beating *beating)
{
    const size_t count = beating->lease_count;

    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++) {
        if (beating->leases[i]->progress_percent >= 0)
            pg_element_int4(call, beating->leases[i]->progress_percent);
        else
            pg_element_null(call);
    }
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        pg_element_bytes(call, bytes_of(beating->leases[i]->progress_text));
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        pg_element_bytes(call, beating->leases[i]->output);
}

/* A row whose number is below 0 is about a pool itself. */
static void read_answers(struct pg_answer *answer, const struct beating *beating,
                         struct lease_answer *answers_out, struct pool_answer *pools_out)
{
    for (size_t i = 0; i < beating->lease_count; i++)
        answers_out[i] = (struct lease_answer){.verdict = TH_OK};
    while (pg_answer_next(answer)) {
        const int64_t n = pg_answer_int(answer);
        const enum th_error_code verdict = (enum th_error_code)pg_answer_int(answer);
        const bool cancels = pg_answer_int(answer) != 0, watched = pg_answer_int(answer) != 0;
        const enum pool_want want = pool_want_of(pg_answer_int(answer));
        const usec_t wanted_at = pg_answer_int(answer);

        if (n < 0 && (size_t)-n <= beating->count)
            pools_out[-n - 1] = (struct pool_answer){verdict == TH_OK, watched, want, wanted_at};
        else if (n > 0 && (size_t)n <= beating->lease_count)
            answers_out[n - 1] = (struct lease_answer){verdict, cancels, watched};
    }
}

bool pg_heartbeat(struct store *store, const struct heartbeat *heartbeats, size_t count, usec_t now,
                  struct lease_answer *answers_out, struct pool_answer *pools_out,
                  struct error *err)
{
    CLEANUP(beating_done) struct beating beating = {.pools = heartbeats, .count = count};
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_HEARTBEAT);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = true;
    if (!list_leases(&beating, store_lead(store), err))
        return false;
    bind_pools(&call, &beating);
    pg_statement_int(&call, now);
    if (!bind_queues(&call, &beating, err))
        return false;
    bind_leases(&call, &beating);
    bind_news(&call, &beating);
    pg_statement_bool(&call, store->is_clocked);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    read_answers(&answer, &beating, answers_out, pools_out);
    return true;
}
