/*
 * pool_find.h - which pool a person means.
 */
#ifndef CLIENT_POOL_FIND_H
#define CLIENT_POOL_FIND_H

#include "base/base.h"

struct error;
struct pool;
struct pool_list;

/* The pool of this whole name; else the only one that is called so without its random end, or whose
 * name begins so. TH_E_NOT_FOUND: there is none; TH_E_CONFLICT: there are several; the sentence
 * names them. */
bool pool_find(const struct pool_list *pools, const char *name, const struct pool **pool_out,
               struct error *err) MUST_CHECK;

#endif
