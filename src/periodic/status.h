/*
 * status.h - what the processes of this pool are doing, as JSON for people.
 *
 *     {"version":"0.1.0","state":"running","processes":[
 *         {"name":"worker 3","pid":12,"state":"running","since":"2030-01-02T03:04:05.123456Z",
 *          "job":"0193...","type":"email:send","progress":{"percent":40,"text":"half of them"},
 *          "jobs_running":1,"jobs_done":17}, ...],
 *      "heartbeat_ms":5000,"queues":[...],"handlers":[...],
 *      "start_failures":[{"pattern":"email:*","error":"exec ./send: No such file or directory",
 *          "since":"2030-...","next_try":"2030-..."}, ...],
 *      "recent":{...}}
 *
 * The job of a worker that runs several is the one that it has had longest. What is absent is null;
 * offer.h has heartbeat_ms, queues and handlers,
 * recent.h what ran lately. It is in the store with each beat, for `thctl
 * pools` and the like.
 */
#ifndef PERIODIC_STATUS_H
#define PERIODIC_STATUS_H

#include "base/base.h"

struct buffer;
struct config;
struct meters;
struct slot;
struct start_board;

/* How long it can get. */
size_t status_limit(const struct config *config, size_t slot_count);

/* Slots in SLOT_EMPTY are left out. The board is that of the config; NULL: nothing is known. And no
 * meters: nothing was counted. */
void status_write(const struct config *config, const struct slot *slots, size_t count,
                  const struct start_board *starts, const struct meters *meters, usec_t now,
                  struct buffer *out);

#endif
