/*
 * show.c - reads what scripts/show.lua answers.
 */
#include "store/redis/codec/show.h"

#include "base/text.h"
#include "store/defect.h"
#include "store/redis/codec/record.h"

#define FIELDS 8 /* id, state, record, lease, end, detail, runs, aside */

/* What somebody else wrote must not be taken for one of our numbers. */
static int within(const redisReply *number, int max, int otherwise)
{
    int64_t value = redis_reply_int(number);

    return value >= 0 && value <= max ? (int)value : otherwise;
}

static void read_detail_field(const char *name, const redisReply *value, struct arena *arena,
                              struct job *job)
{
    if (text_equal(name, "last_error"))
        job->last_error = arena_text(arena, value->str);
    else if (text_equal(name, "failed_at"))
        job->failed_at = redis_reply_int(value);
    else if (text_equal(name, "reason"))
        job->reason = (enum job_reason)within(value, REASON_CANNOT_START, REASON_NONE);
    else if (text_equal(name, "exit_code"))
        job->exit_code = (int)redis_reply_int(value);
    else if (text_equal(name, "signal"))
        job->signal = (int)redis_reply_int(value);
    else if (text_equal(name, "progress_percent"))
        job->progress_percent = (int)redis_reply_int(value);
    else if (text_equal(name, "progress_text"))
        job->progress_text = arena_text(arena, value->str);
    else if (text_equal(name, "result"))
        job->result = redis_reply_bytes(value, arena);
    else if (text_equal(name, "output"))
        job->output = redis_reply_bytes(value, arena);
}

static void read_detail(const redisReply *detail, struct arena *arena, struct job *job)
{
    for (size_t i = 0; i + 2 <= detail->elements; i += 2)
        read_detail_field(detail->element[i]->str, detail->element[i + 1], arena, job);
}

/* Why, since when, the error. */
static void read_aside(const redisReply *aside, struct arena *arena, struct job *job)
{
    if (aside->elements != 3)
        return;
    job->aside = (enum job_aside)within(aside->element[0], ASIDE_CANNOT_START, ASIDE_NONE);
    job->aside_since = redis_reply_int(aside->element[1]);
    if (aside->element[2]->len > 0)
        job->last_error = arena_text(arena, aside->element[2]->str);
}

static bool add_run(const struct job_run *run, struct arena *arena, struct job *job,
                    struct error *err)
{
    struct job_run *added = job_run_add(job, arena);

    if (!added)
        return error_no_memory(err);
    *added = *run;
    return true;
}

/* The kept ones, and then the one that a done job's end holds. */
static bool read_runs(const redisReply *runs, const struct job_run *last, struct arena *arena,
                      struct job *job, struct error *err)
{
    for (size_t i = 0; i < runs->elements; i++) {
        struct job_run run = {0};
        if (redis_record_run(runs->element[i], arena, &run) && !add_run(&run, arena, job, err))
            return false;
    }
    return last->execution == 0 || add_run(last, arena, job, err);
}

/* A done job shows the exit of its last run, not of a failure before it. */
static void show_exit(struct job *job, const struct job_run *last)
{
    if (job->state != JOB_DONE)
        return;
    job->exit_code = last->execution != 0 ? last->exit_code : JOB_NO_EXIT_CODE;
    job->signal = 0;
}

static bool read_job(redisReply *const *fields, const char *queue, struct job_list *jobs_out,
                     struct error *err)
{
    struct arena *arena = &jobs_out->arena;
    struct job_run last = {0};
    struct job *job = job_list_add(jobs_out);

    if (!job)
        return error_no_memory(err);
    bool read = redis_reply_uuid(fields[0], &job->id) && redis_record_job(fields[2], arena, job);
    job->queue = queue;
    job->state = (enum job_state)within(fields[1], JOB_CANCELLED, JOB_DEAD);
    if (fields[3]->len > 0)
        read = redis_record_lease(fields[3], arena, job) && read;
    else if (fields[4]->len > 0)
        read = redis_record_end(fields[4], arena, job, &last) && read;
    job->defect = read ? defect_of(job) : DEFECT_UNREADABLE;
    read_detail(fields[5], arena, job);
    read_aside(fields[7], arena, job);
    show_exit(job, &last);
    return read_runs(fields[6], &last, arena, job, err);
}

bool redis_show_read(const redisReply *reply, const char *queue, struct job_list *jobs_out,
                     struct error *err)
{
    const char *name = arena_text(&jobs_out->arena, queue);

    for (size_t i = 0; i + FIELDS <= reply->elements; i += FIELDS)
        if (!read_job(&reply->element[i], name, jobs_out, err))
            return false;
    return !jobs_out->arena.failed || error_no_memory(err);
}
