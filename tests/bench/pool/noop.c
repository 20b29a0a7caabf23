/*
 * noop.c - a plugin whose jobs do nothing: what is left is what a job costs.
 */
#include <taskharbor/plugin.h>

static enum th_outcome noop(const struct th_job *job, struct th_context *ctx)
{
    (void)job;
    (void)ctx;
    return TH_DONE;
}

TH_PLUGIN("noop", {"noop", noop})
