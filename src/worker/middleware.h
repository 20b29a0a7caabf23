/*
 * middleware.h - the plugins of pool.middleware, wrapped around every handler.
 *
 *     first of the config -> next -> … -> the handler, whatever kind it is, and back
 */
#ifndef WORKER_MIDDLEWARE_H
#define WORKER_MIDDLEWARE_H

#include "worker/handler.h"

/* As handler_kind.run, through all of the middleware, which is loaded. */
bool middleware_run(const struct handler *handler, void *state, const struct handler_place *place,
                    const struct handler_job *job, const struct handler_listener *listener,
                    struct handler_report *report_out, struct error *err) MUST_CHECK;

#endif
