/*
 * crowd.c - many jobs, followed to their ends.
 *
 * Invariants:
 *   - The ids are in order, each once, from the first look on.
 *   - A job is counted once: when it is seen at its end, or is missing where it should be.
 */
#include "client/crowd.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 1024

static bool grow(struct crowd *crowd, struct error *err)
{
    size_t room = crowd->room == 0 ? ROOM_FIRST : 2 * crowd->room;
    struct uuid *ids = reallocarray(crowd->ids, room, sizeof *ids);

    if (!ids)
        return error_no_memory(err);
    crowd->ids = ids;
    crowd->room = room;
    return true;
}

/* A queue is only of use while it is the one of all. */
static void note_queue(struct crowd *crowd, const char *queue)
{
    if (crowd->count == 0 && queue)
        snprintf(crowd->queue, sizeof crowd->queue, "%s", queue);
    else if (!queue || strcmp(crowd->queue, queue) != 0)
        crowd->queue[0] = '\0';
}

bool crowd_add(struct crowd *crowd, const struct uuid *id, const char *queue, struct error *err)
{
    if (crowd->count == crowd->room && !grow(crowd, err))
        return false;
    note_queue(crowd, queue);
    crowd->ids[crowd->count++] = *id;
    crowd->left = crowd->count;
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    return uuid_compare(a, b);
}

/* Jobs that a key or an idempotency key made one are counted as one. */
static void drop_doubles(struct crowd *crowd)
{
    size_t kept = 0;

    for (size_t i = 0; i < crowd->count; i++) {
        if (kept == 0 || uuid_compare(&crowd->ids[kept - 1], &crowd->ids[i]) != 0)
            crowd->ids[kept++] = crowd->ids[i];
    }
    crowd->count = crowd->left = kept;
}

static bool begin(struct crowd *crowd, struct error *err)
{
    if (crowd->has_ended || crowd->count == 0)
        return true;
    qsort(crowd->ids, crowd->count, sizeof *crowd->ids, compare_ids);
    drop_doubles(crowd);
    crowd->has_ended = calloc(crowd->count, sizeof *crowd->has_ended);
    return crowd->has_ended || error_no_memory(err);
}

/* The first one from here on that has not ended, or the first of all. */
static size_t next_left(const struct crowd *crowd, size_t from)
{
    for (size_t i = 0; i < crowd->count; i++) {
        size_t place = (from + i) % crowd->count;
        if (!crowd->has_ended[place])
            return place;
    }
    return crowd->count;
}

/* The id right before this one, whether or not a job has it. */
static struct uuid id_before(struct uuid id)
{
    for (size_t i = sizeof id.bytes; i > 0 && id.bytes[i - 1]-- == 0; i--) {
    }
    return id;
}

/* One page of a look: what is being compared with what. */
struct page {
    struct crowd *crowd;
    const struct crowd_watcher *watcher;
    struct job_list jobs;
    bool is_last; /* no job comes after it */
    bool moved;
};

static void page_done(struct page *page)
{
    job_list_done(&page->jobs);
}

static bool read_page(struct page *page, struct store *store, size_t from, struct error *err)
{
    struct crowd *crowd = page->crowd;
    const struct job_filter filter = {
        .queue = crowd->queue[0] != '\0' ? crowd->queue : NULL,
        .oldest_first = true,
        .brief = !page->watcher->in_full,
        .after = {.is_set = true, .id = id_before(crowd->ids[from])},
        .limit = JOB_PAGE_MAX,
    };
    struct job_cursor next;

    if (!store_list(store, &filter, &page->jobs, &next, err))
        return false;
    page->is_last = !next.is_set;
    return true;
}

static void note_end(struct page *page, size_t place, const struct job *job)
{
    struct crowd *crowd = page->crowd;

    crowd->has_ended[place] = true;
    crowd->left--;
    page->moved = true;
    if (!job) {
        crowd->gone++;
        return;
    }
    crowd->ended[job->state]++;
    if (page->watcher->ended)
        page->watcher->ended(job, page->watcher->context);
}

/* Walks the page and the ids from `from` on side by side; returns the first place after it. */
static size_t compare_page(struct page *page, size_t from)
{
    struct crowd *crowd = page->crowd;
    size_t at = 0;

    for (size_t place = from; place < crowd->count; place++) {
        while (at < page->jobs.count &&
               uuid_compare(&page->jobs.items[at].id, &crowd->ids[place]) < 0)
            at++;
        if (at == page->jobs.count && !page->is_last)
            return place;
        const struct job *job = at < page->jobs.count ? &page->jobs.items[at] : NULL;
        if (job && uuid_compare(&job->id, &crowd->ids[place]) != 0)
            job = NULL;
        if (!crowd->has_ended[place] && (!job || job_state_has_ended(job->state)))
            note_end(page, place, job);
    }
    return crowd->count;
}

/* The page that starts with the first job left from *place on; *place moves past it. */
static bool look_at(struct crowd *crowd, struct store *store, const struct crowd_watcher *watcher,
                    size_t *place, bool *moved_out, struct error *err)
{
    CLEANUP(page_done) struct page page = {.crowd = crowd, .watcher = watcher};
    size_t from = next_left(crowd, *place);

    *moved_out = false;
    if (from == crowd->count)
        return true;
    if (!read_page(&page, store, from, err))
        return false;
    *place = compare_page(&page, from);
    *moved_out = page.moved;
    return true;
}

bool crowd_look(struct crowd *crowd, struct store *store, const struct crowd_watcher *watcher,
                bool *moved_out, struct error *err)
{
    size_t front, sweep;
    bool swept = false;

    *moved_out = false;
    if (!begin(crowd, err))
        return false;
    front = crowd->front;
    if (!look_at(crowd, store, watcher, &front, moved_out, err))
        return false;
    sweep = crowd->sweep;
    if (!look_at(crowd, store, watcher, &crowd->sweep, &swept, err))
        return false;
    /* Where nothing ends any more, the front is where something did. */
    if (swept && !*moved_out)
        crowd->front = sweep;
    *moved_out |= swept;
    return true;
}

void crowd_done(struct crowd *crowd)
{
    free(crowd->ids);
    free(crowd->has_ended);
    *crowd = (struct crowd){0};
}
