/*
 * test_yaml_tree.c - what of YAML a config may be.
 */
#include "base/cleanup.h"
#include "config/folder.h"
#include "config/yaml_tree.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *rule;
    const char *text;
    const char *errors;
} refused[] = {
    {"an alias", "pool:\n  pool_id: *name\n",
     "jobs.yaml:2:12: aliases are not allowed: write out what '*name' stands for\n"},
    {"an anchor", "pool: &it\n  lease: 30s\n", "jobs.yaml:1:7: anchors are not allowed: '&it'\n"},
    {"an anchor of a value", "pool:\n  lease: &it 30s\n",
     "jobs.yaml:2:10: anchors are not allowed: '&it'\n"},
    {"an alias bomb", "a: &a [x, x]\nb: &b [*a, *a]\n",
     "jobs.yaml:1:1: unknown key 'a'\n"
     "jobs.yaml:1:4: anchors are not allowed: '&a'\n"
     "jobs.yaml:2:1: unknown key 'b' (did you mean 'backend'?)\n"
     "jobs.yaml:2:4: anchors are not allowed: '&b'\n"
     "jobs.yaml:2:8: aliases are not allowed: write out what '*a' stands for\n"
     "jobs.yaml:2:12: aliases are not allowed: write out what '*a' stands for\n"},
    {"a tag", "pool: !!map {}\n", "jobs.yaml:1:7: tags are not allowed: 'tag:yaml.org,2002:map'\n"},
    {"a tag of our own", "backend: !secret x\n",
     "jobs.yaml:1:10: tags are not allowed: '!secret'\n"},
    {"a second document", "pool: {}\n---\npool: {}\n",
     "jobs.yaml:2:1: a second document starts here: a config is one document\n"},
    {"a key twice", "pool:\n  lease: 30s\n  migrate: true\n  lease: 20s\n",
     "jobs.yaml:4:3: key 'lease' is here and at jobs.yaml:2:3\n"},
    {"a key three times", "max_payload: 1M\nmax_payload: 2M\nmax_payload: 3M\n",
     "jobs.yaml:2:1: key 'max_payload' is here and at jobs.yaml:1:1\n"
     "jobs.yaml:3:1: key 'max_payload' is here and at jobs.yaml:2:1\n"},
    {"a key twice where nobody looks for it",
     "cron: {x: {schedule: '@daily', type: b, payload: {k: 1, k: 2}}}\n",
     "jobs.yaml:1:57: key 'k' is here and at jobs.yaml:1:51\n"},
    {"a list as key", "? [a, b]\n: c\n", "jobs.yaml:1:3: a key must be a word, not a list\n"},
    {"a list", "- pool\n",
     "jobs.yaml:1:1: a config is a map of keys, such as 'pool:', not a list\n"},
    {"a word", "hello\n",
     "jobs.yaml:1:1: a config is a map of keys, such as 'pool:', not a value\n"},
    {"a NUL in a text", "pool: {pool_id: \"a\\0b\"}\n",
     "jobs.yaml:1:17: this text has a NUL byte in it\n"},
    {"a tab", "pool:\n\tlease: 30s\n",
     "jobs.yaml:2:1: this is not valid YAML: indent with spaces, not with tabs\n"},
    {"a star without quotes", "handlers:\n  *: {command: x}\n",
     "jobs.yaml:2:4: this is not valid YAML: what begins with * needs quotes, such as \"*\"\n"},
    {"a character that YAML keeps for itself", "handlers: {x: {command: @x}}\n",
     "jobs.yaml:1:25: this is not valid YAML: what begins with this character needs quotes\n"},
    {"a bracket that stays open", "pool: {lease: 30s\n",
     "jobs.yaml:2:1: this is not valid YAML: did not find expected ',' or '}' while parsing a flow "
     "mapping\n"},
    {"wrong indentation", "pool:\n  lease: 30s\n migrate: true\n",
     "jobs.yaml:3:2: this is not valid YAML: did not find expected key while parsing a block "
     "mapping\n"},
    {"binary junk",
     "\x7f"
     "ELF\x02\x01\x01",
     "jobs.yaml:1:1: this is not text (byte 0x7f): a config is YAML in UTF-8\n"},
    {"Latin-1", "pool: {}\n# gr\xfc\xdf\n",
     "jobs.yaml:2:5: this is not text (byte 0xfc): a config is YAML in UTF-8\n"},
    {"UTF-16", "\xff\xfep",
     "jobs.yaml:1:1: this is not text (byte 0xff): a config is YAML in UTF-8\n"},
    {"an escape sequence", "# \033[2J\n",
     "jobs.yaml:1:3: this is not text (byte 0x1b): a config is YAML in UTF-8\n"},
    {"columns count characters", "cron: {\"\xc3\xa4\xc3\xb6\xc3\xbc\": *x}\n",
     "jobs.yaml:1:8: cron: '\\xc3\\xa4\\xc3\\xb6\\xc3\\xbc' is not a name: use 1 to 128 of A-Z a-z "
     "0-9 _ . : -\n"
     "jobs.yaml:1:15: aliases are not allowed: write out what '*x' stands for\n"},
};

START_TEST(what_is_not_plain_yaml_is_refused_at_its_place)
{
    folder_expect_for(refused[_i].rule, refused[_i].text, refused[_i].errors);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
} empty[] = {
    {"nothing", ""},
    {"only comments", "# nothing\n\n# here\n"},
    {"an empty map", "{}\n"},
    {"an empty document", "---\n...\n"},
    {"null", "null\n"},
    {"sections with nothing in them", "pool:\nqueues:\nhandlers: ~\n"},
    {"a byte order mark", "\xef\xbb\xbfpool: {}\n"},
    {"Windows lines", "pool:\r\n  lease: 30s\r\n"},
};

START_TEST(a_config_may_be_empty)
{
    folder_expect_for(empty[_i].rule, empty[_i].text, "");
}
END_TEST

/* cron: {x: {schedule: '@daily', type: t, payload: [[[...]]]}}, with so many brackets. */
static void write_nested(size_t brackets)
{
    char text[256] = "cron: {x: {schedule: '@daily', type: t, payload: ";
    size_t length = strlen(text);

    memset(text + length, '[', brackets);
    memset(text + length + brackets, ']', brackets);
    memcpy(text + length + 2 * brackets, "}}\n", sizeof("}}\n"));
    folder_write("jobs.yaml", text);
}

START_TEST(thirty_two_levels_are_deep_enough)
{
    write_nested(29);
    folder_expect("32 levels", "");
    write_nested(30);
    folder_expect("33 levels", "jobs.yaml:1:79: this is nested more than 32 levels deep\n");
}
END_TEST

START_TEST(a_file_of_ten_thousand_brackets_is_refused_quickly)
{
    char *text = malloc(20001);

    memset(text, '[', 20000);
    text[20000] = '\0';
    folder_expect_for("many brackets", text,
                      "jobs.yaml:1:33: this is nested more than 32 levels deep\n");
    free(text);
}
END_TEST

static void write_of_size(size_t size)
{
    char *text = malloc(size + 1);

    memset(text, '#', size);
    text[size] = '\0';
    folder_write("jobs.yaml", text);
    free(text);
}

START_TEST(a_mebibyte_is_large_enough)
{
    write_of_size(YAML_SIZE_MAX);
    folder_expect("1 MiB", "");
    write_of_size(YAML_SIZE_MAX + 1);
    folder_expect("a byte more", "jobs.yaml: the file is larger than 1048576 bytes\n");
}
END_TEST

START_TEST(a_file_full_of_one_key_is_checked_quickly)
{
    FILE *file = fopen("jobs.yaml", "w");

    for (size_t i = 0; i < 60000; i++)
        fprintf(file, "x%zu: 1\n", i);
    for (size_t i = 0; i < 50000; i++)
        fputs("key: 1\n", file);
    fclose(file);

    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};
    const struct config_reader reader = {.use = CONFIG_TO_ASK};
    struct config config;
    ck_assert(!config_load("jobs.yaml", &reader, &config, &diagnostics));
    ck_assert_uint_eq(diagnostics.count + diagnostics.left_out, 60000 + 50000 + 49999);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_named)
{
    folder_expect("none", "jobs.yaml: cannot be opened: No such file or directory\n");
    folder_write("jobs.yaml/x", "");
    folder_expect("a folder", "jobs.yaml: cannot be opened: Is a directory\n");
}
END_TEST

Suite *yaml_tree_suite(void)
{
    Suite *suite = suite_create("config/yaml_tree");
    TCase *tree = tcase_create("tree");

    tcase_add_checked_fixture(tree, folder_setup, folder_teardown);
    tcase_add_loop_test(tree, what_is_not_plain_yaml_is_refused_at_its_place, 0, COUNT_OF(refused));
    tcase_add_loop_test(tree, a_config_may_be_empty, 0, COUNT_OF(empty));
    tcase_add_test(tree, thirty_two_levels_are_deep_enough);
    tcase_add_test(tree, a_file_of_ten_thousand_brackets_is_refused_quickly);
    tcase_add_test(tree, a_mebibyte_is_large_enough);
    tcase_add_test(tree, a_file_full_of_one_key_is_checked_quickly);
    tcase_add_test(tree, a_file_that_cannot_be_read_is_named);
    suite_add_tcase(suite, tree);
    return suite;
}
