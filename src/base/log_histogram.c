/*
 * log_histogram.c - how long many things took, in buckets that grow with what they hold.
 *
 * A bucket's number is made of the duration's own bits: which is the highest one, and the three
 * below it. Up to 15 us each duration has a bucket of its own.
 */
#include "base/log_histogram.h"

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"

#define FINE_BITS         3
#define FINE              ((size_t)1 << FINE_BITS) /* buckets for a doubling */
#define COUNT_MAX         INT64_C(1000000000000000)
#define HIGHEST_OF(value) (63 - (size_t)__builtin_clzll(value))

size_t log_histogram_bucket(usec_t duration)
{
    const uint64_t value = duration > 0 ? (uint64_t)duration : 0;

    if (value < FINE)
        return (size_t)value;
    const size_t shift = HIGHEST_OF(value) - FINE_BITS;
    const size_t bucket = shift * FINE + (size_t)(value >> shift);

    return bucket < LOG_HISTOGRAM_BUCKETS ? bucket : LOG_HISTOGRAM_BUCKETS - 1;
}

/* The first duration that belongs to it. */
static double start_of(size_t bucket)
{
    if (bucket < 2 * FINE)
        return (double)bucket;
    return (double)((FINE + bucket % FINE) << (bucket / FINE - 1));
}

void log_histogram_add(struct log_histogram *histogram, usec_t duration)
{
    histogram->counts[log_histogram_bucket(duration)]++;
}

void log_histogram_merge(struct log_histogram *into, const struct log_histogram *from)
{
    for (size_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++)
        into->counts[i] += from->counts[i];
}

uint64_t log_histogram_count(const struct log_histogram *histogram)
{
    uint64_t count = 0;

    for (size_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++)
        count += histogram->counts[i];
    return count;
}

/* What a bucket says of its durations: its middle, which is a whole number where it is narrow. */
static usec_t middle_of(size_t bucket)
{
    return (usec_t)((start_of(bucket) + start_of(bucket + 1)) / 2);
}

usec_t log_histogram_percentile(const struct log_histogram *histogram, double share)
{
    const uint64_t count = log_histogram_count(histogram);
    const double rank = share * (double)count;
    uint64_t seen = 0;

    for (size_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->counts[i];
        if (seen > 0 && (double)seen >= rank)
            return middle_of(i);
    }
    return -1;
}

void log_histogram_write(const struct log_histogram *histogram, const char *name,
                         struct json_writer *json)
{
    size_t next = 0;

    json_write_open(json, name, '[');
    for (size_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++) {
        if (histogram->counts[i] == 0)
            continue;
        json_write_int(json, NULL, (int64_t)(i - next));
        json_write_int(json, NULL, (int64_t)histogram->counts[i]);
        next = i + 1;
    }
    json_write_close(json, ']');
}

/* False: from here on it makes no sense. */
static bool read_bucket(const struct bytes pair[2], size_t *bucket, uint64_t *count_out)
{
    int64_t empty, count;

    if (!json_to_int(pair[0], &empty) || !json_to_int(pair[1], &count) || empty < 0 || count < 1 ||
        empty >= (int64_t)(LOG_HISTOGRAM_BUCKETS - *bucket) || count > COUNT_MAX)
        return false;
    *bucket += (size_t)empty;
    *count_out = (uint64_t)count;
    return true;
}

void log_histogram_read(struct bytes text, struct arena *arena, struct log_histogram *histogram_out)
{
    struct json_values values;
    struct error ignored;
    size_t bucket = 0;
    uint64_t count;

    *histogram_out = (struct log_histogram){{0}};
    if (!json_split_array(text, arena, &values, &ignored))
        return;
    for (size_t i = 0; i + 1 < values.count && bucket < LOG_HISTOGRAM_BUCKETS; i += 2) {
        if (!read_bucket(&values.items[i], &bucket, &count))
            return;
        histogram_out->counts[bucket++] = count;
    }
}
