/*
 * printed.h - what a plugin has printed, passed on as if it had been said by th_log().
 *
 * Nobody hears a plugin while its function runs. So its prints are passed on when it calls one of
 * ours, and when it returns; if it never does, the dispatcher finds them (dispatcher/last_words.c).
 */
#ifndef WORKER_PRINTED_H
#define WORKER_PRINTED_H

#include "base/base.h"

struct call;
struct print_file;

/* Before and after code of plugins that is called for no job. */
void printed_pass_on(struct print_file *file, const char *plugin);

/* In a call for a job or an init. */
void printed_collect(struct call *call);

/* What th_log() says comes after what was printed before. */
void printed_say(struct call *call, struct bytes line);

#endif
