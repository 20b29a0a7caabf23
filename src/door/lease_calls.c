/*
 * lease_calls.c - CALL_SETTLE and CALL_BEAT: what a remote worker says of a job that it runs.
 */
#include "door/lease_calls.h"

#include "base/error.h"
#include "base/timestamp.h"
#include "door/pack.h"
#include "job/job.h"

void settle_call_pack(struct buffer *pack, const struct settle_call *call)
{
    remote_lease_pack(pack, &call->lease);
    pack_number(pack, call->kind);
    pack_text(pack, call->error);
    pack_number(pack, call->retry_in);
    pack_bytes(pack, call->result);
}

static bool is_of_a_worker(enum outcome_kind kind)
{
    return kind == OUTCOME_DONE || kind == OUTCOME_FAILED || kind == OUTCOME_PERMANENT ||
           kind == OUTCOME_RELEASED;
}

bool settle_call_unpack(struct bytes pack, struct settle_call *call_out, struct error *err)
{
    struct unpack unpack = unpack_begin(pack);

    remote_lease_unpack(&unpack, &call_out->lease);
    call_out->kind = (enum outcome_kind)unpack_number(&unpack, OUTCOME_DONE, OUTCOME_UNSTARTABLE);
    call_out->error = unpack_text(&unpack, PACK_MAX);
    call_out->retry_in = unpack_number(&unpack, -1, TIMESTAMP_MAX);
    call_out->result = unpack_bytes(&unpack, JOB_RESULT_MAX);
    if (!is_of_a_worker(call_out->kind))
        unpack.failed = true;
    return unpack_end(&unpack, "the end of a job", err);
}

void settle_answer_pack(struct buffer *pack, enum job_state state)
{
    pack_number(pack, state);
}

bool settle_answer_unpack(struct bytes pack, enum job_state *state_out, struct error *err)
{
    struct unpack unpack = unpack_begin(pack);

    *state_out = (enum job_state)unpack_number(&unpack, 0, JOB_STATES - 1);
    return unpack_end(&unpack, "what became of a job", err);
}

void beat_call_pack(struct buffer *pack, const struct beat_call *call)
{
    remote_lease_pack(pack, &call->lease);
    pack_number(pack, call->progress_percent);
    pack_text(pack, call->progress_text);
    pack_bytes(pack, call->output);
}

bool beat_call_unpack(struct bytes pack, struct beat_call *call_out, struct error *err)
{
    struct unpack unpack = unpack_begin(pack);

    remote_lease_unpack(&unpack, &call_out->lease);
    call_out->progress_percent = unpack_number(&unpack, -1, 100);
    call_out->progress_text = unpack_text(&unpack, PACK_MAX);
    call_out->output = unpack_bytes(&unpack, JOB_OUTPUT_MAX);
    return unpack_end(&unpack, "a heartbeat", err);
}

void beat_answer_pack(struct buffer *pack, const struct beat_answer *answer)
{
    pack_number(pack, answer->expires_at);
    pack_flag(pack, answer->cancel_requested);
    pack_number(pack, answer->state);
}

bool beat_answer_unpack(struct bytes pack, struct beat_answer *answer_out, struct error *err)
{
    struct unpack unpack = unpack_begin(pack);

    answer_out->expires_at = unpack_number(&unpack, 0, INT64_MAX);
    answer_out->cancel_requested = unpack_flag(&unpack);
    answer_out->state = (enum remote_state)unpack_number(&unpack, 0, REMOTE_STATES - 1);
    return unpack_end(&unpack, "the answer to a heartbeat", err);
}
