/*
 * heartbeat.c - pools say that they live, and extend what they hold.
 */
#include "base/cleanup.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/batch.h"
#include "store/sqlite/parts/standing.h"

#include <stdlib.h>

struct beating {
    struct sqlite *sqlite;
    const struct heartbeat *heartbeat; /* of the pool whose turn it is */
    usec_t now, lead;
    usec_t over_at;     /* leases that end by then are over */
    usec_t next_expiry; /* of all that are extended */
    int64_t *watched;   /* owned; the seqs of those that somebody watches */
    size_t watched_count;
};

static void beating_done(struct beating *beating)
{
    free(beating->watched);
}

static bool is_watched(const struct beating *beating, int64_t seq)
{
    for (size_t i = 0; i < beating->watched_count; i++) {
        if (beating->watched[i] == seq)
            return true;
    }
    return false;
}

static bool beat_pool(struct beating *beating, struct pool_answer *answer_out, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(beating->sqlite, SQL_POOL_BEAT);

    answer_out->is_watched = is_watched(beating, WATCH_POOLS);
    sqlite_query_text(&query, beating->heartbeat->pool);
    sqlite_query_int(&query, beating->now);
    sqlite_query_bytes(&query, beating->heartbeat->status);
    if (!sqlite_query_row(&query, &answer_out->is_registered, err))
        return false;
    if (answer_out->is_registered) {
        answer_out->want = pool_want_of(sqlite_row_int(&query));
        answer_out->wanted_at = sqlite_row_int(&query);
    }
    return true;
}

/* When this lease ends, if it is extended; its queue has to expect that. */
static usec_t extended_until(struct beating *beating, const struct lease_beat *lease)
{
    const usec_t lease_for =
        lease->lease_for != 0 ? lease->lease_for : beating->heartbeat->lease_for;
    const usec_t end = beating->now + beating->lead + lease_for;

    if (end < beating->next_expiry)
        beating->next_expiry = end;
    return end;
}

/* The token is compared by the statement that extends. */
static bool try_extend(struct beating *beating, int64_t seq, const struct lease_beat *lease,
                       bool *extended_out, bool *cancel_out, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(beating->sqlite, SQL_LEASE_EXTEND);

    sqlite_query_int(&query, seq);
    sqlite_query_token(&query, &lease->token);
    sqlite_query_int(&query, beating->over_at);
    sqlite_query_int(&query, extended_until(beating, lease));
    sqlite_query_int_or_null(&query, lease->worker);
    if (!sqlite_query_row(&query, extended_out, err))
        return false;
    *cancel_out = *extended_out && !sqlite_row_is_null(&query);
    return true;
}

static bool write_told(struct beating *beating, int64_t seq, const struct lease_beat *lease,
                       struct error *err)
{
    if (lease->progress_percent < 0 && !lease->output.data)
        return true;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(beating->sqlite, SQL_DETAIL_TOLD);
    sqlite_query_int(&query, seq);
    if (lease->progress_percent >= 0)
        sqlite_query_int(&query, lease->progress_percent);
    else
        sqlite_query_null(&query);
    sqlite_query_text(&query, lease->progress_text);
    sqlite_query_null(&query);
    sqlite_query_bytes(&query, lease->output);
    return sqlite_query_run(&query, err) &&
           sqlite_query_on_seq(beating->sqlite, SQL_LEASE_HAS_TRACES, seq, err);
}

static bool explain(struct beating *beating, const struct lease_beat *lease,
                    struct lease_answer *answer_out, struct error *err)
{
    struct sqlite_standing standing;
    bool found;

    if (!sqlite_standing_load_by_id(beating->sqlite, &lease->job, &standing, &found, err))
        return false;
    answer_out->verdict = !found ? TH_E_NOT_FOUND
                                 : lease_check(standing.place.state, standing.expires_at,
                                               &standing.token, &lease->token, beating->over_at);
    return true;
}

/* By its ref if that leads to the lease, otherwise by its id: an answer that says TH_OK has
 * extended. */
static bool extend(struct beating *beating, const struct lease_beat *lease, int64_t *seq_out,
                   bool *extended_out, bool *cancel_out, struct error *err)
{
    *seq_out = lease->ref;
    *extended_out = false;
    if (*seq_out != 0 && !try_extend(beating, *seq_out, lease, extended_out, cancel_out, err))
        return false;
    if (*extended_out)
        return true;
    return sqlite_standing_seq_of(beating->sqlite, &lease->job, seq_out, err) &&
           try_extend(beating, *seq_out, lease, extended_out, cancel_out, err);
}

static bool note_extended(struct beating *beating, int64_t seq, const struct lease_beat *lease,
                          struct lease_answer *answer, struct error *err)
{
    answer->verdict = TH_OK;
    answer->watched = is_watched(beating, seq);
    return write_told(beating, seq, lease, err);
}

/* Those that their ref leads to, at once. The others have no verdict yet: *missed_out says whose
 * tokens they are. */
static bool beat_by_ref(struct beating *beating, struct lease_answer *answers_out,
                        const struct lease_token **missed_out, size_t *count_out, struct error *err)
{
    *count_out = 0;
    for (size_t i = 0; i < beating->heartbeat->lease_count; i++) {
        const struct lease_beat *lease = &beating->heartbeat->leases[i];
        struct lease_answer *answer = &answers_out[i];
        bool extended = false;

        *answer = (struct lease_answer){.verdict = TH_E_NOT_FOUND};
        if (lease->ref != 0 &&
            !try_extend(beating, lease->ref, lease, &extended, &answer->cancel_requested, err))
            return false;
        if (!extended)
            missed_out[(*count_out)++] = &lease->token;
        else if (!note_extended(beating, lease->ref, lease, answer, err))
            return false;
    }
    return true;
}

static bool beat_missed(struct beating *beating, const struct lease_beat *lease,
                        struct lease_answer *answer, struct error *err)
{
    int64_t seq;
    bool extended;

    if (!extend(beating, lease, &seq, &extended, &answer->cancel_requested, err))
        return false;
    return extended ? note_extended(beating, seq, lease, answer, err)
                    : explain(beating, lease, answer, err);
}

/* What has no lease of its own, but one in a batch, gets it: from now on it ends by itself. */
static bool beat_leases(struct beating *beating, struct lease_answer *answers_out,
                        struct error *err)
{
    const struct heartbeat *heartbeat = beating->heartbeat;
    AUTO_FREE const struct lease_token **missed =
        calloc(heartbeat->lease_count + 1, sizeof(struct lease_token *));
    size_t count;

    if (!missed)
        return error_no_memory(err);
    if (!beat_by_ref(beating, answers_out, missed, &count, err) ||
        !sqlite_batch_unpack_all(beating->sqlite, missed, count, err))
        return false;
    for (size_t i = 0; i < heartbeat->lease_count; i++)
        if (answers_out[i].verdict != TH_OK &&
            !beat_missed(beating, &heartbeat->leases[i], &answers_out[i], err))
            return false;
    return true;
}

/* Leases may now be shorter than they were: no queue may expect its next expiry later. */
static bool expect_expiry(struct beating *beating, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(beating->sqlite, SQL_QUEUES_EXPECT_EXPIRY);

    sqlite_query_int(&query, beating->next_expiry);
    return sqlite_query_run(&query, err);
}

static bool beat_all(struct beating *beating, const struct heartbeat *heartbeats, size_t count,
                     struct lease_answer *answers_out, struct pool_answer *pools_out,
                     struct error *err)
{
    if (!sqlite_watch_read(beating->sqlite, beating->now, &beating->watched,
                           &beating->watched_count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        beating->heartbeat = &heartbeats[i];
        if (!beat_pool(beating, &pools_out[i], err) ||
            (heartbeats[i].lease_count > 0 && !beat_leases(beating, answers_out, err)))
            return false;
        answers_out += heartbeats[i].lease_count;
    }
    return beating->next_expiry == USEC_MAX || expect_expiry(beating, err);
}

bool sqlite_heartbeat(struct store *store, const struct heartbeat *heartbeats, size_t count,
                      usec_t now, struct lease_answer *answers_out, struct pool_answer *pools_out,
                      struct error *err)
{
    CLEANUP(beating_done)
    struct beating beating = {
        .sqlite = sqlite_of(store),
        .now = now,
        .lead = store_lead(store),
        .over_at = store_over_at(store, now),
        .next_expiry = USEC_MAX,
    };

    return sqlite_begin_write(beating.sqlite, err) &&
           sqlite_end(beating.sqlite,
                      beat_all(&beating, heartbeats, count, answers_out, pools_out, err), err);
}
