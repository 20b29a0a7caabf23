/*
 * workers.c - the workers of this pool; the sockets and rings that their results come from.
 */
#include "dispatcher/workers.h"

#include "base/error.h"
#include "process/message.h"
#include "process/result_ring.h"

#include <stdlib.h>
#include <unistd.h>

#define SOCKET_ROOM 2 /* of the largest results, and the next one still fits */

static void note_news(void *context, unsigned events)
{
    struct worker_link *link = context;

    (void)events;
    link->has_news = true;
}

static bool watch_results(struct workers *workers, struct worker_link *link, struct error *err)
{
    link->watch = (struct loop_watch){.fd = link->socket, .call = note_news, .context = link};
    return result_rewind(link->socket, err) &&
           loop_watch(workers->loop, &link->watch, LOOP_READ | LOOP_NEWS, err);
}

static struct worker_link **index_of(struct workers *workers, uint32_t serial)
{
    return &workers->index[serial % WORKERS_INDEX];
}

static void add_to_index(struct workers *workers, struct worker_link *link)
{
    struct worker_link **place = index_of(workers, link->serial);

    link->next_alike = *place;
    *place = link;
}

static void remove_from_index(struct workers *workers, const struct worker_link *link)
{
    struct worker_link **place = index_of(workers, link->serial);

    while (*place != link)
        place = &(*place)->next_alike;
    *place = link->next_alike;
}

bool workers_add(struct workers *workers, const struct order *order, int socket, struct error *err)
{
    struct worker_link *link = calloc(1, sizeof *link);

    if (!link) {
        close(socket);
        return error_no_memory(err);
    }
    *link = (struct worker_link){
        .number = order->worker,
        .serial = order->serial,
        .pid = order->pid,
        .socket = socket,
        .printed = -1,
        .result_ring = order->result_ring,
        .has_news = true,
        .next = workers->first,
    };
    workers->first = link;
    add_to_index(workers, link);
    result_ring_use(workers->result_rings, link->result_ring);
    return watch_results(workers, link, err);
}

void workers_note_end(struct workers *workers, const struct order *order, int printed)
{
    struct worker_link *link = workers_find(workers, order->serial);

    if (!link) {
        if (printed >= 0)
            close(printed);
        return;
    }
    link->has_ended = true;
    link->end = order->end;
    link->printed = printed;
    link->has_news = true;
}

struct worker_link *workers_find(const struct workers *workers, uint32_t serial)
{
    struct worker_link *link = workers->index[serial % WORKERS_INDEX];

    while (link && link->serial != serial)
        link = link->next_alike;
    return link;
}

void workers_remove(struct workers *workers, struct worker_link *link)
{
    struct worker_link **place = &workers->first;

    while (*place != link)
        place = &(*place)->next;
    *place = link->next;
    remove_from_index(workers, link);
    loop_unwatch(workers->loop, &link->watch);
    result_ring_drop(workers->result_rings, link->result_ring);
    close(link->socket);
    if (link->printed >= 0)
        close(link->printed);
    free(link);
}

void workers_done(struct workers *workers)
{
    while (workers->first)
        workers_remove(workers, workers->first);
}

size_t workers_count(const struct workers *workers)
{
    size_t count = 0;

    for (const struct worker_link *link = workers->first; link; link = link->next)
        count += !link->has_ended;
    return count;
}

bool workers_have_room(const struct workers *workers, const struct worker_link *link)
{
    return link->looked <= SOCKET_ROOM &&
           !result_ring_is_filling(workers->result_rings, link->result_ring);
}

bool workers_take_looked(struct workers *workers, struct error *err)
{
    for (struct worker_link *link = workers->first; link; link = link->next) {
        if (link->is_held)
            continue;
        result_ring_take(workers->result_rings, link->result_ring);
        if (link->looked > 0 && !result_take(link->socket, link->looked, err))
            return false;
        link->looked = 0;
    }
    return true;
}
