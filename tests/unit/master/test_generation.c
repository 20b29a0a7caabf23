#include "../config/folder.h"
#include "base/error.h"
#include "master/generation.h"
#include "suites.h"
#include "worker/handlers.h"

#include <errno.h>
#include <fcntl.h>

static struct config config;
static struct generation *generation;
static struct error err;

static void set_up(void)
{
    folder_setup();
    folder_load_text("handlers: {a: {command: /bin/true}, b: {command: /bin/false}}\n", &config);
}

static void tear_down(void)
{
    generation_leave(&generation);
    config_done(&config);
    folder_teardown();
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0 || errno != EBADF;
}

START_TEST(it_has_a_config_its_handlers_and_a_socket)
{
    ck_assert_msg(generation_new(&config, 64, &generation, &err), "%s", err.text);
    ck_assert_uint_eq(config.handler_count, 0); /* taken over */
    ck_assert_uint_eq(generation->config.handler_count, 2);
    ck_assert_uint_eq(generation->handlers->count, 2);
    ck_assert(is_open(generation->tasks[0]) && is_open(generation->tasks[1]));
}
END_TEST

START_TEST(it_ends_with_its_last_user)
{
    ck_assert_msg(generation_new(&config, 64, &generation, &err), "%s", err.text);
    struct generation *shared = generation_join(generation);
    const int ends[] = {generation->tasks[0], generation->tasks[1]};

    generation_leave(&shared);
    ck_assert_ptr_null(shared);
    ck_assert(is_open(ends[0]) && is_open(ends[1]));
    generation_leave(&generation);
    generation_leave(&generation); /* nobody is no user */
    ck_assert(!is_open(ends[0]) && !is_open(ends[1]));
}
END_TEST

START_TEST(a_config_that_cannot_be_used_stays_the_callers)
{
    config_done(&config);
    folder_load_text("handlers: {a: {command: x, user: nobody-of-this-name}}\n", &config);
    ck_assert(!generation_new(&config, 64, &generation, &err));
    ck_assert_msg(strstr(err.text, "handler 'a'"), "%s", err.text);
    ck_assert_uint_eq(config.handler_count, 1);
}
END_TEST

Suite *generation_suite(void)
{
    Suite *suite = suite_create("master/generation");
    TCase *life = tcase_create("life");

    tcase_add_checked_fixture(life, set_up, tear_down);
    tcase_add_test(life, it_has_a_config_its_handlers_and_a_socket);
    tcase_add_test(life, it_ends_with_its_last_user);
    tcase_add_test(life, a_config_that_cannot_be_used_stays_the_callers);
    suite_add_tcase(suite, life);
    return suite;
}
