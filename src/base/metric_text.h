/*
 * metric_text.h - numbers as Prometheus reads them: its text format, version 0.0.4.
 *
 *     metric_text_head(&out, "taskharbor_queue_jobs", "gauge", "Jobs of a queue in a state.");
 *     metric_text_count(&out, "taskharbor_queue_jobs", labels, 2, 17);
 *
 *     # HELP taskharbor_queue_jobs Jobs of a queue in a state.
 *     # TYPE taskharbor_queue_jobs gauge
 *     taskharbor_queue_jobs{queue="default",state="ready"} 17
 */
#ifndef BASE_METRIC_TEXT_H
#define BASE_METRIC_TEXT_H

#include "base/base.h"

struct buffer;

/* A value may have any characters. */
struct metric_label {
    const char *name, *value;
};

/* Before the values of a metric, all of which follow each other. */
void metric_text_head(struct buffer *out, const char *name, const char *type, const char *help);

void metric_text_count(struct buffer *out, const char *name, const struct metric_label *labels,
                       size_t count, uint64_t value);
void metric_text_seconds(struct buffer *out, const char *name, const struct metric_label *labels,
                         size_t count, usec_t value);

#endif
