/*
 * fuzz_letter.c - what a worker that was taken over may write where its results and tasks lie.
 *
 * The first byte of the input says as what the rest is read. It is copied into memory of just its
 * size, so that a sanitizer sees a reader that goes beyond.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "fuzz.h"
#include "process/message.h"

#include <assert.h>

static void read_result(struct bytes packed, struct arena *arena)
{
    struct result result = {0};
    struct error err = {0};

    if (!result_unpack(packed, arena, &result, &err))
        return;
    assert(result.outcome.progress_percent >= -1 && result.outcome.progress_percent <= 100);
    assert(!result.outcome.error || strlen(result.outcome.error) < packed.length);
}

static void read_task(struct bytes packed, struct arena *arena)
{
    struct task task = {0};
    struct error err = {0};

    if (task_unpack(packed, arena, &task, &err))
        assert(task.type && task.queue && strlen(task.type) < packed.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = {0};

    if (size == 0)
        return 0;
    AUTO_FREE unsigned char *exact = malloc(size > 1 ? size - 1 : 1);
    if (!exact)
        abort();
    memcpy(exact, data + 1, size - 1);
    const struct bytes packed = {exact, size - 1};

    if (data[0] % 2 == 0)
        read_result(packed, &arena);
    else
        read_task(packed, &arena);
    return 0;
}
