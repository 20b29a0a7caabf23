/*
 * openapi.c - GET /api/openapi.json: what there is, made from the tables that requests are read by.
 *
 * Made when somebody asks, which is rare. What every path may answer is told by what its row says:
 * who takes a token can refuse one.
 */
#include "api/openapi.h"

#include "api/endpoints.h"
#include "api/openapi_fields.h"
#include "api/routes.h"
#include "api/visit.h"
#include "base/buffer.h"
#include "base/json_writer.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <taskharbor/version.h>

#define SCHEMAS
#include "api_schemas.h"

#define DOCUMENT_MAX ((size_t)1 << 20)
#define ROUTES_MAX   256
#define REF_SIZE     128

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

/* ---- what any may answer ---- */

static bool always(const struct route *route)
{
    (void)route;
    return true;
}

static bool has_right(const struct route *route)
{
    return route->right != RIGHT_NONE;
}

static bool can_be_forbidden(const struct route *route)
{
    return route->right == RIGHT_WRITE || !text_equal(route->method, "GET");
}

static bool has_body(const struct route *route)
{
    return route->body != BODY_NONE;
}

/* Probes get an answer that is short. */
static bool can_be_full(const struct route *route)
{
    return has_right(route) || has_body(route);
}

static bool has_host(const struct route *route)
{
    return !route->is_for_probes;
}

static const struct common {
    int status;
    bool (*may)(const struct route *route);
    const char *help;
} commons[] = {
    {400, always, "The request is wrong, and where"},
    {401, has_right, "There is no token, or a wrong one"},
    {403, can_be_forbidden, "The token may only look, or a page of another site is asking"},
    {413, has_body, "The body is too large"},
    {415, has_body, "The body is not application/json"},
    {421, has_host, "Host is none of this server's names"},
    {429, has_right, "Too many wrong tokens came from this address in this second"},
    {503, can_be_full, "Something is away or full: try again after Retry-After"},
};

/* ---- answers ---- */

static const char *type_of(const struct route_answer *answer)
{
    if (answer->type)
        return answer->type;
    return text_equal(answer->schema, "Problem") ? "application/problem+json" : "application/json";
}

static void write_ref(struct json_writer *json, const char *name, const char *kind,
                      const char *what)
{
    char ref[REF_SIZE];

    snprintf(ref, sizeof ref, "#/components/%s/%s", kind, what);
    if (name)
        json_write_open(json, name, '{');
    json_write_text(json, "$ref", ref);
    if (name)
        json_write_close(json, '}');
}

static void write_content(struct json_writer *json, const struct route_answer *answer)
{
    json_write_open(json, type_of(answer), '{');
    if (answer->schema)
        write_ref(json, "schema", "schemas", answer->schema);
    else
        json_write_raw(json, "schema", bytes_of("{\"type\":\"string\"}"));
    json_write_close(json, '}');
}

/* Those of one status stand side by side, and are one answer of several types. Returns how many. */
static size_t write_answer(struct json_writer *json, const struct route_answer *answers,
                           size_t left)
{
    size_t count = 1;
    char status[16];

    while (count < left && answers[count].status == answers->status)
        count++;
    snprintf(status, sizeof status, "%d", answers->status);
    json_write_open(json, status, '{');
    json_write_text(json, "description", answers->help);
    if (answers->schema || answers->type) {
        json_write_open(json, "content", '{');
        for (size_t i = 0; i < count; i++)
            write_content(json, &answers[i]);
        json_write_close(json, '}');
    }
    json_write_close(json, '}');
    return count;
}

static size_t count_answers(const struct route *route)
{
    size_t count = 0;

    while (count < ROUTE_ANSWERS && route->answers[count].status)
        count++;
    return count;
}

static bool has_answer(const struct route *route, int status)
{
    for (size_t i = 0; i < count_answers(route); i++) {
        if (route->answers[i].status == status)
            return true;
    }
    return false;
}

static void write_answers(struct json_writer *json, const struct route *route)
{
    const size_t count = count_answers(route);
    char status[16];

    json_write_open(json, "responses", '{');
    for (size_t i = 0; i < count;)
        i += write_answer(json, &route->answers[i], count - i);
    for (size_t i = 0; i < COUNT_OF(commons); i++) {
        if (!commons[i].may(route) || has_answer(route, commons[i].status))
            continue;
        snprintf(status, sizeof status, "%d", commons[i].status);
        write_ref(json, status, "responses", status);
    }
    json_write_close(json, '}');
}

/* ---- operations ---- */

/* The one segment of the path that varies. */
static void write_path_parameter(struct json_writer *json, const char *path)
{
    const char *start = strchr(path, '{');
    char name[32];

    if (!start)
        return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(start + 1, "}"), start + 1);
    json_write_open(json, NULL, '{');
    json_write_text(json, "name", name);
    json_write_text(json, "in", "path");
    json_write_bool(json, "required", true);
    json_write_raw(json, "schema",
                   bytes_of(text_equal(name, "id") ? "{\"type\":\"string\",\"format\":\"uuid\"}"
                                                   : "{\"type\":\"string\"}"));
    json_write_close(json, '}');
}

static void write_body(struct json_writer *json, const struct route *route)
{
    if (!route->fields && !route->body_schema)
        return;
    json_write_open(json, "requestBody", '{');
    json_write_open(json, "content", '{');
    json_write_open(json, "application/json", '{');
    if (route->body_schema)
        write_ref(json, "schema", "schemas", route->body_schema);
    else
        openapi_write_object(json, "schema", route->fields);
    json_write_close(json, '}');
    json_write_close(json, '}');
    json_write_close(json, '}');
}

static void write_operation(struct json_writer *json, const struct route *route)
{
    char method[16] = "";

    for (size_t i = 0; i < sizeof method - 1 && route->method[i]; i++)
        method[i] = (char)tolower((unsigned char)route->method[i]);
    json_write_open(json, method, '{');
    json_write_text(json, "operationId", route->name);
    json_write_text(json, "summary", route->help);
    json_write_raw(json, "security",
                   bytes_of(route->right == RIGHT_NONE ? "[]" : "[{\"token\":[]}]"));
    json_write_open(json, "parameters", '[');
    write_path_parameter(json, route->path);
    if (route->query)
        openapi_write_parameters(json, route->query);
    json_write_close(json, ']');
    write_body(json, route);
    write_answers(json, route);
    json_write_close(json, '}');
}

static size_t list_routes(const struct route *routes[ROUTES_MAX])
{
    size_t tables, count = 0;
    const struct route_table *const *all = routes_all(&tables);

    for (size_t i = 0; i < tables; i++) {
        for (size_t k = 0; k < all[i]->count && count < ROUTES_MAX; k++)
            routes[count++] = &all[i]->routes[k];
    }
    return count;
}

static bool is_first_of_path(const struct route *const *routes, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (text_equal(routes[i]->path, routes[index]->path))
            return false;
    }
    return true;
}

static void write_paths(struct json_writer *json)
{
    const struct route *routes[ROUTES_MAX];
    const size_t count = list_routes(routes);

    json_write_open(json, "paths", '{');
    for (size_t i = 0; i < count; i++) {
        if (!is_first_of_path(routes, i))
            continue;
        json_write_open(json, routes[i]->path, '{');
        for (size_t k = i; k < count; k++) {
            if (text_equal(routes[k]->path, routes[i]->path))
                write_operation(json, routes[k]);
        }
        json_write_close(json, '}');
    }
    json_write_close(json, '}');
}

/* ---- components ---- */

static void write_security(struct json_writer *json)
{
    json_write_open(json, "securitySchemes", '{');
    json_write_open(json, "token", '{');
    json_write_text(json, "type", "http");
    json_write_text(json, "scheme", "bearer");
    json_write_text(json, "description",
                    "The token of http.token_file, or for what changes nothing that of "
                    "http.read_token_file; or instead the cookie that /api/login gives for it. "
                    "None is asked for where the config has none");
    json_write_close(json, '}');
    json_write_close(json, '}');
}

static void write_common_answers(struct json_writer *json)
{
    json_write_open(json, "responses", '{');
    for (size_t i = 0; i < COUNT_OF(commons); i++) {
        const struct route_answer answer = {commons[i].status, "Problem", NULL, commons[i].help};

        write_answer(json, &answer, 1);
    }
    json_write_close(json, '}');
}

static void write_schemas(struct json_writer *json)
{
    json_write_open(json, "schemas", '{');
    for (size_t i = 0; i < COUNT_OF(schemas); i++)
        json_write_raw(json, schemas[i].name, bytes_of(schemas[i].text));
    json_write_close(json, '}');
}

static void write_info(struct json_writer *json)
{
    json_write_open(json, "info", '{');
    json_write_text(json, "title", "TaskHarbor");
    json_write_text(json, "version", TH_VERSION);
    json_write_text(json, "description",
                    "Background jobs over HTTP: see taskharbor-http(7). A member that is null "
                    "counts as left out.");
    json_write_raw(json, "license",
                   bytes_of("{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}"));
    json_write_close(json, '}');
}

void openapi_write(struct buffer *text)
{
    struct json_writer json = {.out = text};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "openapi", "3.1.0");
    write_info(&json);
    /* Relative to this document, so that it is right behind any proxy. */
    json_write_raw(&json, "servers", bytes_of("[{\"url\":\"..\"}]"));
    write_paths(&json);
    json_write_open(&json, "components", '{');
    write_security(&json);
    write_common_answers(&json);
    write_schemas(&json);
    json_write_close(&json, '}');
    json_write_close(&json, '}');
}

const char *openapi_schema(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(schemas); i++) {
        if (text_equal(schemas[i].name, name))
            return schemas[i].text;
    }
    return NULL;
}

const char *openapi_schema_name(size_t index)
{
    return index < COUNT_OF(schemas) ? schemas[index].name : NULL;
}

static void answer_document(struct visit *visit)
{
    struct buffer text = BUFFER(DOCUMENT_MAX);
    struct error err;

    openapi_write(&text);
    if (!buffer_ok(&text, &err)) {
        buffer_done(&text);
        visit_refuse_error(visit, &err);
        return;
    }
    struct http_response response = {
        .status = 200,
        .type = "application/json",
        .body = {(const unsigned char *)text.data, text.length},
        .body_is = HTTP_TAKEN,
    };

    visit_respond(visit, &response);
}

static const struct route routes[] = {
    {"GET", "/api/openapi.json", RIGHT_READ, BODY_NONE, answer_document, .name = "openapi",
     .help = "This document", .answers = {{200, "OpenApi", NULL, "OpenAPI 3.1"}}},
};

const struct route_table openapi_routes = {routes, COUNT_OF(routes)};
