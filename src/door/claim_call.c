/*
 * claim_call.c - CALL_CLAIM: a remote worker wants jobs; CALL_UNCLAIM: nobody has got them.
 */
#include "door/claim_call.h"

#include "base/arena.h"
#include "base/error.h"
#include "door/job_pack.h"
#include "door/pack.h"

#include <assert.h>
#include <string.h>

#define HOST_MAX 256

/* ---- the claim ---- */

static void pack_names(struct buffer *pack, const char *const *names, size_t count)
{
    pack_count(pack, count);
    for (size_t i = 0; i < count; i++)
        pack_text(pack, names[i]);
}

static const char *unpack_name(struct unpack *unpack)
{
    const char *name = unpack_word(unpack, JOB_NAME_MAX);

    if (!job_name_is_valid(name))
        unpack->failed = true;
    return name;
}

static const char *const *unpack_names(struct unpack *unpack, size_t most, struct arena *arena,
                                       size_t *count_out)
{
    const size_t count = unpack_count(unpack, sizeof(uint64_t), most);
    const char **names = arena_alloc(arena, (count + 1) * sizeof *names);

    for (size_t i = 0; names && i < count; i++)
        names[i] = unpack_name(unpack);
    *count_out = names ? count : 0;
    return names;
}

static void pack_batch(struct buffer *pack, const struct batch_token *batch)
{
    pack_bytes(pack, (struct bytes){batch->bytes, sizeof batch->bytes});
}

static struct batch_token unpack_batch(struct unpack *unpack)
{
    struct batch_token batch = {{0}};
    const struct bytes bytes = unpack_bytes(unpack, sizeof batch.bytes);

    if (bytes.length == sizeof batch.bytes)
        memcpy(batch.bytes, bytes.data, sizeof batch.bytes);
    else
        unpack->failed = true;
    return batch;
}

void claim_call_pack(struct buffer *pack, const struct claim_call *call)
{
    pack_text(pack, call->pool);
    pack_text(pack, call->host);
    pack_batch(pack, &call->batch);
    pack_names(pack, call->queues, call->queue_count);
    pack_names(pack, call->types, call->type_count);
    pack_number(pack, (int64_t)call->max);
    pack_number(pack, call->lease_for);
    pack_number(pack, call->wait);
}

bool claim_call_unpack(struct bytes pack, struct arena *arena, struct claim_call *call_out,
                       struct error *err)
{
    struct unpack unpack = unpack_begin(pack);

    *call_out = (struct claim_call){
        .pool = unpack_name(&unpack),
        .host = unpack_word(&unpack, HOST_MAX),
        .batch = unpack_batch(&unpack),
    };
    call_out->queues = unpack_names(&unpack, CLAIM_QUEUES_MAX, arena, &call_out->queue_count);
    call_out->types = unpack_names(&unpack, CLAIM_TYPES_MAX, arena, &call_out->type_count);
    call_out->max = (size_t)unpack_number(&unpack, 1, CLAIM_JOBS_MAX);
    call_out->lease_for = unpack_number(&unpack, 0, JOB_TIMEOUT_MAX);
    call_out->wait = unpack_number(&unpack, 0, CLAIM_WAIT_MAX);
    if (arena->failed)
        return error_no_memory(err);
    if (call_out->queue_count == 0)
        unpack.failed = true;
    return unpack_end(&unpack, "a claim", err);
}

/* ---- its answer ---- */

const char *remote_state_name(enum remote_state state)
{
    static const char *const names[] = {
        [REMOTE_RUNNING] = "running",
        [REMOTE_QUIET] = "quiet",
        [REMOTE_TERMINATE] = "terminate",
    };

    assert((unsigned)state < COUNT_OF(names));
    return names[state];
}

void claim_answer_pack(struct buffer *pack, const struct claim_answer *answer)
{
    pack_number(pack, answer->state);
    pack_count(pack, answer->count);
    for (size_t i = 0; i < answer->count; i++)
        job_pack_record(pack, &answer->jobs[i]);
}

bool claim_answer_unpack(struct bytes pack, struct arena *arena, struct claim_answer *answer_out,
                         struct error *err)
{
    struct unpack unpack = unpack_begin(pack);

    answer_out->state = (enum remote_state)unpack_number(&unpack, 0, REMOTE_STATES - 1);
    answer_out->count = unpack_count(&unpack, JOB_PACK_MIN, CLAIM_JOBS_MAX);
    answer_out->jobs = arena_alloc(arena, (answer_out->count + 1) * sizeof *answer_out->jobs);
    for (size_t i = 0; !arena->failed && i < answer_out->count; i++)
        job_unpack_record(&unpack, arena, &answer_out->jobs[i]);
    if (arena->failed)
        return error_no_memory(err);
    return unpack_end(&unpack, "claimed jobs", err);
}

/* ---- what nobody has got ---- */

void unclaim_call_pack(struct buffer *pack, const char *pool, const struct batch_token *batch)
{
    pack_text(pack, pool);
    pack_batch(pack, batch);
}

bool unclaim_call_unpack(struct bytes pack, const char **pool_out, struct batch_token *batch_out,
                         struct error *err)
{
    struct unpack unpack = unpack_begin(pack);

    *pool_out = unpack_name(&unpack);
    *batch_out = unpack_batch(&unpack);
    return unpack_end(&unpack, "a claim that is taken back", err);
}
