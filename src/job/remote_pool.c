/*
 * remote_pool.c - the names of the pools that remote workers are.
 */
#include "job/remote_pool.h"

#include "base/text.h"

bool remote_pool_is(const char *name)
{
    return text_starts_with(name, REMOTE_POOL_HTTP) || text_starts_with(name, REMOTE_POOL_FAKTORY);
}
