/*
 * endpoints.h - the tables that the files of endpoints end with.
 */
#ifndef API_ENDPOINTS_H
#define API_ENDPOINTS_H

#include "api/route.h"

extern const struct route_table bulk_routes;
extern const struct route_table claim_routes;
extern const struct route_table cron_routes;
extern const struct route_table enqueue_routes;
extern const struct route_table event_routes;
extern const struct route_table health_routes;
extern const struct route_table job_routes;
extern const struct route_table lease_routes;
extern const struct route_table login_routes;
extern const struct route_table metrics_routes;
extern const struct route_table openapi_routes;
extern const struct route_table queue_routes;
extern const struct route_table types_routes;
extern const struct route_table worker_routes;

#endif
