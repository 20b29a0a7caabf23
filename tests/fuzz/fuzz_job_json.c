/*
 * fuzz_job_json.c - a job as somebody describes it: a line of --bulk, the body of a request.
 *
 * What was read is shown, and what is shown is JSON.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "fuzz.h"
#include "job/job_json.h"

#include <assert.h>

#define NOW ((usec_t)1900000000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer shown = BUFFER((size_t)1 << 20);
    struct job job = job_defaults();
    struct error err = {0};

    if (!job_json_parse((struct bytes){data, size}, NOW, &arena, &job, &err) ||
        !job_validate(&job, JOB_PAYLOAD_DEFAULT, &err)) {
        assert(err.code == TH_E_INVALID && err.text[0] != '\0');
        return 0;
    }
    assert(job.type && job.priority >= 0 && job.priority <= JOB_PRIORITY_MAX);
    job_json_add(&shown, &job);
    assert(buffer_ok(&shown, &err));
    assert(json_check((struct bytes){(const unsigned char *)shown.data, shown.length}, &err));
    return 0;
}
