/*
 * metric_text.c - numbers as Prometheus reads them.
 */
#include "base/metric_text.h"

#include "base/buffer.h"

/* Help is not in quotes, so these may stay as they are there. */
static void add_escaped(struct buffer *out, const char *text, bool is_quoted)
{
    for (; *text; text++) {
        if (*text == '\n')
            buffer_text(out, "\\n");
        else if (*text == '\\')
            buffer_text(out, "\\\\");
        else if (*text == '"' && is_quoted)
            buffer_text(out, "\\\"");
        else
            buffer_char(out, *text);
    }
}

void metric_text_head(struct buffer *out, const char *name, const char *type, const char *help)
{
    buffer_printf(out, "# HELP %s ", name);
    add_escaped(out, help, false);
    buffer_printf(out, "\n# TYPE %s %s\n", name, type);
}

static void add_name(struct buffer *out, const char *name, const struct metric_label *labels,
                     size_t count)
{
    buffer_text(out, name);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%s%s=\"", i == 0 ? "{" : ",", labels[i].name);
        add_escaped(out, labels[i].value, true);
        buffer_char(out, '"');
    }
    buffer_text(out, count > 0 ? "} " : " ");
}

void metric_text_count(struct buffer *out, const char *name, const struct metric_label *labels,
                       size_t count, uint64_t value)
{
    add_name(out, name, labels, count);
    buffer_printf(out, "%" PRIu64 "\n", value);
}

void metric_text_seconds(struct buffer *out, const char *name, const struct metric_label *labels,
                         size_t count, usec_t value)
{
    const usec_t positive = value > 0 ? value : 0;

    add_name(out, name, labels, count);
    buffer_printf(out, "%" PRId64 ".%06" PRId64 "\n", positive / USEC_PER_SEC,
                  positive % USEC_PER_SEC);
}
