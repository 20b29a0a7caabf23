/*
 * status.h - what the processes of this pool are doing, as JSON for people.
 *
 *     {"version":"0.1.0","state":"running","processes":[
 *         {"name":"worker 3","pid":12,"state":"running","since":"2030-01-02T03:04:05.123456Z",
 *          "job":"0193...","type":"email:send","progress":{"percent":40,"text":"half of them"},
 *          "jobs_done":17}, ...]}
 *
 * What is absent is null. It is in the store with each beat, for `thctl pools` and its like.
 */
#ifndef PERIODIC_STATUS_H
#define PERIODIC_STATUS_H

#include "base/base.h"

struct buffer;
struct slot;

/* How long it gets at most. */
size_t status_limit(size_t slot_count);

/* Slots in SLOT_EMPTY are left out. */
void status_write(const struct slot *slots, size_t count, struct buffer *out);

#endif
