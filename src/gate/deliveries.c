/*
 * deliveries.c - claimed jobs on their way through a door to their worker.
 */
#include "gate/deliveries.h"

#include "base/arena.h"
#include "gate/inside.h"
#include "gate/returns.h"
#include "job/job.h"

#include <stdlib.h>
#include <string.h>

struct delivery_record {
    struct delivery_record *next;
    const struct peer *peer;
    uint64_t serial;
    struct batch_token batch;
    struct arena arena;
    struct job *jobs; /* what names them: id, queue, token, ref */
    size_t count;
};

static void free_record(struct delivery_record *record)
{
    arena_done(&record->arena);
    free(record);
}

bool deliveries_add(struct gate *gate, struct peer *peer, uint64_t serial,
                    const struct batch_token *batch, const struct job *jobs, size_t count)
{
    struct delivery_record *record = calloc(1, sizeof *record);

    if (!record)
        return false;
    *record = (struct delivery_record){.peer = peer, .serial = serial, .batch = *batch};
    record->jobs = arena_alloc(&record->arena, count * sizeof *record->jobs);
    for (size_t i = 0; record->jobs && i < count; i++)
        record->jobs[i] = (struct job){
            .id = jobs[i].id,
            .queue = arena_text(&record->arena, jobs[i].queue),
            .token = jobs[i].token,
            .ref = jobs[i].ref,
        };
    if (record->arena.failed) {
        free_record(record);
        return false;
    }
    record->count = count;
    record->next = gate->deliveries.first;
    gate->deliveries.first = record;
    return true;
}

static void give_back(struct gate *gate, const struct delivery_record *record)
{
    for (size_t i = 0; i < record->count; i++)
        returns_add_job(gate, &record->jobs[i]);
}

/* Which of them is meant. */
struct choice {
    const struct peer *peer; /* NULL: any */
    bool by_serial;
    uint64_t serial;
    const struct batch_token *batch; /* NULL: any */
};

static bool is_meant(const struct delivery_record *record, const struct choice *choice)
{
    return (!choice->peer || record->peer == choice->peer) &&
           (!choice->by_serial || record->serial == choice->serial) &&
           (!choice->batch ||
            memcmp(record->batch.bytes, choice->batch->bytes, sizeof record->batch.bytes) == 0);
}

static bool conclude(struct gate *gate, const struct choice *choice, bool has_failed)
{
    struct delivery_record **place = &gate->deliveries.first;
    bool any = false;

    while (*place) {
        struct delivery_record *record = *place;

        if (!is_meant(record, choice)) {
            place = &record->next;
            continue;
        }
        *place = record->next;
        any = true;
        if (has_failed)
            give_back(gate, record);
        free_record(record);
    }
    return any;
}

void deliveries_confirm(struct gate *gate, const struct peer *peer, uint64_t serial)
{
    conclude(gate, &(struct choice){.peer = peer, .by_serial = true, .serial = serial}, false);
}

bool deliveries_take_back(struct gate *gate, const struct batch_token *batch)
{
    return conclude(gate, &(struct choice){.batch = batch}, true);
}

void deliveries_take_back_call(struct gate *gate, const struct peer *peer, uint64_t serial)
{
    conclude(gate, &(struct choice){.peer = peer, .by_serial = true, .serial = serial}, true);
}

void deliveries_take_back_peer(struct gate *gate, const struct peer *peer)
{
    conclude(gate, &(struct choice){.peer = peer}, true);
}

void deliveries_done(struct gate *gate)
{
    conclude(gate, &(struct choice){0}, false);
}
