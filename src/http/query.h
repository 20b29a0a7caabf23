/*
 * query.h - the parameters after a "?".
 */
#ifndef HTTP_QUERY_H
#define HTTP_QUERY_H

#include "base/base.h"

struct arena;
struct error;

#define HTTP_QUERY_PARAMETERS 32

struct http_parameter {
    const char *name, *value; /* "a" and "a=" are the same: value "" */
};

struct http_query {
    size_t count;
    struct http_parameter parameters[HTTP_QUERY_PARAMETERS]; /* as they came */
};

/* Unescaped, "+" is a space; empty ones ("a=1&&b=2") are skipped. TH_E_INVALID for a broken escape,
 * a NUL, too many, or one that comes twice. */
bool http_query_parse(const char *query, struct arena *arena, struct http_query *query_out,
                      struct error *err) MUST_CHECK;

/* NULL when it is not there. */
const char *http_query_value(const struct http_query *query, const char *name);

#endif
