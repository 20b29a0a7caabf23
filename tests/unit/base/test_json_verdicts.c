/*
 * test_json_verdicts.c - that all readers of JSON say the same of a text, and where it is wrong.
 *
 * json_check(), json_split_object() or json_split_array(), whichever fits, and json_tree_parse()
 * read each text; most are the cases that parsers are known to differ in.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "cases.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

#define BYTES(text)                                                                                \
    {                                                                                              \
        (const unsigned char *)(text), sizeof(text) - 1                                            \
    }

/* clang-format off */
static const struct {
    const char *rule;
    struct bytes text;
    const char *error; /* NULL: it is JSON */
} same[] = {
    {"an object of everything", BYTES("{\"a\":[1,-0,2.5e+3],\"b\":{\"c\":null},\"d\":\"\\u20ac\",\"e\":true}"), NULL},
    {"an array of everything", BYTES("[{},[],\"\",0,true,false,null]"), NULL},
    {"an array in an array", BYTES("[[1],[2,[3]]]"), NULL},
    {"space everywhere", BYTES(" \t\r\n[ 1 , { \"a\" : 2 } ] \n"), NULL},
    {"nothing", BYTES(""), "line 1, column 1: expected a value"},
    {"only space", BYTES("\n\n  "), "line 3, column 3: expected a value"},
    {"a comma alone", BYTES(","), "line 1, column 1: expected a value"},
    {"an array that is not closed", BYTES("[1"), "line 1, column 3: expected ',' or ']'"},
    {"an array that is not closed after a comma", BYTES("[1,"), "line 1, column 4: expected a value"},
    {"an array that only opens", BYTES("[["), "line 1, column 3: expected a value"},
    {"an array closed twice", BYTES("[1]]"), "line 1, column 4: expected nothing more"},
    {"an array closed by a brace", BYTES("[1}"), "line 1, column 3: expected ',' or ']'"},
    {"an array with two commas", BYTES("[1,,2]"), "line 1, column 4: expected a value"},
    {"an array with a comma first", BYTES("[,1]"), "line 1, column 2: expected a value"},
    {"an array with a comma last", BYTES("[1,]"), "line 1, column 4: expected a value"},
    {"an array with a colon", BYTES("[\"a\":1]"), "line 1, column 5: expected ',' or ']'"},
    {"an array with a semicolon", BYTES("[1;2]"), "line 1, column 3: expected ',' or ']'"},
    {"an array of two values without a comma", BYTES("[1 true]"), "line 1, column 4: expected ',' or ']'"},
    {"an array and more", BYTES("[1] x"), "line 1, column 5: expected nothing more"},
    {"an array after an array", BYTES("[][]"), "line 1, column 3: expected nothing more"},
    {"an inner array with a fault", BYTES("[[1,2],[3,]]"), "line 1, column 11: expected a value"},
    {"an object that is not closed", BYTES("{\"a\":1"), "line 1, column 7: expected ',' or '}'"},
    {"an object that only opens", BYTES("{"), "line 1, column 2: expected a name in quotes"},
    {"an object with half a member", BYTES("{\"a\""), "line 1, column 5: expected ':'"},
    {"an object without a value", BYTES("{\"a\":"), "line 1, column 6: expected a value"},
    {"an object closed by a bracket", BYTES("{\"a\":1]"), "line 1, column 7: expected ',' or '}'"},
    {"an object with a comma last", BYTES("{\"a\":1,}"), "line 1, column 8: expected a name in quotes"},
    {"an object with two commas", BYTES("{\"a\":1,,\"b\":2}"), "line 1, column 8: expected a name in quotes"},
    {"an object with a comma first", BYTES("{,\"a\":1}"), "line 1, column 2: expected a name in quotes"},
    {"an object with two colons", BYTES("{\"a\"::1}"), "line 1, column 6: expected a value"},
    {"an object with a comma for a colon", BYTES("{\"a\",1}"), "line 1, column 5: expected ':'"},
    {"an object without a colon", BYTES("{\"a\" 1}"), "line 1, column 6: expected ':'"},
    {"an object with two values", BYTES("{\"a\":1 2}"), "line 1, column 8: expected ',' or '}'"},
    {"an object with a bare name", BYTES("{a:1}"), "line 1, column 2: expected a name in quotes"},
    {"an object with a number for a name", BYTES("{1:1}"), "line 1, column 2: expected a name in quotes"},
    {"an object with null for a name", BYTES("{null:1}"), "line 1, column 2: expected a name in quotes"},
    {"an object with an array for a name", BYTES("{[]:1}"), "line 1, column 2: expected a name in quotes"},
    {"an object with single quotes", BYTES("{'a':1}"), "line 1, column 2: expected a name in quotes"},
    {"an object with a string alone", BYTES("{\"a\":1,\"b\"}"), "line 1, column 11: expected ':'"},
    {"an object and more", BYTES("{\"a\":1}#"), "line 1, column 8: expected nothing more"},
    {"an object after an object", BYTES("{}{}"), "line 1, column 3: expected nothing more"},
    {"an object with an end too many", BYTES("{}}"), "line 1, column 3: expected nothing more"},
    {"a fault in a name", BYTES("{\"\\q\":1}"), "line 1, column 4: no such escape"},
    {"a name without an end", BYTES("{\"a:1}"), "line 1, column 7: the string has no end"},
    {"a fault in an inner object", BYTES("{\"a\":{\"b\":[1,{\"c\" 2}]}}"), "line 1, column 19: expected ':'"},
    {"a comment", BYTES("[1] // x"), "line 1, column 5: expected nothing more"},
    {"a comment inside", BYTES("[/* */1]"), "line 1, column 2: expected a value"},
    {"a name in two objects", BYTES("[{\"a\":1},{\"a\":2}]"), NULL},
    {"names that differ in case", BYTES("{\"a\":1,\"A\":2}"), NULL},
    {"a NUL in a name inside", BYTES("{\"a\":{\"\\u0000\":1}}"), NULL},
    {"minus zero", BYTES("[-0]"), NULL},
    {"zeros after the point", BYTES("[0.000]"), NULL},
    {"digits without end", BYTES("[123456789012345678901234567890123456789012345678901234567890]"), NULL},
    {"an exponent no double has", BYTES("[1e400,-1e-400]"), NULL},
    {"exponents of all shapes", BYTES("[1E1,1e+1,1e-1,0e0,1.5E+05]"), NULL},
    {"a number with a plus", BYTES("[+1]"), "line 1, column 2: expected a value"},
    {"a number with two signs", BYTES("[--1]"), "line 1, column 3: expected a digit"},
    {"a minus alone", BYTES("[-]"), "line 1, column 3: expected a digit"},
    {"a minus and a space", BYTES("[- 1]"), "line 1, column 3: expected a digit"},
    {"a minus and a letter", BYTES("[-a]"), "line 1, column 3: expected a digit"},
    {"a leading zero", BYTES("[01]"), "line 1, column 2: a number does not start with 0"},
    {"a leading zero after a minus", BYTES("[-012]"), "line 1, column 3: a number does not start with 0"},
    {"two zeros", BYTES("[00]"), "line 1, column 2: a number does not start with 0"},
    {"a point first", BYTES("[.5]"), "line 1, column 2: expected a value"},
    {"a point after a minus", BYTES("[-.5]"), "line 1, column 3: expected a digit"},
    {"a point last", BYTES("[1.]"), "line 1, column 4: expected a digit"},
    {"two points", BYTES("[1.2.3]"), "line 1, column 5: expected ',' or ']'"},
    {"an exponent without digits", BYTES("[1e]"), "line 1, column 4: expected a digit"},
    {"an exponent with a sign alone", BYTES("[1e+]"), "line 1, column 5: expected a digit"},
    {"an exponent twice", BYTES("[1e1e1]"), "line 1, column 5: expected ',' or ']'"},
    {"an exponent after the point", BYTES("[1.e1]"), "line 1, column 4: expected a digit"},
    {"a fraction in an exponent", BYTES("[1e1.5]"), "line 1, column 5: expected ',' or ']'"},
    {"hexadecimal", BYTES("[0x1]"), "line 1, column 3: expected ',' or ']'"},
    {"a space in a number", BYTES("[1 000]"), "line 1, column 4: expected ',' or ']'"},
    {"an underscore in a number", BYTES("[1_000]"), "line 1, column 3: expected ',' or ']'"},
    {"a full-width digit", BYTES("[\xEF\xBC\x91]"), "line 1, column 2: expected a value"},
    {"infinity", BYTES("[Infinity]"), "line 1, column 2: expected a value"},
    {"minus infinity", BYTES("[-Infinity]"), "line 1, column 3: expected a digit"},
    {"not a number", BYTES("[NaN]"), "line 1, column 2: expected a value"},
    {"half a word", BYTES("[nul]"), "line 1, column 2: expected a value"},
    {"a word in capitals", BYTES("[TRUE]"), "line 1, column 2: expected a value"},
    {"a word that goes on", BYTES("[truest]"), "line 1, column 6: expected ',' or ']'"},
    {"a word at the end", BYTES("fals"), "line 1, column 1: expected a value"},
    {"a word and a NUL", BYTES("null\0"), "line 1, column 5: expected nothing more"},
    {"a string alone", BYTES("\"a\""), NULL},
    {"a string that starts in nowhere", BYTES("a\""), "line 1, column 1: expected a value"},
    {"a quote alone", BYTES("\""), "line 1, column 2: the string has no end"},
    {"a string without an end", BYTES("[\"a"), "line 1, column 4: the string has no end"},
    {"a string that escapes its end", BYTES("[\"\\\"]"), "line 1, column 6: the string has no end"},
    {"an escape at the end", BYTES("[\"\\"), "line 1, column 4: no such escape"},
    {"an unknown escape", BYTES("[\"\\a\"]"), "line 1, column 4: no such escape"},
    {"a hexadecimal escape", BYTES("[\"\\x00\"]"), "line 1, column 4: no such escape"},
    {"an escape in capitals", BYTES("[\"\\U0041\"]"), "line 1, column 4: no such escape"},
    {"an escaped tab", BYTES("[\"\\\t\"]"), "line 1, column 4: no such escape"},
    {"a tab", BYTES("[\"\t\"]"), "line 1, column 3: control character in a string"},
    {"a new line", BYTES("[\"\n\"]"), "line 1, column 3: control character in a string"},
    {"a NUL", BYTES("[\"\0\"]"), "line 1, column 3: control character in a string"},
    {"DEL", BYTES("[\"\x7F\"]"), NULL},
    {"an escape outside a string", BYTES("[\\n]"), "line 1, column 2: expected a value"},
    {"four digits missing", BYTES("[\"\\u\"]"), "line 1, column 5: expected four hexadecimal digits"},
    {"three digits", BYTES("[\"\\u00A\"]"), "line 1, column 8: expected four hexadecimal digits"},
    {"a letter among the digits", BYTES("[\"\\u00G0\"]"), "line 1, column 7: expected four hexadecimal digits"},
    {"a sign among the digits", BYTES("[\"\\u+123\"]"), "line 1, column 5: expected four hexadecimal digits"},
    {"digits that the end cuts", BYTES("[\"\\u00"), "line 1, column 7: expected four hexadecimal digits"},
    {"a surrogate pair", BYTES("[\"\\uD834\\uDD1E\"]"), NULL},
    {"a first half alone", BYTES("[\"\\uD834\"]"), "line 1, column 5: half a surrogate pair"},
    {"a first half and a letter", BYTES("[\"\\uD834x\"]"), "line 1, column 5: half a surrogate pair"},
    {"a first half and another escape", BYTES("[\"\\uD834\\n\"]"), "line 1, column 5: half a surrogate pair"},
    {"a first half twice", BYTES("[\"\\uD834\\uD834\\uDD1E\"]"), "line 1, column 5: half a surrogate pair"},
    {"a second half alone", BYTES("[\"\\uDD1E\"]"), "line 1, column 5: half a surrogate pair"},
    {"halves the wrong way round", BYTES("[\"\\uDD1E\\uD834\"]"), "line 1, column 5: half a surrogate pair"},
    {"a first half and half an escape", BYTES("[\"\\uD834\\uDD\"]"), "line 1, column 13: expected four hexadecimal digits"},
    {"a first half that the end cuts", BYTES("[\"\\uD834\\u"), "line 1, column 5: half a surrogate pair"},
    {"characters that are none", BYTES("[\"\\uFFFE\\uFFFF\\uDBFF\\uDFFF\"]"), NULL},
    {"characters of two to four bytes", BYTES("[\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x9A\xA2\"]"), NULL},
    {"the last character there is", BYTES("[\"\xF4\x8F\xBF\xBF\"]"), NULL},
    {"one after the last character", BYTES("[\"\xF4\x90\x80\x80\"]"), "line 1, column 3: not UTF-8"},
    {"a surrogate in UTF-8", BYTES("[\"\xED\xA0\x80\"]"), "line 1, column 3: not UTF-8"},
    {"an overlong slash", BYTES("[\"\xC0\xAF\"]"), "line 1, column 3: not UTF-8"},
    {"an overlong NUL", BYTES("[\"\xE0\x80\x80\"]"), "line 1, column 3: not UTF-8"},
    {"an overlong character of four bytes", BYTES("[\"\xF0\x80\x80\x80\"]"), "line 1, column 3: not UTF-8"},
    {"a byte that starts nothing", BYTES("[\"\xFF\"]"), "line 1, column 3: not UTF-8"},
    {"a continuation alone", BYTES("[\"\x80\"]"), "line 1, column 3: not UTF-8"},
    {"a character cut by the quote", BYTES("[\"\xE2\x82\"]"), "line 1, column 3: not UTF-8"},
    {"a character cut by the end", BYTES("[\"\xF0\x9F"), "line 1, column 3: not UTF-8"},
    {"Latin-1", BYTES("[\"\xE9\"]"), "line 1, column 3: not UTF-8"},
    {"bad UTF-8 in a name", BYTES("{\"\xFF\":1}"), "line 1, column 3: not UTF-8"},
    {"bad UTF-8 outside strings", BYTES("[\xFF]"), "line 1, column 2: expected a value"},
    {"a byte order mark", BYTES("\xEF\xBB\xBF[]"), "line 1, column 1: expected a value"},
    {"half a byte order mark", BYTES("\xEF\xBB[]"), "line 1, column 1: expected a value"},
    {"UTF-16", BYTES("\xFF\xFE[\0]\0"), "line 1, column 1: expected a value"},
    {"a no-break space", BYTES("[\xC2\xA0]"), "line 1, column 2: expected a value"},
    {"a form feed", BYTES("[\f]"), "line 1, column 2: expected a value"},
    {"columns count characters", BYTES("[\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x9A\xA2\", x]"), "line 1, column 9: expected a value"},
    {"lines are counted", BYTES("[\n1,\r\n2,\n  x]"), "line 4, column 3: expected a value"},
    {"a carriage return is a column", BYTES("[\r\rx]"), "line 1, column 4: expected a value"},
};

/* Where a reader that decodes names finds more than the others. */
static const struct {
    const char *rule;
    struct bytes text;
    const char *check, *split, *tree;
} apart[] = {
    {"a name twice", BYTES("{\"a\":1,\"a\":2}"), NULL, "the name 'a' appears twice", "the name 'a' appears twice"},
    {"a name twice with one value", BYTES("{\"a\":1,\"a\":1}"), NULL, "the name 'a' appears twice", "the name 'a' appears twice"},
    {"a name twice, once escaped", BYTES("{\"a\":1,\"\\u0061\":2}"), NULL, "the name 'a' appears twice", "the name 'a' appears twice"},
    {"an empty name twice", BYTES("{\"\":1,\"\":2}"), NULL, "the name '' appears twice", "the name '' appears twice"},
    {"a name twice inside", BYTES("[{\"a\":{\"b\":1,\"b\":2}}]"), NULL, NULL, "the name 'b' appears twice"},
    {"a name that cannot be shown, twice", BYTES("{\"\\u001b\":1,\"\\u001B\":2}"), NULL, "the name '\\x1b' appears twice", "the name '\\x1b' appears twice"},
    {"a NUL in a name", BYTES("{\"a\\u0000b\":1}"), NULL, "line 1, column 2: \\u0000 in a name", NULL},
    {"a NUL in a name, and no colon", BYTES("{\"\\u0000\" 1}"), "line 1, column 11: expected ':'", "line 1, column 2: \\u0000 in a name", "not JSON: line 1, column 11: expected ':'"},
    {"a NUL in a name, and a fault later", BYTES("{\"\\u0000\":1,]"), "line 1, column 13: expected a name in quotes", "line 1, column 2: \\u0000 in a name", "not JSON: line 1, column 13: expected a name in quotes"},
};
/* clang-format on */

static void expect(const char *rule, bool accepted, const struct error *err, const char *error)
{
    ck_assert_msg(accepted == !error, "%s: %s", rule, accepted ? "accepted" : err->text);
    if (error) {
        ck_assert_int_eq(err->code, TH_E_INVALID);
        ck_assert_msg(strcmp(err->text, error) == 0, "%s: %s, not %s", rule, error, err->text);
    }
}

static void expect_check(const char *rule, struct bytes text, const char *error)
{
    struct error err = {0};

    expect(rule, json_check(text, &err), &err, error);
}

static void expect_split(const char *rule, struct bytes text, const char *error)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct json_members members;
    struct json_values values;
    struct error err = {0};
    size_t space = 0;

    while (space < text.length && memchr(" \t\r\n", text.data[space], 4))
        space++;
    if (space < text.length && text.data[space] == '{')
        expect(rule, json_split_object(text, &arena, &members, &err), &err, error);
    else if (space < text.length && text.data[space] == '[')
        expect(rule, json_split_array(text, &arena, &values, &err), &err, error);
}

static void expect_tree(const char *rule, struct bytes text, const char *error)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct json_node *root = NULL;
    struct error err = {0};

    expect(rule, json_tree_parse(text, &arena, &root, &err), &err, error);
}

START_TEST(all_readers_give_one_verdict)
{
    char not_json[200];

    expect_check(same[_i].rule, same[_i].text, same[_i].error);
    expect_split(same[_i].rule, same[_i].text, same[_i].error);
    snprintf(not_json, sizeof not_json, "not JSON: %s", same[_i].error ? same[_i].error : "");
    expect_tree(same[_i].rule, same[_i].text, same[_i].error ? not_json : NULL);
}
END_TEST

START_TEST(who_decodes_names_finds_more)
{
    expect_check(apart[_i].rule, apart[_i].text, apart[_i].check);
    expect_split(apart[_i].rule, apart[_i].text, apart[_i].split);
    expect_tree(apart[_i].rule, apart[_i].text, apart[_i].tree);
}
END_TEST

TCase *json_verdicts_case(void)
{
    TCase *verdicts = pure_case("verdicts");

    tcase_add_loop_test(verdicts, all_readers_give_one_verdict, 0, COUNT_OF(same));
    tcase_add_loop_test(verdicts, who_decodes_names_finds_more, 0, COUNT_OF(apart));
    return verdicts;
}
