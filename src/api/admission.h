/*
 * admission.h - who may come in with what: after the head of a request, before its body.
 */
#ifndef API_ADMISSION_H
#define API_ADMISSION_H

#include "api/route.h"
#include "base/base.h"

struct api;
struct http_request;
struct http_response;

/* False refuses. */
bool admission_check(struct api *api, struct http_request *request, size_t *body_max_out,
                     struct http_response *refusal_out);

/* What the client of an admitted request may do. */
enum right admission_right(const struct http_request *request);

#endif
