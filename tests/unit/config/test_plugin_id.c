#include "config/config.h"
#include "config/plugin_id.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static const char *const middleware[] = {"/srv/libaudit.so", "/srv/trace.so"};
static struct handler_config handlers[] = {
    {.pattern = "a", .plugin = "/srv/libthumbnail.so"},
    {.pattern = "b"},
};
static const struct config config = {
    .pool = {.middleware = {middleware, COUNT_OF(middleware)}},
    .handlers = handlers,
    .handler_count = COUNT_OF(handlers),
};

static const struct {
    const char *rule;
    const char *path, *name;
} names[] = {
    {"without folder, lib and .so", "/srv/plugins/libthumbnail.so", "thumbnail"},
    {"also without a folder", "libthumbnail.so", "thumbnail"},
    {"without a version", "/srv/libthumbnail.so.1.2", "thumbnail"},
    {"what does not begin with lib stays", "/srv/thumbnail.so", "thumbnail"},
    {"what has no .so stays", "/srv/libthumbnail", "thumbnail"},
    {"a name that is nothing else", "/srv/.so", ".so"},
    {"a folder says nothing", "/srv/lib.so/x", "x"},
};

START_TEST(a_plugin_is_called_after_its_file)
{
    char name[PLUGIN_NAME_SIZE];

    ck_assert_msg(!strcmp(plugin_id_name(names[_i].path, name), names[_i].name), "%s, not %s",
                  names[_i].rule, name);
}
END_TEST

START_TEST(a_long_name_is_cut)
{
    char path[200], name[PLUGIN_NAME_SIZE];

    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    ck_assert_uint_eq(strlen(plugin_id_name(path, name)), PLUGIN_NAME_SIZE - 1);
}
END_TEST

START_TEST(a_number_leads_to_its_plugin)
{
    ck_assert_str_eq(plugin_id_path(&config, plugin_id_of_middleware(0)), middleware[0]);
    ck_assert_str_eq(plugin_id_path(&config, plugin_id_of_middleware(1)), middleware[1]);
    ck_assert_str_eq(plugin_id_path(&config, plugin_id_of_handler(&config, &handlers[0])),
                     handlers[0].plugin);
}
END_TEST

START_TEST(a_number_that_is_none_leads_nowhere)
{
    ck_assert_ptr_null(plugin_id_path(&config, 0));
    ck_assert_ptr_null(plugin_id_path(&config, plugin_id_of_handler(&config, &handlers[1])));
    ck_assert_ptr_null(plugin_id_path(&config, 5));
    ck_assert_ptr_null(plugin_id_path(&config, UINT32_MAX));
}
END_TEST

START_TEST(a_config_has_plugins_as_handlers_or_as_middleware)
{
    const struct config none = {.handlers = &handlers[1], .handler_count = 1};
    const struct config handler = {.handlers = handlers, .handler_count = 1};

    ck_assert(!plugin_id_any(&none));
    ck_assert(plugin_id_any(&handler));
    ck_assert(plugin_id_any(&config));
}
END_TEST

Suite *plugin_id_suite(void)
{
    Suite *suite = suite_create("config/plugin_id");
    TCase *cases = tcase_create("plugin_id");

    tcase_add_loop_test(cases, a_plugin_is_called_after_its_file, 0, COUNT_OF(names));
    tcase_add_test(cases, a_long_name_is_cut);
    tcase_add_test(cases, a_number_leads_to_its_plugin);
    tcase_add_test(cases, a_number_that_is_none_leads_nowhere);
    tcase_add_test(cases, a_config_has_plugins_as_handlers_or_as_middleware);
    suite_add_tcase(suite, cases);
    return suite;
}
