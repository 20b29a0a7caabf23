/*
 * openapi_fields.c - a table of names as the OpenAPI document has it.
 */
#include "api/openapi_fields.h"

#include "base/json_writer.h"
#include "job/job.h"

#define NAME_PATTERN "^[A-Za-z0-9_.:-]+$"

/* A value on its way into the document. */
struct writing {
    struct json_writer *json;
    const struct value_field *field;
};

static void write_type(const struct writing *out, const char *type)
{
    json_write_text(out->json, "type", type);
}

static void write_format(const struct writing *out, const char *format)
{
    write_type(out, "string");
    json_write_text(out->json, "format", format);
}

static void write_text(const struct writing *out)
{
    write_type(out, "string");
    if (out->field->max > 0)
        json_write_int(out->json, "maxLength", out->field->max);
}

static void write_name(const struct writing *out)
{
    const bool is_list = out->field->kind == VALUE_IS_NAMES;
    const int64_t max = out->field->max > 0 && !is_list ? out->field->max : JOB_NAME_MAX;

    write_type(out, "string");
    json_write_int(out->json, "minLength", 1);
    json_write_int(out->json, "maxLength", max);
    json_write_text(out->json, "pattern", NAME_PATTERN);
}

static void write_id(const struct writing *out)
{
    write_format(out, "uuid");
}

static void write_number(const struct writing *out)
{
    write_type(out, "integer");
    json_write_int(out->json, "minimum", out->field->min);
    json_write_int(out->json, "maximum", out->field->max);
}

static void write_flag(const struct writing *out)
{
    write_type(out, "boolean");
}

/* In a body it may also be a number of seconds. */
static void write_duration(const struct writing *out)
{
    json_write_open(out->json, "type", '[');
    json_write_text(out->json, NULL, "string");
    json_write_text(out->json, NULL, "number");
    json_write_close(out->json, ']');
    json_write_open(out->json, "examples", '[');
    json_write_text(out->json, NULL, "30s");
    json_write_close(out->json, ']');
}

static void write_moment(const struct writing *out)
{
    write_type(out, "string");
    json_write_open(out->json, "examples", '[');
    json_write_text(out->json, NULL, "2026-01-31T10:00:00Z");
    json_write_text(out->json, NULL, "-1h");
    json_write_close(out->json, ']');
}

static void write_word(const struct writing *out)
{
    write_type(out, "string");
    json_write_open(out->json, "enum", '[');
    for (const char *const *word = out->field->words; *word; word++)
        json_write_text(out->json, NULL, *word);
    json_write_close(out->json, ']');
}

static void write_list(const struct writing *out, void (*write_item)(const struct writing *out))
{
    write_type(out, "array");
    json_write_int(out->json, "minItems", out->field->min);
    json_write_int(out->json, "maxItems", out->field->max);
    json_write_open(out->json, "items", '{');
    write_item(out);
    json_write_close(out->json, '}');
}

static void write_names(const struct writing *out)
{
    write_list(out, write_name);
}

static void write_ids(const struct writing *out)
{
    write_list(out, write_id);
}

/* Whatever JSON there is. */
static void write_json(const struct writing *out)
{
    (void)out;
}

static void write_members(struct json_writer *json, const struct value_field *fields);

static void write_object(const struct writing *out)
{
    write_members(out->json, out->field->fields);
}

static void (*const writers[])(const struct writing *out) = {
    [VALUE_IS_TEXT] = write_text,     [VALUE_IS_NAME] = write_name,
    [VALUE_IS_ID] = write_id,         [VALUE_IS_NUMBER] = write_number,
    [VALUE_IS_FLAG] = write_flag,     [VALUE_IS_DURATION] = write_duration,
    [VALUE_IS_MOMENT] = write_moment, [VALUE_IS_WORD] = write_word,
    [VALUE_IS_NAMES] = write_names,   [VALUE_IS_IDS] = write_ids,
    [VALUE_IS_JSON] = write_json,     [VALUE_IS_OBJECT] = write_object,
};

static void write_schema(const struct writing *out, const char *name, const char *help)
{
    json_write_open(out->json, name, '{');
    writers[out->field->kind](out);
    if (help)
        json_write_text(out->json, "description", help);
    json_write_close(out->json, '}');
}

static void write_required(struct json_writer *json, const struct value_field *fields)
{
    bool is_any = false;

    for (const struct value_field *field = fields; field->name; field++) {
        if (!field->is_required)
            continue;
        if (!is_any)
            json_write_open(json, "required", '[');
        is_any = true;
        json_write_text(json, NULL, field->name);
    }
    if (is_any)
        json_write_close(json, ']');
}

static void write_members(struct json_writer *json, const struct value_field *fields)
{
    json_write_text(json, "type", "object");
    write_required(json, fields);
    json_write_open(json, "properties", '{');
    for (const struct value_field *field = fields; field->name; field++) {
        const struct writing out = {.json = json, .field = field};

        write_schema(&out, field->name, field->help);
    }
    json_write_close(json, '}');
    json_write_bool(json, "additionalProperties", false);
}

void openapi_write_object(struct json_writer *json, const char *name,
                          const struct value_field *fields)
{
    json_write_open(json, name, '{');
    write_members(json, fields);
    json_write_close(json, '}');
}

void openapi_write_parameters(struct json_writer *json, const struct value_field *fields)
{
    for (const struct value_field *field = fields; field->name; field++) {
        const struct writing out = {.json = json, .field = field};

        json_write_open(json, NULL, '{');
        json_write_text(json, "name", field->name);
        json_write_text(json, "in", "query");
        json_write_text(json, "description", field->help);
        if (field->is_required)
            json_write_bool(json, "required", true);
        if (field->kind == VALUE_IS_NAMES || field->kind == VALUE_IS_IDS)
            json_write_bool(json, "explode", false); /* a,b,c */
        write_schema(&out, "schema", NULL);
        json_write_close(json, '}');
    }
}
