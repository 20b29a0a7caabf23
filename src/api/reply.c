/*
 * reply.c - answers in JSON, and what is wrong as RFC 9457 has it.
 */
#include "api/reply.h"

#include "base/buffer.h"
#include "base/json_writer.h"
#include "http/response.h"

#include <stdlib.h>
#include <string.h>

#define PROBLEM_MAX ((size_t)4096)

/* The words of a status: what `error` and `type` say. */
static const struct {
    int status;
    const char *word, *title;
} problems[] = {
    {400, "invalid", "Bad Request"},
    {404, "not_found", "Not Found"},
    {405, "method_not_allowed", "Method Not Allowed"},
    {413, "too_large", "Content Too Large"},
    {431, "too_large", "Request Header Fields Too Large"},
    {503, "unavailable", "Service Unavailable"},
};

static size_t find_problem(int status)
{
    size_t i = 0;

    while (i < COUNT_OF(problems) - 1 && problems[i].status != status)
        i++;
    return i;
}

static void write_problem(struct buffer *text, int status, const char *detail)
{
    const size_t found = find_problem(status);
    struct json_writer json = {.out = text};
    char type[64] = "urn:taskharbor:";

    strncat(type, problems[found].word, sizeof type - strlen(type) - 1);
    json_write_open(&json, NULL, '{');
    json_write_text(&json, "type", type);
    json_write_text(&json, "title", problems[found].title);
    json_write_int(&json, "status", status);
    json_write_text(&json, "detail", detail);
    json_write_text(&json, "error", problems[found].word);
    json_write_text(&json, "message", detail);
    json_write_close(&json, '}');
}

void reply_json(struct http_request *request, int status, const char *text)
{
    struct http_response response = {
        .status = status,
        .type = "application/json",
        .body = {(const unsigned char *)text, strlen(text)},
        .body_is = HTTP_COPIED,
    };

    http_response_add(&response, "Cache-Control", "no-store");
    http_answer(request, &response);
}

/* The memory of the text goes to the server. */
void reply_explain(int status, const char *detail, struct http_response *response_out)
{
    struct buffer text = BUFFER(PROBLEM_MAX);

    write_problem(&text, status, detail);
    *response_out = (struct http_response){
        .status = status,
        .type = "application/problem+json",
        .body = {(const unsigned char *)text.data, text.length},
        .body_is = HTTP_TAKEN,
    };
    http_response_add(response_out, "Cache-Control", "no-store");
}

void reply_problem(struct http_request *request, int status, const char *detail)
{
    struct http_response response;

    reply_explain(status, detail, &response);
    http_answer(request, &response);
}
