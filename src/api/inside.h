/*
 * inside.h - thd: http, as its own files see it.
 */
#ifndef API_INSIDE_H
#define API_INSIDE_H

#include "api/guesses.h"
#include "api/routes.h"
#include "api/visit.h"
#include "base/base.h"
#include "base/uuid.h"
#include "process/loop.h"

struct broadcast;
struct calls;
struct http_server;
struct job_watches;
struct process;
struct readiness;

struct api {
    struct process *process;
    struct http_server *server;      /* owned */
    struct calls *peers[API_PEERS];  /* owned */
    struct readiness *readiness;     /* owned */
    struct broadcast *broadcast;     /* owned */
    struct job_watches *job_watches; /* owned */
    struct visit *visits;            /* owned; those without an answer */
    struct loop_timer patience;      /* with the last clients */
    struct loop_timer watching;      /* who still waits then is watched */
    struct guesses guesses;
    struct uuid_maker ids; /* of new jobs */
    bool gives_nothing;    /* to remote workers: the pool is about to end */
    int64_t requests;
    char allow[ROUTES_ALLOW_SIZE]; /* of the refusal that is on its way */
};

#endif
