/*
 * visit.c - one request on its way through the API, from its route to its answer.
 *
 *     visit_begin -> serve -> visit_ask - - -> note_answer -> answered -> visit_answer
 *                                      `- - -> leave: the client has gone
 */
#include "api/visit.h"

#include "api/inside.h"
#include "api/link.h"
#include "api/routes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/uuid.h"
#include "door/calls.h"
#include "door/page.h"
#include "http/response.h"
#include "http/stream.h"
#include "job/job.h"
#include "process/meters.h"
#include "process/process.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK_MAX           ((size_t)8 << 10)
#define TAKE_BACK_PATIENCE (60 * USEC_PER_SEC)
#define WATCH_AFTER        (100 * USEC_PER_MSEC)

/* Whether the answer to a question has reached the client: who is to hear of it. */
struct receipt {
    struct calls *calls;
    uint64_t serial;
    struct bytes take_back; /* behind this */
};

static void begin(struct visit *visit)
{
    visit->next = visit->api->visits;
    if (visit->next)
        visit->next->before = visit;
    visit->api->visits = visit;
}

static void end(struct visit *visit)
{
    if (visit->next)
        visit->next->before = visit->before;
    if (visit->before)
        visit->before->next = visit->next;
    else
        visit->api->visits = visit->next;
    arena_done(&visit->arena);
    free(visit);
}

/* ---- what has reached nobody ---- */

static void ignore(void *context, struct bytes pack, const struct error *err)
{
    (void)context;
    (void)pack;
    (void)err; /* what nobody takes back returns when its lease ends */
}

/* Before anything else is said of that call: the desk knows it by what is in the pack. */
static void take_back(struct calls *calls, struct bytes pack)
{
    const struct call_wish wish = {
        .kind = CALL_UNCLAIM,
        .pack = pack,
        .may_be_repeated = true,
        .patience = TAKE_BACK_PATIENCE,
        .answered = ignore,
    };
    uint64_t serial;
    struct error err;

    if (pack.data && !calls_send(calls, &wish, &serial, &err))
        log_error("call_failed", "peer=gate error=%s", err.text);
}

/* ---- answers ---- */

static void count(const struct visit *visit, int status)
{
    meters_add_request(visit->api->process->meters, visit->route->path, status,
                       clock_boot() - visit->begun_at);
}

static void note_sent(void *context, bool was_sent)
{
    struct receipt *receipt = context;

    if (!was_sent)
        take_back(receipt->calls, receipt->take_back);
    free(receipt);
}

static struct receipt *make_receipt(struct calls *calls, const struct visit *visit)
{
    struct receipt *receipt = malloc(sizeof *receipt + visit->take_back.length);

    if (!receipt)
        return NULL;
    unsigned char *copy = (unsigned char *)(receipt + 1);

    memcpy(copy, visit->take_back.data, visit->take_back.length);
    *receipt = (struct receipt){calls, visit->serial, {copy, visit->take_back.length}};
    return receipt;
}

/* The desk hears that it is the client's before a byte of it is written: if this process dies in
 * between, nobody has it until its lease ends, and the other way round two would have it. A desk
 * that has died meanwhile knows nothing of it, and leaves it alone. False: out of memory, and the
 * desk has been told to take back what it gave. */
static bool add_receipt(struct visit *visit, struct http_response *response)
{
    struct calls *calls = visit->api->peers[visit->peer];
    struct receipt *receipt = make_receipt(calls, visit);
    struct error err;

    visit->is_delivery = false;
    if (!receipt || !calls_confirm(calls, visit->serial, &err)) {
        free(receipt);
        take_back(calls, visit->take_back);
        return false;
    }
    response->sent = note_sent;
    response->context = receipt;
    return true;
}

/* Its client has left: jobs that were claimed for it are for others. */
static void withhold(struct visit *visit)
{
    take_back(visit->api->peers[visit->peer], visit->take_back);
    http_drop(visit->request);
    end(visit);
}

void visit_respond(struct visit *visit, struct http_response *response)
{
    if (visit->is_delivery && http_request_has_left(visit->request)) {
        withhold(visit);
        return;
    }
    if (visit->is_delivery && !add_receipt(visit, response)) {
        visit_refuse(visit, 503, NULL, "out of memory");
        return;
    }
    count(visit, response->status);
    http_answer(visit->request, response);
    end(visit);
}

struct http_stream *visit_stream(struct visit *visit, struct http_response *head,
                                 const struct http_stream_events *events)
{
    struct http_stream *stream = http_stream_begin(visit->request, head, events);

    count(visit, head->status);
    end(visit);
    return stream;
}

void visit_answer(struct visit *visit, int status, struct bytes json)
{
    struct http_response response = {
        .status = status,
        .type = json.data ? "application/json" : NULL,
        .body = json,
        .body_is = HTTP_COPIED,
    };

    visit_respond(visit, &response);
}

void visit_refuse_problem(struct visit *visit, const struct problem *problem)
{
    struct http_response response;

    problem_respond(problem, &response);
    visit_respond(visit, &response);
}

void visit_refuse(struct visit *visit, int status, const char *field, const char *format, ...)
{
    char message[ERROR_TEXT_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const struct problem problem = {.status = status, .field = field, .message = message};

    visit_refuse_problem(visit, &problem);
}

void visit_refuse_all(struct visit *visit, const struct problems *problems)
{
    const struct problem problem = {.status = 400, .all = problems};

    visit_refuse_problem(visit, &problem);
}

void visit_refuse_error(struct visit *visit, const struct error *err)
{
    const struct problem problem = problem_of_error(err);

    visit_refuse_problem(visit, &problem);
}

static void undeliver(struct visit *visit)
{
    if (visit->is_delivery)
        take_back(visit->api->peers[visit->peer], visit->take_back);
    visit->is_delivery = false;
}

void visit_refuse_undelivered(struct visit *visit, const struct error *err)
{
    undeliver(visit);
    visit_refuse_error(visit, err);
}

/* ---- what the client wants ---- */

static bool read_query(struct visit *visit, void *into, struct problems *problems)
{
    static const struct value_field nothing[] = {{.name = NULL}};
    const struct value_field *fields = visit->route->query;

    fields_read_query(fields ? fields : nothing, &visit->query, visit_now(visit), into, problems);
    return problems->count == 0;
}

static bool read_body(struct visit *visit, void *into, struct problems *problems)
{
    if (visit->route->fields)
        fields_read_body(visit->route->fields, visit->request->body, visit_now(visit), into,
                         problems);
    return problems->count == 0;
}

bool visit_read(struct visit *visit, void *query_into, void *body_into)
{
    struct problems problems = {.arena = &visit->arena};
    const bool is_fine = read_query(visit, query_into, &problems);

    if (read_body(visit, body_into, &problems) && is_fine && !visit->arena.failed)
        return true;
    if (visit->arena.failed)
        visit_refuse(visit, 503, NULL, "out of memory");
    else
        visit_refuse_all(visit, &problems);
    return false;
}

bool visit_id(struct visit *visit, struct uuid *id_out)
{
    if (uuid_parse(visit->parameter, id_out))
        return true;
    visit_refuse(visit, 404, NULL, "no job has the id '%.64s'", visit->parameter);
    return false;
}

bool visit_name(struct visit *visit)
{
    struct error err;

    if (job_name_check(visit->parameter, JOB_NAME_MAX, &err))
        return true;
    visit_refuse(visit, 404, NULL, "%s", err.text);
    return false;
}

usec_t visit_now(const struct visit *visit)
{
    (void)visit;
    return clock_wall();
}

/* ---- the desks ---- */

static void fail(struct visit *visit, const struct error *err)
{
    struct problem problem = problem_of_error(err);

    if (visit->failed) {
        visit->failed(visit, err);
        return;
    }
    if (err->code == TH_E_INVALID)
        problem.field = visit->field;
    visit_refuse_problem(visit, &problem);
}

static void note_answer(void *context, struct bytes pack, const struct error *err)
{
    struct visit *visit = context;

    visit->is_asking = false;
    if (err) {
        undeliver(visit);
        fail(visit, err);
    } else {
        visit->answered(visit, pack);
    }
}

/* The client has gone. */
static void leave(void *context)
{
    struct visit *visit = context;

    if (!visit->is_asking)
        return;
    visit_withdraw(visit);
    http_drop(visit->request);
    end(visit);
}

void visit_withdraw(struct visit *visit)
{
    struct calls *calls = visit->api->peers[visit->peer];

    undeliver(visit);
    calls_forget(calls, visit->serial);
    visit->is_asking = false;
}

static void watch_clients(void *context)
{
    const struct api *api = context;
    struct error err;

    for (struct visit *visit = api->visits; visit; visit = visit->next) {
        /* One that cannot be watched is answered, even if it has left. */
        if (visit->is_asking && !visit->is_watched)
            visit->is_watched = http_request_watch(visit->request, leave, visit, &err);
    }
}

/* Most are answered before they could get tired of waiting, and to be watched costs as much as an
 * answer: only who still waits when the timer rings is. */
static void watch_client_soon(struct api *api)
{
    if (api->watching.is_on)
        return;
    api->watching.call = watch_clients;
    api->watching.context = api;
    loop_set_timer(api->process->loop, &api->watching, clock_boot() + WATCH_AFTER);
}

static bool keep_take_back(struct visit *visit, const struct visit_question *question,
                           struct error *err)
{
    const struct buffer *pack = question->take_back;

    if (!pack)
        return true;
    if (!buffer_ok(pack, err))
        return false;
    visit->take_back = arena_bytes(
        &visit->arena, (struct bytes){(const unsigned char *)buffer_str(pack), pack->length});
    return !visit->arena.failed || error_no_memory(err);
}

void visit_ask(struct visit *visit, const struct visit_question *question)
{
    const struct call_wish wish = {
        .kind = question->kind,
        .pack = {(const unsigned char *)buffer_str(question->pack), question->pack->length},
        .may_be_repeated = question->may_be_repeated,
        .patience = question->patience,
        .answered = note_answer,
        .context = visit,
    };
    struct error err;

    assert(!visit->is_asking);
    visit->failed = question->failed;
    if (!buffer_ok(question->pack, &err) || !keep_take_back(visit, question, &err) ||
        !calls_send(visit->api->peers[question->peer], &wish, &visit->serial, &err)) {
        fail(visit, &err);
        return;
    }
    visit->peer = question->peer;
    visit->is_asking = true;
    visit->is_delivery = question->is_delivery;
    visit->field = question->field;
    visit->answered = question->answered;
    watch_client_soon(visit->api);
}

void visit_relay(struct visit *visit, struct bytes pack)
{
    CLEANUP(buffer_done) struct buffer link = BUFFER(LINK_MAX);
    struct page page;
    struct error err;

    if (!page_unpack(pack, &page, &err)) {
        visit_refuse_error(visit, &err);
        return;
    }
    struct http_response response = {
        .status = page.status,
        .type = page.body.data ? "application/json" : NULL,
        .body = page.body,
        .body_is = HTTP_COPIED,
    };

    if (page.next) {
        link_add_next(&link, &visit->query, page.next);
        http_response_add(&response, "Link", buffer_str(&link));
    }
    visit_respond(visit, &response);
}

void visit_browse(struct visit *visit, enum call_kind kind, const struct buffer *pack)
{
    const struct visit_question question = {
        .peer = API_BROWSE,
        .kind = kind,
        .pack = pack,
        .may_be_repeated = true,
        .answered = visit_relay,
    };

    visit_ask(visit, &question);
}

/* ---- its beginning ---- */

/* Where there are none, none is known. */
static bool knows_no_parameter(struct visit *visit)
{
    struct problems problems = {.arena = &visit->arena};

    if (read_query(visit, NULL, &problems))
        return true;
    visit_refuse_all(visit, &problems);
    return false;
}

void visit_begin(struct api *api, struct http_request *request, enum right right)
{
    struct visit *visit = calloc(1, sizeof *visit);
    struct route_match match;
    struct error err;

    if (!visit) {
        http_drop(request);
        return;
    }
    *visit =
        (struct visit){.api = api, .request = request, .right = right, .begun_at = clock_boot()};
    begin(visit);
    routes_match(request->method, request->path, &match);
    assert(match.route); /* it was admitted */
    visit->route = match.route;
    visit->parameter = arena_text(&visit->arena, match.parameter);
    if (!http_query_parse(request->query, &visit->arena, &visit->query, &err))
        visit_refuse_error(visit, &err);
    else if (visit->arena.failed)
        visit_refuse(visit, 503, NULL, "out of memory");
    else if (visit->route->query || knows_no_parameter(visit))
        visit->route->serve(visit);
}

void visit_end_all(struct api *api)
{
    loop_clear_timer(api->process->loop, &api->watching);
    while (api->visits)
        end(api->visits);
}
