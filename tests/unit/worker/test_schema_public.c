/*
 * test_schema_public.c - our part of JSON Schema, held to the public test suite of draft 7.
 *
 * Debian has it as json-schema-test-suite. Files about keywords that we do not have are not named
 * here; of those that are, every group runs that is not skipped by name. A skipped group has to be
 * refused when it loads: what is not supported never passes silently.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "base/json.h"
#include "base/text.h"
#include "schema_text.h"
#include "suites.h"
#include "worker/schema.h"

#include <string.h>

#define FOLDER   "/usr/share/json-schema-test-suite/tests/draft7/"
#define FILE_MAX ((size_t)1 << 20)

static const char *const files[] = {
    "additionalProperties.json",
    "allOf.json",
    "anyOf.json",
    "boolean_schema.json",
    "const.json",
    "default.json",
    "definitions.json",
    "enum.json",
    "items.json",
    "maxItems.json",
    "maxLength.json",
    "maximum.json",
    "minItems.json",
    "minLength.json",
    "minimum.json",
    "not.json",
    "oneOf.json",
    "optional/bignum.json",
    "optional/zeroTerminatedFloats.json",
    "pattern.json",
    "properties.json",
    "ref.json",
    "refRemote.json",
    "required.json",
    "type.json",
};

/* Groups whose schema needs what we do not have. */
static const struct {
    const char *file, *group, *needs;
} skipped[] = {
    {"additionalProperties.json",
     "additionalProperties being false does not allow other properties", "patternProperties"},
    {"additionalProperties.json", "non-ASCII pattern with additionalProperties",
     "patternProperties"},
    {"definitions.json", "valid definition", "the schema of schemas from the web"},
    {"definitions.json", "invalid definition", "the schema of schemas from the web"},
    {"optional/bignum.json", "float comparison with high precision", "exclusiveMaximum"},
    {"optional/bignum.json", "float comparison with high precision on negative numbers",
     "exclusiveMinimum"},
    {"properties.json", "properties, patternProperties, additionalProperties interaction",
     "patternProperties"},
    {"ref.json", "escaped pointer ref", "schemas under names that are no keywords"},
    {"ref.json", "remote ref, containing refs itself", "the schema of schemas from the web"},
    {"ref.json", "Recursive references between schemas", "references to an $id"},
    {"refRemote.json", "remote ref", "other files"},
    {"refRemote.json", "fragment within remote ref", "other files"},
    {"refRemote.json", "ref within remote ref", "other files"},
    {"refRemote.json", "base URI change", "references to an $id"},
    {"refRemote.json", "base URI change - change folder", "references to an $id"},
    {"refRemote.json", "base URI change - change folder in subschema", "references to an $id"},
    {"refRemote.json", "root ref in remote ref", "other files"},
};

/* What the groups of a file have in common. */
struct reading {
    const char *file;
    struct arena arena;
    size_t ran, left_out;
};

static struct bytes member(const struct json_members *members, const char *name)
{
    for (size_t i = 0; i < members->count; i++) {
        if (text_equal(members->items[i].name, name))
            return members->items[i].value;
    }
    ck_abort_msg("a test without '%s'", name);
    return (struct bytes){NULL, 0};
}

static struct json_members split(struct reading *reading, struct bytes object)
{
    struct json_members members;
    struct error err;

    ck_assert(json_split_object(object, &reading->arena, &members, &err));
    return members;
}

static const char *text_of(struct reading *reading, const struct json_members *members,
                           const char *name)
{
    const char *text = NULL;

    ck_assert(json_to_text(member(members, name), &reading->arena, &text));
    return text;
}

static bool is_skipped(const char *file, const char *group)
{
    for (size_t i = 0; i < COUNT_OF(skipped); i++) {
        if (text_equal(skipped[i].file, file) && text_equal(skipped[i].group, group))
            return true;
    }
    return false;
}

static void run_case(struct reading *reading, const char *group, const struct schema *schema,
                     struct bytes text)
{
    const struct json_members members = split(reading, text);
    struct error err = {0};
    bool is_valid = false;

    ck_assert(json_to_bool(member(&members, "valid"), &is_valid));
    const bool fits = schema_check(schema, member(&members, "data"), &err);
    ck_assert_msg(fits == is_valid, "%s: %s: %s: %s", reading->file, group,
                  text_of(reading, &members, "description"), fits ? "fits" : err.text);
    reading->ran++;
}

static void run_group(struct reading *reading, struct bytes text)
{
    const struct json_members members = split(reading, text);
    const char *group = text_of(reading, &members, "description");
    const struct schema *schema = NULL;
    struct json_values cases;
    struct error err = {0};

    const bool loaded =
        schema_text_load(member(&members, "schema"), &reading->arena, &schema, &err);
    if (is_skipped(reading->file, group)) {
        ck_assert_msg(!loaded, "%s: %s: has no need to be skipped", reading->file, group);
        reading->left_out++;
        return;
    }
    ck_assert_msg(loaded, "%s: %s: %s", reading->file, group, err.text);
    ck_assert(json_split_array(member(&members, "tests"), &reading->arena, &cases, &err));
    for (size_t i = 0; i < cases.count; i++)
        run_case(reading, group, schema, cases.items[i]);
}

static size_t count_skipped(const char *file)
{
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(skipped); i++)
        count += text_equal(skipped[i].file, file);
    return count;
}

START_TEST(the_public_cases_of_our_keywords_pass)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(FILE_MAX);
    CLEANUP(buffer_done) struct buffer path = BUFFER(FILE_MAX);
    struct reading reading = {.file = files[_i]};
    struct json_values groups;
    struct error err;

    buffer_printf(&path, FOLDER "%s", files[_i]);
    ck_assert_msg(io_read_file(buffer_str(&path), &text, &err),
                  "%s: is json-schema-test-suite installed? scripts/setup does it", err.text);
    const struct bytes all = {(const unsigned char *)text.data, text.length};
    ck_assert(json_split_array(all, &reading.arena, &groups, &err));
    for (size_t i = 0; i < groups.count; i++)
        run_group(&reading, groups.items[i]);
    ck_assert_uint_eq(reading.left_out, count_skipped(files[_i]));
    ck_assert_uint_gt(reading.ran + reading.left_out, 0);
    arena_done(&reading.arena);
}
END_TEST

Suite *schema_public_suite(void)
{
    Suite *suite = suite_create("worker/schema_public");
    TCase *draft7 = pure_case("draft7");

    tcase_add_loop_test(draft7, the_public_cases_of_our_keywords_pass, 0, COUNT_OF(files));
    suite_add_tcase(suite, draft7);
    return suite;
}
