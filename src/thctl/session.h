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
#include "thctl/id_prefix.h"

struct session {
    const char *backend;      /* the URL; NULL only where the command needs none */
    bool backend_typed;       /* given as --backend, not by the environment */
    char *typed_url;          /* owned; taken from the command line, so that ps does not show it */
    const char *config_typed; /* given as --config; NULL: not */
    struct config config;     /* owned; its path is NULL when there is none */
    struct diagnostics diagnostics; /* owned; what was read, and what is wrong with it */
    char caller[32];                /* "thctl enqueue", for the server's list of clients */
    bool json;
    struct output out;
    struct store *store; /* owned; open after session_open() */
};

/* Finds the config and the backend, in the order of config/backend_offers.h. A wrong config is
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
    SESSION_MEND, /* and what somebody has changed of our code is put right */
};

/* Opens the store, or says why not and returns the status to end with. */
enum status session_open(struct session *session, enum session_access wanted) MUST_CHECK;

/* Says that the command line is wrong. */
enum status session_refuse(const struct error *err);

/* Says that what was asked for could not be done. */
enum status session_fail(const struct error *err);

/* The job whose id it is, or begins so. TH_E_NOT_FOUND and TH_E_CONFLICT, which is several of them,
 * come with a sentence that names it. */
bool session_find_job(struct session *session, const struct id_prefix *prefix,
                      struct job_list *job_out, struct error *err) MUST_CHECK;

/* One job of several that were asked for, the first of which has the number 0. */
typedef bool session_look(struct session *session, const struct id_prefix *id, size_t number,
                          struct error *err);

/* Opens the store and looks at each of the ids that are given; a failure is reported, and does not
 * keep the others from being looked at, unless the store is away. */
enum status session_each_job(struct session *session, const struct words *arguments,
                             session_look *look);

void session_done(struct session *session);

#endif
