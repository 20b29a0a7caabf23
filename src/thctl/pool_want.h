/*
 * pool_want.h - `thctl pools quiet`, `terminate` and `resume`: what somebody wants a pool to do.
 */
#ifndef THCTL_POOL_WANT_H
#define THCTL_POOL_WANT_H

#include "base/base.h"
#include "cli/status.h"
#include "store/store.h"

struct session;

extern const char *const pool_want_words[]; /* ended by NULL */

/* The pool that a person means: by its whole name, by that without its random end, or by how only
 * one begins. TH_E_NOT_FOUND: none does; TH_E_CONFLICT: several do; the sentence names them. */
bool pool_want_find(const struct pool_list *pools, const char *name, const struct pool **pool_out,
                    struct error *err) MUST_CHECK;

/* `word` is one of them, or the command line is wrong. */
enum status pool_want_run(struct session *session, const char *word, const char *name);

#endif
