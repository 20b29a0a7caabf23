#include "api/link.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "http/query.h"
#include "suites.h"

#include <check.h>

static const struct {
    const char *rule, *query, *expected;
} links[] = {
    {"without parameters", "", "<?after=NEXT>; rel=\"next\""},
    {"the others are kept", "state=dead&limit=5", "<?state=dead&limit=5&after=NEXT>; rel=\"next\""},
    {"the last position is not", "after=OLD&limit=5", "<?limit=5&after=NEXT>; rel=\"next\""},
    {"values mean what they meant", "key=a%26b%3D%20%2B%25&error=%C3%A9",
     "<?key=a%26b%3D%20%2B%25&error=%C3%A9&after=NEXT>; rel=\"next\""},
    {"nothing ends the reference", "key=%3E%3B%22%0D%0A",
     "<?key=%3E%3B%22%0D%0A&after=NEXT>; rel=\"next\""},
};

START_TEST(a_link_is_the_same_query_from_there_on)
{
    CLEANUP(buffer_done) struct buffer link = BUFFER(1024);
    CLEANUP(arena_done) struct arena arena = {0};
    struct http_query query;
    struct error err;

    ck_assert(http_query_parse(links[_i].query, &arena, &query, &err));
    link_add_next(&link, &query, "NEXT");
    ck_assert_msg(strcmp(buffer_str(&link), links[_i].expected) == 0, "%s, not %s", links[_i].rule,
                  buffer_str(&link));
}
END_TEST

Suite *link_suite(void)
{
    Suite *suite = suite_create("api/link");
    TCase *links_case = pure_case("links");

    tcase_add_loop_test(links_case, a_link_is_the_same_query_from_there_on, 0, COUNT_OF(links));
    suite_add_tcase(suite, links_case);
    return suite;
}
