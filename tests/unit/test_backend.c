/*
 * test_backend.c - which URL thd uses, and that it means the same in every folder.
 */
#include "backend.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "suites.h"

#include <check.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct error err;
static struct backend backend;
static struct config config;

static void set_up(void)
{
    ck_assert_int_eq(chdir("/tmp"), 0);
    ck_assert_int_eq(unsetenv("TASKHARBOR_BACKEND"), 0);
    config = (struct config){.path = "jobs.yaml",
                             .folder = "/srv/app",
                             .backend = "sqlite:./jobs.db",
                             .has_backend = true};
    backend = (struct backend){0};
}

static void tear_down(void)
{
    backend_done(&backend);
}

static bool choose(const char *typed, bool config_is_named)
{
    const struct backend_offers offers = backend_offers_find(typed, &config, config_is_named);

    return backend_choose(&offers, &config, &backend, &err);
}

static const struct {
    const char *rule;
    const char *typed, *variable, *configured;
    bool is_named; /* the config, by --config */
    const char *url;
    enum backend_source source;
} choices[] = {
    {"the config's path starts at its folder", NULL, NULL, "sqlite:./jobs.db", false,
     "sqlite:/srv/app/jobs.db", BACKEND_FOUND},
    {"the variable comes before a config that was found, its path starts here", NULL, "sqlite:a.db",
     "sqlite:b.db", false, "sqlite:/tmp/a.db", BACKEND_VARIABLE},
    {"a config that was named comes before the variable", NULL, "sqlite:a.db", "sqlite:b.db", true,
     "sqlite:/srv/app/b.db", BACKEND_NAMED},
    {"a blank variable is none", NULL, " ", "sqlite:b.db", false, "sqlite:/srv/app/b.db",
     BACKEND_FOUND},
    {"what was typed comes first", "sqlite:a.db", "sqlite:b.db", "sqlite:c.db", true,
     "sqlite:/tmp/a.db", BACKEND_TYPED},
    {"an absolute path stays", NULL, NULL, "sqlite:/var/jobs.db", true, "sqlite:/var/jobs.db",
     BACKEND_NAMED},
    {"with slashes of a host, too", NULL, NULL, "sqlite:///var/jobs.db", false,
     "sqlite:///var/jobs.db", BACKEND_FOUND},
    {"options stay", NULL, NULL, "sqlite:jobs.db?synchronous=normal", false,
     "sqlite:/srv/app/jobs.db?synchronous=normal", BACKEND_FOUND},
    {"and so do escapes", NULL, NULL, "sqlite:a%20b.db", false, "sqlite:/srv/app/a%20b.db",
     BACKEND_FOUND},
    {"files that a server's URL names are the config's", NULL, NULL,
     "postgres://h/d?sslrootcert=ca.pem&schema=x", true,
     "postgres://h/d?sslrootcert=/srv/app/ca.pem&schema=x", BACKEND_NAMED},
    {"or lie here", "postgres://h/d?sslrootcert=./ca.pem", NULL, "sqlite:b.db", false,
     "postgres://h/d?sslrootcert=/tmp/ca.pem", BACKEND_TYPED},
    {"a named store in memory stays", "memory:x", NULL, "sqlite:b.db", false, "memory:x",
     BACKEND_TYPED},
};

START_TEST(the_backend_is_chosen)
{
    config.backend = choices[_i].configured;
    if (choices[_i].variable)
        ck_assert_int_eq(setenv("TASKHARBOR_BACKEND", choices[_i].variable, 1), 0);
    ck_assert_msg(choose(choices[_i].typed, choices[_i].is_named), "%s: %s", choices[_i].rule,
                  err.text);
    ck_assert_msg(text_equal(backend.url, choices[_i].url), "%s, not %s", choices[_i].rule,
                  backend.url);
    ck_assert_int_eq(backend.source, choices[_i].source);
}
END_TEST

START_TEST(a_folder_with_characters_of_urls_is_escaped)
{
    config.folder = "/srv/100%?";
    ck_assert_msg(choose(NULL, false), "%s", err.text);
    ck_assert_str_eq(backend.url, "sqlite:/srv/100%25%3F/jobs.db");
}
END_TEST

START_TEST(a_store_in_memory_gets_a_name_that_all_processes_share)
{
    ck_assert_msg(choose("memory:", false), "%s", err.text);
    ck_assert(text_starts_with(backend.url, "memory:thd-"));
}
END_TEST

static const struct {
    const char *rule;
    const char *typed, *configured;
    const char *text;
} refusals[] = {
    {"the config's fault is told from others'", NULL, "jobs.db", "backend URL"},
    {"what was typed does not", "jobs.db", "sqlite:b.db", "backend URL"},
    {"a backend that this build does not have is refused at once", "couch://x", "sqlite:b.db",
     "couch://x: this build has no backend 'couch'"},
    {"so is one that names no file", NULL, "sqlite:", "sqlite:: names no file"},
    {"and an option that it does not have", "sqlite:/x.db?fast=1", "sqlite:b.db",
     "sqlite:/x.db?fast=1: unknown option 'fast'"},
    {"or a value of one", "sqlite:/x.db?synchronous=no", "sqlite:b.db",
     "sqlite:/x.db?synchronous=no: synchronous is full or normal, not 'no'"},
    {"memory has none", "memory:x?fast=1", "sqlite:b.db", "memory:x?fast=1: unknown option"},
};

START_TEST(a_url_that_cannot_work_is_refused)
{
    config.backend = refusals[_i].configured;
    ck_assert(!choose(refusals[_i].typed, false));
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_msg(text_starts_with(err.text, refusals[_i].text), "%s, not %s", refusals[_i].rule,
                  err.text);
    ck_assert_int_eq(backend_is_from_config(&backend), !refusals[_i].typed);
}
END_TEST

static const struct {
    const char *rule;
    const char *before, *after;
    bool is_same;
} changes[] = {
    {"a config that says the same leads to the same jobs", "sqlite:jobs.db", "sqlite:jobs.db",
     true},
    {"in whatever way", "sqlite:./jobs.db", "sqlite:/srv/app/jobs.db", true},
    {"another file has others", "sqlite:jobs.db", "sqlite:other.db", false},
    {"so have other options", "sqlite:jobs.db", "sqlite:jobs.db?synchronous=normal", false},
    {"what is in memory stays there", "memory:", "memory:", true},
    {"unless it gets a name", "memory:", "memory:x", false},
    {"or had one", "memory:x", "memory:", false},
};

START_TEST(another_backend_is_noticed)
{
    config.backend = changes[_i].before;
    ck_assert_msg(choose(NULL, false), "%s", err.text);
    config.backend = changes[_i].after;
    const struct backend_offers offers = backend_offers_find(NULL, &config, false);
    ck_assert_msg(backend_is_same(&backend, &offers, &config) == changes[_i].is_same, "%s",
                  changes[_i].rule);
}
END_TEST

START_TEST(a_store_in_memory_is_private_unless_it_was_named)
{
    static const char *const urls[] = {"sqlite:jobs.db", "memory:x", "memory:"};

    ck_assert_msg(choose(urls[_i], false), "%s", err.text);
    ck_assert_int_eq(backend_is_private(&backend), _i == 2);
}
END_TEST

static const struct {
    const char *url, *password; /* in the environment */
    int is_dumpable;
} guards[] = {
    {"sqlite:jobs.db", NULL, 1},
    {"postgres://me@host/db", NULL, 1},
    {"postgres://me:secret@host/db", NULL, 0},
    {"postgres://me@host/db", "secret", 0},
    {"redis://:secret@host:6379/0", NULL, 0},
};

START_TEST(a_process_that_knows_a_password_leaves_no_core)
{
    ck_assert_int_eq(unsetenv("PGPASSWORD"), 0);
    if (guards[_i].password)
        ck_assert_int_eq(setenv("PGPASSWORD", guards[_i].password, 1), 0);
    ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
    ck_assert_msg(choose(guards[_i].url, false), "%s", err.text);
    ck_assert_msg(backend_guard(&backend, &err), "%s", err.text);
    ck_assert_int_eq(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), guards[_i].is_dumpable);
    ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0); /* for the leak checker */
}
END_TEST

Suite *backend_suite(void)
{
    Suite *suite = suite_create("backend");
    TCase *choosing = tcase_create("choosing");

    tcase_add_checked_fixture(choosing, set_up, tear_down);
    tcase_add_loop_test(choosing, the_backend_is_chosen, 0, COUNT_OF(choices));
    tcase_add_test(choosing, a_folder_with_characters_of_urls_is_escaped);
    tcase_add_test(choosing, a_store_in_memory_gets_a_name_that_all_processes_share);
    tcase_add_loop_test(choosing, another_backend_is_noticed, 0, COUNT_OF(changes));
    tcase_add_loop_test(choosing, a_store_in_memory_is_private_unless_it_was_named, 0, 3);
    tcase_add_loop_test(choosing, a_url_that_cannot_work_is_refused, 0, COUNT_OF(refusals));
    tcase_add_loop_test(choosing, a_process_that_knows_a_password_leaves_no_core, 0,
                        (int)COUNT_OF(guards));
    suite_add_tcase(suite, choosing);
    return suite;
}
