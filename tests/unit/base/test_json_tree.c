/*
 * test_json_tree.c - JSON text as values that can be walked.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "suites.h"

#include <string.h>

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static const struct json_node *parse(const char *text, struct arena *arena)
{
    const struct json_node *root = NULL;
    struct error err = {0};

    ck_assert_msg(json_tree_parse(bytes_of(text), arena, &root, &err), "%s: %s", text, err.text);
    return root;
}

START_TEST(nodes_come_in_the_order_of_the_text)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct json_node *root =
        parse(" {\"b\" : [1, {}, [] ],\"a\":{\"x\":null}, \"c\":false } ", &arena);
    static const struct {
        enum json_kind kind;
        unsigned length, size;
    } expected[] = {
        {JSON_KIND_OBJECT, 3, 12}, {JSON_KIND_STRING, 1, 1}, {JSON_KIND_ARRAY, 3, 4},
        {JSON_KIND_NUMBER, 1, 1},  {JSON_KIND_OBJECT, 0, 1}, {JSON_KIND_ARRAY, 0, 1},
        {JSON_KIND_STRING, 1, 1},  {JSON_KIND_OBJECT, 1, 3}, {JSON_KIND_STRING, 1, 1},
        {JSON_KIND_NULL, 0, 1},    {JSON_KIND_STRING, 1, 1}, {JSON_KIND_FALSE, 0, 1},
    };

    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        ck_assert_int_eq(root[i].kind, expected[i].kind);
        ck_assert_uint_eq(root[i].length, expected[i].length);
        ck_assert_uint_eq(root[i].size, expected[i].size);
    }
    ck_assert_str_eq(root->names[0]->text, "a");
    ck_assert_str_eq(root->names[2]->text, "c");
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    const char *decoded;
    size_t length;
} strings[] = {
    {"plain", "\"abc\"", "abc", 3},
    {"empty", "\"\"", "", 0},
    {"every escape", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8},
    {"one byte", "\"x\\u0041y\"", "xAy", 3},
    {"two bytes", "\"\\u00E9\\u00e9\"", "éé", 4},
    {"three bytes", "\"\\u20ac\"", "€", 3},
    {"a surrogate pair", "\"<\\ud83d\\udea2>\"", "<\xF0\x9F\x9A\xA2>", 6},
    {"a NUL inside", "\"a\\u0000b\"", "a\0b", 3},
    {"UTF-8 beside an escape", "\"é\\né\"", "é\né", 5},
};

START_TEST(strings_are_decoded_and_end_in_a_nul)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct json_node *root = parse(strings[_i].text, &arena);

    ck_assert_msg(root->length == strings[_i].length &&
                      memcmp(root->text, strings[_i].decoded, root->length + 1) == 0,
                  "%s", strings[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    const char *a, *b;
    bool are_equal;
} equals[] = {
    {"numbers by value", "[1, 10]", "[1.0, 1e1]", true},
    {"numbers that differ", "1", "1.5", false},
    {"strings by what they mean", "\"a\"", "\"\\u0061\"", true},
    {"strings that differ", "\"a\"", "\"b\"", false},
    {"a string that goes on after a NUL", "\"a\\u0000\"", "\"a\\u0000b\"", false},
    {"members in any order", "{\"a\":1,\"b\":[2]}", "{ \"b\":[2] ,\"a\":1}", true},
    {"a member that differs", "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}", false},
    {"another name", "{\"a\":1}", "{\"b\":1}", false},
    {"a member more", "{\"a\":1}", "{\"a\":1,\"b\":2}", false},
    {"items in their order", "[1,2]", "[2,1]", false},
    {"an item more", "[1]", "[1,1]", false},
    {"nothing inside", "{}", "{}", true},
    {"of another kind", "{}", "[]", false},
    {"true is not 1", "true", "1", false},
    {"true is not false", "true", "false", false},
    {"null", "null", "null", true},
    {"deep inside", "[[{\"a\":[{}]}]]", "[[{\"a\":[{}]}]]", true},
    {"different deep inside", "[[{\"a\":[{}]}]]", "[[{\"a\":[[]]}]]", false},
};

START_TEST(values_are_equal_by_what_they_mean)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct json_node *a = parse(equals[_i].a, &arena), *b = parse(equals[_i].b, &arena);

    ck_assert_msg(json_tree_equal(a, b) == equals[_i].are_equal, "%s", equals[_i].rule);
    ck_assert_msg(json_tree_equal(b, a) == equals[_i].are_equal, "%s", equals[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    size_t node;
    const char *pointer;
} pointers[] = {
    {"all of it", "[1]", 0, ""},
    {"an item", "[1, [2, 3], 4]", 5, "/2"},
    {"an item of an item", "[1, [2, 3], 4]", 4, "/1/1"},
    {"a member", "{\"a\":1,\"b\":{\"c\":[true]}}", 4, "/b"},
    {"its name stands for it", "{\"a\":1,\"b\":{\"c\":[true]}}", 3, "/b"},
    {"deeper", "{\"a\":1,\"b\":{\"c\":[true]}}", 7, "/b/c/0"},
    {"slashes and tildes", "{\"a/b~c\":1}", 2, "/a~1b~0c"},
    {"an empty name", "{\"\":[1]}", 3, "//0"},
    {"what cannot be shown", "{\"\\u001b[0m\":1}", 2, "/\\x1b[0m"},
};

START_TEST(a_pointer_says_where_a_node_is)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer pointer = BUFFER(1000);
    const struct json_node *root = parse(pointers[_i].text, &arena);

    json_tree_add_pointer(&pointer, root, root + pointers[_i].node);
    ck_assert_msg(strcmp(buffer_str(&pointer), pointers[_i].pointer) == 0, "%s, not %s",
                  pointers[_i].rule, buffer_str(&pointer));
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    const char *error;
} refused[] = {
    {"nothing", "", "not JSON: line 1, column 1: expected a value"},
    {"half a value", "[1,", "not JSON: line 1, column 4: expected a value"},
    {"a name twice", "[{\"a\":1,\"b\":2,\"a\":3}]", "the name 'a' appears twice"},
    {"a name twice, once escaped", "{\"a\":1,\"\\u0061\":3}", "the name 'a' appears twice"},
};

START_TEST(what_is_not_json_or_has_a_name_twice_is_refused)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct json_node *root = NULL;
    struct error err = {0};

    ck_assert_msg(!json_tree_parse(bytes_of(refused[_i].text), &arena, &root, &err), "%s",
                  refused[_i].rule);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_str_eq(err.text, refused[_i].error);
}
END_TEST

START_TEST(names_that_differ_behind_a_nul_are_different)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct json_node *root = parse("{\"a\\u0000b\":1, \"a\\u0000\":2, \"a\":3}", &arena);

    for (uint32_t i = 0; i < root->length; i++) {
        const struct json_node *found = json_tree_member(root, root->names[i]);

        ck_assert_ptr_eq(found, root->names[i] + 1);
    }
}
END_TEST

START_TEST(a_tree_may_be_as_deep_as_json_is)
{
    CLEANUP(arena_done) struct arena arena = {0};
    char text[2 * JSON_DEPTH_MAX + 1];

    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    text[2 * JSON_DEPTH_MAX] = '\0';
    ck_assert_uint_eq(parse(text, &arena)->size, JSON_DEPTH_MAX);
}
END_TEST

START_TEST(a_tree_without_memory_says_so)
{
    CLEANUP(arena_done) struct arena arena = {.failed = true};
    const struct json_node *root = NULL;
    struct error err = {0};

    ck_assert(!json_tree_parse(bytes_of("{\"a\":1}"), &arena, &root, &err));
    ck_assert_int_eq(err.code, TH_E_NO_MEMORY);
}
END_TEST

Suite *json_tree_suite(void)
{
    Suite *suite = suite_create("base/json_tree");
    TCase *tree = pure_case("tree");

    tcase_add_test(tree, nodes_come_in_the_order_of_the_text);
    tcase_add_loop_test(tree, strings_are_decoded_and_end_in_a_nul, 0, COUNT_OF(strings));
    tcase_add_loop_test(tree, values_are_equal_by_what_they_mean, 0, COUNT_OF(equals));
    tcase_add_loop_test(tree, a_pointer_says_where_a_node_is, 0, COUNT_OF(pointers));
    tcase_add_loop_test(tree, what_is_not_json_or_has_a_name_twice_is_refused, 0,
                        COUNT_OF(refused));
    tcase_add_test(tree, names_that_differ_behind_a_nul_are_different);
    tcase_add_test(tree, a_tree_may_be_as_deep_as_json_is);
    tcase_add_test(tree, a_tree_without_memory_says_so);
    suite_add_tcase(suite, tree);
    return suite;
}
