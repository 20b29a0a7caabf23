/*
 * openapi_fields.h - a table of names as the OpenAPI document has it.
 */
#ifndef API_OPENAPI_FIELDS_H
#define API_OPENAPI_FIELDS_H

#include "api/fields.h"
#include "base/base.h"

struct json_writer;

/* The schema of a body. */
void openapi_write_object(struct json_writer *json, const char *name,
                          const struct value_field *fields);

/* The parameters of a query, into an array. */
void openapi_write_parameters(struct json_writer *json, const struct value_field *fields);

#endif
