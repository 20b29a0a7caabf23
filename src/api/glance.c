/*
 * glance.c - one job, as browse has seen it for those who watch it; and what of it is news.
 */
#include "api/glance.h"

#include "base/buffer.h"
#include "base/json_writer.h"
#include "door/pack.h"
#include "door/page.h"
#include "job/growth.h"

bool glance_read(struct bytes pack, struct glance *glance_out, struct error *err)
{
    struct page page;

    if (!page_unpack(pack, &page, err))
        return false;
    struct unpack unpack = unpack_begin(page.body);

    glance_out->state = (enum job_state)unpack_number(&unpack, 0, JOB_STATES - 1);
    glance_out->output = unpack_bytes(&unpack, GLANCE_OUTPUT_MAX);
    glance_out->record = unpack_bytes(&unpack, GLANCE_RECORD_MAX);
    return unpack_end(&unpack, "a glance at a job", err);
}

/* FNV-1a */
uint64_t glance_hash(const struct glance *glance)
{
    uint64_t hash = 14695981039346656037ULL;

    for (size_t i = 0; i < glance->record.length; i++)
        hash = (hash ^ glance->record.data[i]) * 1099511628211ULL;
    return hash;
}

void glance_add_news(const struct glance *glance, struct bytes before, struct buffer *json)
{
    struct json_writer writer = {.out = json};
    bool lost;
    const struct bytes news = growth_since(before, glance->output, &lost);

    if (news.length == 0)
        return;
    json_write_open(&writer, NULL, '{');
    json_write_lossy_text(&writer, "text", news);
    json_write_bool(&writer, "lost", lost);
    json_write_close(&writer, '}');
}
