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

bool workers_have_ended(const struct workers *workers)
{
    for (const struct worker_link *link = workers->first; link; link = link->next)
        if (link->has_ended)
            return true;
    return false;
}

static struct looked_results all_looked(const struct workers *workers,
                                        const struct worker_link *link)
{
    return (struct looked_results){result_ring_looked(workers->result_rings, link->result_ring),
                                   link->looked};
}

void workers_note_flight(struct workers *workers, size_t flight)
{
    for (struct worker_link *link = workers->first; link; link = link->next) {
        struct looked_results rest = all_looked(workers, link);

        for (size_t i = 0; i < FLIGHTS_MAX; i++) {
            rest.in_ring -= link->flown[i].in_ring;
            rest.in_socket -= link->flown[i].in_socket;
        }
        link->flown[flight] = rest;
    }
}

static bool take_first(struct workers *workers, struct worker_link *link,
                       struct looked_results settled, struct error *err)
{
    result_ring_take_first(workers->result_rings, link->result_ring, settled.in_ring);
    if (settled.in_socket > 0 && !result_take(link->socket, settled.in_socket, err))
        return false;
    link->looked -= settled.in_socket;
    return true;
}

bool workers_take_flown(struct workers *workers, size_t flight, struct error *err)
{
    for (struct worker_link *link = workers->first; link; link = link->next) {
        const struct looked_results settled = link->flown[flight];

        link->flown[flight] = (struct looked_results){0};
        if (!take_first(workers, link, settled, err))
            return false;
    }
    return true;
}

void workers_forget_flight(struct workers *workers, size_t flight)
{
    for (struct worker_link *link = workers->first; link; link = link->next)
        link->flown[flight] = (struct looked_results){0};
}

bool workers_take_looked(struct workers *workers, struct error *err)
{
    for (struct worker_link *link = workers->first; link; link = link->next) {
        if (!link->is_held && !take_first(workers, link, all_looked(workers, link), err))
            return false;
    }
    return true;
}
