#include "api/openapi.h"
#include "api/routes.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

#define REF "#/components/schemas/"

static void for_each_route(void (*check)(const struct route *route))
{
    size_t tables;
    const struct route_table *const *all = routes_all(&tables);

    for (size_t i = 0; i < tables; i++) {
        for (size_t k = 0; k < all[i]->count; k++)
            check(&all[i]->routes[k]);
    }
}

static void insist_on(const struct route *route, const char *schema)
{
    ck_assert_msg(!schema || openapi_schema(schema),
                  "%s %s names the schema '%s', and there is no src/api/schemas/%s.json",
                  route->method, route->path, schema, schema);
}

static void check_schemas(const struct route *route)
{
    insist_on(route, route->body_schema);
    for (size_t i = 0; i < ROUTE_ANSWERS && route->answers[i].status; i++)
        insist_on(route, route->answers[i].schema);
}

START_TEST(every_schema_that_a_route_names_is_there)
{
    for_each_route(check_schemas);
}
END_TEST

static void check_refs(const char *name, const char *text)
{
    for (const char *at = text; (at = strstr(at, REF)) != NULL;) {
        char wanted[64];

        at += strlen(REF);
        snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(at, "\"/"), at);
        ck_assert_msg(openapi_schema(wanted), "schemas/%s.json refers to '%s', which is not there",
                      name, wanted);
    }
}

START_TEST(every_schema_is_json_and_refers_to_schemas_that_are_there)
{
    const char *name;
    struct error err;

    for (size_t i = 0; (name = openapi_schema_name(i)) != NULL; i++) {
        const char *text = openapi_schema(name);
        const struct bytes json = {(const unsigned char *)text, strlen(text)};

        ck_assert_msg(json_check(json, &err), "schemas/%s.json: %s", name, err.text);
        check_refs(name, text);
    }
}
END_TEST

/* Its operationId says what it is called in programs that are made from the document. */
static void check_words(const struct route *route)
{
    ck_assert_msg(route->name && route->help, "%s %s has no name, or no help", route->method,
                  route->path);
    ck_assert_msg(route->answers[0].status, "%s has no answer", route->name);
    for (size_t i = 0; i < ROUTE_ANSWERS && route->answers[i].status; i++)
        ck_assert_msg(route->answers[i].help, "answer %d of %s has no help",
                      route->answers[i].status, route->name);
    ck_assert_msg((route->body == BODY_NONE) == (!route->fields && !route->body_schema),
                  "%s has a body that nothing describes, or the other way round", route->name);
    for (const struct value_field *field = route->query; field && field->name; field++)
        ck_assert_msg(field->help, "%s of %s has no help", field->name, route->name);
    for (const struct value_field *field = route->fields; field && field->name; field++)
        ck_assert_msg(field->help, "%s of %s has no help", field->name, route->name);
}

START_TEST(every_route_says_what_it_is_for)
{
    for_each_route(check_words);
}
END_TEST

START_TEST(the_document_is_json)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER((size_t)1 << 20);
    struct error err;

    openapi_write(&text);
    ck_assert(buffer_ok(&text, &err));
    ck_assert_msg(json_check((struct bytes){(unsigned char *)text.data, text.length}, &err), "%s",
                  err.text);
}
END_TEST

Suite *openapi_suite(void)
{
    Suite *suite = suite_create("api/openapi");
    TCase *tests = pure_case("document");

    tcase_add_test(tests, every_schema_that_a_route_names_is_there);
    tcase_add_test(tests, every_schema_is_json_and_refers_to_schemas_that_are_there);
    tcase_add_test(tests, every_route_says_what_it_is_for);
    tcase_add_test(tests, the_document_is_json);
    suite_add_tcase(suite, tests);
    return suite;
}
