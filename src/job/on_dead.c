/*
 * on_dead.c - the job that is enqueued when another one dies.
 *
 * It is stored in the transaction that records the death, so neither is there without the other.
 */
#include "job/on_dead.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "job/headers.h"
#include "job/job.h"

/* What is left of it when the whole would be too large. */
enum part {
    WITH_PAYLOAD,
    WITH_ERROR,
    ID_ALONE,
    PARTS,
};

static void write_payload(struct buffer *text, const struct job *dead, enum part part,
                          const char *error)
{
    struct json_writer json = {.out = text};
    char id[UUID_TEXT_SIZE];

    json_write_open(&json, NULL, '[');
    json_write_text(&json, NULL, uuid_format(&dead->id, id));
    if (part != WITH_PAYLOAD || !dead->payload.data)
        json_write_null(&json, NULL);
    else if (dead->encoding == JOB_JSON)
        json_write_raw(&json, NULL, dead->payload);
    else
        json_write_base64(&json, NULL, dead->payload);
    json_write_text(&json, NULL, part == ID_ALONE ? NULL : error);
    json_write_close(&json, ']');
}

static bool fits(const struct buffer *text)
{
    const struct bytes payload = {(const unsigned char *)buffer_str(text), text->length};
    struct error err;

    return !text->too_long && (text->failed || json_check(payload, &err));
}

/* As much as fits. */
static bool make_payload(struct buffer *text, const struct job *dead, const char *error,
                         struct error *err)
{
    for (enum part part = WITH_PAYLOAD; part < PARTS; part++) {
        buffer_clear(text);
        write_payload(text, dead, part, error);
        if (fits(text))
            break;
    }
    return buffer_ok(text, err) || error_prefix(err, "on_dead");
}

bool on_dead_make(const struct on_dead *config, const struct job *dead, const char *error,
                  size_t max_payload, struct uuid_maker *ids, usec_t now, struct arena *arena,
                  const struct job **job_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(max_payload);
    struct job *job = arena_alloc(arena, sizeof *job);
    struct error ignored;

    if (!job)
        return error_no_memory(err);
    if (dead->on_dead_depth >= JOB_ON_DEAD_MAX)
        return error_set(err, TH_E_INVALID,
                         "on_dead: %d dead jobs in a row brought each other, so no '%s' is "
                         "enqueued: look for handlers whose on_dead leads back to them",
                         JOB_ON_DEAD_MAX, config->type);
    if (!make_payload(&text, dead, error, err))
        return false;
    *job = job_defaults();
    job->id = uuid_make(ids, now);
    job->type = config->type;
    job->queue = config->queue;
    job->on_dead_depth = dead->on_dead_depth + 1;
    job->payload =
        arena_bytes(arena, (struct bytes){(const unsigned char *)buffer_str(&text), text.length});
    /* Headers that are damaged may be what it died of. */
    if (headers_check(dead->headers, &ignored))
        job->headers = arena_text(arena, dead->headers);
    job->tags = tags_copy(dead->tags, arena);
    *job_out = job;
    return !arena->failed || error_no_memory(err);
}
