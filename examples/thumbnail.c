/*
 * thumbnail.c - a plugin: what a handler may say, and how it ends.
 *
 *     cc -shared -fPIC -o libthumbnail.so thumbnail.c
 *
 *     handlers:
 *       "thumbnail*":
 *         plugin: ./libthumbnail.so
 */
#include <taskharbor/plugin.h>

static enum th_outcome thumbnail(const struct th_job *job, struct th_context *ctx)
{
    /* job: id, type, queue, payload, payload_size, attempt, max_attempts, execution, deadline */
    if (job->payload_size == 0) {
        th_error(ctx, "empty payload");
        return TH_DEAD; /* or TH_DONE, TH_RETRY, TH_SNOOZE after th_snooze(ctx, seconds) */
    }
    th_progress(ctx, 40, "resizing");
    th_result(ctx, "{\"ok\":1}", 8);
    return th_cancelled(ctx) ? TH_RETRY : TH_DONE;
}

TH_PLUGIN("thumbnail", {"thumbnail", thumbnail}, {"thumbnail:small", thumbnail})
