/*
 * remote_lease.c - what a remote worker needs to speak of a job that it runs.
 */
#include "door/remote_lease.h"

#include "base/arena.h"
#include "base/base64.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "door/job_pack.h"
#include "door/pack.h"
#include "job/job.h"

#define VERSION  1
#define TEXT_MAX 1024

struct remote_lease remote_lease_of(const struct job *job, usec_t lease_for)
{
    return (struct remote_lease){
        .job = job->id,
        .pool = job->pool,
        .queue = job->queue,
        .type = job->type,
        .token = job->token,
        .ref = job->ref,
        .executions = job->executions,
        .started_at = job->started_at,
        .lease_for = lease_for,
    };
}

static void pack_rest(struct buffer *pack, const struct remote_lease *lease)
{
    pack_text(pack, lease->pool);
    pack_text(pack, lease->queue);
    pack_text(pack, lease->type);
    job_pack_token(pack, &lease->token);
    pack_number(pack, lease->ref);
    pack_number(pack, lease->executions);
    pack_number(pack, lease->started_at);
    pack_number(pack, lease->lease_for);
}

static const char *unpack_name(struct unpack *unpack)
{
    const char *name = unpack_word(unpack, JOB_NAME_MAX);

    if (!job_name_is_valid(name))
        unpack->failed = true;
    return name;
}

static void unpack_rest(struct unpack *unpack, struct remote_lease *lease)
{
    lease->pool = unpack_name(unpack);
    lease->queue = unpack_name(unpack);
    lease->type = unpack_name(unpack);
    lease->token = job_unpack_token(unpack);
    lease->ref = unpack_number(unpack, INT64_MIN, INT64_MAX);
    lease->executions = unpack_number(unpack, 0, INT64_MAX);
    lease->started_at = unpack_number(unpack, 0, INT64_MAX);
    lease->lease_for = unpack_number(unpack, 1, JOB_TIMEOUT_MAX);
}

void remote_lease_write(struct buffer *text, const struct remote_lease *lease)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(TEXT_MAX);

    pack_number(&pack, VERSION);
    pack_uuid(&pack, &lease->job);
    pack_rest(&pack, lease);
    base64_add(text, (struct bytes){(const unsigned char *)buffer_str(&pack), pack.length});
    text->failed = text->failed || pack.failed;
}

static bool read_text(const char *text, struct arena *arena, struct remote_lease *lease)
{
    struct bytes pack;
    struct error ignored;

    if (!base64_parse(text, arena, &pack))
        return false;
    struct unpack unpack = unpack_begin(pack);

    unpack_number(&unpack, VERSION, VERSION);
    lease->job = unpack_uuid(&unpack);
    unpack_rest(&unpack, lease);
    return unpack_end(&unpack, "a lease", &ignored);
}

/* A store finds a job by `ref` and the token: that it is the one which is named is seen here. */
void remote_lease_read(const char *text, const struct uuid *job, struct arena *arena,
                       struct remote_lease *lease_out)
{
    *lease_out = (struct remote_lease){.is_foreign = false};
    if (!read_text(text, arena, lease_out) || uuid_compare(&lease_out->job, job) != 0)
        *lease_out = (struct remote_lease){.job = *job, .is_foreign = true};
}

void remote_lease_pack(struct buffer *pack, const struct remote_lease *lease)
{
    pack_uuid(pack, &lease->job);
    pack_flag(pack, lease->is_foreign);
    if (!lease->is_foreign)
        pack_rest(pack, lease);
}

void remote_lease_unpack(struct unpack *unpack, struct remote_lease *lease_out)
{
    *lease_out = (struct remote_lease){.job = unpack_uuid(unpack)};
    lease_out->is_foreign = unpack_flag(unpack);
    if (!lease_out->is_foreign)
        unpack_rest(unpack, lease_out);
}
