/*
 * test_plugin.c - which descriptors fit this thd, and which function a type gets.
 */
#include "base/error.h"
#include "suites.h"
#include "worker/plugin.h"

#include <check.h>
#include <string.h>

#define ABI(major, minor) ((uint32_t)(major) << 16 | (minor))

static enum th_outcome done(const struct th_job *job, struct th_context *ctx)
{
    (void)job;
    (void)ctx;
    return TH_DONE;
}

static enum th_outcome retry(const struct th_job *job, struct th_context *ctx)
{
    (void)job;
    (void)ctx;
    return TH_RETRY;
}

static enum th_outcome dead(const struct th_job *job, struct th_context *ctx)
{
    (void)job;
    (void)ctx;
    return TH_DEAD;
}

static const struct th_handler one[] = {{"a", done}};
static const struct th_handler bad[] = {{"a", done}, {"b", NULL}};
static const struct th_handler nameless[] = {{NULL, done}};

#define HEAD TH_PLUGIN_MAGIC, TH_PLUGIN_ABI, sizeof(struct th_plugin), "x"

static const struct {
    const char *rule;
    struct th_plugin plugin;
    const char *error; /* NULL: it fits */
} descriptors[] = {
    {"what the macros make", {HEAD, one, 1, NULL, NULL, NULL}, NULL},
    {"middleware alone", {HEAD, NULL, 0, NULL, NULL, done}, NULL},
    {"a later descriptor may be longer",
     {TH_PLUGIN_MAGIC, TH_PLUGIN_ABI, 4096, "x", one, 1, NULL, NULL, NULL},
     NULL},
    {"a symbol of that name and another meaning",
     {.magic = 17, .abi = TH_PLUGIN_ABI},
     "its th_plugin is not the descriptor of a plugin"},
    {"another major version, with both numbers",
     {.magic = TH_PLUGIN_MAGIC, .abi = ABI(2, 3)},
     "built for plugin ABI 2.3, and this thd has 1.1: build it again"},
    {"an older major version",
     {.magic = TH_PLUGIN_MAGIC, .abi = ABI(0, 9)},
     "built for plugin ABI 0.9, and this thd has 1.1: build it again"},
    {"a newer minor version may call what is not there",
     {TH_PLUGIN_MAGIC, ABI(1, 2), sizeof(struct th_plugin), "x", one, 1, NULL, NULL, NULL},
     "built for plugin ABI 1.2, and this thd has 1.1: build it again"},
    {"half a descriptor",
     {TH_PLUGIN_MAGIC, TH_PLUGIN_ABI, 16, "x", one, 1, NULL, NULL, NULL},
     "its descriptor has 16 bytes instead of 64"},
    {"handlers that are not there",
     {HEAD, NULL, 1, NULL, NULL, NULL},
     "its descriptor has no handlers where it says so"},
    {"a handler without a function",
     {HEAD, bad, 2, NULL, NULL, NULL},
     "handler 2 of 2 has no type or no function"},
    {"a handler without a type",
     {HEAD, nameless, 1, NULL, NULL, NULL},
     "handler 1 of 1 has no type or no function"},
    {"a plugin for nothing",
     {HEAD, NULL, 0, NULL, NULL, NULL},
     "it has neither handlers nor middleware"},
};

START_TEST(a_descriptor_is_refused_with_a_reason)
{
    struct error err = {0};
    const bool fits = plugin_check(&descriptors[_i].plugin, &err);

    ck_assert_msg(fits == !descriptors[_i].error, "%s: %s", descriptors[_i].rule, err.text);
    if (!fits)
        ck_assert_str_eq(err.text, descriptors[_i].error);
}
END_TEST

static const struct th_handler several[] = {
    {"mail*", dead}, {"mail:send", done}, {"mail:*", retry}, {"mail:send", dead}};
static const struct th_plugin plugin = {HEAD, several, COUNT_OF(several), NULL, NULL, NULL};

static const struct {
    const char *rule;
    const char *type;
    th_function expected;
} types[] = {
    {"exactly this type, the first of two", "mail:send", done},
    {"the longest prefix", "mail:read", retry},
    {"a shorter one", "mailer", dead},
    {"a prefix is a match of itself", "mail", dead},
    {"none", "post", NULL},
};

START_TEST(a_type_gets_the_function_that_fits_it_best)
{
    ck_assert_msg(plugin_find(&plugin, types[_i].type) == types[_i].expected, "%s", types[_i].rule);
}
END_TEST

START_TEST(what_is_no_plugin_is_not_loaded)
{
    const struct th_plugin *loaded;
    struct error err;

    ck_assert(!plugin_load("/nowhere/libx.so", &loaded, &err));
    ck_assert_str_eq(err.text, "/nowhere/libx.so: cannot open shared object file: No such file or "
                               "directory");
    ck_assert(!plugin_load("libm.so.6", &loaded, &err));
    ck_assert_str_eq(err.text, "libm.so.6: no plugin: it exports no th_plugin");
}
END_TEST

Suite *plugin_suite(void)
{
    Suite *suite = suite_create("worker/plugin");
    TCase *cases = tcase_create("plugin");

    tcase_add_loop_test(cases, a_descriptor_is_refused_with_a_reason, 0, COUNT_OF(descriptors));
    tcase_add_loop_test(cases, a_type_gets_the_function_that_fits_it_best, 0, COUNT_OF(types));
    tcase_add_test(cases, what_is_no_plugin_is_not_loaded);
    suite_add_tcase(suite, cases);
    return suite;
}
