/*
 * gone_handler.h - jobs whose handler could not be started, and is not there any more.
 *
 * They are brought back, so that whoever meets them next sets them aside for what is true now: that
 * there is no handler.
 */
#ifndef PERIODIC_GONE_HANDLER_H
#define PERIODIC_GONE_HANDLER_H

#include "base/base.h"
#include "store/store.h"

struct config;

/* Those of `types` that no live pool of their queue handles, ours by its config and all others by
 * what they say. `pool` is ours. At most `limit` jobs of each type; *left_any_out: there may be
 * more. */
bool gone_handler_bring_back(struct store *store, const struct config *config, const char *pool,
                             const struct aside_list *types, size_t limit, bool *left_any_out,
                             struct error *err) MUST_CHECK;

#endif
