/*
 * problem.h - what is wrong with a request, as clients are told it: RFC 9457, with our own words
 * beside it.
 *
 *     {"type": "urn:taskharbor:invalid", "title": ..., "status": 400, "detail": ...,
 *      "error": "invalid", "field": "/3/priority", "message": ...}
 *
 * A request may be wrong in several places: "errors" then has all of them, and the first is the one
 * above.
 */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include "base/base.h"
#include "base/error.h"

struct arena;
struct http_response;

/* As many places as are told of one request. */
#define PROBLEMS_MAX 100

struct problem_place {
    const char *field; /* a JSON pointer into the body, or the name of a parameter */
    const char *message;
};

/* What is wrong in the fields of a request; zeroed but for the arena, nothing is. */
struct problems {
    struct arena *arena;
    struct problem_place *places; /* in the arena */
    size_t count;
};

/* From the hundredth place on nothing is added. Out of memory shows in the arena. */
void problems_add(struct problems *problems, const char *field, const char *format, ...)
    PRINTF_LIKE(3, 4);

struct problem {
    int status;
    const char *word;  /* NULL: that of the status */
    const char *field; /* NULL: none */
    const char *message;
    const struct problems *all; /* NULL, or all that is wrong: instead of field and message */
};

/* Of an error of ours: its status, and the word of its code. */
struct problem problem_of_error(const struct error *err);

/* The response has a body of its own, which the server frees. */
void problem_respond(const struct problem *problem, struct http_response *response_out);

#endif
