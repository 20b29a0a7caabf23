/*
 * routes.c - every path there is.
 *
 * A file of endpoints ends with its table; a new one is a row here.
 */
#include "api/routes.h"

#include "api/endpoints.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct route_table *const tables[] = {
    &bulk_routes,
    &claim_routes,
    &cron_routes,
    &enqueue_routes,
    &event_routes,
    &health_routes,
    &job_routes,
    &lease_routes,
    &login_routes,
    &metrics_routes,
    &openapi_routes,
    &queue_routes,
    &types_routes,
    &worker_routes,
};
/* clang-format on */

/* Whether the segments are those of the pattern; its parameter, if it has one. */
static bool fits(const char *pattern, const struct http_path *path, const char **parameter_out)
{
    size_t i = 0;

    *parameter_out = NULL;
    while (*pattern == '/' && pattern[1]) {
        const char *segment = ++pattern;
        const size_t length = strcspn(segment, "/");

        if (i == path->count)
            return false;
        if (segment[0] == '{')
            *parameter_out = path->segments[i];
        else if (strlen(path->segments[i]) != length ||
                 strncmp(path->segments[i], segment, length) != 0)
            return false;
        pattern += length;
        i++;
    }
    return i == path->count;
}

static void add_method(char allow[ROUTES_ALLOW_SIZE], const char *method)
{
    const char *comma = allow[0] ? ", " : "";
    const char *head = text_equal(method, "GET") ? ", HEAD" : "";
    const size_t length = strlen(allow);

    snprintf(allow + length, ROUTES_ALLOW_SIZE - length, "%s%s%s", comma, method, head);
}

/* A path of words beats one with a parameter, whatever their order. */
static void consider(const struct route *route, const char *method, struct route_match *match)
{
    const char *parameter;

    if (!fits(route->path, &match->path, &parameter))
        return;
    add_method(match->allow, route->method);
    if (!text_equal(route->method, method) || (match->route && parameter))
        return;
    match->route = route;
    match->parameter = parameter;
}

void routes_match(const char *method, const char *path, struct route_match *match_out)
{
    *match_out = (struct route_match){.route = NULL};
    if (!http_path_split(path, &match_out->path))
        return;
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        for (size_t k = 0; k < tables[i]->count; k++)
            consider(&tables[i]->routes[k], method, match_out);
    }
}

const struct route_table *const *routes_all(size_t *count_out)
{
    *count_out = COUNT_OF(tables);
    return tables;
}
