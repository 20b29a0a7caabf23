/*
 * recent_runs.c - how the runs of one type of the last quarter of an hour went.
 *
 * Invariants:
 *   - A slice is empty from before it is cleared until after: a reader that sees the same number
 *     before and afterwards has seen counts of that slice alone.
 *   - Times are the database's. When its clock is set, slices of the other time count no more.
 */
#include "process/recent_runs.h"

static int64_t number_of(usec_t now)
{
    return now / RECENT_RUNS_SLICE;
}

/* There is one writer. */
static void bump(_Atomic uint32_t *count)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void clear(struct recent_slice *slice)
{
    atomic_store_explicit(&slice->done, 0, memory_order_relaxed);
    atomic_store_explicit(&slice->failed, 0, memory_order_relaxed);
    for (size_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++) {
        atomic_store_explicit(&slice->run[i], 0, memory_order_relaxed);
        atomic_store_explicit(&slice->wait[i], 0, memory_order_relaxed);
    }
}

static void begin(struct recent_slice *slice, int64_t number)
{
    atomic_store_explicit(&slice->number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    clear(slice);
    atomic_store_explicit(&slice->number, number, memory_order_release);
}

void recent_runs_add(struct recent_runs *runs, const struct recent_run *run)
{
    const int64_t number = number_of(run->now);
    struct recent_slice *slice = &runs->slices[(uint64_t)number % RECENT_RUNS_SLICES];

    if (atomic_load_explicit(&slice->number, memory_order_relaxed) != number)
        begin(slice, number);
    if (run->is_done)
        bump(&slice->done);
    if (run->has_failed)
        bump(&slice->failed);
    bump(&slice->run[log_histogram_bucket(run->wall)]);
    bump(&slice->wait[log_histogram_bucket(run->wait)]);
}

static uint32_t load(const _Atomic uint32_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

static void copy(const struct recent_slice *slice, struct recent_sum *sum_out)
{
    *sum_out = (struct recent_sum){.done = load(&slice->done), .failed = load(&slice->failed)};
    for (size_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++) {
        sum_out->run.counts[i] = load(&slice->run[i]);
        sum_out->wait.counts[i] = load(&slice->wait[i]);
    }
}

/* False: it is of another time, or was begun anew meanwhile. */
static bool read_slice(const struct recent_slice *slice, int64_t newest, struct recent_sum *sum_out)
{
    const int64_t before = atomic_load_explicit(&slice->number, memory_order_acquire);

    if (before <= newest - RECENT_RUNS_SLICES || before > newest || before == 0)
        return false;
    copy(slice, sum_out);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slice->number, memory_order_relaxed) == before;
}

bool recent_runs_read(const struct recent_runs *runs, usec_t now, struct recent_sum *sum_out)
{
    bool any = false;

    *sum_out = (struct recent_sum){.done = 0};
    for (size_t i = 0; i < RECENT_RUNS_SLICES; i++) {
        struct recent_sum part;

        if (!read_slice(&runs->slices[i], number_of(now), &part))
            continue;
        any = true;
        sum_out->done += part.done;
        sum_out->failed += part.failed;
        log_histogram_merge(&sum_out->run, &part.run);
        log_histogram_merge(&sum_out->wait, &part.wait);
    }
    return any;
}

usec_t recent_runs_since(usec_t now)
{
    return (number_of(now) - RECENT_RUNS_SLICES + 1) * RECENT_RUNS_SLICE;
}
