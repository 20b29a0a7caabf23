/*
 * glance.h - one job, as browse has seen it for those who watch it; and what of it is news.
 */
#ifndef API_GLANCE_H
#define API_GLANCE_H

#include "base/base.h"
#include "job/state.h"

struct buffer;
struct error;

#define GLANCE_OUTPUT_MAX ((size_t)4 << 20)
#define GLANCE_RECORD_MAX ((size_t)8 << 20)

struct glance {
    enum job_state state;
    struct bytes output; /* its end */
    struct bytes record; /* JSON, without the output */
};

/* Points into the pack, which is browse's answer. */
bool glance_read(struct bytes pack, struct glance *glance_out, struct error *err) MUST_CHECK;

/* Of the record: another one looks otherwise. */
uint64_t glance_hash(const struct glance *glance);

/* What its output has beside `before`, as {"text", "lost"}; nothing, if there is nothing new. */
void glance_add_news(const struct glance *glance, struct bytes before, struct buffer *json);

#endif
