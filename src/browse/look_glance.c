/*
 * look_glance.c - one job, for somebody who goes on looking at it.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "browse/looks.h"
#include "client/attention.h"
#include "door/page.h"
#include "job/job_json.h"
#include "store/store.h"

/* What is longer is not sent again and again. */
#define LONG ((size_t)16 * 1024)

#define RECORD_MAX ((size_t)4 << 20)

static void pay_attention(struct store *store, const struct job *job)
{
    const struct watched_job watched = {job->id, job->queue};
    const struct watch watch = {.jobs = &watched, .count = 1};
    struct attention attention = {0};

    attention_pay(&attention, store, &watch);
}

static struct bytes unless_long(struct bytes bytes)
{
    static const struct bytes none;

    return bytes.length > LONG ? none : bytes;
}

/* The record without its output, which comes beside it. */
static bool pack_job(struct buffer *pack, const struct job *job, struct error *err)
{
    CLEANUP(buffer_done) struct buffer record = BUFFER(RECORD_MAX);
    struct job brief = *job;

    brief.output = (struct bytes){0};
    brief.payload = unless_long(brief.payload);
    brief.result = unless_long(brief.result);
    job_json_add(&record, &brief);
    pack_number(pack, job->state);
    pack_bytes(pack, job->output);
    pack_bytes(pack, (struct bytes){(const unsigned char *)record.data, record.length});
    return buffer_ok(&record, err);
}

bool look_glance(struct look *look, struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    const struct uuid id = unpack_uuid(&look->wish);
    const bool looks_on = unpack_flag(&look->wish);

    if (!unpack_end(&look->wish, "a glance at a job", err) ||
        !store_get(look->store, &id, &jobs, err))
        return false;
    const struct job *job = &jobs.items[0];

    if (looks_on && job->state == JOB_RUNNING)
        pay_attention(look->store, job);
    return pack_job(look->body, job, err);
}
