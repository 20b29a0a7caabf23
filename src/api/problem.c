/*
 * problem.c - what is wrong with a request, as clients are told it.
 */
#include "api/problem.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "http/response.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROBLEM_MAX ((size_t)256 * 1024)
#define MESSAGE_MAX 1024

/* What a status is called, and the word that `error` and `type` say unless there is a better one.
 * The last row is for all others. */
static const struct {
    int status;
    const char *word, *title;
} statuses[] = {
    {400, "invalid", "Bad Request"},
    {401, "unauthorized", "Unauthorized"},
    {403, "forbidden", "Forbidden"},
    {404, "not_found", "Not Found"},
    {405, "method_not_allowed", "Method Not Allowed"},
    {409, "conflict", "Conflict"},
    {413, "too_large", "Content Too Large"},
    {415, "unsupported_media_type", "Unsupported Media Type"},
    {421, "misdirected", "Misdirected Request"},
    {429, "too_many_requests", "Too Many Requests"},
    {431, "too_large", "Request Header Fields Too Large"},
    {503, "unavailable", "Service Unavailable"},
    {500, "internal", "Internal Server Error"},
};

/* The status that an error of ours has. */
static const struct {
    enum th_error_code code;
    int status;
} codes[] = {
    {TH_E_INVALID, 400},       {TH_E_NOT_FOUND, 404}, {TH_E_NOT_RUNNING, 409},
    {TH_E_LEASE_EXPIRED, 409}, {TH_E_CONFLICT, 409},  {TH_E_LEASE_MISMATCH, 409},
    {TH_E_UNAVAILABLE, 503},   {TH_E_UNCERTAIN, 503}, {TH_E_NO_MEMORY, 503},
};

void problems_add(struct problems *problems, const char *field, const char *format, ...)
{
    char message[MESSAGE_MAX];
    va_list arguments;

    if (problems->count == PROBLEMS_MAX)
        return;
    if (!problems->places)
        problems->places = arena_alloc(problems->arena, PROBLEMS_MAX * sizeof *problems->places);
    if (!problems->places)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    problems->places[problems->count++] = (struct problem_place){
        .field = arena_text(problems->arena, field),
        .message = arena_text(problems->arena, message),
    };
}

struct problem problem_of_error(const struct error *err)
{
    struct problem problem = {.status = 500, .message = err->text};

    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        if (codes[i].code == err->code)
            problem.status = codes[i].status;
    }
    if (problem.status == 409)
        problem.word = error_code_name(err->code);
    else if (err->code == TH_E_UNCERTAIN)
        problem.word = "uncertain";
    return problem;
}

static size_t find_status(int status)
{
    size_t i = 0;

    while (i < COUNT_OF(statuses) - 1 && statuses[i].status != status)
        i++;
    return i;
}

static void write_place(struct json_writer *json, const char *field, const char *message)
{
    if (field)
        json_write_text(json, "field", field);
    json_write_text(json, "message", message);
}

static void write_places(struct json_writer *json, const struct problems *all)
{
    json_write_open(json, "errors", '[');
    for (size_t i = 0; i < all->count; i++) {
        json_write_open(json, NULL, '{');
        write_place(json, all->places[i].field, all->places[i].message);
        json_write_close(json, '}');
    }
    json_write_close(json, ']');
}

/* A sentence that can stand alone: it says where. */
static void write_detail(struct json_writer *json, const char *field, const char *message)
{
    CLEANUP(buffer_done) struct buffer detail = BUFFER(PROBLEM_MAX);

    if (field && field[0])
        buffer_printf(&detail, "%s: ", field);
    buffer_text(&detail, message);
    json_write_text(json, "detail", buffer_str(&detail));
}

static void write_problem(struct buffer *text, const struct problem *problem)
{
    const size_t found = find_status(problem->status);
    const char *word = problem->word ? problem->word : statuses[found].word;
    const struct problems *all = problem->all && problem->all->count > 0 ? problem->all : NULL;
    const char *field = all ? all->places[0].field : problem->field;
    const char *message = all ? all->places[0].message : problem->message;
    struct json_writer json = {.out = text};
    char type[64];

    snprintf(type, sizeof type, "urn:taskharbor:%s", word);
    json_write_open(&json, NULL, '{');
    json_write_text(&json, "type", type);
    json_write_text(&json, "title", statuses[found].title);
    json_write_int(&json, "status", problem->status);
    write_detail(&json, field, message);
    json_write_text(&json, "error", word);
    write_place(&json, field, message);
    if (all)
        write_places(&json, all);
    json_write_close(&json, '}');
}

void problem_respond(const struct problem *problem, struct http_response *response_out)
{
    struct buffer text = BUFFER(PROBLEM_MAX);

    write_problem(&text, problem);
    *response_out = (struct http_response){
        .status = problem->status,
        .type = "application/problem+json",
        .body = {(const unsigned char *)text.data, text.length},
        .body_is = HTTP_TAKEN,
    };
    if (problem->status == 503 || problem->status == 429)
        http_response_add(response_out, "Retry-After", "1");
}
