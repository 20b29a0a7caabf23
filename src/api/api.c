/*
 * api.c - `thd: http`: the HTTP API.
 *
 * It reads what strangers send. So it has no store, no file and no secret, and may ask little of
 * the kernel (process/confine.h); what it needs to know it asks of the gate and of browse.
 *
 * Woken by clients, by what those two answer, and by the master's orders. Without them it goes on:
 * GET /health says that this process turns, GET /ready what is missing.
 */
#include "api/api.h"

#include "api/admission.h"
#include "api/broadcast.h"
#include "api/claim.h"
#include "api/inside.h"
#include "api/job_watch.h"
#include "api/readiness.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "door/calls.h"
#include "http/request.h"
#include "http/response.h"
#include "http/server.h"
#include "process/confine.h"
#include "process/meters.h"
#include "process/process.h"
#include "process/scoreboard.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES_MORE      64 /* descriptors beside those of the connections */
#define RETIRE_PATIENCE (1500 * USEC_PER_MSEC)

/* ---- requests ---- */

/* What every answer has, refusals and streams too: a browser runs only what is ours, shows us to no
 * other page, tells nobody where it was, and keeps nothing. */
static const struct http_header always[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

static bool admit(void *context, struct http_request *request, size_t *body_max_out,
                  struct http_response *refusal_out)
{
    struct api *api = context;
    struct route_match match;

    if (admission_check(api, request, body_max_out, refusal_out))
        return true;
    routes_match(request->method, request->path, &match);
    meters_add_request(api->process->meters, match.route ? match.route->path : NULL,
                       refusal_out->status, 0);
    return false;
}

static void handle(void *context, struct http_request *request)
{
    struct api *api = context;

    scoreboard_count(api->process->scoreboard, api->process->slot, ++api->requests);
    visit_begin(api, request, admission_right(request));
}

static void explain(void *context, int status, const char *reason,
                    struct http_response *response_out)
{
    const struct api *api = context;
    const struct problem problem = {.status = status, .message = reason};

    problem_respond(&problem, response_out);
    meters_add_request(api->process->meters, NULL, status, 0);
}

/* ---- the master's orders ---- */

static void finish(void *context)
{
    struct api *api = context;

    loop_stop(api->process->loop);
}

/* Nobody new comes in; whoever waits for an answer gets it, if that does not take long. */
static void retire(struct api *api, int exit_code)
{
    struct process *process = api->process;

    if (api->patience.is_on)
        return;
    scoreboard_set_state(process->scoreboard, process->slot, SLOT_STOPPING);
    readiness_enter(api->readiness, PHASE_OF_END);
    claim_end_all(api);
    process->exit_code = exit_code;
    loop_set_timer(process->loop, &api->patience, clock_boot() + RETIRE_PATIENCE);
    broadcast_end(api->broadcast);
    job_watches_end(api->job_watches);
    http_server_retire(api->server);
}

/* Workers get nothing more here; what they run they may settle until the end. */
static void drain(struct api *api)
{
    readiness_enter(api->readiness, PHASE_OF_END);
    claim_end_all(api);
}

static void meet(struct api *api, enum peer_kind peer, int fd)
{
    struct calls *calls = api->peers[peer == PEER_GATE ? API_GATE : API_BROWSE];
    struct error err;

    if (!calls_connect(calls, fd, &err))
        process_stop(api->process, process_fail(&err));
}

static void obey(void *context, const struct order *order, int fd)
{
    struct api *api = context;

    if (order->kind == ORDER_PEER && fd >= 0) {
        meet(api, order->peer, fd);
        return;
    }
    if (fd >= 0)
        close(fd);
    if (order->kind == ORDER_RESUME)
        readiness_enter(api->readiness, PHASE_OF_WORK);
    else if (order->kind == ORDER_DRAIN)
        drain(api);
    else if (order->kind == ORDER_EXIT)
        retire(api, PROCESS_OK);
    else if (order->kind == ORDER_RETIRE)
        retire(api, PROCESS_RETIRED);
}

/* ---- its life ---- */

/* A connection is a descriptor. */
static bool make_room(unsigned connections, struct error *err)
{
    const rlim_t wanted = (rlim_t)connections + FILES_MORE;
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files))
        return error_errno(err, TH_E_INTERNAL, errno, "ask for the limit of descriptors");
    if (files.rlim_cur >= wanted)
        return true;
    files.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files))
        return error_errno(err, TH_E_INTERNAL, errno, "raise the limit of descriptors");
    if (files.rlim_cur < wanted)
        log_warning("connections_limited", "wanted=%u hint=%s", connections,
                    "raise the limit of open files (LimitNOFILE=) or lower http.connections");
    return true;
}

static bool open_server(struct api *api, struct error *err)
{
    const struct http_config *config = &api->process->config->http;
    const struct http_server_options options = {
        .listeners = &api->process->listener,
        .listener_count = 1,
        .connections = (unsigned)config->connections,
        .connections_per_address = (unsigned)config->connections_per_address,
        .memory = HTTP_MEMORY,
        .limits = HTTP_LIMITS,
        .headers = always,
        .header_count = COUNT_OF(always),
        .handler =
            {
                .context = api,
                .admit = admit,
                .handle = handle,
                .explain = explain,
                .retired = finish,
            },
    };

    return make_room(options.connections, err) &&
           http_server_open(api->process->loop, &options, &api->server, err);
}

static bool open_all(struct api *api, struct error *err)
{
    struct loop *loop = api->process->loop;

    return calls_open(loop, "gate", &api->peers[API_GATE], err) &&
           calls_open(loop, "browse", &api->peers[API_BROWSE], err) &&
           readiness_open(api->peers, &api->readiness, err) &&
           broadcast_open(api, &api->broadcast, err) &&
           job_watches_open(api, &api->job_watches, err) && open_server(api, err) &&
           digest_prepare(err) && confine_enter(err);
}

static void close_all(struct api *api)
{
    loop_clear_timer(api->process->loop, &api->patience);
    if (api->server)
        http_server_close(&api->server);
    visit_end_all(api);
    broadcast_close(&api->broadcast);
    job_watches_close(&api->job_watches);
    readiness_close(&api->readiness);
    for (size_t i = 0; i < COUNT_OF(api->peers); i++)
        calls_close(&api->peers[i]);
}

int api_main(struct process *process)
{
    struct api api = {
        .process = process,
        .patience = {.call = finish, .context = &api},
    };
    struct error err;
    int exit_code;

    process->obey = obey;
    process->context = &api;
    if (open_all(&api, &err) && process_ready(process, &err)) {
        scoreboard_set_state(process->scoreboard, process->slot, SLOT_IDLE);
        exit_code = process_run(process);
    } else {
        exit_code = process_fail(&err);
    }
    process->obey = NULL;
    process->context = NULL;
    close_all(&api);
    return exit_code;
}
