/*
 * lease.c - what a worker says of a job that it has claimed: heartbeat, complete, fail, release.
 *
 * Its lease_token says which job of which pool it is, and the store compares it: lease_mismatch,
 * lease_expired, not_running. What was said before may be said again.
 */
#include "api/endpoints.h"
#include "api/inside.h"
#include "api/visit.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "door/lease_calls.h"
#include "door/pack.h"
#include "job/job.h"

#include <string.h>

#define TOKEN_MAX    2048
#define ERROR_MAX    4096
#define PROGRESS_MAX 256
#define ANSWER_MAX   4096

#define TOKEN_FIELD(section)                                                                       \
    VALUE_TEXT(section, lease_token, .is_required = true, .max = TOKEN_MAX,                        \
               .help = "As the claim gave it")

struct progress_wish {
    int64_t percent;
    const char *text;
};

struct heartbeat_wish {
    const char *lease_token;
    struct progress_wish progress;
    const char *output;
};

struct complete_wish {
    const char *lease_token;
    struct bytes result;
};

struct fail_wish {
    const char *lease_token;
    const char *error;
    bool retry;
    usec_t retry_in;
};

struct release_wish {
    const char *lease_token;
};

/* clang-format off */
static const struct value_field progress_fields[] = {
    VALUE_NUMBER(progress_wish, percent, .min = 0, .max = 100, .help = "How far it is"),
    VALUE_TEXT  (progress_wish, text, .max = PROGRESS_MAX, .help = "In words"),
    {.name = NULL},
};

static const struct value_field heartbeat_fields[] = {
    TOKEN_FIELD (heartbeat_wish),
    VALUE_OBJECT(heartbeat_wish, progress, progress_wish, .fields = progress_fields,
                 .help = "What people see of it while it runs"),
    VALUE_TEXT  (heartbeat_wish, output, .max = (int64_t)JOB_OUTPUT_MAX,
                 .help = "The end of what it has printed so far"),
    {.name = NULL},
};

static const struct value_field complete_fields[] = {
    TOKEN_FIELD(complete_wish),
    VALUE_JSON (complete_wish, result, .max = (int64_t)JOB_RESULT_MAX,
                .help = "What came of it: any JSON, kept with the job"),
    {.name = NULL},
};

static const struct value_field fail_fields[] = {
    TOKEN_FIELD   (fail_wish),
    VALUE_TEXT    (fail_wish, error, .max = ERROR_MAX, .help = "What went wrong, for people"),
    VALUE_FLAG    (fail_wish, retry, .help = "false: it cannot get better, the job is dead"),
    VALUE_DURATION(fail_wish, retry_in, .max = JOB_TIMEOUT_MAX,
                   .help = "When to try again, instead of what the handler's policy says"),
    {.name = NULL},
};

static const struct value_field release_fields[] = {
    TOKEN_FIELD(release_wish),
    {.name = NULL},
};
/* clang-format on */

/* Whose lease is meant. False: the client has been told. */
static bool read_lease(struct visit *visit, const char *token, struct remote_lease *lease_out)
{
    struct uuid id;

    if (!visit_id(visit, &id))
        return false;
    remote_lease_read(token, &id, &visit->arena, lease_out);
    return true;
}

/* ---- heartbeat ---- */

static void note_beat(struct visit *visit, struct bytes pack)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(ANSWER_MAX);
    struct json_writer json = {.out = &text};
    struct beat_answer answer;
    struct error err;

    if (!beat_answer_unpack(pack, &answer, &err)) {
        visit_refuse_error(visit, &err);
        return;
    }
    json_write_open(&json, NULL, '{');
    json_write_time(&json, "lease_expires_at", answer.expires_at);
    json_write_bool(&json, "cancel_requested", answer.cancel_requested);
    json_write_text(&json, "state", remote_state_name(answer.state));
    json_write_close(&json, '}');
    visit_answer(visit, 200, (struct bytes){(const unsigned char *)buffer_str(&text), text.length});
}

static void heartbeat(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);
    const struct visit_question question = {
        .peer = API_GATE,
        .kind = CALL_BEAT,
        .pack = &pack,
        .may_be_repeated = true,
        .answered = note_beat,
    };
    struct heartbeat_wish wish = {.progress = {.percent = -1}};
    struct beat_call call;

    if (!visit_read(visit, NULL, &wish) || !read_lease(visit, wish.lease_token, &call.lease))
        return;
    call.progress_percent = wish.progress.percent;
    call.progress_text = wish.progress.text;
    call.output =
        (struct bytes){(const unsigned char *)wish.output, wish.output ? strlen(wish.output) : 0};
    beat_call_pack(&pack, &call);
    visit_ask(visit, &question);
}

/* ---- the end ---- */

static void note_end(struct visit *visit, struct bytes pack)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(ANSWER_MAX);
    struct json_writer json = {.out = &text};
    enum job_state state;
    struct error err;

    if (!settle_answer_unpack(pack, &state, &err)) {
        visit_refuse_error(visit, &err);
        return;
    }
    json_write_open(&json, NULL, '{');
    json_write_text(&json, "id", visit->parameter);
    json_write_text(&json, "state", job_state_name(state));
    json_write_close(&json, '}');
    visit_answer(visit, 200, (struct bytes){(const unsigned char *)buffer_str(&text), text.length});
}

static void settle(struct visit *visit, const char *token, struct settle_call *call)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);
    const struct visit_question question = {
        .peer = API_GATE,
        .kind = CALL_SETTLE,
        .pack = &pack,
        .may_be_repeated = true,
        .answered = note_end,
    };

    if (!read_lease(visit, token, &call->lease))
        return;
    settle_call_pack(&pack, call);
    visit_ask(visit, &question);
}

static void complete(struct visit *visit)
{
    struct complete_wish wish = {0};

    if (!visit_read(visit, NULL, &wish))
        return;
    struct settle_call call = {.kind = OUTCOME_DONE, .result = wish.result, .retry_in = -1};

    settle(visit, wish.lease_token, &call);
}

static void fail(struct visit *visit)
{
    struct fail_wish wish = {.retry = true, .retry_in = -1};

    if (!visit_read(visit, NULL, &wish))
        return;
    struct settle_call call = {
        .kind = wish.retry ? OUTCOME_FAILED : OUTCOME_PERMANENT,
        .error = wish.error,
        .retry_in = wish.retry_in,
    };

    settle(visit, wish.lease_token, &call);
}

static void release(struct visit *visit)
{
    struct release_wish wish = {0};

    if (!visit_read(visit, NULL, &wish))
        return;
    struct settle_call call = {.kind = OUTCOME_RELEASED, .retry_in = -1};

    settle(visit, wish.lease_token, &call);
}

#define LEASE_ANSWERS(schema, help)                                                                \
    {                                                                                              \
        {200, schema, NULL, help}, {404, "Problem", NULL, "There is no such job"},                 \
        {                                                                                          \
            409, "Problem", NULL, "lease_mismatch, lease_expired or not_running"                   \
        }                                                                                          \
    }

static const struct route routes[] = {
    {"POST", "/api/jobs/{id}/heartbeat", RIGHT_WRITE, BODY_WORK, heartbeat,
     .fields = heartbeat_fields, .name = "heartbeat",
     .help = "Extends the lease of a claimed job, and tells how far it is",
     .answers = LEASE_ANSWERS("Heartbeat", "It is the worker's until lease_expires_at")},
    {"POST", "/api/jobs/{id}/complete", RIGHT_WRITE, BODY_WORK, complete, .fields = complete_fields,
     .name = "complete", .help = "A claimed job is done",
     .answers = LEASE_ANSWERS("Settled", "Recorded, now or before")},
    {"POST", "/api/jobs/{id}/fail", RIGHT_WRITE, BODY_WORK, fail, .fields = fail_fields,
     .name = "fail",
     .help = "A claimed job has failed: it is tried again, or dead after max_attempts",
     .answers = LEASE_ANSWERS("Settled", "Recorded, now or before")},
    {"POST", "/api/jobs/{id}/release", RIGHT_WRITE, BODY_WORK, release, .fields = release_fields,
     .name = "release", .help = "Gives a claimed job back, and nothing is counted",
     .answers = LEASE_ANSWERS("Settled", "Recorded, now or before")},
};

const struct route_table lease_routes = {routes, COUNT_OF(routes)};
