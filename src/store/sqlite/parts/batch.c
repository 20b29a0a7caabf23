/*
 * batch.c - leases that are kept together: a row of `batch`.
 */
#include "store/sqlite/parts/batch.h"

#include "base/cleanup.h"
#include "store/sqlite/codec/seqs.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/parts/lease.h"

#include <string.h>

void sqlite_batch_done(struct sqlite_batch *batch)
{
    free(batch->seqs);
    *batch = (struct sqlite_batch){0};
}

bool sqlite_batch_make_room(struct sqlite_batch *batch, size_t count, struct error *err)
{
    if (count > batch->capacity) {
        int64_t *seqs = reallocarray(batch->seqs, count, sizeof *seqs);
        if (!seqs)
            return error_no_memory(err);
        batch->seqs = seqs;
        batch->capacity = count;
    }
    memset(batch->seqs, 0, count * sizeof *batch->seqs);
    batch->count = count;
    batch->open = 0;
    return true;
}

/* ---- the row ---- */

static void bind_token(struct sqlite_query *query, const struct batch_token *token)
{
    sqlite_query_bytes(query, (struct bytes){token->bytes, sizeof token->bytes});
}

bool sqlite_batch_add(struct sqlite *sqlite, const struct sqlite_batch *batch, struct error *err)
{
    AUTO_FREE char *seqs = sqlite_seqs_write(batch->seqs, batch->count);
    int64_t lowest = INT64_MAX, highest = 0;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_BATCH_ADD);

    if (!seqs)
        return error_no_memory(err);
    for (size_t i = 0; i < batch->count; i++) {
        const int64_t seq = batch->seqs[i];
        lowest = seq != 0 && seq < lowest ? seq : lowest;
        highest = seq > highest ? seq : highest;
    }
    sqlite_query_int(&query, lowest);
    sqlite_query_int(&query, highest);
    sqlite_query_int(&query, batch->queue_id);
    bind_token(&query, &batch->token);
    sqlite_query_int(&query, batch->first);
    sqlite_query_int(&query, batch->expires_at);
    sqlite_query_int(&query, batch->started_at);
    sqlite_query_text(&query, batch->pool);
    sqlite_query_int(&query, (int64_t)batch->open);
    sqlite_query_text(&query, seqs);
    return sqlite_query_run(&query, err);
}

static bool read_seqs(const char *text, struct sqlite_batch *batch, struct error *err)
{
    if (!text || !sqlite_batch_make_room(batch, sqlite_seqs_count(text), err))
        return error_no_memory(err);
    sqlite_seqs_read(text, batch->seqs, batch->count);
    for (size_t i = 0; i < batch->count; i++)
        batch->open += batch->seqs[i] != 0;
    return true;
}

static bool read_row(struct sqlite_query *query, struct sqlite_batch *batch, struct error *err)
{
    batch->seq = sqlite_row_int(query);
    batch->queue_id = sqlite_row_int(query);
    batch->token = sqlite_row_batch(query);
    batch->first = (uint32_t)sqlite_row_int(query);
    batch->expires_at = sqlite_row_int(query);
    batch->started_at = sqlite_row_int(query);
    sqlite_row_copy(query, batch->pool, sizeof batch->pool);
    return read_seqs(sqlite_row_peek(query), batch, err);
}

bool sqlite_batch_next(struct sqlite *sqlite, const struct lease_token *token,
                       struct sqlite_batch *batch, bool *found_out, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_BATCH_NEXT);

    sqlite_query_bytes(&query, (struct bytes){token->bytes, sizeof batch->token.bytes});
    sqlite_query_int(&query, batch->seq);
    return sqlite_query_row(&query, found_out, err) &&
           (!*found_out || read_row(&query, batch, err));
}

bool sqlite_batch_save(struct sqlite *sqlite, const struct sqlite_batch *batch, struct error *err)
{
    if (batch->open == 0)
        return sqlite_query_on_seq(sqlite, SQL_BATCH_REMOVE, batch->seq, err);
    AUTO_FREE char *seqs = sqlite_seqs_write(batch->seqs, batch->count);
    if (!seqs)
        return error_no_memory(err);
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_BATCH_SET);
    sqlite_query_int(&query, batch->seq);
    sqlite_query_int(&query, (int64_t)batch->open);
    sqlite_query_text(&query, seqs);
    return sqlite_query_run(&query, err);
}

/* ---- its leases ---- */

size_t sqlite_batch_index(const struct sqlite_batch *batch, const struct lease_token *token)
{
    const uint32_t index = lease_token_index(token) - batch->first;

    return index < batch->count && batch->seqs[index] != 0 ? index : SQLITE_BATCH_NONE;
}

void sqlite_batch_leave(struct sqlite_batch *batch, size_t index)
{
    batch->seqs[index] = 0;
    batch->open--;
}

bool sqlite_batch_unpack(struct sqlite *sqlite, struct sqlite_batch *batch, size_t index,
                         struct error *err)
{
    const struct sqlite_lease lease = {
        .seq = batch->seqs[index],
        .queue_id = batch->queue_id,
        .execution = 1,
        .token = lease_token_make(&batch->token, batch->first + (uint32_t)index),
        .expires_at = batch->expires_at,
        .started_at = batch->started_at,
        .pool = batch->pool,
    };

    sqlite_batch_leave(batch, index);
    return sqlite_lease_add(sqlite, &lease, err);
}

/* What these tokens name in the batches that the first of them leads to. */
static bool unpack_named(struct sqlite *sqlite, const struct lease_token **tokens, size_t count,
                         struct error *err)
{
    CLEANUP(sqlite_batch_done) struct sqlite_batch batch = {0};
    bool found;

    for (;;) {
        if (!sqlite_batch_next(sqlite, tokens[0], &batch, &found, err))
            return false;
        if (!found)
            return true;
        for (size_t i = 0; i < count; i++) {
            if (!tokens[i] || lease_token_compare_batches(tokens[i], tokens[0]) != 0)
                continue;
            const size_t index = sqlite_batch_index(&batch, tokens[i]);
            if (index != SQLITE_BATCH_NONE && !sqlite_batch_unpack(sqlite, &batch, index, err))
                return false;
        }
        if (!sqlite_batch_save(sqlite, &batch, err))
            return false;
    }
}

bool sqlite_batch_unpack_all(struct sqlite *sqlite, const struct lease_token **tokens, size_t count,
                             struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!tokens[i])
            continue;
        if (!unpack_named(sqlite, tokens + i, count - i, err))
            return false;
        for (size_t j = count; j-- > i;)
            if (tokens[j] && lease_token_compare_batches(tokens[j], tokens[i]) == 0)
                tokens[j] = NULL;
    }
    return true;
}

static bool find_expired(struct sqlite *sqlite, int64_t queue_id, usec_t now,
                         struct sqlite_batch *batch, bool *found_out, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_BATCH_EXPIRED);

    sqlite_query_int(&query, queue_id);
    sqlite_query_int(&query, now);
    return sqlite_query_row(&query, found_out, err) &&
           (!*found_out || read_row(&query, batch, err));
}

bool sqlite_batch_unpack_expired(struct sqlite *sqlite, int64_t queue_id, usec_t now, size_t limit,
                                 struct error *err)
{
    CLEANUP(sqlite_batch_done) struct sqlite_batch batch = {0};
    bool found;

    while (limit > 0) {
        if (!find_expired(sqlite, queue_id, now, &batch, &found, err))
            return false;
        if (!found)
            return true;
        for (size_t i = 0; i < batch.count && limit > 0; i++) {
            if (batch.seqs[i] == 0)
                continue;
            if (!sqlite_batch_unpack(sqlite, &batch, i, err))
                return false;
            limit--;
        }
        if (!sqlite_batch_save(sqlite, &batch, err))
            return false;
    }
    return true;
}
