/*
 * pool_want.h - `thctl pools quiet`, `terminate` and `resume`: what somebody wants a pool to do.
 */
#ifndef THCTL_POOL_WANT_H
#define THCTL_POOL_WANT_H

#include "base/base.h"
#include "cli/status.h"

struct session;

extern const char *const pool_want_words[]; /* ended by NULL */

/* `word` is one of them, or the command line is wrong. */
enum status pool_want_run(struct session *session, const char *word, const char *name);

#endif
