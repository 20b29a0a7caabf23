/*
 * visit.h - one request on its way through the API, from its route to its answer.
 *
 * An endpoint reads what the client wants, asks the gate or browse, and answers; it does one of
 * these last:
 *
 *     visit_answer()  visit_refuse...()  visit_respond()  visit_stream()
 *     visit_ask()     its `answered` does, later
 *
 * From then on the visit is gone. A client that leaves while a desk is asked is forgotten: nobody
 * is called for it any more.
 */
#ifndef API_VISIT_H
#define API_VISIT_H

#include "api/problem.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "door/call.h"
#include "http/query.h"
#include "http/request.h"
#include "http/response.h"

struct api;
struct error;
struct http_stream;
struct http_stream_events;
struct uuid;

/* The desks. */
enum api_peer {
    API_GATE,
    API_BROWSE,
    API_PEERS,
};

struct visit {
    struct api *api;
    struct http_request *request;
    const struct route *route;
    const char *parameter; /* of its path, unescaped: {id}, {name}; NULL: it has none */
    enum right right;      /* of who asks */
    struct http_query query;
    struct arena arena; /* as long as the visit */
    void *data;         /* the endpoint's own, in the arena */
    usec_t begun_at;    /* boot time */

    /* While a desk is asked. */
    enum api_peer peer;
    uint64_t serial;
    bool is_asking;
    bool is_watched; /* its client, from then on to the end */
    bool is_delivery;
    const char *field;
    struct bytes take_back; /* in the arena */
    void (*answered)(struct visit *visit, struct bytes pack);
    void (*failed)(struct visit *visit, const struct error *err);

    struct visit *next, *before; /* of the API's open ones */
};

/* Reads the query and the body by the tables of the route; either may be NULL where it has no
 * table. False: something is wrong with them, and the client has been told all of it. */
bool visit_read(struct visit *visit, void *query_into, void *body_into) MUST_CHECK;

/* The {id} or {name} of the path. False: there can be none of it, and the client has been told 404.
 */
bool visit_id(struct visit *visit, struct uuid *id_out) MUST_CHECK;
bool visit_name(struct visit *visit) MUST_CHECK;

/* The database's time, as far as this process knows. */
usec_t visit_now(const struct visit *visit);

void visit_answer(struct visit *visit, int status, struct bytes json); /* no bytes: no body */
void visit_refuse(struct visit *visit, int status, const char *field, const char *format, ...)
    PRINTF_LIKE(4, 5);
void visit_refuse_problem(struct visit *visit, const struct problem *problem);
void visit_refuse_all(struct visit *visit, const struct problems *problems); /* 400 */
void visit_refuse_error(struct visit *visit, const struct error *err);
void visit_refuse_undelivered(struct visit *visit, const struct error *err); /* takes it back */
void visit_respond(struct visit *visit, struct http_response *response);
struct http_stream *visit_stream(struct visit *visit, struct http_response *head,
                                 const struct http_stream_events *events);

struct visit_question {
    enum api_peer peer;
    enum call_kind kind;
    const struct buffer *pack;
    bool may_be_repeated;
    usec_t patience;   /* 0: as calls.h has it */
    const char *field; /* what an answer of TH_E_INVALID is about, lasting; NULL: nobody knows */

    /* What the answer carries is the client's alone, such as claimed jobs: the desk hears that it
     * is about to reach the client. If it has not, the pack of `take_back` tells the desk, or the
     * one that takes its place, by CALL_UNCLAIM. */
    bool is_delivery;
    const struct buffer *take_back;

    /* The answer; an error has been told to the client instead, unless `failed` is there. */
    void (*answered)(struct visit *visit, struct bytes pack);
    void (*failed)(struct visit *visit, const struct error *err);
};

void visit_ask(struct visit *visit, const struct visit_question *question);

/* While a desk is asked: it need not answer any more. The visit is answered otherwise. */
void visit_withdraw(struct visit *visit);

/* Asks browse for a page, which the client gets as it is; another browse may be asked again. */
void visit_browse(struct visit *visit, enum call_kind kind, const struct buffer *pack);

/* An `answered` for whoever asks for a page (door/page.h): the client gets it as it is. */
void visit_relay(struct visit *visit, struct bytes pack);

/* For api.c: a request that was admitted; and the end of all, once their requests are gone. */
void visit_begin(struct api *api, struct http_request *request, enum right right);
void visit_end_all(struct api *api);

#endif
