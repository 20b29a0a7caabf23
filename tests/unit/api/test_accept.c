#include "api/accept.h"
#include "suites.h"

#include <check.h>

static const char *const types[] = {"application/json", "application/x-ndjson", "text/csv"};

enum { JSON, LINES, CSV };

static const struct {
    const char *rule;
    const char *header;
    size_t expected;
} headers[] = {
    {"who says nothing gets the first", NULL, JSON},
    {"an empty header says nothing", "", JSON},
    {"commas alone say nothing", ", ,,", JSON},
    {"anything is the first", "*/*", JSON},
    {"what a browser sends", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
     JSON},
    {"a type by its name", "text/csv", CSV},
    {"a name is one in any case", "Text/CSV", CSV},
    {"a type among others", "text/html, application/x-ndjson", LINES},
    {"spaces and tabs do not count", " \ttext/csv ;\tq=0.5 ", CSV},
    {"a group of types", "text/*", CSV},
    {"the higher q", "application/json;q=0.5, text/csv;q=0.6", CSV},
    {"the higher q, wherever it stands", "text/csv;q=0.6, application/json;q=0.601", JSON},
    {"of equal ones the first of ours", "text/csv, application/json", JSON},
    {"what is named counts more than anything", "*/*, text/csv", CSV},
    {"but not more than a higher q", "*/*, text/csv;q=0.9", JSON},
    {"the most exact range says how much", "text/*, text/csv;q=0, */*;q=0.1", JSON},
    {"q=0 is not wanted", "application/json;q=0, */*", LINES},
    {"q=0.000 either", "application/json;q=0.000, text/csv;q=0.001", CSV},
    {"other parameters do not count", "text/csv;header=present;q=0.9, application/json;q=0.8", CSV},
    {"Q is q", "text/csv;Q=0.1, application/json;q=0.2", JSON},
    {"a q that is none says nothing", "text/csv;q=x, application/json;q=0.9", CSV},
    {"a q has one point", "application/json;q=0.0.1, text/csv;q=0.9", JSON},
    {"a q over 1 is 1", "text/csv;q=1.9, application/json", JSON},
    {"who wants none of them gets the first", "image/png", JSON},
    {"who refuses all of them as well", "*/*;q=0", JSON},
    {"a name that only begins so is another", "text/csvx, text", JSON},
};

START_TEST(a_client_gets_what_it_likes_best)
{
    const size_t chosen = accept_choose(headers[_i].header, types, COUNT_OF(types));

    ck_assert_msg(chosen == headers[_i].expected, "%s, not %s", headers[_i].rule, types[chosen]);
}
END_TEST

Suite *accept_suite(void)
{
    Suite *suite = suite_create("api/accept");
    TCase *choice = pure_case("choice");

    tcase_add_loop_test(choice, a_client_gets_what_it_likes_best, 0, COUNT_OF(headers));
    suite_add_tcase(suite, choice);
    return suite;
}
