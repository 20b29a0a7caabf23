/*
 * redis_browse.c - jobs for people: one, or a page of a list, for now always in order of id.
 *
 * A page is found in two steps: the ids that may be on it from every queue, which are merged, and
 * then the jobs themselves, a few at a time, so that a page of large jobs does not need gigabytes.
 */
#include "base/cleanup.h"
#include "base/text.h"
#include "store/listing.h"
#include "store/redis/redis_jobs.h"
#include "store/redis/redis_queues.h"
#include "store/redis/redis_record.h"
#include "store/redis/redis_show.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE_BYTES ((size_t)16 << 20) /* of payload on one page */
#define AT_ONCE    50                 /* jobs that are fetched together */

/* ---- one ---- */

static bool show_everywhere(struct redis *redis, const struct uuid *id, struct job_list *job_out,
                            struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    for (size_t i = 0; i < redis->queues.count; i++) {
        struct redis_command *command =
            redis_on_queue(redis, &batch, SCRIPT_SHOW, redis->queues.items[i]);
        if (command == NULL)
            return error_no_memory(err);
        redis_command_text(command, "all");
        redis_command_uuid(command, id);
    }
    if (!redis_run(redis, &batch, err))
        return false;
    for (size_t i = 0; i < batch.count; i++)
        if (!redis_show_read(batch.items[i].reply, redis->queues.items[i], job_out, err))
            return false;
    return true;
}

bool redis_get(struct store *store, const struct uuid *id, struct job_list *job_out,
               struct error *err)
{
    struct redis *redis = redis_of(store);
    size_t before = job_out->count;
    char text[UUID_TEXT_SIZE];

    redis_begin(redis);
    if (!redis_queues_load(redis, err) || !show_everywhere(redis, id, job_out, err))
        return false;
    if (job_out->count == before)
        return error_set(err, TH_E_NOT_FOUND, "no job %s", uuid_format(id, text));
    job_out->count = before + 1;
    return true;
}

/* ---- a page ---- */

/* A job that may be on the page. */
struct candidate {
    struct uuid id;
    size_t queue; /* its number in redis->queues */
};

/* How far a queue has been looked through. */
struct progress {
    char behind[UUID_TEXT_SIZE];
    size_t got;
    bool over;
};

struct page {
    struct redis *redis;
    const struct job_filter *filter;
    struct progress *progress;    /* owned; of each queue */
    struct candidate *candidates; /* owned */
    size_t count, capacity;
};

static void page_done(struct page *page)
{
    free(page->progress);
    free(page->candidates);
}

static bool start(struct page *page, struct error *err)
{
    const struct redis_names *queues = &page->redis->queues;
    const struct job_filter *filter = page->filter;

    page->progress = calloc(queues->count + 1, sizeof(*page->progress));
    if (page->progress == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < queues->count; i++) {
        if (filter->after.is_set)
            uuid_format(&filter->after.id, page->progress[i].behind);
        page->progress[i].over =
            filter->queue != NULL && !text_equal(filter->queue, queues->items[i]);
    }
    return true;
}

static bool add_candidate(struct page *page, const redisReply *id, size_t queue, struct error *err)
{
    if (page->count == page->capacity) {
        size_t capacity = page->capacity == 0 ? 64 : 2 * page->capacity;
        struct candidate *candidates =
            reallocarray(page->candidates, capacity, sizeof(*candidates));
        if (candidates == NULL)
            return error_no_memory(err);
        page->candidates = candidates;
        page->capacity = capacity;
    }
    page->candidates[page->count].queue = queue;
    page->count += redis_reply_uuid(id, &page->candidates[page->count].id);
    return true;
}

/* One more than the page takes, to know whether another one follows. */
static size_t wanted_of(const struct page *page)
{
    return page->filter->limit + 1;
}

static bool ask_queue(const struct page *page, size_t queue, struct redis_batch *batch,
                      struct error *err)
{
    const struct job_filter *filter = page->filter;
    const struct progress *progress = &page->progress[queue];
    struct redis_command *command =
        redis_on_queue(page->redis, batch, SCRIPT_LIST, page->redis->queues.items[queue]);

    if (command == NULL)
        return error_no_memory(err);
    redis_command_text(command, progress->behind);
    redis_command_int(command, (int64_t)(wanted_of(page) - progress->got));
    if (filter->by_state)
        redis_command_int(command, filter->state);
    else
        redis_command_text(command, "");
    redis_command_text(command, filter->type != NULL ? filter->type : "");
    redis_command_int(command, filter->oldest_first);
    return true;
}

static bool read_queue(struct page *page, size_t queue, const redisReply *reply, struct error *err)
{
    struct progress *progress = &page->progress[queue];

    if (reply->elements == 0)
        return error_set(err, TH_E_INTERNAL, "redis: list answered nothing");
    for (size_t i = 1; i < reply->elements; i++, progress->got++)
        if (!add_candidate(page, reply->element[i], queue, err))
            return false;
    snprintf(progress->behind, sizeof(progress->behind), "%s", reply->element[0]->str);
    progress->over = progress->behind[0] == '\0' || progress->got >= wanted_of(page);
    return true;
}

/* A part of every queue that may have more. */
static bool look_once(struct page *page, bool *over_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    size_t queues = page->redis->queues.count, next = 0;

    for (size_t i = 0; i < queues; i++)
        if (!page->progress[i].over && !ask_queue(page, i, &batch, err))
            return false;
    *over_out = batch.count == 0;
    if (!redis_run(page->redis, &batch, err))
        return false;
    for (size_t i = 0; i < queues; i++)
        if (!page->progress[i].over && !read_queue(page, i, batch.items[next++].reply, err))
            return false;
    return true;
}

static int by_id(const void *a, const void *b)
{
    return uuid_compare(&((const struct candidate *)a)->id, &((const struct candidate *)b)->id);
}

static int by_id_down(const void *a, const void *b)
{
    return by_id(b, a);
}

static bool find_candidates(struct page *page, struct error *err)
{
    bool over = false;

    while (!over)
        if (!look_once(page, &over, err))
            return false;
    if (page->count > 0)
        qsort(page->candidates, page->count, sizeof(*page->candidates),
              page->filter->oldest_first ? by_id : by_id_down);
    return true;
}

/* The candidates [from, to) as jobs; what has gone meanwhile is left out. */
static bool fetch(struct page *page, size_t from, size_t to, struct job_list *jobs_out,
                  struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    const struct redis_names *queues = &page->redis->queues;

    for (size_t i = from; i < to; i++) {
        const struct candidate *candidate = &page->candidates[i];
        struct redis_command *command =
            redis_on_queue(page->redis, &batch, SCRIPT_SHOW, queues->items[candidate->queue]);
        if (command == NULL)
            return error_no_memory(err);
        redis_command_text(command, "all");
        redis_command_uuid(command, &candidate->id);
    }
    if (!redis_run(page->redis, &batch, err))
        return false;
    for (size_t i = from; i < to; i++)
        if (!redis_show_read(batch.items[i - from].reply, queues->items[page->candidates[i].queue],
                             jobs_out, err))
            return false;
    return true;
}

static void leave_out_what_is_large(struct job *job)
{
    job->payload = job->result = job->output = (struct bytes){0};
    job->run_count = 0;
}

/* A job may have left the state between the two steps; and what the script does not compare. */
static void drop_unwanted(const struct job_filter *filter, struct job_list *jobs, size_t from)
{
    size_t kept = from;

    for (size_t i = from; i < jobs->count; i++)
        if (listing_matches(filter, &jobs->items[i]))
            jobs->items[kept++] = jobs->items[i];
    jobs->count = kept;
    for (size_t i = from; i < kept && filter->brief; i++)
        leave_out_what_is_large(&jobs->items[i]);
}

static size_t payload_bytes(const struct job_list *jobs, size_t from)
{
    size_t bytes = 0;

    for (size_t i = from; i < jobs->count; i++)
        bytes += jobs->items[i].payload.length;
    return bytes;
}

static bool fetch_page(struct page *page, struct job_list *jobs_out, struct job_cursor *next_out,
                       struct error *err)
{
    size_t limit = page->count < page->filter->limit ? page->count : page->filter->limit;
    size_t next = 0, bytes = 0;

    while (next < limit && bytes < PAGE_BYTES) {
        size_t before = jobs_out->count;
        size_t to = next + AT_ONCE < limit ? next + AT_ONCE : limit;
        if (!fetch(page, next, to, jobs_out, err))
            return false;
        bytes += payload_bytes(jobs_out, before);
        drop_unwanted(page->filter, jobs_out, before);
        next = to;
    }
    if (next < page->count)
        *next_out = (struct job_cursor){.is_set = true, .id = page->candidates[next - 1].id};
    return true;
}

bool redis_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
                struct job_cursor *next_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(page_done) struct page page = {.redis = redis, .filter = filter};

    redis_begin(redis);
    return redis_queues_load(redis, err) && start(&page, err) && find_candidates(&page, err) &&
           fetch_page(&page, jobs_out, next_out, err);
}
