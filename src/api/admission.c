/*
 * admission.c - who may come in with what.
 */
#include "api/admission.h"

#include "api/credentials.h"
#include "api/inside.h"
#include "api/origin.h"
#include "api/problem.h"
#include "api/routes.h"
#include "base/clock.h"
#include "base/text.h"
#include "config/config.h"
#include "http/request.h"
#include "http/response.h"
#include "process/process.h"

#include <string.h>
#include <strings.h>

#define SHORT_MAX ((size_t)64 << 10)
#define WORK_MAX  ((size_t)2 << 20)
#define JOBS_MAX  ((size_t)16 << 20)

/* Base64 makes a payload a third longer. */
static size_t body_max(const struct api *api, enum body_size size)
{
    const size_t payload = (size_t)api->process->config->max_payload;
    const size_t one = payload + payload / 3 + SHORT_MAX;

    switch (size) {
    case BODY_NONE:
        return 0;
    case BODY_SHORT:
        return SHORT_MAX;
    case BODY_WORK:
        return WORK_MAX;
    case BODY_JOBS:
        return one > JOBS_MAX ? one : JOBS_MAX;
    }
    return 0;
}

static bool refuse(int status, const char *message, struct http_response *refusal_out)
{
    const struct problem problem = {.status = status, .message = message};

    problem_respond(&problem, refusal_out);
    return false;
}

static bool refuse_path(struct api *api, const struct route_match *match,
                        struct http_response *refusal_out)
{
    if (!match->allow[0])
        return refuse(404, "there is nothing here", refusal_out);
    refuse(405, "this path is not for this method", refusal_out);
    memcpy(api->allow, match->allow, sizeof api->allow);
    http_response_add(refusal_out, "Allow", api->allow);
    return false;
}

static bool check_host(const struct api *api, const struct http_request *request,
                       const struct route *route, struct http_response *refusal_out)
{
    const char *host = http_request_header(request, "Host");

    return (route && route->is_for_probes) ||
           origin_host_is_ours(&api->process->config->http, host) ||
           refuse(421,
                  "this server has another name: ask for localhost or its address, or add "
                  "the name to http.hosts",
                  refusal_out);
}

static bool check_origin(const struct http_request *request, struct http_response *refusal_out)
{
    const char *host = http_request_header(request, "Host");
    const char *site = http_request_header(request, "Sec-Fetch-Site");
    const char *origin = http_request_header(request, "Origin");

    return text_equal(request->method, "GET") || origin_is_ours(host, site, origin) ||
           refuse(403, "a page of another site may change nothing here", refusal_out);
}

static bool check_right(struct api *api, const struct http_request *request, enum right needed,
                        enum right *right_out, struct http_response *refusal_out)
{
    const char *authorization = http_request_header(request, "Authorization");
    const char *cookies = http_request_header(request, "Cookie");

    *right_out = RIGHT_NONE;
    if (needed == RIGHT_NONE)
        return true;
    const struct credentials shown =
        credentials_judge(&api->process->config->http, authorization, cookies, clock_wall());

    *right_out = shown.right;
    if (shown.right >= needed)
        return true;
    if (shown.right != RIGHT_NONE)
        return refuse(403, "this token may look, and change nothing", refusal_out);
    credentials_refuse(api, request->peer, shown.is_wrong, refusal_out);
    return false;
}

/* A type that a form cannot have, so that a browser asks before it sends one from elsewhere. */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    const size_t length = strlen(json);

    return type && strncasecmp(type, json, length) == 0 &&
           (type[length] == '\0' || strchr("; \t", type[length]));
}

static bool check_body(const struct http_request *request, enum body_size size,
                       struct http_response *refusal_out)
{
    if (request->length == 0)
        return true;
    if (size == BODY_NONE)
        return refuse(400, "nothing is read here: send no body", refusal_out);
    return is_json(http_request_header(request, "Content-Type")) ||
           refuse(415, "a body has to be JSON, with 'Content-Type: application/json'", refusal_out);
}

bool admission_check(struct api *api, struct http_request *request, size_t *body_max_out,
                     struct http_response *refusal_out)
{
    struct route_match match;
    enum right right;

    routes_match(request->method, request->path, &match);
    if (!check_host(api, request, match.route, refusal_out))
        return false;
    if (!match.route)
        return refuse_path(api, &match, refusal_out);
    if (!check_origin(request, refusal_out) ||
        !check_right(api, request, match.route->right, &right, refusal_out) ||
        !check_body(request, match.route->body, refusal_out))
        return false;
    request->data = (void *)(uintptr_t)right;
    *body_max_out = body_max(api, match.route->body);
    return true;
}

enum right admission_right(const struct http_request *request)
{
    return (enum right)(uintptr_t)request->data;
}
