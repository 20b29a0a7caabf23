/*
 * test_account.c - users of the system that runs the tests.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "process/account.h"
#include "process/nobody.h"
#include "suites.h"

static void become_nobody_if(int wanted)
{
    if (wanted)
        nobody_become();
}

START_TEST(a_user_has_its_ids_home_and_groups)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct account account;
    struct error err;

    ck_assert_msg(account_find("root", &arena, &account, &err), "%s", err.text);
    ck_assert_str_eq(account.name, "root");
    ck_assert_str_eq(account.home, "/root");
    ck_assert_uint_eq(account.uid, 0);
    ck_assert_uint_ge(account.group_count, 1);
    ck_assert_uint_eq(account.groups[0], account.gid);
}
END_TEST

START_TEST(this_process_needs_no_change_to_be_itself)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct account account;
    struct error err;

    become_nobody_if(_i);
    ck_assert_msg(account_find(NULL, &arena, &account, &err), "%s", err.text);
    ck_assert(account.is_self);
    ck_assert_uint_eq(account.uid, geteuid());
    ck_assert_ptr_nonnull(account.name);
    ck_assert_ptr_nonnull(account.home);
}
END_TEST

START_TEST(a_user_that_does_not_exist_is_named)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct account account;
    struct error err;

    ck_assert(!account_find("no-such-user", &arena, &account, &err));
    ck_assert_str_eq(err.text, "there is no user no-such-user");
}
END_TEST

Suite *account_suite(void)
{
    Suite *suite = suite_create("process/account");
    TCase *find = tcase_create("find");

    tcase_add_test(find, a_user_has_its_ids_home_and_groups);
    tcase_add_loop_test(find, this_process_needs_no_change_to_be_itself, 0, 2);
    tcase_add_test(find, a_user_that_does_not_exist_is_named);
    suite_add_tcase(suite, find);
    return suite;
}
