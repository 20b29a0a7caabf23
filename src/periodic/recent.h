/*
 * recent.h - what ran in this pool lately, as JSON in its status: how many of each type, how long
 * their runs took and how long they had waited.
 *
 *     "recent":{"since":"2030-01-02T03:03:00.000000Z","types":[
 *         {"type":"email:send","done":17,"failed":1,"run":[84,3,0,15],"wait":[64,18]}, ...],
 *      "left_out":0}
 *
 * run and wait are histograms as base/log_histogram.h has them: those of several pools can be
 * added. A pool in which nothing ran lately has no such member.
 */
#ifndef PERIODIC_RECENT_H
#define PERIODIC_RECENT_H

#include "base/base.h"

struct json_writer;
struct meters;

/* Where types do not fit, those that ran least are left out. */
#define RECENT_TYPES_MAX ((size_t)16000)
#define RECENT_LIMIT     ((size_t)16 << 10) /* with all around them */

void recent_write(const struct meters *meters, usec_t now, struct json_writer *json);

#endif
