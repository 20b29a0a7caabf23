/*
 * meters_inside.h - the memory of the meters, as meters.c fills it and meters_text.c shows it.
 *
 * The places of counts are those of the names in the table beside them.
 */
#ifndef PROCESS_METERS_INSIDE_H
#define PROCESS_METERS_INSIDE_H

#include "job/job.h"
#include "process/meters.h"
#include "process/name_table.h"
#include "process/recent_runs.h"

#include <stdatomic.h>

#define METERS_BOUNDS   20 /* of the buckets of a histogram; one more has all above */
#define METERS_STATUSES 20 /* of HTTP; the last one stands for all others */
#define METERS_OUTCOMES (RUN_STALLED + 1)
#define METERS_CODES    (TH_E_INTERNAL + 1)

typedef _Atomic uint64_t meter;

struct meter_histogram {
    meter buckets[METERS_BOUNDS + 1]; /* each with its own only */
    meter sum;                        /* microseconds */
};

struct meters_jobs {
    struct name_table types, queues;
    meter refusals;
    struct meter_histogram wait[NAME_TABLE_PLACES];
    struct meters_type {
        meter attempts[METERS_OUTCOMES];
        struct meter_histogram run;
        struct recent_runs recent;
    } by_type[NAME_TABLE_PLACES];
};

struct meters_services {
    struct name_table processes, queues;
    meter lost_leases;
    meter restarts[NAME_TABLE_PLACES];
    meter enqueued[NAME_TABLE_PLACES];
    meter store_errors[METERS_CODES];
    struct meter_histogram store[STORE_WORKS];
};

struct meters_doors {
    struct name_table routes;
    meter requests[NAME_TABLE_PLACES][METERS_STATUSES];
    struct meter_histogram took[NAME_TABLE_PLACES];
};

/* Each process has its own copy of this; the memory is shared. */
struct meters {
    struct meters_jobs *jobs;
    struct meters_services *services;
    struct meters_doors *doors;
};

extern const usec_t meters_bounds[METERS_BOUNDS];
extern const int meters_statuses[METERS_STATUSES]; /* 0: all others */

#endif
