/*
 * events.c - server-sent events: all that happens here, and one job until it ends.
 */
#include "api/broadcast.h"
#include "api/endpoints.h"
#include "api/inside.h"
#include "api/job_watch.h"
#include "api/visit.h"

static void serve_all(struct visit *visit)
{
    if (visit_read(visit, NULL, NULL))
        broadcast_join(visit->api->broadcast, visit);
}

static void serve_job(struct visit *visit)
{
    job_watches_join(visit->api->job_watches, visit);
}

static const struct route routes[] = {
    {"GET", "/api/events", RIGHT_READ, BODY_NONE, serve_all, .name = "streamEvents",
     .help = "Server-sent: snapshot, stats each second, job as something becomes of one, dropped, "
             "unavailable, end",
     .answers = {{200, NULL, "text/event-stream", "Events, until the client or the server ends"}}},
    {"GET", "/api/jobs/{id}/events", RIGHT_READ, BODY_NONE, serve_job, .name = "streamJob",
     .help = "Server-sent: job when its record changes, output as it grows, end",
     .answers = {{200, NULL, "text/event-stream", "Events, until the job has ended"},
                 {404, "Problem", "application/problem+json", "There is no such job"}}},
};

const struct route_table event_routes = {routes, COUNT_OF(routes)};
