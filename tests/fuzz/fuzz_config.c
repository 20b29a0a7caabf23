/*
 * fuzz_config.c - a jobs.yaml of any kind: it is taken as a whole or refused with a place and a
 * reason.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "config/config.h"
#include "fuzz.h"

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>

#define PATH_SIZE 64

static void check(const char *path)
{
    CLEANUP(buffer_done) struct buffer told = BUFFER((size_t)1 << 20);
    const struct config_reader reader = {.use = CONFIG_TO_RUN};
    struct config config = {0};
    struct diagnostics diagnostics = {0};

    if (config_load(path, &reader, &config, &diagnostics)) {
        assert(config.queue_count > 0 && config.pool.num_workers > 0);
        assert(config.pool.heartbeat_interval < config.pool.lease);
    } else {
        assert(!diagnostics_is_empty(&diagnostics));
    }
    diagnostics_print(&diagnostics, true, &told);
    config_done(&config);
    diagnostics_done(&diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_CLOSE int fd = memfd_create("jobs.yaml", MFD_CLOEXEC);
    char path[PATH_SIZE];

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check(path);
    return 0;
}
