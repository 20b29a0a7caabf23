/*
 * fuzz_calls.c - whatever a door that was taken over sends to the gate, or the gate to a door: its
 * reader stays inside of it, and what it takes is within the limits of a store.
 *
 * The first byte says what it is to be; the rest is copied into memory of just its size.
 */
#include "base/arena.h"
#include "base/error.h"
#include "door/claim_call.h"
#include "door/enqueue_call.h"
#include "door/lease_calls.h"
#include "fuzz.h"

#include <assert.h>

static void read_enqueue(struct bytes pack, struct arena *arena)
{
    struct enqueue_call call;
    struct enqueue_answer answer;
    struct error err;

    if (enqueue_call_unpack(pack, arena, &call, &err)) {
        assert(call.count >= 1 && call.count <= ENQUEUE_CALL_MAX);
        for (size_t i = 0; i < call.count; i++)
            assert(call.jobs[i].type && call.jobs[i].queue && call.delays[i] >= -1);
    }
    if (enqueue_answer_unpack(pack, arena, &answer, &err))
        assert(answer.count <= ENQUEUE_CALL_MAX);
}

static void read_claim(struct bytes pack, struct arena *arena)
{
    struct claim_call call;
    struct claim_answer answer;
    struct batch_token batch;
    const char *pool;
    struct error err;

    if (claim_call_unpack(pack, arena, &call, &err)) {
        assert(job_name_is_valid(call.pool) && call.queue_count >= 1 && call.max >= 1);
        for (size_t i = 0; i < call.queue_count; i++)
            assert(job_name_is_valid(call.queues[i]));
    }
    if (claim_answer_unpack(pack, arena, &answer, &err))
        assert(answer.count <= CLAIM_JOBS_MAX);
    if (unclaim_call_unpack(pack, &pool, &batch, &err))
        assert(job_name_is_valid(pool));
}

static void expect_lease(const struct remote_lease *lease)
{
    assert(lease->is_foreign ||
           (job_name_is_valid(lease->pool) && job_name_is_valid(lease->queue) &&
            job_name_is_valid(lease->type) && lease->lease_for > 0));
}

static void read_lease(struct bytes pack)
{
    struct settle_call settle;
    struct beat_call beat;
    struct error err;

    if (settle_call_unpack(pack, &settle, &err)) {
        expect_lease(&settle.lease);
        assert(settle.retry_in >= -1 && settle.result.length <= JOB_RESULT_MAX);
    }
    if (beat_call_unpack(pack, &beat, &err)) {
        expect_lease(&beat.lease);
        assert(beat.progress_percent >= -1 && beat.progress_percent <= 100);
    }
}

/* A text of a stranger. */
static void read_text(struct bytes text, struct arena *arena)
{
    const struct uuid job = {{0}};
    struct remote_lease lease;

    remote_lease_read(arena_text_of(arena, (const char *)text.data, text.length), &job, arena,
                      &lease);
    expect_lease(&lease);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};

    if (size < 1)
        return 0;
    unsigned char *exact = malloc(size > 1 ? size - 1 : 1);
    if (!exact)
        abort();
    memcpy(exact, data + 1, size - 1);
    const struct bytes pack = {exact, size - 1};

    switch (data[0] % 4U) {
    case 0:
        read_enqueue(pack, &arena);
        break;
    case 1:
        read_claim(pack, &arena);
        break;
    case 2:
        read_lease(pack);
        break;
    default:
        read_text(pack, &arena);
        break;
    }
    arena_done(&arena);
    free(exact);
    return 0;
}
