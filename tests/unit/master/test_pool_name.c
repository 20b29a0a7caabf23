#include "job/job.h"
#include "master/pool_name.h"
#include "suites.h"

#include <check.h>
#include <string.h>

#define TEN     "0123456789"
#define FIFTY   TEN TEN TEN TEN TEN
#define HUNDRED FIFTY FIFTY

static const struct {
    const char *rule;
    const char *configured, *host;
    const char *shown, *stored;
} names[] = {
    {"a name is taken as it is", "web-1", "box", "web-1", "web-1.00c0ffee"},
    {"auto is the host and the pid", "auto", "box", "box-4711", "box-4711.00c0ffee"},
    {"what no name may have becomes a dash", "auto", "b x/\xc3\xa4.lan", "b-x---.lan-4711",
     "b-x---.lan-4711.00c0ffee"},
    {"a host without a name has one", "auto", "", "host-4711", "host-4711.00c0ffee"},
    {"a long host is cut before the pid", "auto", HUNDRED FIFTY, HUNDRED TEN "0123-4711",
     HUNDRED TEN "0123-4711.00c0ffee"},
    {"a long name is cut", HUNDRED FIFTY, "box", HUNDRED TEN "012345678",
     HUNDRED TEN "012345678.00c0ffee"},
};

START_TEST(a_pool_is_named)
{
    const struct pool_name name =
        pool_name_make(names[_i].configured, names[_i].host, 4711, 0x00c0ffee);

    ck_assert_msg(strcmp(name.shown, names[_i].shown) == 0, "%s, not %s", names[_i].rule,
                  name.shown);
    ck_assert_msg(strcmp(name.stored, names[_i].stored) == 0, "%s, not %s", names[_i].rule,
                  name.stored);
    ck_assert_msg(job_name_is_valid(name.stored), "a store takes %s", name.stored);
}
END_TEST

Suite *pool_name_suite(void)
{
    Suite *suite = suite_create("master/pool_name");
    TCase *making = tcase_create("making");

    tcase_add_loop_test(making, a_pool_is_named, 0, COUNT_OF(names));
    suite_add_tcase(suite, making);
    return suite;
}
