/*
 * options.h - what thd runs a pool with.
 */
#ifndef MASTER_OPTIONS_H
#define MASTER_OPTIONS_H

#include "base/base.h"
#include "master/invocation.h"

struct config;
struct diagnostics;
struct error;
struct generation;
struct listeners;

struct master_options {
    struct generation *generation;   /* taken over */
    char *backend;                   /* the store's URL; wiped in processes that must not know it */
    const char *backend_shown;       /* without secrets */
    bool backend_is_typed;           /* the config does not lead to it */
    const char *backend_source;      /* who says so; for the start only */
    const char *backend_passed_over; /* what others say instead; NULL: nobody does */
    bool backend_is_private;         /* no other thd can use it */
    bool once;                       /* run until nothing is ready */
    struct invocation invocation;    /* how we were started */
    struct listeners *listeners;     /* of the config; the caller closes them */

    /* The config as the file has it now, with what the command line says. False when it cannot be
     * used; the diagnostics have the places, if there are any, and err says it in one sentence. */
    bool (*reread)(void *context, const char *path, struct config *config_out,
                   struct diagnostics *diagnostics, struct error *err);
    void *context;
};

#endif
