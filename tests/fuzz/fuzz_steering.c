/*
 * fuzz_steering.c - what a job says on descriptor 3 means the same however it arrives.
 */
#include "base/cleanup.h"
#include "fuzz.h"
#include "worker/steering.h"

#include <assert.h>

static void hear(struct steering *steering, const uint8_t *data, size_t size, size_t piece)
{
    steering_init(steering);
    for (size_t at = 0; at < size; at += piece)
        steering_add(steering, (struct bytes){data + at, size - at < piece ? size - at : piece});
    steering_end(steering);
}

static void expect_same(const struct steering *a, const struct steering *b)
{
    assert(a->verdict == b->verdict && a->snooze_for == b->snooze_for);
    assert(strcmp(a->reason, b->reason) == 0);
    assert(a->progress_percent == b->progress_percent);
    assert(strcmp(a->progress_text, b->progress_text) == 0);
    assert(a->has_result == b->has_result && a->result.length == b->result.length);
    assert(memcmp(buffer_str(&a->result), buffer_str(&b->result), a->result.length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(steering_done) struct steering whole = {0};
    CLEANUP(steering_done) struct steering in_pieces = {0};

    hear(&whole, data, size, size + 1);
    hear(&in_pieces, data, size, size > 0 ? data[0] % 7 + 1U : 1);
    assert(whole.progress_percent >= -1 && whole.progress_percent <= 100);
    assert(whole.snooze_for >= 0);
    expect_same(&whole, &in_pieces);
    return 0;
}
