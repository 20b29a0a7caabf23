/*
 * test_reference.c - the tables, and what is made of them.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "config/folder.h"
#include "config/reference.h"
#include "config/sections.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

#define FILE_MAX ((size_t)1 << 20)

static void write_reference(const char *backend)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(FILE_MAX);

    reference_add(&text, backend);
    folder_write("jobs.yaml", buffer_str(&text));
}

START_TEST(the_reference_says_nothing_but_the_defaults)
{
    CLEANUP(config_done) struct config reference = {0};
    CLEANUP(config_done) struct config empty = {0};

    folder_load_text("", &empty);
    write_reference(NULL);
    folder_load(&reference);
    ck_assert_str_eq(reference.backend, empty.backend);
    ck_assert_str_eq(reference.pool.pool_id, empty.pool.pool_id);
    reference.pool.pool_id = empty.pool.pool_id;
    reference.pool.middleware = empty.pool.middleware;
    ck_assert_mem_eq(&reference.pool, &empty.pool, sizeof empty.pool);
    ck_assert_mem_eq(&reference.defaults, &empty.defaults, sizeof empty.defaults);
    ck_assert_mem_eq(&reference.log, &empty.log, sizeof empty.log);
    ck_assert_mem_eq(&reference.retention, &empty.retention, sizeof empty.retention);
    ck_assert_uint_eq(reference.max_payload, empty.max_payload);
    ck_assert_int_eq(reference.idempotency_window, empty.idempotency_window);
    ck_assert_uint_eq(reference.queue_count, 1);
    ck_assert_uint_eq(reference.handler_count, 0);
    ck_assert_uint_eq(reference.cron_count, 0);
    ck_assert(!reference.has_http);
}
END_TEST

static const char *const backends[] = {
    "sqlite:./jobs.db", "sqlite:a b.db",      "sqlite:it's",     "sqlite:${x}", "sqlite:#x",
    "memory:",          "postgres://u@h/db",  "sqlite:$$",       "-",           "? x",
    "sqlite:x: y",      "redis://h:6379/0?a", "sqlite:\xc3\xa4", "null:",       "[x]",
};

START_TEST(any_backend_comes_back_as_it_was)
{
    CLEANUP(config_done) struct config config = {0};

    write_reference(backends[_i]);
    folder_load(&config);
    ck_assert_str_eq(config.backend, backends[_i]);
}
END_TEST

typedef void visit(const struct field *field, const char *text);

static void walk(const struct field *fields, visit *see, const char *text)
{
    for (const struct field *field = fields; field->key; field++) {
        see(field, text);
        if (field->fields)
            walk(field->fields, see, text);
    }
}

static void check_row(const struct field *field, const char *text)
{
    const bool is_section = field->kind == FIELD_SECTION;
    const bool is_unset = !field->fallback || field->fallback[0] == '\0';

    (void)text;
    ck_assert_msg(field->help && field->help[0] != '\0', "%s has no help", field->key);
    ck_assert_msg(strlen(field->help) < 80, "the help of %s is long", field->key);
    ck_assert_msg(is_section || !is_unset || field->example, "%s has no example", field->key);
    ck_assert_msg(field->kind != FIELD_CHOICE || field->choices, "%s has no choices", field->key);
}

START_TEST(every_row_has_help_and_a_value_to_show)
{
    walk(top_fields, check_row, NULL);
}
END_TEST

/* A key is named as `.It Cm key`. */
static void check_in_manual(const struct field *field, const char *text)
{
    char item[64];

    snprintf(item, sizeof item, ".It Cm %s\n", field->key);
    ck_assert_msg(strstr(text, item) != NULL, "man/jobs.yaml.5 has no '%s'", field->key);
}

START_TEST(the_manual_names_every_key)
{
    CLEANUP(buffer_done) struct buffer manual = BUFFER(FILE_MAX);
    struct error err;

    ck_assert_msg(io_read_file(TH_SOURCE_DIR "/man/jobs.yaml.5", &manual, &err), "%s", err.text);
    walk(top_fields, check_in_manual, buffer_str(&manual));
}
END_TEST

START_TEST(the_committed_reference_is_what_the_tables_give)
{
    CLEANUP(buffer_done) struct buffer committed = BUFFER(FILE_MAX);
    CLEANUP(buffer_done) struct buffer made = BUFFER(FILE_MAX);
    struct error err;

    reference_add(&made, NULL);
    ck_assert_msg(io_read_file(TH_SOURCE_DIR "/conf/jobs.yaml", &committed, &err), "%s", err.text);
    ck_assert_msg(strcmp(buffer_str(&made), buffer_str(&committed)) == 0,
                  "make it anew: rm conf/jobs.yaml; thctl init --all conf/jobs.yaml");
}
END_TEST

Suite *reference_suite(void)
{
    Suite *suite = suite_create("config/reference");
    TCase *tables = tcase_create("tables");

    tcase_add_checked_fixture(tables, folder_setup, folder_teardown);
    tcase_add_test(tables, the_reference_says_nothing_but_the_defaults);
    tcase_add_loop_test(tables, any_backend_comes_back_as_it_was, 0, COUNT_OF(backends));
    tcase_add_test(tables, every_row_has_help_and_a_value_to_show);
    tcase_add_test(tables, the_manual_names_every_key);
    tcase_add_test(tables, the_committed_reference_is_what_the_tables_give);
    suite_add_tcase(suite, tables);
    return suite;
}
