/*
 * build.c - a response as libmicrohttpd wants it.
 */
#include "http/build.h"

#include "http/inside.h"
#include "http/response.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <strings.h>

static struct MHD_Response *build_body(struct bytes body, enum http_body body_is)
{
    void *data = (void *)body.data; /* not written to; libmicrohttpd's type */

    switch (body_is) {
    case HTTP_COPIED:
        return MHD_create_response_from_buffer(body.length, data, MHD_RESPMEM_MUST_COPY);
    case HTTP_TAKEN:
        return MHD_create_response_from_buffer(body.length, data, MHD_RESPMEM_MUST_FREE);
    case HTTP_LASTING:
        return MHD_create_response_from_buffer(body.length, data, MHD_RESPMEM_PERSISTENT);
    }
    return NULL;
}

static bool has_header(const struct http_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcasecmp(response->headers[i].name, name) == 0)
            return true;
    }
    return false;
}

/* What every answer has. */
static bool build_headers(const struct http_server *server, const struct http_response *response,
                          struct MHD_Response *built)
{
    bool is_built = true;

    for (size_t i = 0; is_built && i < server->header_count; i++) {
        const struct http_header *header = &server->headers[i];

        if (!has_header(response, header->name))
            is_built = MHD_add_response_header(built, header->name, header->value) == MHD_YES;
    }
    return is_built;
}

bool http_build_head(const struct http_server *server, const struct http_response *response,
                     struct MHD_Response *built)
{
    bool is_built = build_headers(server, response, built);

    if (is_built && response->type)
        is_built = MHD_add_response_header(built, "Content-Type", response->type) == MHD_YES;
    for (size_t i = 0; is_built && i < response->header_count; i++) {
        const struct http_header *header = &response->headers[i];

        is_built = MHD_add_response_header(built, header->name, header->value) == MHD_YES;
    }
    if (is_built && (server->is_retiring || response->close))
        is_built = MHD_add_response_header(built, "Connection", "close") == MHD_YES;
    return is_built;
}

struct MHD_Response *http_build(const struct http_server *server,
                                const struct http_response *response)
{
    struct MHD_Response *built = build_body(response->body, response->body_is);

    if (!built) {
        if (response->body_is == HTTP_TAKEN)
            free((void *)response->body.data);
        return NULL;
    }
    if (http_build_head(server, response, built))
        return built;
    MHD_destroy_response(built);
    return NULL;
}
