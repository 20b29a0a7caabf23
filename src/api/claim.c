/*
 * claim.c - POST /api/claim: jobs for a worker that is anywhere.
 *
 * Its jobs are its own when all of the answer has been written to it. If it has left by then, or
 * nobody knows, the gate takes them back: visit.c.
 */
#include "api/claim.h"

#include "api/endpoints.h"
#include "api/inside.h"
#include "api/visit.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/text.h"
#include "config/config.h"
#include "door/claim_call.h"
#include "door/pack.h"
#include "door/remote_lease.h"
#include "job/job_json.h"
#include "job/remote_pool.h"
#include "process/process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#define WORKER_MAX 100
#define ANSWER_MAX ((size_t)64 << 20)
#define PATIENCE   (10 * USEC_PER_SEC) /* beyond its wait */
#define LEASE_MIN  USEC_PER_SEC
#define LEASE_MAX  (24 * USEC_PER_HOUR)
#define LEASE_JOB  (-1) /* as long as the job may run */

struct claim_wish {
    const char *worker;
    struct value_texts queues, types;
    int64_t max;
    usec_t lease, wait;
};

static const char *const lease_words[] = {"job", NULL};

/* clang-format off */
static const struct value_field claim_fields[] = {
    VALUE_NAME    (claim_wish, worker, .is_required = true, .max = WORKER_MAX,
                   .help = "Name of the worker: the pool http.NAME is its own"),
    VALUE_NAMES   (claim_wish, queues, .min = 1, .max = CLAIM_QUEUES_MAX,
                   .help = "Asked in this order; without it, default"),
    VALUE_NAMES   (claim_wish, types, .min = 1, .max = CLAIM_TYPES_MAX,
                   .help = "Jobs of these types alone, of the first 10,000 of a queue"),
    VALUE_NUMBER  (claim_wish, max, .min = 1, .max = CLAIM_JOBS_MAX,
                   .help = "How many jobs at most; without it, 1"),
    VALUE_DURATION(claim_wish, lease, .min = LEASE_MIN, .max = LEASE_MAX, .words = lease_words,
                   .help = "How long a job is the worker's without a heartbeat; without it, as "
                           "pool.lease says; \"job\": as long as it may run"),
    VALUE_DURATION(claim_wish, wait, .max = CLAIM_WAIT_MAX,
                   .help = "How long to wait for a job; without it, not at all"),
    {.name = NULL},
};
/* clang-format on */

/* ---- the answer ---- */

static usec_t deadline_of(const struct job *job)
{
    return job->timeout > 0 && job->started_at > 0 ? job->started_at + job->timeout : 0;
}

static void write_lease(struct json_writer *json, const struct job *job)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(4096);
    const struct remote_lease lease = remote_lease_of(job, job->expires_at - job->started_at);

    remote_lease_write(&text, &lease);
    json_write_text(json, "lease_token", buffer_str(&text));
    json_write_time(json, "lease_expires_at", job->expires_at);
}

static void write_job(struct json_writer *json, const struct job *job)
{
    json_write_open(json, NULL, '{');
    write_lease(json, job);
    json_write_int(json, "attempt", (int64_t)job->attempts + 1);
    json_write_time(json, "deadline", deadline_of(job));
    job_json_add_members(json, job);
    json_write_close(json, '}');
}

static void write_answer(const struct claim_answer *answer, struct buffer *text)
{
    struct json_writer json = {.out = text};

    json_write_open(&json, NULL, '{');
    json_write_open(&json, "jobs", '[');
    for (size_t i = 0; i < answer->count; i++)
        write_job(&json, &answer->jobs[i]);
    json_write_close(&json, ']');
    json_write_text(&json, "state", remote_state_name(answer->state));
    json_write_close(&json, '}');
}

static void note_answer(struct visit *visit, struct bytes pack)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(ANSWER_MAX);
    struct claim_answer answer;
    struct error err;

    if (!claim_answer_unpack(pack, &visit->arena, &answer, &err)) {
        visit_refuse_undelivered(visit, &err);
        return;
    }
    if (answer.count == 0)
        visit->is_delivery = false;
    if (answer.count == 0 && answer.state == REMOTE_RUNNING) {
        visit_answer(visit, 204, (struct bytes){0});
        return;
    }
    write_answer(&answer, &text);
    if (buffer_ok(&text, &err))
        visit_answer(visit, 200, (struct bytes){(const unsigned char *)text.data, text.length});
    else
        visit_refuse_undelivered(visit, &err);
}

/* ---- the question ---- */

static const char *host_of(const struct visit *visit, char text[INET6_ADDRSTRLEN])
{
    const struct sockaddr *peer = visit->request->peer;
    const void *address = NULL;

    if (peer->sa_family == AF_INET)
        address = &((const struct sockaddr_in *)(const void *)peer)->sin_addr;
    else if (peer->sa_family == AF_INET6)
        address = &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;
    return address && inet_ntop(peer->sa_family, address, text, INET6_ADDRSTRLEN) ? text
                                                                                  : "localhost";
}

static void ask(struct visit *visit, const struct claim_call *call)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);
    CLEANUP(buffer_done) struct buffer take_back = BUFFER(PACK_MAX);
    const struct visit_question question = {
        .peer = API_GATE,
        .kind = CALL_CLAIM,
        .pack = &pack,
        .may_be_repeated = true,
        .patience = call->wait + PATIENCE,
        .is_delivery = true,
        .take_back = &take_back,
        .answered = note_answer,
    };

    claim_call_pack(&pack, call);
    unclaim_call_pack(&take_back, call->pool, &call->batch);
    visit_ask(visit, &question);
}

static void answer_at_end(struct visit *visit)
{
    struct http_response response = {.status = 204};

    http_response_add(&response, "Cache-Control", "no-store");
    http_response_add(&response, "Retry-After", "1");
    visit_respond(visit, &response);
}

static void claim(struct visit *visit)
{
    static const char *const default_queues[] = {JOB_QUEUE_DEFAULT};
    struct claim_wish wish = {
        .queues = {default_queues, 1},
        .max = 1,
        .lease = visit->api->process->config->pool.lease,
    };
    char pool[sizeof REMOTE_POOL_HTTP + WORKER_MAX], host[INET6_ADDRSTRLEN];

    if (!visit_read(visit, NULL, &wish))
        return;
    if (visit->api->gives_nothing) {
        answer_at_end(visit);
        return;
    }
    snprintf(pool, sizeof pool, REMOTE_POOL_HTTP "%s", wish.worker);
    struct claim_call call = {
        .pool = pool,
        .host = host_of(visit, host),
        .queues = wish.queues.items,
        .queue_count = wish.queues.count,
        .types = wish.types.items,
        .type_count = wish.types.count,
        .max = (size_t)wish.max,
        .lease_for = wish.lease == LEASE_JOB ? 0 : wish.lease,
        .wait = wish.wait,
    };

    random_bytes(&call.batch, sizeof call.batch);
    ask(visit, &call);
}

/* ---- the end of the pool ---- */

void claim_end_all(struct api *api)
{
    struct visit *after;

    api->gives_nothing = true;
    for (struct visit *visit = api->visits; visit; visit = after) {
        after = visit->next;
        if (visit->route->serve != claim || !visit->is_asking)
            continue;
        visit_withdraw(visit);
        answer_at_end(visit);
    }
}

static const struct route routes[] = {
    {"POST", "/api/claim", RIGHT_WRITE, BODY_SHORT, claim, .fields = claim_fields, .name = "claim",
     .help = "Gives jobs to a worker, at once or when there are some. Each comes with its record, "
             "its lease_token, lease_expires_at, which attempt it is and its deadline",
     .answers = {{200, "Claimed", NULL,
                  "Jobs; or none, and a state that says what is wanted of the worker: quiet, "
                  "terminate"},
                 {204, NULL, NULL, "There was nothing in the time to wait"}}},
};

const struct route_table claim_routes = {routes, COUNT_OF(routes)};
