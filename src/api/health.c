/*
 * health.c - GET /health and GET /ready: for probes, so without a token.
 */
#include "api/endpoints.h"
#include "api/inside.h"
#include "api/readiness.h"
#include "api/visit.h"

#include <string.h>

/* That this is answered is all that it says: whatever becomes of the database, this process turns.
 */
static void answer_health(struct visit *visit)
{
    static const char healthy[] = "{\"healthy\":true}";

    visit_answer(visit, 200, (struct bytes){(const unsigned char *)healthy, strlen(healthy)});
}

static void answer_ready(struct visit *visit)
{
    readiness_ask(visit->api->readiness, visit);
}

static const struct route routes[] = {
    {"GET", "/health", RIGHT_NONE, BODY_NONE, answer_health, .is_for_probes = true,
     .name = "health", .help = "Whether the process turns, database or not",
     .answers = {{200, "Health", NULL, "It does"}}},
    {"GET", "/ready", RIGHT_NONE, BODY_NONE, answer_ready, .is_for_probes = true, .name = "ready",
     .help = "Whether this pool can do what it is for",
     .answers = {{200, "Readiness", NULL, "It can"},
                 {503, "Readiness", NULL, "It cannot, and why"}}},
};

const struct route_table health_routes = {routes, COUNT_OF(routes)};
