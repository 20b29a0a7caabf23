/*
 * test_schema.c - a payload against its JSON schema.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "schema_text.h"
#include "suites.h"
#include "worker/schema.h"

#include <string.h>

#define LARGE ((size_t)2 << 20)

/* ---- payloads ---- */

#define ORDER                                                                                      \
    "{\"type\":\"object\",\"required\":[\"to\",\"items\"],\"properties\":{"                        \
    "\"to\":{\"type\":\"string\",\"minLength\":3},"                                                \
    "\"items\":{\"items\":{\"required\":[\"price\"],\"additionalProperties\":false,"               \
    "\"properties\":{\"price\":{\"minimum\":0}}}}}}"

static const struct {
    const char *rule;
    const char *schema, *payload;
    const char *fault; /* "": it fits */
} payloads[] = {
    {"all is well", ORDER, "{\"to\":\"abc\",\"items\":[{\"price\":1}],\"more\":[]}", ""},
    {"the payload itself", ORDER, "[]", "is not an object"},
    {"a name is missing", ORDER, "{\"to\":\"abc\"}", "'items' is missing"},
    {"a member", ORDER, "{\"to\":1,\"items\":[]}", "/to: is not a string"},
    {"an item", ORDER, "{\"to\":\"abc\",\"items\":[{\"price\":1},{}]}",
     "/items/1: 'price' is missing"},
    {"deeper", ORDER, "{\"to\":\"abc\",\"items\":[{\"price\":-1}]}",
     "/items/0/price: is less than 0"},
    {"a name too many", ORDER, "{\"to\":\"abc\",\"items\":[{\"price\":1,\"a/b\":1}]}",
     "/items/0/a~1b: is not allowed"},
    {"the first of two faults", ORDER, "{\"items\":1,\"to\":\"\"}",
     "/to: is shorter than 3 characters"},

    {"no JSON", "true", "{", "not JSON: line 1, column 2: expected a name in quotes"},
    {"nothing", "true", "", "not JSON: line 1, column 1: expected a value"},
    {"a name twice", "true", "{\"a\":1,\"a\":2}", "the name 'a' appears twice"},

    {"one type", "{\"type\":\"integer\"}", "\"1\"", "is not an integer"},
    {"one of several types", "{\"type\":[\"null\",\"array\"]}", "\"1\"", "is not null or an array"},
    {"every type", "{\"type\":[\"null\",\"boolean\",\"integer\",\"number\",\"string\",\"array\"]}",
     "{}", "is not null or a boolean or an integer or a number or a string or an array"},
    {"1.0 is an integer", "{\"type\":\"integer\"}", "1.0", ""},
    {"1.5 is not", "{\"type\":\"integer\"}", "1.5", "is not an integer"},
    {"1e400 is", "{\"type\":\"integer\"}", "1e400", ""},
    {"an integer is a number", "{\"type\":\"number\"}", "1", ""},
    {"a fraction is a number beside an integer", "{\"type\":[\"integer\",\"number\"]}", "0.5", ""},

    {"a large integer over the maximum", "{\"maximum\":18446744073709551615}",
     "18446744073709551616", "is more than 18446744073709551615"},
    {"at the maximum", "{\"maximum\":18446744073709551615}", "18446744073709551615.0", ""},
    {"a tiny bit below the minimum", "{\"minimum\":0.1}", "0.09999999999999999999999",
     "is less than 0.1"},
    {"limits of numbers are for numbers", "{\"minimum\":5,\"maximum\":1}", "\"3\"", ""},

    {"length is in characters", "{\"maxLength\":2}", "\"\xF0\x9F\x9A\xA2\\u00e9\"", ""},
    {"too long", "{\"maxLength\":1}", "\"ab\"", "is longer than 1 character"},
    {"a limit that is written as a fraction", "{\"maxLength\":2.0}", "\"abc\"",
     "is longer than 2 characters"},
    {"a limit beyond everything", "{\"minLength\":1e99}", "\"a\"",
     "is shorter than 18446744073709551615 characters"},
    {"a pattern", "{\"pattern\":\"^a+$\"}", "\"ab\"", "does not match '^a+$'"},
    {"a pattern over an escape", "{\"pattern\":\"^\\\\n$\"}", "\"\\n\"", ""},
    {"patterns are for strings", "{\"pattern\":\"^a+$\"}", "1", ""},

    {"an enum", "{\"enum\":[1,\"a\",null]}", "\"b\"", "is none of the values of 'enum'"},
    {"a value of it", "{\"enum\":[1,\"a\",null]}", "1.0", ""},
    {"an empty enum", "{\"enum\":[]}", "1", "is none of the values of 'enum'"},
    {"an enum of forty digits", "{\"enum\":[1234567890123456789012345678901234567890]}",
     "1234567890123456789012345678901234567891", "is none of the values of 'enum'"},
    {"a const", "{\"const\":{\"a\":[1]}}", "{\"a\":[2]}", "is not the value of 'const'"},
    {"equal to it", "{\"const\":{\"a\":[1],\"b\":2}}", "{\"b\":2e0,\"a\":[1.0]}", ""},
    {"const null", "{\"const\":null}", "null", ""},

    {"too few items", "{\"minItems\":2}", "[1]", "has fewer than 2 items"},
    {"too many", "{\"maxItems\":1}", "[1,2]", "has more than 1 item"},
    {"items one by one", "{\"items\":[{\"type\":\"string\"},false]}", "[1]", "/0: is not a string"},
    {"fewer items than schemas", "{\"items\":[true,false]}", "[1]", ""},
    {"more items than schemas", "{\"items\":[true]}", "[1,2]", ""},

    {"other names have a schema", "{\"additionalProperties\":{\"type\":\"null\"}}", "{\"a\":1}",
     "/a: is not null"},
    {"an escaped name", "{\"properties\":{\"\\u0061\":false}}", "{\"\\u0061\":1}",
     "/a: is not allowed"},
    {"a name with a NUL", "{\"required\":[\"a\\u0000b\"]}", "{\"a\\u0000\":1}", "'a' is missing"},
    {"names of a property and of nothing else", "{\"properties\":{\"a\":{}}}", "{\"aa\":1}", ""},

    {"all of them", "{\"allOf\":[{\"type\":\"string\"},{\"minLength\":2}]}", "\"a\"",
     "is shorter than 2 characters"},
    {"any of them", "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "1",
     "fits no schema of 'anyOf'"},
    {"none of one", "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "1",
     "fits no schema of 'oneOf'"},
    {"two of one", "{\"oneOf\":[{\"type\":\"string\"},true]}", "\"a\"",
     "fits more than one schema of 'oneOf'"},
    {"not", "{\"not\":{\"type\":\"string\"}}", "\"a\"", "fits the schema of 'not'"},
    {"not not", "{\"not\":{\"not\":{\"type\":\"string\"}}}", "\"a\"", ""},
    {"a fault after an alternative that failed",
     "{\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"string\"}]},"
     "\"b\":{\"type\":\"null\"}}}",
     "{\"a\":\"x\",\"b\":1}", "/b: is not null"},
    {"false", "false", "1", "is not allowed"},
    {"a value that cannot be shown", "{\"additionalProperties\":false}", "{\"\\u001b\\n\":1}",
     "/\\x1b\\x0a: is not allowed"},
};

START_TEST(a_payload_is_told_its_first_fault_and_where_it_is)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema *schema = schema_text_of(payloads[_i].schema, &arena);
    const char *fault = schema_text_check(schema, payloads[_i].payload);

    ck_assert_msg(strcmp(fault, payloads[_i].fault) == 0, "%s: '%s', not '%s'", payloads[_i].rule,
                  payloads[_i].fault, fault);
}
END_TEST

/* ---- references ---- */

#define DEFINITIONS                                                                                \
    "\"definitions\":{\"a\":{\"type\":\"string\"},\"t~f\":{\"type\":\"null\"},"                    \
    "\"s/f\":{\"type\":\"array\"},\"p%f\":{\"type\":\"object\"},\"chain\":"                        \
    "{\"$ref\":\"#/definitions/a\"},\"\":{\"type\":\"boolean\"},\"\\u00fc\":{\"const\":5}}"

static const struct {
    const char *rule;
    const char *ref;
    const char *fits, *fault;
} references[] = {
    {"a definition", "#/definitions/a", "\"x\"", "is not a string"},
    {"a chain of them", "#/definitions/chain", "\"x\"", "is not a string"},
    {"~0 is a tilde", "#/definitions/t~0f", "null", "is not null"},
    {"~1 is a slash", "#/definitions/s~1f", "[]", "is not an array"},
    {"%25 is a percent sign", "#/definitions/p%25f", "{}", "is not an object"},
    {"%7e is a tilde, which escapes", "#/definitions/t%7E0f", "null", "is not null"},
    {"%2F is a slash, which separates", "#%2fdefinitions%2Fa", "\"x\"", "is not a string"},
    {"an empty name", "#/definitions/", "true", "is not a boolean"},
    {"beyond ASCII", "#/definitions/%C3%bc", "5", "is not the value of 'const'"},
    {"into a list", "#/anyOf/0", "7", "is not the value of 'const'"},
};

START_TEST(a_reference_is_a_pointer_into_the_file)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer text = BUFFER(10000);

    buffer_text(&text, "{" DEFINITIONS ",\"anyOf\":[{\"const\":7},true],");
    buffer_printf(&text, "\"items\":{\"$ref\":\"%s\",\"type\":\"ignored\",\"odd\":1}}",
                  references[_i].ref);
    const struct schema *schema = schema_text_of(buffer_str(&text), &arena);
    buffer_clear(&text);
    buffer_printf(&text, "[%s, -1]", references[_i].fits);
    const char *fault = schema_text_check(schema, buffer_str(&text));
    ck_assert_msg(text_starts_with(fault, "/1: ") && text_equal(fault + 4, references[_i].fault),
                  "%s: %s", references[_i].rule, fault);
}
END_TEST

START_TEST(a_schema_may_be_nothing_but_a_reference_beside_its_definitions)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema *schema =
        schema_text_of("{\"$ref\":\"#/definitions/a\"," DEFINITIONS "}", &arena);

    ck_assert_str_eq(schema_text_check(schema, "\"x\""), "");
    ck_assert_str_eq(schema_text_check(schema, "1"), "is not a string");
}
END_TEST

START_TEST(a_schema_may_contain_itself)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema *schema =
        schema_text_of("{\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\"},"
                       "\"answers\":{\"items\":{\"$ref\":\"#\"}}}}",
                       &arena);

    ck_assert_str_eq(
        schema_text_check(schema, "{\"text\":\"a\",\"answers\":[{\"text\":\"b\",\"answers\":[]}]}"),
        "");
    ck_assert_str_eq(
        schema_text_check(schema,
                          "{\"text\":\"a\",\"answers\":[{\"text\":\"b\",\"answers\":[{}]}]}"),
        "/answers/0/answers/0: 'text' is missing");
}
END_TEST

/* ---- schemas that do not load ---- */

static const struct {
    const char *rule;
    const char *schema;
    const char *error;
} refused[] = {
    {"no JSON", "{", "not JSON: line 1, column 2: expected a name in quotes"},
    {"a name twice", "{\"type\":\"null\",\"type\":\"null\"}", "the name 'type' appears twice"},
    {"no schema", "42", "has to be a schema: an object, true or false"},
    {"no schema, further inside", "{\"properties\":{\"a\":[]}}",
     "/properties/a: has to be a schema: an object, true or false"},
    {"an unknown keyword", "{\"properties\":{\"to\":{\"patern\":\"a\"}}}",
     "/properties/to/patern: unknown keyword 'patern' (did you mean 'pattern'?)"},
    {"one that is like nothing", "{\"zebra\":1}", "/zebra: unknown keyword 'zebra'"},
    {"one of draft 7 that we do not have", "{\"items\":{\"uniqueItems\":true}}",
     "/items/uniqueItems: the keyword 'uniqueItems' is not supported"},
    {"one of draft 2019-09", "{\"$defs\":{}}", "/$defs: unknown keyword '$defs'"},
    {"in a definition that nobody uses", "{\"definitions\":{\"a\":{\"if\":true}}}",
     "/definitions/a/if: the keyword 'if' is not supported"},
    {"a keyword that goes on after a NUL", "{\"type\\u0000\":1}",
     "/type: unknown keyword 'type' (did you mean 'type'?)"},

    {"an unknown type", "{\"type\":\"strin\"}",
     "/type: no such type 'strin' (did you mean 'string'?)"},
    {"a type that is like nothing", "{\"type\":[\"null\",\"date\"]}",
     "/type/1: no such type 'date'"},
    {"a type twice", "{\"type\":[\"null\",\"null\"]}", "/type/1: stands twice"},
    {"no type", "{\"type\":[]}", "/type: has to be a type or a list of types"},
    {"a type that is a number", "{\"type\":[1]}", "/type/0: has to be a string"},
    {"a limit below zero", "{\"minLength\":-1}", "/minLength: has to be a whole number from 0 on"},
    {"a limit that is a fraction", "{\"maxItems\":1.5}",
     "/maxItems: has to be a whole number from 0 on"},
    {"a limit that is a string", "{\"maxItems\":\"1\"}",
     "/maxItems: has to be a whole number from 0 on"},
    {"a minimum that is a string", "{\"minimum\":\"1\"}", "/minimum: has to be a number"},
    {"an enum that is no list", "{\"enum\":1}", "/enum: has to be a list of values"},
    {"required that is a flag, as in draft 3", "{\"required\":true}",
     "/required: has to be a list of names"},
    {"required with a number", "{\"required\":[1]}", "/required/0: has to be a string"},
    {"required twice", "{\"required\":[\"b\",\"a\",\"b\"]}", "/required/2: stands twice"},
    {"no alternatives", "{\"anyOf\":[]}", "/anyOf: has to be a list of one schema or more"},
    {"properties that are a list", "{\"properties\":[]}", "/properties: has to be an object"},
    {"definitions that are a list", "{\"definitions\":[]}", "/definitions: has to be an object"},
    {"a wrong pattern", "{\"pattern\":\"(\"}",
     "/pattern: at byte 2 of the pattern: missing closing parenthesis"},
    {"a pattern that is a number", "{\"pattern\":1}", "/pattern: has to be a string"},
    {"an id further inside", "{\"items\":{\"$id\":\"item.json\"}}",
     "/items/$id: is supported only at the top of the file"},

    {"a reference that is a number", "{\"$ref\":1}", "/$ref: has to be a string"},
    {"a reference to another file", "{\"$ref\":\"a.json#/b\"}",
     "/$ref: 'a.json#/b' is not '#' or '#/...': only this file can be referred to"},
    {"a reference to an id", "{\"$ref\":\"#a\"}",
     "/$ref: '#a' is not '#' or '#/...': only this file can be referred to"},
    {"a reference to nothing", "{\"items\":{\"$ref\":\"#/definitions/a\"}}",
     "/items/$ref: there is no schema at '#/definitions/a'"},
    {"a reference to what is no schema", "{\"const\":{},\"items\":{\"$ref\":\"#/const\"}}",
     "/items/$ref: there is no schema at '#/const'"},
    {"half an escape", "{\"definitions\":{\"a~\":{\"$ref\":\"#/definitions/a~\"}}}",
     "/definitions/a~0/$ref: there is no schema at '#/definitions/a~'"},
    {"half a percent escape", "{\"$ref\":\"#/%4\"}",
     "/$ref: '#/%4' is not '#' or '#/...': only this file can be referred to"},
    {"a NUL in a reference", "{\"$ref\":\"#\\u0000\"}",
     "/$ref: '#' is not '#' or '#/...': only this file can be referred to"},
    {"an escaped NUL", "{\"$ref\":\"#%00\"}",
     "/$ref: '#%00' is not '#' or '#/...': only this file can be referred to"},
    {"an index with a zero before it", "{\"anyOf\":[true],\"items\":{\"$ref\":\"#/anyOf/00\"}}",
     "/items/$ref: there is no schema at '#/anyOf/00'"},
    {"an index beyond the end", "{\"anyOf\":[true],\"items\":{\"$ref\":\"#/anyOf/1\"}}",
     "/items/$ref: there is no schema at '#/anyOf/1'"},

    {"a schema that is itself", "{\"$ref\":\"#\"}", "this schema is defined by itself"},
    {"two that are each other",
     "{\"definitions\":{\"a\":{\"$ref\":\"#/definitions/b\"},\"b\":{\"$ref\":"
     "\"#/definitions/a\"}}}",
     "/definitions/a: this schema is defined by itself"},
    {"itself among others", "{\"allOf\":[true,{\"$ref\":\"#\"}]}",
     "this schema is defined by itself"},
    {"the opposite of itself", "{\"items\":{\"not\":{\"anyOf\":[{\"$ref\":\"#/items\"}]}}}",
     "/items: this schema is defined by itself"},
    {"one leads to those that are each other",
     "{\"definitions\":{\"a\":{\"oneOf\":[{\"$ref\":\"#/definitions/a\"}]}},\"not\":{\"$ref\":"
     "\"#/definitions/a\"}}",
     "/definitions/a: this schema is defined by itself"},
};

START_TEST(a_schema_with_anything_unknown_does_not_load)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema *schema = NULL;
    const struct bytes text = {(const unsigned char *)refused[_i].schema,
                               strlen(refused[_i].schema)};
    struct error err = {0};

    ck_assert_msg(!schema_text_load(text, &arena, &schema, &err), "%s", refused[_i].rule);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_msg(strcmp(err.text, refused[_i].error) == 0, "%s: '%s', not '%s'", refused[_i].rule,
                  refused[_i].error, err.text);
}
END_TEST

START_TEST(annotations_are_ignored)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct schema *schema = schema_text_of(
        "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$id\":\"http://a/b.json\","
        "\"$comment\":1,\"title\":[],\"description\":{},\"default\":1,\"examples\":[{\"if\":1}],"
        "\"format\":\"uri\",\"readOnly\":true,\"writeOnly\":true,\"definitions\":{},"
        "\"items\":{\"$id\":\"#/items\"}}",
        &arena);

    ck_assert_str_eq(schema_text_check(schema, "\"no uri\""), "");
}
END_TEST

START_TEST(a_file_that_is_absent_or_too_large_does_not_load)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer large = BUFFER(LARGE);
    const struct schema *schema = NULL;
    struct error err = {0};

    ck_assert(!schema_load("/no/such/file.json", &arena, &schema, &err));
    ck_assert_str_eq(err.text, "/no/such/file.json: cannot be opened: No such file or directory");
    while (large.length <= (size_t)1 << 20)
        buffer_text(&large, "          ");
    buffer_text(&large, "{}");
    const struct bytes text = {(const unsigned char *)large.data, large.length};
    ck_assert(!schema_text_load(text, &arena, &schema, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "is larger than 1048576 bytes"));
}
END_TEST

Suite *schema_suite(void)
{
    Suite *suite = suite_create("worker/schema");
    TCase *check = pure_case("check");
    TCase *load = pure_case("load");

    tcase_add_loop_test(check, a_payload_is_told_its_first_fault_and_where_it_is, 0,
                        COUNT_OF(payloads));
    tcase_add_loop_test(check, a_reference_is_a_pointer_into_the_file, 0, COUNT_OF(references));
    tcase_add_test(check, a_schema_may_be_nothing_but_a_reference_beside_its_definitions);
    tcase_add_test(check, a_schema_may_contain_itself);
    suite_add_tcase(suite, check);
    tcase_add_loop_test(load, a_schema_with_anything_unknown_does_not_load, 0, COUNT_OF(refused));
    tcase_add_test(load, annotations_are_ignored);
    tcase_add_test(load, a_file_that_is_absent_or_too_large_does_not_load);
    suite_add_tcase(suite, load);
    return suite;
}
