/*
 * jobs.c - /api/jobs and /api/dead: lists of jobs, one job, and what people do to it.
 */
#include "api/accept.h"
#include "api/endpoints.h"
#include "api/export.h"
#include "api/picks.h"
#include "api/visit.h"
#include "base/cleanup.h"
#include "door/pack.h"
#include "job/state.h"

#define PACK_MAX_QUERY ((size_t)16 << 10)
#define PROBLEM        "Problem", "application/problem+json"

/* ---- lists ---- */

static const char *const orders[] = {"desc", "asc", NULL};

/* As enum job_query_form counts. */
static const char *const forms[] = {"application/json", "application/x-ndjson", "text/csv"};

/* clang-format off */
#define PAGE_ROWS                                                                                                      \
    VALUE_WORD  (job_query, order, .words = orders, .help = "desc: the newest first (default); asc: the oldest first"),\
    VALUE_NUMBER(job_query, limit, .min = 1, .max = 200, .help = "At most so many (default: 50); exports have no limit"),\
    VALUE_TEXT  (job_query, after, .help = "Go on there: the next of the page before, or of its Link"),                \
    VALUE_FLAG  (job_query, full,  .help = "With payload, headers, result, output and runs")

static const struct value_field list_fields[] = {
    PICK_STATE(job_query),
    PICK_ROWS(job_query),
    PAGE_ROWS,
    {.name = NULL},
};

static const struct value_field dead_fields[] = {
    PICK_ROWS(job_query),
    PAGE_ROWS,
    {.name = NULL},
};
/* clang-format on */

static void ask_for_page(struct visit *visit, const struct job_query *query)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX_QUERY);

    job_query_pack(&pack, query);
    visit_browse(visit, CALL_JOBS_LIST, &pack);
}

static void answer_list(struct visit *visit, int state)
{
    struct job_query query = JOB_QUERY_ALL;
    const char *accept = http_request_header(visit->request, "Accept");

    query.state = state;
    if (!visit_read(visit, &query, NULL))
        return;
    query.form = (enum job_query_form)accept_choose(accept, forms, COUNT_OF(forms));
    if (query.after && !job_query_after_is_fine(query.after))
        visit_refuse(visit, 400, "after",
                     "is no position in a list: take the next of the page before as it is");
    else if (query.form == JOB_QUERY_PAGE)
        ask_for_page(visit, &query);
    else
        export_begin(visit, &query);
}

static void answer_jobs(struct visit *visit)
{
    answer_list(visit, JOB_QUERY_ANY_STATE);
}

static void answer_dead(struct visit *visit)
{
    answer_list(visit, JOB_DEAD);
}

/* ---- one job ---- */

static const struct value_field nothing[] = {{.name = NULL}};

static void answer_job(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX_QUERY);
    struct uuid id;

    if (!visit_id(visit, &id) || !visit_read(visit, NULL, NULL))
        return;
    pack_uuid(&pack, &id);
    visit_browse(visit, CALL_JOB_LOOK, &pack);
}

/* Not to be repeated: what was done already would be refused. */
static void mend(struct visit *visit, enum job_mend wanted, bool only_dead)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX_QUERY);
    const struct visit_question question = {
        .peer = API_BROWSE,
        .kind = CALL_JOB_MEND,
        .pack = &pack,
        .answered = visit_relay,
    };
    struct uuid id;

    if (!visit_id(visit, &id) || !visit_read(visit, NULL, NULL))
        return;
    pack_uuid(&pack, &id);
    pack_number(&pack, wanted);
    pack_flag(&pack, only_dead);
    visit_ask(visit, &question);
}

static void cancel_job(struct visit *visit)
{
    mend(visit, JOB_CANCEL, false);
}

static void retry_job(struct visit *visit)
{
    mend(visit, JOB_RETRY_AGAIN, false);
}

static void run_job(struct visit *visit)
{
    mend(visit, JOB_RUN_NOW, false);
}

static void retry_dead(struct visit *visit)
{
    mend(visit, JOB_RETRY_AGAIN, true);
}

static void delete_dead(struct visit *visit)
{
    mend(visit, JOB_DELETE, true);
}

#define LIST_ANSWERS                                                                               \
    {                                                                                              \
        {200, "JobPage", NULL, "A page of jobs"},                                                  \
            {200, NULL, "application/x-ndjson", "All that fit, in full, a job a line"},            \
            {200, NULL, "text/csv", "All that fit, in full, under the names of the columns"},      \
    }

#define JOB_ANSWERS(refusal)                                                                       \
    {                                                                                              \
        {200, "Job", NULL, "The job as it is now"}, {404, PROBLEM, "No job has this id"},          \
            {409, PROBLEM, refusal},                                                               \
    }

static const struct route routes[] = {
    {"GET", "/api/jobs", RIGHT_READ, BODY_NONE, answer_jobs, .query = list_fields,
     .name = "listJobs",
     .help = "Jobs, by the time that their state is about; without a state, or with a tag, by id",
     .answers = LIST_ANSWERS},
    {"GET", "/api/jobs/{id}", RIGHT_READ, BODY_NONE, answer_job, .name = "getJob",
     .help = "All there is to know of a job, and what it waits for",
     .answers = {{200, "Job", NULL, "The job"}, {404, PROBLEM, "No job has this id"}}},
    {"DELETE", "/api/jobs/{id}", RIGHT_WRITE, BODY_NONE, cancel_job, .name = "cancelJob",
     .help = "Cancel a job that waits; ask one that runs to stop",
     .answers = JOB_ANSWERS("It has ended")},
    {"POST", "/api/jobs/{id}/retry", RIGHT_WRITE, BODY_SHORT, retry_job, .fields = nothing,
     .name = "retryJob",
     .help = "Let a dead or cancelled job run again, one that waits run now, its counts kept",
     .answers = JOB_ANSWERS("It runs, is done, or another job with its key comes first")},
    {"POST", "/api/jobs/{id}/run", RIGHT_WRITE, BODY_SHORT, run_job, .fields = nothing,
     .name = "runJob", .help = "Let a job that waits for its time, or for a retry, run now",
     .answers = JOB_ANSWERS("It runs, has ended, or another job with its key comes first")},

    {"GET", "/api/dead", RIGHT_READ, BODY_NONE, answer_dead, .query = dead_fields,
     .name = "listDead", .help = "Dead jobs, as /api/jobs?state=dead", .answers = LIST_ANSWERS},
    {"POST", "/api/dead/{id}/retry", RIGHT_WRITE, BODY_SHORT, retry_dead, .fields = nothing,
     .name = "retryDeadJob", .help = "Let a dead job run again",
     .answers = JOB_ANSWERS("It is not dead, or another job with its key waits")},
    {"DELETE", "/api/dead/{id}", RIGHT_WRITE, BODY_NONE, delete_dead, .name = "deleteDeadJob",
     .help = "Delete a dead job",
     .answers = {{204, NULL, NULL, "It is gone"},
                 {404, PROBLEM, "No job has this id"},
                 {409, PROBLEM, "It is not dead"}}},
};

const struct route_table job_routes = {routes, COUNT_OF(routes)};
