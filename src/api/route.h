/*
 * route.h - an endpoint: who may ask, what it reads, who answers, and what the OpenAPI document
 * says of it.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/fields.h"
#include "base/base.h"

struct visit;

/* What a client may do. A route says what it takes, a token what its owner has. */
enum right {
    RIGHT_NONE, /* anybody, without a token */
    RIGHT_READ,
    RIGHT_WRITE,
};

/* How large a body may be. */
enum body_size {
    BODY_NONE,
    BODY_SHORT, /* 64 KiB */
    BODY_WORK,  /* what a worker has to tell: result and output, 2 MiB */
    BODY_JOBS,  /* max(16 MiB, 4/3 of max_payload and 64 KiB) */
};

/* What a route may be answered with, besides what any may: openapi.c. Those of one status, with
 * different types, stand side by side. A schema is a file in schemas/. */
struct route_answer {
    int status;
    const char *schema; /* of components/schemas; NULL: no body, or none that is JSON */
    const char *type;   /* NULL: application/json */
    const char *help;
};

#define ROUTE_ANSWERS 6

struct route {
    const char *method;
    const char *path; /* "/api/jobs/{id}/retry": at most one segment is a parameter */
    enum right right;
    enum body_size body;
    void (*serve)(struct visit *visit);
    bool is_for_probes; /* which ask by whatever address they have: any Host will do */

    /* For the OpenAPI document; the first three are also what visit_read() goes by. */
    const struct value_field *query;  /* NULL: no parameters */
    const struct value_field *fields; /* of the body; NULL: the endpoint reads it itself, or none */
    const char *body_schema;          /* of a body that it reads itself */
    const char *name;                 /* operationId */
    const char *help;
    struct route_answer answers[ROUTE_ANSWERS]; /* up to the first without status */
};

struct route_table {
    const struct route *routes;
    size_t count;
};

#endif
