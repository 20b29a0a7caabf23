/*
 * log_histogram.h - how long many things took, in buckets that grow with what they hold.
 *
 * Eight buckets for each doubling, from a microsecond to days: whatever is read from it is wrong by
 * a sixteenth at most. What several have counted is added bucket by bucket, so percentiles of a
 * whole system come from those of its parts.
 *
 * As JSON it is a list: how many empty buckets come first, how many durations the next one has, and
 * so on: [41,3,0,7] is 3 durations in bucket 41 and 7 in bucket 42.
 */
#ifndef BASE_LOG_HISTOGRAM_H
#define BASE_LOG_HISTOGRAM_H

#include "base/base.h"

struct arena;
struct json_writer;

#define LOG_HISTOGRAM_BUCKETS 304 /* up to 2^40 us, twelve days; the last one has all above */

struct log_histogram {
    uint64_t counts[LOG_HISTOGRAM_BUCKETS];
};

/* Which bucket a duration belongs to; negative ones to the first. */
size_t log_histogram_bucket(usec_t duration);

void log_histogram_add(struct log_histogram *histogram, usec_t duration);
void log_histogram_merge(struct log_histogram *into, const struct log_histogram *from);
uint64_t log_histogram_count(const struct log_histogram *histogram);

/* The duration that this share of all, 0 to 1, do not exceed; -1: there are none. */
usec_t log_histogram_percentile(const struct log_histogram *histogram, double share);

void log_histogram_write(const struct log_histogram *histogram, const char *name,
                         struct json_writer *json);

/* Nothing is refused: what is no such list leaves the histogram empty, and a list goes as far as it
 * makes sense. */
void log_histogram_read(struct bytes text, struct arena *arena,
                        struct log_histogram *histogram_out);

#endif
