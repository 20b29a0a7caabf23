/*
 * ledger.c - every worker whose jobs are not all settled, living or dead, and its result socket;
 * and what of it the dispatcher has been told.
 */
#include "master/ledger.h"

#include "base/error.h"

#include <stdlib.h>
#include <unistd.h>

/* The place of the pointer to it, or of the NULL at the end. */
static struct ledger_entry **find(struct ledger *ledger, uint32_t serial)
{
    struct ledger_entry **place = &ledger->entries;

    while (*place && (*place)->serial != serial)
        place = &(*place)->next;
    return place;
}

static void remove_at(struct ledger_entry **place)
{
    struct ledger_entry *entry = *place;

    *place = entry->next;
    close(entry->results);
    if (entry->printed >= 0)
        close(entry->printed);
    free(entry);
}

void ledger_init(struct ledger *ledger)
{
    *ledger = (struct ledger){.told = ORDER_RESUME};
}

void ledger_done(struct ledger *ledger)
{
    while (ledger->entries)
        remove_at(&ledger->entries);
}

bool ledger_add(struct ledger *ledger, int number, uint32_t serial, int results, int printed,
                int ring, struct error *err)
{
    struct ledger_entry *entry = calloc(1, sizeof *entry);

    if (!entry)
        return error_no_memory(err);
    *entry = (struct ledger_entry){
        .number = number,
        .serial = serial,
        .results = results,
        .printed = printed,
        .result_ring = ring,
    };
    *find(ledger, serial) = entry;
    return true;
}

void ledger_note_start(struct ledger *ledger, uint32_t serial, int pid)
{
    (*find(ledger, serial))->pid = pid;
}

void ledger_note_end(struct ledger *ledger, uint32_t serial, const struct worker_end *end)
{
    struct ledger_entry *entry = *find(ledger, serial);

    if (!entry)
        return;
    entry->has_ended = true;
    entry->end = *end;
}

void ledger_clear(struct ledger *ledger)
{
    for (struct ledger_entry *entry = ledger->entries; entry; entry = entry->next)
        entry->is_cleared = entry->has_ended;
}

int ledger_settle(struct ledger *ledger, uint32_t serial)
{
    struct ledger_entry **place = find(ledger, serial);

    if (!*place)
        return 0;
    const int ring = (*place)->result_ring;
    remove_at(place);
    return ring;
}

static enum delivery tell_start(struct ledger_entry *entry, int socket, struct error *err)
{
    const struct order order = {
        .kind = ORDER_WORKER_STARTED,
        .worker = entry->number,
        .serial = entry->serial,
        .pid = entry->pid,
        .result_ring = entry->result_ring,
    };
    const enum delivery delivery = order_send(socket, &order, entry->results, err);

    entry->start_is_told = delivery == DELIVERY_DONE;
    return delivery;
}

static enum delivery tell_end(struct ledger_entry *entry, int socket, struct error *err)
{
    const struct order order = {
        .kind = ORDER_WORKER_ENDED,
        .worker = entry->number,
        .serial = entry->serial,
        .pid = entry->pid,
        .end = entry->end,
    };
    const enum delivery delivery = order_send(socket, &order, entry->printed, err);

    entry->end_is_told = delivery == DELIVERY_DONE;
    return delivery;
}

static enum delivery tell_wish(struct ledger *ledger, enum order_kind wanted, int socket,
                               struct error *err)
{
    const struct order order = {.kind = wanted};

    if (wanted == ledger->told)
        return DELIVERY_DONE;
    const enum delivery delivery = order_send(socket, &order, -1, err);
    if (delivery == DELIVERY_DONE)
        ledger->told = wanted;
    return delivery;
}

enum delivery ledger_tell(struct ledger *ledger, enum order_kind wanted, int socket,
                          struct error *err)
{
    enum delivery delivery = DELIVERY_DONE;

    for (struct ledger_entry *entry = ledger->entries; entry && delivery == DELIVERY_DONE;
         entry = entry->next) {
        if (!entry->start_is_told)
            delivery = tell_start(entry, socket, err);
    }
    for (struct ledger_entry *entry = ledger->entries; entry && delivery == DELIVERY_DONE;
         entry = entry->next) {
        if (entry->is_cleared && !entry->end_is_told)
            delivery = tell_end(entry, socket, err);
    }
    return delivery == DELIVERY_DONE ? tell_wish(ledger, wanted, socket, err) : delivery;
}

void ledger_forget_told(struct ledger *ledger)
{
    ledger->told = ORDER_RESUME; /* as it is from the start */
    for (struct ledger_entry *entry = ledger->entries; entry; entry = entry->next)
        entry->start_is_told = entry->end_is_told = false;
}
