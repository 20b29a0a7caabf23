/*
 * routes.h - every path there is.
 */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "api/route.h"
#include "http/path.h"

#define ROUTES_ALLOW_SIZE 64

/* What a request asks for. */
struct route_match {
    const struct route *route;     /* NULL: there is nothing, or not for this method */
    const char *parameter;         /* of its path, unescaped; NULL: it has none */
    char allow[ROUTES_ALLOW_SIZE]; /* the methods of this path: "GET, HEAD, POST"; "": no such path
                                    */
    struct http_path path;         /* what `parameter` points into */
};

/* `path` as it was sent. */
void routes_match(const char *method, const char *path, struct route_match *match_out);

/* All of them, for the OpenAPI document. */
const struct route_table *const *routes_all(size_t *count_out);

#endif
