/*
 * stamp_plugin.c - stamp.c as a plugin: the payload is the FIFO's name, in quotes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <taskharbor/plugin.h>
#include <time.h>
#include <unistd.h>

static enum th_outcome stamp(const struct th_job *job, struct th_context *ctx)
{
    struct timespec now;
    char path[4096] = "", text[32];

    clock_gettime(CLOCK_BOOTTIME, &now);
    if (job->payload_size > 2 && job->payload_size < sizeof path)
        memcpy(path, (const char *)job->payload + 1, job->payload_size - 2);
    const int length =
        snprintf(text, sizeof text, "%lld\n", (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool is_written = fd >= 0 && write(fd, text, (size_t)length) == length;
    if (fd >= 0)
        close(fd);
    if (!is_written)
        th_error(ctx, "cannot write to %s", path);
    return is_written ? TH_DONE : TH_DEAD;
}

TH_PLUGIN("stamp", {"stamp", stamp})
