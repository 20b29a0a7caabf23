/*
 * submit.c - jobs into the store, and the answer to whoever asked.
 */
#include "thctl/submit.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/json_writer.h"

#define TRIES     5
#define TRY_AFTER USEC_PER_SEC
#define LINE_MAX  ((size_t)256)

/* Of a repeated call: what "existed" under our own id was stored by the try before. */
static void claim_own(const struct job *jobs, size_t count, struct enqueued *enqueued)
{
    for (size_t i = 0; i < count; i++) {
        if (uuid_compare(&enqueued[i].id, &jobs[i].id) == 0)
            enqueued[i].existed = false;
    }
}

/* A try that certainly failed leaves the doubt about the one before it. */
static bool is_in_doubt(bool was_in_doubt, const struct error *err)
{
    return err->code == TH_E_UNCERTAIN || (was_in_doubt && err->code == TH_E_UNAVAILABLE);
}

bool submit_jobs(struct session *session, struct enqueue *enqueue, struct job *jobs, size_t count,
                 usec_t now, struct enqueued *enqueued_out, struct error *err)
{
    bool in_doubt = false;

    for (int tries = 1; tries <= TRIES; tries++) {
        if (tries > 1)
            clock_sleep(TRY_AFTER);
        if (enqueue_jobs(enqueue, session->store, jobs, count, now, enqueued_out, err)) {
            if (in_doubt)
                claim_own(jobs, count, enqueued_out);
            return true;
        }
        in_doubt = is_in_doubt(in_doubt, err);
        if (!in_doubt)
            return false;
    }
    err->code = TH_E_UNCERTAIN;
    return false;
}

enum status submit_fail(const struct job *job, const struct error *err)
{
    enum status status = session_fail(err);
    char id[UUID_TEXT_SIZE];

    if (err->code == TH_E_UNCERTAIN)
        output_complain("the job may be stored; if so, 'thctl show %s' finds it",
                        uuid_format(&job->id, id));
    return status;
}

void submit_print(struct session *session, const struct enqueued *enqueued)
{
    char id[UUID_TEXT_SIZE];
    struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    uuid_format(&enqueued->id, id);
    if (session->json) {
        json_write_open(&json, NULL, '{');
        json_write_text(&json, "id", id);
        json_write_text(&json, "state", job_state_name(enqueued->state));
        json_write_bool(&json, "existed", enqueued->existed);
        json_write_bool(&json, "updated", enqueued->updated);
        json_write_close(&json, '}');
    } else {
        buffer_text(&line, id);
    }
    output_json(&session->out, &line);
    buffer_done(&line);
}
