/*
 * secrets.h - what a process that was just forked must not know.
 */
#ifndef MASTER_SECRETS_H
#define MASTER_SECRETS_H

#include "base/base.h"

struct error;
struct this_pool;

/* A worker: where the store is, and the variables that lead to it, unless a handler asks for them
 * by pass_env. */
bool secrets_forget_store(const struct this_pool *pool, struct error *err) MUST_CHECK;

/* A door: that, every variable, and what the config gives to the handlers. */
void secrets_forget_all(const struct this_pool *pool);

/* All but `thd: http`: what is kept of the tokens also makes cookies. */
void secrets_forget_tokens(const struct this_pool *pool);

#endif
