/*
 * pool_state.c - where the pool stands.
 */
#include "master/pool_state.h"

#include <assert.h>

const char *pool_state_name(enum pool_state state)
{
    switch (state) {
    case POOL_STARTING:
        return "starting";
    case POOL_RUNNING:
        return "running";
    case POOL_DRAINING:
        return "draining";
    case POOL_STOPPING:
        return "stopping";
    }
    assert(!"a pool in no known state");
    return "";
}

bool pool_state_may_become(enum pool_state from, enum pool_state to)
{
    switch (from) {
    case POOL_STARTING:
        return to == POOL_RUNNING || to == POOL_DRAINING || to == POOL_STOPPING;
    case POOL_RUNNING:
        return to == POOL_DRAINING || to == POOL_STOPPING;
    case POOL_DRAINING:
        return to == POOL_STOPPING;
    case POOL_STOPPING:
        return false;
    }
    assert(!"a pool in no known state");
    return false;
}
