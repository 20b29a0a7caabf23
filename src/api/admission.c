/*
 * admission.c - who may come in with what.
 */
#include "api/admission.h"

#include "api/inside.h"
#include "api/problem.h"
#include "api/routes.h"
#include "config/config.h"
#include "http/request.h"
#include "http/response.h"
#include "process/process.h"

#include <string.h>

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

bool admission_check(struct api *api, const struct http_request *request, size_t *body_max_out,
                     struct http_response *refusal_out)
{
    struct route_match match;

    routes_match(request->method, request->path, &match);
    if (!match.route)
        return refuse_path(api, &match, refusal_out);
    *body_max_out = body_max(api, match.route->body);
    return true;
}

enum right admission_right(const struct api *api, const struct http_request *request)
{
    (void)api;
    (void)request;
    return RIGHT_WRITE;
}
