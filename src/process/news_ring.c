/*
 * news_ring.c - shared memory: what becomes of jobs here, for whoever listens.
 *
 *     head   counts news; whoever adds one takes its number and with it the place
 *     place  its sequence is 2n + 1 while the one with the number n is written, then 2n + 2
 *
 * Invariants:
 *   - Who adds never waits, and goes by nothing that a reader can write but the time until which
 *     news are wanted.
 *   - A reader takes what is in a place only if its sequence says before and after that it is the
 *     one. It looks twice at one that is being written: whoever wrote it may have been killed.
 */
#include "process/news_ring.h"

#include "base/error.h"
#include "process/shared_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct place {
    _Atomic uint64_t sequence;
    struct news news;
};

struct circle {
    _Atomic uint64_t head;
    struct place places[NEWS_RING_SIZE];
};

/* On a page of its own, which doors can write. */
struct wish {
    _Atomic usec_t until; /* boot time */
};

struct news_ring {
    struct wish *wish;
    struct circle *circle;
    size_t wish_size, circle_size; /* in whole pages */
};

const char *news_kind_name(enum news_kind kind)
{
    static const char *const names[] = {
        [NEWS_ENQUEUED] = "enqueued", [NEWS_STARTED] = "started",     [NEWS_DONE] = "done",
        [NEWS_RETRY] = "retry",       [NEWS_DEAD] = "dead",           [NEWS_SNOOZED] = "snoozed",
        [NEWS_RELEASED] = "released", [NEWS_CANCELLED] = "cancelled",
    };

    return names[kind];
}

static bool map(struct news_ring *ring, struct error *err)
{
    unsigned char *wish, *circle;

    ring->wish_size = shared_memory_pages(sizeof *ring->wish);
    ring->circle_size = shared_memory_pages(sizeof *ring->circle);
    if (!shared_memory_map(ring->wish_size, "the ring of news", &wish, err))
        return false;
    if (!shared_memory_map(ring->circle_size, "the ring of news", &circle, err)) {
        munmap(wish, ring->wish_size);
        return false;
    }
    ring->wish = (struct wish *)(void *)wish;
    ring->circle = (struct circle *)(void *)circle;
    return true;
}

bool news_ring_open(struct news_ring **ring_out, struct error *err)
{
    struct news_ring *ring = calloc(1, sizeof *ring);

    if (!ring)
        return error_no_memory(err);
    if (!map(ring, err)) {
        free(ring);
        return false;
    }
    *ring_out = ring;
    return true;
}

void news_ring_close(struct news_ring **ring)
{
    if (*ring) {
        munmap((*ring)->wish, (*ring)->wish_size);
        munmap((*ring)->circle, (*ring)->circle_size);
        free(*ring);
    }
    *ring = NULL;
}

bool news_ring_restrict(struct news_ring *ring, struct error *err)
{
    if (mprotect(ring->circle, ring->circle_size, PROT_READ))
        return error_errno(err, TH_E_INTERNAL, errno, "protect the ring of news");
    return true;
}

bool news_ring_forget(struct news_ring *ring, struct error *err)
{
    if (munmap(ring->wish, ring->wish_size) || munmap(ring->circle, ring->circle_size))
        return error_errno(err, TH_E_INTERNAL, errno, "unmap the ring of news");
    return true;
}

/* ---- who tells ---- */

bool news_ring_is_wanted(const struct news_ring *ring, usec_t now)
{
    return ring && now < atomic_load_explicit(&ring->wish->until, memory_order_relaxed);
}

struct news news_of_job(enum news_kind kind, const struct job *job, usec_t now)
{
    struct news news = {.kind = kind, .at = now, .job = job->id, .wall = -1};

    snprintf(news.type, sizeof news.type, "%s", job->type);
    snprintf(news.queue, sizeof news.queue, "%s", job->queue);
    return news;
}

void news_ring_add(struct news_ring *ring, const struct news *news)
{
    struct circle *circle = ring->circle;
    const uint64_t number = atomic_fetch_add_explicit(&circle->head, 1, memory_order_relaxed);
    struct place *place = &circle->places[number % NEWS_RING_SIZE];

    atomic_store_explicit(&place->sequence, 2 * number + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    place->news = *news;
    atomic_store_explicit(&place->sequence, 2 * number + 2, memory_order_release);
}

/* ---- who listens ---- */

void news_ring_want(struct news_ring *ring, usec_t until)
{
    usec_t before = atomic_load_explicit(&ring->wish->until, memory_order_relaxed);

    while (before < until && !atomic_compare_exchange_weak(&ring->wish->until, &before, until))
        ;
}

struct news_reader news_ring_begin(const struct news_ring *ring)
{
    return (struct news_reader){
        .next = atomic_load_explicit(&ring->circle->head, memory_order_acquire)};
}

/* Others may write it meanwhile. */
static bool copy(const struct place *place, uint64_t sequence, struct news *news_out)
{
    if (atomic_load_explicit(&place->sequence, memory_order_acquire) != sequence)
        return false;
    *news_out = place->news;
    atomic_thread_fence(memory_order_acquire);
    news_out->type[sizeof news_out->type - 1] = '\0';
    news_out->queue[sizeof news_out->queue - 1] = '\0';
    news_out->error[sizeof news_out->error - 1] = '\0';
    return atomic_load_explicit(&place->sequence, memory_order_relaxed) == sequence;
}

static void catch_up(struct news_reader *reader, uint64_t head, uint64_t *missed)
{
    if (head - reader->next <= NEWS_RING_SIZE)
        return;
    *missed += head - NEWS_RING_SIZE - reader->next;
    reader->next = head - NEWS_RING_SIZE;
    reader->has_waited = false;
}

bool news_ring_read(const struct news_ring *ring, struct news_reader *reader, struct news *news_out,
                    uint64_t *missed)
{
    const struct circle *circle = ring->circle;
    const uint64_t head = atomic_load_explicit(&circle->head, memory_order_acquire);

    catch_up(reader, head, missed);
    while (reader->next < head) {
        const struct place *place = &circle->places[reader->next % NEWS_RING_SIZE];
        const bool is_read = copy(place, 2 * reader->next + 2, news_out);

        if (!is_read && !reader->has_waited) {
            reader->has_waited = true;
            return false;
        }
        reader->has_waited = false;
        reader->next++;
        if (is_read)
            return true;
        (*missed)++;
    }
    return false;
}
