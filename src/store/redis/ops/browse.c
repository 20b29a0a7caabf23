/*
 * browse.c - jobs for people: one, or a page of a list.
 *
 * A page is found in two steps: where in the order jobs stand, from the index that their state has
 * in every queue (parts/places.c), and then the jobs themselves, a few at a time.
 */
#include "base/cleanup.h"
#include "store/listing.h"
#include "store/redis/codec/show.h"
#include "store/redis/net/reply.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/places.h"
#include "store/redis/parts/queues.h"

#define AT_ONCE       20 /* jobs that are fetched together: each may have 16 MiB */
#define BRIEF_AT_ONCE 500

/* ---- one ---- */

static bool show_everywhere(struct redis *redis, const struct uuid *id, struct job_list *job_out,
                            struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    for (size_t i = 0; i < redis->queues.count; i++) {
        struct redis_command *command =
            redis_batch_on_queue(redis, &batch, SCRIPT_SHOW, redis->queues.items[i]);
        if (!command)
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

    redis_begin(redis);
    if (!redis_queues_load(redis, err) || !show_everywhere(redis, id, job_out, err))
        return false;
    if (job_out->count > before + 1)
        job_out->count = before + 1;
    return true;
}

/* ---- a page ---- */

/* The jobs at the places [from, to); what has gone meanwhile is left out. */
static bool fetch(struct redis *redis, const struct redis_places *places, bool brief, size_t from,
                  size_t to, struct job_list *jobs_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    for (size_t i = from; i < to; i++) {
        const struct redis_place *place = &places->items[i];
        struct redis_command *command =
            redis_batch_on_queue(redis, &batch, SCRIPT_SHOW, redis->queues.items[place->queue]);
        if (!command)
            return error_no_memory(err);
        redis_command_text(command, brief ? "brief" : "all");
        redis_command_text(command, redis_place_id(place));
    }
    if (!redis_run(redis, &batch, err))
        return false;
    for (size_t i = from; i < to; i++)
        if (!redis_show_read(batch.items[i - from].reply,
                             redis->queues.items[places->items[i].queue], jobs_out, err))
            return false;
    return true;
}

static void leave_out_what_is_large(struct job *job)
{
    job->payload = job->result = job->output = (struct bytes){0};
    job->headers = NULL;
    job->run_count = 0;
}

/* A job may have left the state between the two steps. True when the page has as many bytes as it
 * takes: then the rest of them is for the next one. */
static bool keep_wanted(const struct job_filter *filter, struct job_list *jobs, size_t from,
                        size_t *bytes)
{
    size_t kept = from, i = from;

    for (; i < jobs->count && *bytes < LISTING_PAGE_BYTES; i++) {
        if (!listing_matches(filter, &jobs->items[i]))
            continue;
        if (filter->brief)
            leave_out_what_is_large(&jobs->items[i]);
        *bytes += listing_bytes(&jobs->items[i]);
        jobs->items[kept++] = jobs->items[i];
    }
    bool is_cut = i < jobs->count;
    jobs->count = kept;
    return is_cut;
}

static void set_next(const struct job_filter *filter, const struct job *last,
                     struct job_cursor *next_out)
{
    *next_out = listing_cursor(filter, last);
}

static bool fetch_page(struct redis *redis, const struct job_filter *filter,
                       const struct redis_places *places, struct job_list *jobs_out,
                       struct job_cursor *next_out, struct error *err)
{
    size_t step = filter->brief ? BRIEF_AT_ONCE : AT_ONCE, bytes = 0, next = 0;

    while (next < places->count) {
        size_t before = jobs_out->count;
        size_t to = next + step < places->count ? next + step : places->count;
        if (!fetch(redis, places, filter->brief, next, to, jobs_out, err))
            return false;
        if (keep_wanted(filter, jobs_out, before, &bytes)) {
            set_next(filter, &jobs_out->items[jobs_out->count - 1], next_out);
            return true;
        }
        next = to;
        if (bytes >= LISTING_PAGE_BYTES && next < places->count) {
            *next_out = redis_place_cursor(places->items[next - 1].text);
            return true;
        }
    }
    if (places->go_on[0] != '\0')
        *next_out = redis_place_cursor(places->go_on);
    return true;
}

bool redis_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
                struct job_cursor *next_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(redis_places_done) struct redis_places places = {0};

    redis_begin(redis);
    return redis_queues_load(redis, err) && redis_places_find(redis, filter, &places, err) &&
           fetch_page(redis, filter, &places, jobs_out, next_out, err);
}
