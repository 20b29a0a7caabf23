/*
 * build.c - a response as libmicrohttpd wants it.
 */
#include "http/build.h"

#include "http/response.h"

#include <microhttpd.h>
#include <stdlib.h>

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

bool http_build_head(const struct http_response *response, bool closes, struct MHD_Response *built)
{
    bool is_built = true;

    if (response->type)
        is_built = MHD_add_response_header(built, "Content-Type", response->type) == MHD_YES;
    for (size_t i = 0; is_built && i < response->header_count; i++) {
        const struct http_header *header = &response->headers[i];

        is_built = MHD_add_response_header(built, header->name, header->value) == MHD_YES;
    }
    if (is_built && (closes || response->close))
        is_built = MHD_add_response_header(built, "Connection", "close") == MHD_YES;
    return is_built;
}

struct MHD_Response *http_build(const struct http_response *response, bool closes)
{
    struct MHD_Response *built = build_body(response->body, response->body_is);

    if (!built) {
        if (response->body_is == HTTP_TAKEN)
            free((void *)response->body.data);
        return NULL;
    }
    if (http_build_head(response, closes, built))
        return built;
    MHD_destroy_response(built);
    return NULL;
}
