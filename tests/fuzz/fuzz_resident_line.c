/*
 * fuzz_resident_line.c - what a resident answers.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "fuzz.h"
#include "worker/resident_line.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct answer answer = {0};
    struct error err = {0};

    if (!resident_line_read((struct bytes){data, size}, &arena, &answer, &err)) {
        assert(err.code == TH_E_INVALID && err.text[0] != '\0');
        return 0;
    }
    assert(answer.percent >= -1 && answer.percent <= 100);
    assert(answer.snooze_for >= 0);
    assert(!answer.result.data || json_check(answer.result, &err));
    return 0;
}
