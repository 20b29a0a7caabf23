/*
 * workers.c - the pools, remote workers among them, and what they do; what is wanted of one.
 */
#include "api/author.h"
#include "api/endpoints.h"
#include "api/visit.h"
#include "base/cleanup.h"
#include "door/pack.h"
#include "job/pool_want.h"

#define PACK_SHORT ((size_t)4096)
#define PROBLEM    "Problem", "application/problem+json"

static void ask(struct visit *visit, enum call_kind kind, const struct buffer *pack)
{
    const struct visit_question question = {
        .peer = API_BROWSE,
        .kind = kind,
        .pack = pack,
        .may_be_repeated = true,
        .answered = visit_relay,
    };

    visit_ask(visit, &question);
}

static void serve_workers(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_SHORT);

    if (visit_read(visit, NULL, NULL))
        ask(visit, CALL_WORKERS, &pack);
}

/* ---- what is wanted of one ---- */

struct want_wish {
    const char *by;
};

static const struct value_field want_fields[] = {
    VALUE_TEXT(want_wish, by, .max = AUTHOR_MAX,
               .help = "Who wants it, for whoever looks; absent: http@ADDRESS"),
    {.name = NULL},
};

static void ask_for(struct visit *visit, enum pool_want want)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_SHORT);
    struct want_wish wish = {0};
    char author[AUTHOR_SIZE];

    if (!visit_name(visit) || !visit_read(visit, NULL, &wish))
        return;
    pack_text(&pack, visit->parameter);
    pack_number(&pack, want);
    pack_text(&pack, author_of(visit->request, wish.by, author));
    ask(visit, CALL_POOL_WANT, &pack);
}

static void serve_quiet(struct visit *visit)
{
    ask_for(visit, POOL_WANT_QUIET);
}

static void serve_terminate(struct visit *visit)
{
    ask_for(visit, POOL_WANT_TERMINATE);
}

static void serve_resume(struct visit *visit)
{
    ask_for(visit, POOL_WANT_NOTHING);
}

#define WANT_ANSWERS                                                                               \
    {                                                                                              \
        {200, "PoolWanted", NULL, "It hears of it with its next heartbeat"},                       \
            {404, PROBLEM, "There is no such pool, but these"},                                    \
            {409, PROBLEM, "It may be each of these pools"},                                       \
    }

static const struct route routes[] = {
    {"GET", "/api/workers", RIGHT_READ, BODY_NONE, serve_workers, .name = "listWorkers",
     .help = "The pools, remote workers among them: what each of their processes runs",
     .answers = {{200, "Workers", NULL, "All that are registered; those not heard of are silent"}}},
    {"POST", "/api/workers/{name}/quiet", RIGHT_WRITE, BODY_SHORT, serve_quiet,
     .fields = want_fields, .name = "quietWorkers",
     .help = "Have a pool take no more jobs; what it runs goes on", .answers = WANT_ANSWERS},
    {"POST", "/api/workers/{name}/terminate", RIGHT_WRITE, BODY_SHORT, serve_terminate,
     .fields = want_fields, .name = "terminateWorkers",
     .help = "Have a pool end once its jobs have ended", .answers = WANT_ANSWERS},
    {"POST", "/api/workers/{name}/resume", RIGHT_WRITE, BODY_SHORT, serve_resume,
     .fields = want_fields, .name = "resumeWorkers", .help = "Have a quiet pool go on",
     .answers = WANT_ANSWERS},
};

const struct route_table worker_routes = {routes, COUNT_OF(routes)};
