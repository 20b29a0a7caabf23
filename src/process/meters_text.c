/*
 * meters_text.c - all that the meters have counted, as Prometheus reads it.
 *
 * A count that is still zero is shown where its labels are known anyway, so that its first change
 * is seen as one.
 */
#include "process/meters_text.h"

#include "base/error.h"
#include "base/metric_text.h"
#include "process/meters_inside.h"

#include <stdio.h>

#define BOUND_SIZE 24

static uint64_t load(const meter *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* "0.0025", as it is usually written: without zeros at its end. */
static const char *bound_text(size_t bucket, char text[BOUND_SIZE])
{
    if (bucket == METERS_BOUNDS)
        return "+Inf";
    snprintf(text, BOUND_SIZE, "%g", (double)meters_bounds[bucket] / (double)USEC_PER_SEC);
    return text;
}

static uint64_t count_of(const struct meter_histogram *histogram)
{
    uint64_t count = 0;

    for (size_t i = 0; i <= METERS_BOUNDS; i++)
        count += load(&histogram->buckets[i]);
    return count;
}

/* The count is that of the last bucket, whatever is added meanwhile. */
static void write_histogram(struct buffer *out, const char *name, const char *label,
                            const char *value, const struct meter_histogram *histogram)
{
    char series[64], text[BOUND_SIZE];
    struct metric_label labels[2] = {{label, value}, {"le", NULL}};
    const usec_t sum = (usec_t)load(&histogram->sum);
    uint64_t count = 0;

    snprintf(series, sizeof series, "%s_bucket", name);
    for (size_t i = 0; i <= METERS_BOUNDS; i++) {
        count += load(&histogram->buckets[i]);
        labels[1].value = bound_text(i, text);
        metric_text_count(out, series, labels, 2, count);
    }
    snprintf(series, sizeof series, "%s_sum", name);
    metric_text_seconds(out, series, labels, 1, sum);
    snprintf(series, sizeof series, "%s_count", name);
    metric_text_count(out, series, labels, 1, count);
}

/* ---- jobs ---- */

static void write_attempts(const struct meters_jobs *jobs, struct buffer *out)
{
    const char *name = "taskharbor_attempts_total", *type;

    metric_text_head(out, name, "counter", "Runs of jobs that are over, by how they ended.");
    for (size_t i = 0; i < NAME_TABLE_PLACES; i++) {
        if (!(type = name_table_name(&jobs->types, i)))
            continue;
        for (enum run_outcome k = RUN_DONE; k < RUN_STALLED; k++) {
            const struct metric_label labels[] = {{"type", type}, {"outcome", run_outcome_name(k)}};

            metric_text_count(out, name, labels, 2, load(&jobs->by_type[i].attempts[k]));
        }
    }
}

static void write_times(const struct meters_jobs *jobs, struct buffer *out)
{
    const char *name;

    metric_text_head(out, "taskharbor_run_seconds", "histogram", "How long a run took.");
    for (size_t i = 0; i < NAME_TABLE_PLACES; i++) {
        if ((name = name_table_name(&jobs->types, i)))
            write_histogram(out, "taskharbor_run_seconds", "type", name, &jobs->by_type[i].run);
    }
    metric_text_head(out, "taskharbor_wait_seconds", "histogram",
                     "How long a job was ready, or could have been, before its run began.");
    for (size_t i = 0; i < NAME_TABLE_PLACES; i++) {
        if ((name = name_table_name(&jobs->queues, i)))
            write_histogram(out, "taskharbor_wait_seconds", "queue", name, &jobs->wait[i]);
    }
}

/* ---- counts with one label, or none ---- */

static void write_one(struct buffer *out, const char *name, const char *help, const meter *count)
{
    metric_text_head(out, name, "counter", help);
    metric_text_count(out, name, NULL, 0, load(count));
}

static void write_named(struct buffer *out, const char *name, const char *help, const char *label,
                        const struct name_table *table, const meter *counts)
{
    metric_text_head(out, name, "counter", help);
    for (size_t i = 0; i < NAME_TABLE_PLACES; i++) {
        const struct metric_label labels[] = {{label, name_table_name(table, i)}};

        if (labels[0].value)
            metric_text_count(out, name, labels, 1, load(&counts[i]));
    }
}

/* ---- the store ---- */

static const char *const works[] = {
    [STORE_EXCHANGE] = "exchange", [STORE_HEARTBEAT] = "heartbeat", [STORE_PROMOTE] = "promote",
    [STORE_REAP] = "reap",         [STORE_LOOK] = "look",
};

static void write_store(const struct meters_services *services, struct buffer *out)
{
    const char *errors = "taskharbor_store_errors_total";

    metric_text_head(out, "taskharbor_store_seconds", "histogram",
                     "How long the store took for what it was asked.");
    for (size_t i = 0; i < STORE_WORKS; i++) {
        if (count_of(&services->store[i]) > 0)
            write_histogram(out, "taskharbor_store_seconds", "operation", works[i],
                            &services->store[i]);
    }
    metric_text_head(out, errors, "counter", "Calls to the store after which it was given up.");
    for (enum th_error_code i = TH_OK + 1; i < METERS_CODES; i++) {
        const struct metric_label labels[] = {{"code", error_code_name(i)}};

        if (load(&services->store_errors[i]) > 0 || i == TH_E_UNAVAILABLE || i == TH_E_UNCERTAIN)
            metric_text_count(out, errors, labels, 1, load(&services->store_errors[i]));
    }
}

/* ---- http ---- */

static void write_requests_of(const struct meters_doors *doors, size_t place, const char *route,
                              struct buffer *out)
{
    char status[16];
    const struct metric_label labels[] = {{"route", route}, {"status", status}};

    for (size_t i = 0; i < METERS_STATUSES; i++) {
        if (load(&doors->requests[place][i]) == 0)
            continue;
        snprintf(status, sizeof status, "%d", meters_statuses[i]);
        if (meters_statuses[i] == 0)
            snprintf(status, sizeof status, "other");
        metric_text_count(out, "taskharbor_http_requests_total", labels, 2,
                          load(&doors->requests[place][i]));
    }
}

static void write_requests(const struct meters_doors *doors, struct buffer *out)
{
    const char *route;

    metric_text_head(out, "taskharbor_http_requests_total", "counter",
                     "Requests over HTTP, by the path they fit and how they were answered.");
    for (size_t i = 0; i < NAME_TABLE_PLACES; i++) {
        if ((route = name_table_name(&doors->routes, i)))
            write_requests_of(doors, i, route, out);
    }
    metric_text_head(out, "taskharbor_http_seconds", "histogram",
                     "From a request to its answer, or the beginning of a stream.");
    for (size_t i = 0; i < NAME_TABLE_PLACES; i++) {
        if ((route = name_table_name(&doors->routes, i)))
            write_histogram(out, "taskharbor_http_seconds", "route", route, &doors->took[i]);
    }
}

void meters_write(const struct meters *meters, struct buffer *out)
{
    const struct meters_services *services = meters->services;

    write_attempts(meters->jobs, out);
    write_times(meters->jobs, out);
    write_named(out, "taskharbor_enqueued_total", "Jobs that this thd took.", "queue",
                &services->queues, services->enqueued);
    write_one(out, "taskharbor_leases_lost_total", "Leases that ended before their jobs did.",
              &services->lost_leases);
    write_one(out, "taskharbor_settlements_refused_total",
              "Ends of runs that the store did not take: somebody else had the job.",
              &meters->jobs->refusals);
    write_store(services, out);
    write_named(out, "taskharbor_process_restarts_total",
                "Processes of this pool that were started again.", "process", &services->processes,
                services->restarts);
    write_requests(meters->doors, out);
}
