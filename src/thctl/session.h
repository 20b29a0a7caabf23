/*
 * session.h - one run of thctl: the global options, the store, the output.
 */
#ifndef THCTL_SESSION_H
#define THCTL_SESSION_H

#include "base/base.h"
#include "base/error.h"
#include "cli/output.h"
#include "client/enqueue.h"
#include "config/config.h"
#include "store/store.h"
#include "thctl/command.h"

struct session {
    const char *backend;      /* the URL; NULL only where the command needs none */
    bool backend_typed;       /* given as --backend, not by the environment */
    char *typed_url;          /* owned; taken from the command line, so that ps does not show it */
    const char *config_typed; /* given as --config; NULL: not */
    struct config config;     /* owned; its path is NULL when there is none */
    bool json;
    struct output out;
    struct store *store; /* owned; open after session_open() */
};

/* Finds the config and the backend: typed, from the environment, from the config. A wrong config is
 * shown, all of it. Without any backend the session has none. */
enum status session_configure(struct session *session) MUST_CHECK;

/* How this session opens a store. */
struct store_options session_store_options(const struct session *session, bool migrate);

/* How it completes jobs: as the config says. */
struct enqueue session_enqueue(const struct session *session);

/* How a store is opened. */
enum session_access {
    SESSION_LOOK, /* what is not there is an error, so that a mistyped path shows */
    SESSION_MAKE, /* what is missing is created */
};

/* Opens the store, or says why not and returns the status to end with. */
enum status session_open(struct session *session, enum session_access wanted) MUST_CHECK;

/* Says that what was typed is wrong. */
enum status session_refuse(const struct error *err);

/* Says that what was asked for could not be done. */
enum status session_fail(const struct error *err);

/* The ids among the arguments; freed by the caller. Refused as a whole when one is no id. */
bool session_parse_ids(const struct words *arguments, struct uuid **ids_out,
                       struct error *err) MUST_CHECK;

/* The job of this id. One that does not exist is TH_E_NOT_FOUND, with a sentence that names it. */
bool session_get_job(struct session *session, const struct uuid *id, struct job_list *job_out,
                     struct error *err) MUST_CHECK;

void session_done(struct session *session);

#endif
