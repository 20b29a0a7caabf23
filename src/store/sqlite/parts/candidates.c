/*
 * candidates.c - the jobs that may be on a page, in the order of the list.
 */
#include "store/sqlite/parts/candidates.h"

#include "base/cleanup.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/parts/queues.h"

#include <stdlib.h>

#define READ_MIN 8
#define READ_MAX 1024

/* Jobs of a queue that are sorted by id in no time. Of more, a page is found sooner by going
 * through the ids of all queues. */
#define FEW_JOBS 20000

struct sqlite_candidates_stream {
    enum sql_statement statement;
    int64_t queue_id; /* 0: of all queues */
    int64_t group;    /* the priority, or the state */
    struct sqlite_candidate *rows;
    size_t next, count, capacity;
    bool over; /* the last row that was read is the last one there is */
};

static void free_stream(struct sqlite_candidates_stream *stream)
{
    if (stream)
        free(stream->rows);
    free(stream);
}

void sqlite_candidates_close(struct sqlite_candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++)
        free_stream(candidates->heap[i]);
    free(candidates->heap);
    *candidates = (struct sqlite_candidates){0};
}

static bool is_by_id(const struct sqlite_candidates *candidates)
{
    return listing_order_of(candidates->filter) == LISTING_BY_ID;
}

struct job_cursor sqlite_candidates_cursor(const struct sqlite_candidates *candidates,
                                           const struct sqlite_candidate *candidate)
{
    return (struct job_cursor){
        .is_set = true,
        .at = candidate->at,
        .ref = is_by_id(candidates) ? 0 : candidate->seq,
        .id = candidate->id,
    };
}

/* ---- rows of one stream ---- */

static void bind_range(const struct sqlite_candidates *candidates,
                       const struct listing_range *range, struct sqlite_query *query)
{
    if (is_by_id(candidates)) {
        sqlite_query_uuid(query, &range->low_id);
        sqlite_query_int(query, range->low_is_in);
        sqlite_query_uuid(query, &range->high_id);
        if (candidates->filter->tag)
            sqlite_query_text(query, candidates->filter->tag);
        return;
    }
    sqlite_query_int(query, range->low_at);
    sqlite_query_int(query, range->low_ref);
    sqlite_query_int(query, range->high_at);
    sqlite_query_int(query, range->high_ref);
}

static struct sqlite_candidate read_row(const struct sqlite_candidates *candidates,
                                        struct sqlite_query *query)
{
    struct sqlite_candidate row = {0};

    if (is_by_id(candidates))
        row.id = sqlite_row_uuid(query);
    else
        row.at = sqlite_row_int(query);
    row.seq = sqlite_row_int(query);
    return row;
}

/* What lies after the rows that it has. */
static struct listing_range rest_of(const struct sqlite_candidates *candidates,
                                    const struct sqlite_candidates_stream *stream)
{
    struct job_filter rest = *candidates->filter;

    if (stream->count > 0)
        rest.after = sqlite_candidates_cursor(candidates, &stream->rows[stream->count - 1]);
    return listing_range_of(&rest);
}

static bool make_room(const struct sqlite_candidates *candidates,
                      struct sqlite_candidates_stream *stream, struct error *err)
{
    size_t doubled = stream->capacity * 2 < READ_MAX ? stream->capacity * 2 : READ_MAX;
    size_t wanted = stream->capacity == 0 ? candidates->at_once : doubled;

    if (wanted <= stream->capacity)
        return true;
    struct sqlite_candidate *rows = reallocarray(stream->rows, wanted, sizeof *rows);
    if (!rows)
        return error_no_memory(err);
    stream->rows = rows;
    stream->capacity = wanted;
    return true;
}

static bool read_more(struct sqlite_candidates *candidates, struct sqlite_candidates_stream *stream,
                      struct error *err)
{
    struct listing_range range = rest_of(candidates, stream);
    bool found = true;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(candidates->sqlite, stream->statement);

    if (!make_room(candidates, stream, err))
        return false;
    sqlite_query_int_or_null(&query, stream->queue_id);
    sqlite_query_int(&query, stream->group);
    sqlite_query_int(&query, (int64_t)stream->capacity);
    bind_range(candidates, &range, &query);
    stream->next = stream->count = 0;
    while (stream->count < stream->capacity) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        stream->rows[stream->count++] = read_row(candidates, &query);
    }
    stream->over = !found;
    return true;
}

/* ---- the heap ---- */

static bool comes_first(const struct sqlite_candidates *candidates, size_t a, size_t b)
{
    const struct sqlite_candidates_stream *one = candidates->heap[a], *other = candidates->heap[b];
    const struct sqlite_candidate *x = &one->rows[one->next], *y = &other->rows[other->next];
    bool is_older = x->at != y->at ? x->at < y->at : x->seq < y->seq;

    return is_older == candidates->filter->oldest_first;
}

static void swap(struct sqlite_candidates *candidates, size_t a, size_t b)
{
    struct sqlite_candidates_stream *stream = candidates->heap[a];

    candidates->heap[a] = candidates->heap[b];
    candidates->heap[b] = stream;
}

static void sift_down(struct sqlite_candidates *candidates, size_t at)
{
    for (;;) {
        size_t first = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < candidates->count && comes_first(candidates, child, first))
                first = child;
        if (first == at)
            return;
        swap(candidates, at, first);
        at = first;
    }
}

bool sqlite_candidates_next(struct sqlite_candidates *candidates,
                            struct sqlite_candidate *candidate_out, bool *found_out,
                            struct error *err)
{
    *found_out = candidates->count > 0;
    if (!*found_out)
        return true;

    struct sqlite_candidates_stream *stream = candidates->heap[0];
    *candidate_out = stream->rows[stream->next++];
    if (stream->next == stream->count && !stream->over && !read_more(candidates, stream, err))
        return false;
    if (stream->next == stream->count) {
        free_stream(stream);
        candidates->heap[0] = candidates->heap[--candidates->count];
    }
    sift_down(candidates, 0);
    return true;
}

/* ---- which streams there are ---- */

static bool grow_heap(struct sqlite_candidates *candidates, struct error *err)
{
    size_t count = candidates->count;

    if ((count & (count - 1)) != 0)
        return true;
    struct sqlite_candidates_stream **heap = reallocarray(
        candidates->heap, count == 0 ? 1 : 2 * count, sizeof(struct sqlite_candidates_stream *));
    if (!heap)
        return error_no_memory(err);
    candidates->heap = heap;
    return true;
}

static bool add_stream(struct sqlite_candidates *candidates, int64_t queue_id, int64_t group,
                       struct error *err)
{
    struct sqlite_candidates_stream *stream = calloc(1, sizeof *stream);

    if (!stream)
        return error_no_memory(err);
    stream->statement = candidates->statement;
    stream->queue_id = queue_id;
    stream->group = group;
    bool kept = read_more(candidates, stream, err);
    if (kept && stream->count > 0) {
        kept = grow_heap(candidates, err);
        if (kept) {
            candidates->heap[candidates->count++] = stream;
            return true;
        }
    }
    free_stream(stream);
    return kept;
}

/* Those in line, a stream for each priority, and those that are aside. */
static bool add_ready(struct sqlite_candidates *candidates, int64_t queue_id, struct error *err)
{
    const enum sql_statement in_line = candidates->statement;

    for (int priority = 0; priority <= JOB_PRIORITY_MAX; priority++)
        if (!add_stream(candidates, queue_id, priority, err))
            return false;
    candidates->statement =
        candidates->filter->oldest_first ? SQL_LIST_ASIDE_UP : SQL_LIST_ASIDE_DOWN;
    const bool added = add_stream(candidates, queue_id, 0, err);
    candidates->statement = in_line;
    return added;
}

static bool add_queue(struct sqlite_candidates *candidates, int64_t queue_id, struct error *err)
{
    if (candidates->filter->state == JOB_READY)
        return add_ready(candidates, queue_id, err);
    return add_stream(candidates, queue_id, candidates->filter->state, err);
}

static bool add_queues(struct sqlite_candidates *candidates, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(candidates->sqlite, SQL_QUEUES_WITH);

    if (candidates->queue_id != 0)
        return add_queue(candidates, candidates->queue_id, err);
    sqlite_query_int(&query, candidates->filter->state);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        if (!add_queue(candidates, sqlite_row_int(&query), err))
            return false;
    }
}

/* ---- by which statement they are read ---- */

static bool has_few_jobs(struct sqlite_candidates *candidates, bool *few_out, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(candidates->sqlite, SQL_QUEUE_JOBS);

    sqlite_query_int(&query, candidates->queue_id);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    *few_out = sqlite_row_int(&query) <= FEW_JOBS;
    return true;
}

static bool open_by_tag(struct sqlite_candidates *candidates, struct error *err)
{
    candidates->mixed = candidates->queue_id != 0;
    candidates->statement = candidates->filter->oldest_first ? SQL_LIST_TAG_UP : SQL_LIST_TAG_DOWN;
    return add_stream(candidates, 0, 0, err);
}

static bool open_by_id(struct sqlite_candidates *candidates, struct error *err)
{
    bool up = candidates->filter->oldest_first, few = false;

    if (candidates->queue_id != 0 && !has_few_jobs(candidates, &few, err))
        return false;
    candidates->mixed = candidates->queue_id != 0 && !few;
    if (few) {
        candidates->statement = up ? SQL_LIST_QUEUE_UP : SQL_LIST_QUEUE_DOWN;
        candidates->at_once = LISTING_LOOK_MAX + 1; /* each read sorts anew */
    } else {
        candidates->statement = up ? SQL_LIST_ID_UP : SQL_LIST_ID_DOWN;
    }
    return add_stream(candidates, candidates->queue_id, 0, err);
}

static bool open_waiting(struct sqlite_candidates *candidates, struct error *err)
{
    bool up = candidates->filter->oldest_first;

    if (candidates->queue_id != 0)
        candidates->statement = up ? SQL_LIST_WAITING_QUEUE_UP : SQL_LIST_WAITING_QUEUE_DOWN;
    else
        candidates->statement = up ? SQL_LIST_WAITING_UP : SQL_LIST_WAITING_DOWN;
    return add_stream(candidates, candidates->queue_id, candidates->filter->state, err);
}

static bool open_streams(struct sqlite_candidates *candidates, struct error *err)
{
    bool up = candidates->filter->oldest_first;

    switch (listing_order_of(candidates->filter)) {
    case LISTING_BY_ID:
        return candidates->filter->tag ? open_by_tag(candidates, err) : open_by_id(candidates, err);
    case LISTING_BY_START:
        candidates->statement = up ? SQL_LIST_RUNNING_UP : SQL_LIST_RUNNING_DOWN;
        candidates->at_once = LISTING_LOOK_MAX + 1; /* each read sorts anew */
        return add_stream(candidates, candidates->queue_id, 0, err);
    case LISTING_BY_END:
        candidates->statement = up ? SQL_LIST_ENDED_UP : SQL_LIST_ENDED_DOWN;
        return add_queues(candidates, err);
    case LISTING_BY_DUE:
        if (candidates->filter->state != JOB_READY)
            return open_waiting(candidates, err);
        candidates->statement = up ? SQL_LIST_READY_UP : SQL_LIST_READY_DOWN;
        return add_queues(candidates, err);
    }
    return true;
}

bool sqlite_candidates_open(struct sqlite *sqlite, const struct job_filter *filter,
                            struct sqlite_candidates *candidates_out, struct error *err)
{
    *candidates_out = (struct sqlite_candidates){
        .sqlite = sqlite,
        .filter = filter,
        .at_once = READ_MIN,
    };
    if (filter->queue) {
        if (!sqlite_queues_find(sqlite, filter->queue, &candidates_out->queue_id, err))
            return false;
        if (candidates_out->queue_id == 0)
            return true;
    }
    if (!open_streams(candidates_out, err))
        return false;
    for (size_t i = candidates_out->count; i-- > 0;)
        sift_down(candidates_out, i);
    return true;
}
