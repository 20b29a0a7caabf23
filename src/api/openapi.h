/*
 * openapi.h - GET /api/openapi.json: what there is, made from the tables that requests are read by.
 */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "base/base.h"

struct buffer;

/* The whole document. */
void openapi_write(struct buffer *text);

/* Of components/schemas, a file each in schemas/; NULL: there is none of that name. */
const char *openapi_schema(const char *name);

/* All of them, by number; NULL after the last. */
const char *openapi_schema_name(size_t index);

#endif
