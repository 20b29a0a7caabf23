/*
 * workers.c - the pools, remote workers among them, and what they do.
 */
#include "api/endpoints.h"
#include "api/visit.h"
#include "base/cleanup.h"

#define PACK_SHORT ((size_t)4096)

static void serve_workers(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_SHORT);
    const struct visit_question question = {
        .peer = API_BROWSE,
        .kind = CALL_WORKERS,
        .pack = &pack,
        .may_be_repeated = true,
        .answered = visit_relay,
    };

    if (visit_read(visit, NULL, NULL))
        visit_ask(visit, &question);
}

static const struct route routes[] = {
    {"GET", "/api/workers", RIGHT_READ, BODY_NONE, serve_workers, .name = "listWorkers",
     .help = "The pools, remote workers among them: what each of their processes runs",
     .answers = {{200, "Workers", NULL, "All that are registered; those not heard of are silent"}}},
};

const struct route_table worker_routes = {routes, COUNT_OF(routes)};
