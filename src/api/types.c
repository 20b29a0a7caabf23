/*
 * types.c - GET /api/types: how the runs of each type went lately, in all pools.
 */
#include "api/endpoints.h"
#include "api/visit.h"
#include "base/buffer.h"
#include "base/cleanup.h"

static void answer_types(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer nothing = BUFFER(1);
    const struct visit_question question = {
        .peer = API_BROWSE,
        .kind = CALL_TYPES,
        .pack = &nothing,
        .may_be_repeated = true,
        .answered = visit_relay,
    };

    if (visit_read(visit, NULL, NULL))
        visit_ask(visit, &question);
}

static const struct route routes[] = {
    {"GET", "/api/types", RIGHT_READ, BODY_NONE, answer_types, .name = "types",
     .help =
         "How the runs of each type went in the last 15 minutes, in all pools: rates, failures, "
         "percentiles, and who runs them",
     .answers = {{200, "Types", NULL, "All types that ran lately, or that a handler names"}}},
};

const struct route_table types_routes = {routes, COUNT_OF(routes)};
