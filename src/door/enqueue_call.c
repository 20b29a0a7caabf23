/*
 * enqueue_call.c - CALL_ENQUEUE: jobs that are to be stored, all of them or none.
 */
#include "door/enqueue_call.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "door/job_pack.h"
#include "door/pack.h"

#define VERDICT_MIN sizeof(struct uuid)

void enqueue_call_pack(struct buffer *pack, const struct enqueue_call *call)
{
    pack_count(pack, call->count);
    for (size_t i = 0; i < call->count; i++) {
        job_pack_request(pack, &call->jobs[i]);
        pack_number(pack, call->delays[i]);
    }
}

bool enqueue_call_unpack(struct bytes pack, struct arena *arena, struct enqueue_call *call_out,
                         struct error *err)
{
    struct unpack unpack = unpack_begin(pack);
    const size_t count = unpack_count(&unpack, JOB_PACK_MIN, ENQUEUE_CALL_MAX);

    *call_out = (struct enqueue_call){
        .jobs = arena_alloc(arena, (count + 1) * sizeof *call_out->jobs),
        .delays = arena_alloc(arena, (count + 1) * sizeof *call_out->delays),
        .count = count,
    };
    for (size_t i = 0; !arena->failed && i < count; i++) {
        job_unpack_request(&unpack, arena, &call_out->jobs[i]);
        call_out->delays[i] = unpack_number(&unpack, -1, TIMESTAMP_MAX);
    }
    if (arena->failed)
        return error_no_memory(err);
    if (count == 0)
        unpack.failed = true;
    return unpack_end(&unpack, "jobs to be stored", err);
}

void enqueue_answer_pack(struct buffer *pack, const struct enqueue_answer *answer)
{
    pack_count(pack, answer->count);
    for (size_t i = 0; i < answer->count; i++) {
        const struct enqueue_verdict *verdict = &answer->verdicts[i];

        pack_uuid(pack, &verdict->id);
        pack_number(pack, verdict->state);
        pack_flag(pack, verdict->existed);
        pack_flag(pack, verdict->updated);
    }
}

bool enqueue_answer_unpack(struct bytes pack, struct arena *arena,
                           struct enqueue_answer *answer_out, struct error *err)
{
    struct unpack unpack = unpack_begin(pack);
    const size_t count = unpack_count(&unpack, VERDICT_MIN, ENQUEUE_CALL_MAX);
    struct enqueue_verdict *verdicts = arena_alloc(arena, (count + 1) * sizeof *verdicts);

    *answer_out = (struct enqueue_answer){verdicts, count};
    for (size_t i = 0; verdicts && i < count; i++) {
        verdicts[i].id = unpack_uuid(&unpack);
        verdicts[i].state = (enum job_state)unpack_number(&unpack, 0, JOB_STATES - 1);
        verdicts[i].existed = unpack_flag(&unpack);
        verdicts[i].updated = unpack_flag(&unpack);
    }
    if (arena->failed)
        return error_no_memory(err);
    return unpack_end(&unpack, "what became of jobs", err);
}
