/*
 * test_zone_load.c - zones by their names, and files that are not what they should be.
 */
#include "base/zone_load.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "base/tzif.h"
#include "suites.h"
#include "zones.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BERLIN TH_SOURCE_DIR "/tests/fixtures/zoneinfo/Europe/Berlin"

static const struct {
    const char *rule, *name;
} unknown[] = {
    {"nothing", ""},
    {"a misspelt one", "Europe/Berln"},
    {"case matters", "europe/berlin"},
    {"a folder", "Europe"},
    {"a path from the root", "/etc/passwd"},
    {"a way out", "../zoneinfo/Europe/Berlin"},
    {"a way out further back", "Europe/../../cron_oracle.py"},
    {"a dot", "./Europe/Berlin"},
    {"a file that is no zone", "README.md"},
    {"a space", "Europe/Berlin "},
    {"a new line", "Europe/Berlin\n"},
};

START_TEST(a_name_that_is_no_zone_is_not_found)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct zone *zone = NULL;
    struct error err;

    zones_use_fixtures();
    ck_assert_msg(!zone_load(unknown[_i].name, &arena, &zone, &err), "%s", unknown[_i].rule);
    ck_assert_int_eq(err.code, TH_E_NOT_FOUND);
    ck_assert_msg(strstr(err.text, "is not a time zone") != NULL, "%s", err.text);
    ck_assert_ptr_null(zone);
}
END_TEST

START_TEST(a_machine_without_zones_says_what_is_missing)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct zone *zone = NULL;
    struct error err;

    ck_assert_int_eq(setenv("TZDIR", "/nonexistent", 1), 0);
    ck_assert(!zone_load("Europe/Berlin", &arena, &zone, &err));
    ck_assert_str_eq(err.text, "'Europe/Berlin' cannot be looked up: there is no /nonexistent "
                               "(install tzdata)");
    ck_assert(zone_load("UTC", &arena, &zone, &err));
    ck_assert_ptr_eq(zone, &zone_utc);
}
END_TEST

START_TEST(the_machine_itself_has_zones)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct zone *zone = NULL;
    struct error err;

    ck_assert_int_eq(unsetenv("TZDIR"), 0);
    ck_assert_msg(zone_load("Europe/Berlin", &arena, &zone, &err), "%s", err.text);
    ck_assert_str_eq(zone->name, "Europe/Berlin");
}
END_TEST

static void read_berlin(struct buffer *file)
{
    struct error err;

    ck_assert_msg(io_read_file(BERLIN, file, &err), "%s", err.text);
}

static bool parse(const void *data, size_t length)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct zone zone;
    struct error err;

    const bool parsed = tzif_parse((struct bytes){data, length}, &arena, &zone, &err);
    if (!parsed)
        ck_assert_int_eq(err.code, TH_E_INVALID);
    return parsed;
}

/* From memory of its exact size, so that the sanitizer sees every byte too far. */
START_TEST(a_file_that_was_cut_off_is_refused)
{
    CLEANUP(buffer_done) struct buffer file = BUFFER(TZIF_MAX);

    read_berlin(&file);
    ck_assert(parse(file.data, file.length));
    for (size_t length = 0; length < file.length; length++) {
        AUTO_FREE unsigned char *part = malloc(length + (length == 0));

        ck_assert_ptr_nonnull(part);
        memcpy(part, file.data, length);
        ck_assert_msg(!parse(part, length), "%zu bytes", length);
    }
}
END_TEST

/* What is read may be wrong, but reading it ends, and within the file; and so does using it. */
START_TEST(no_damaged_byte_leads_out_of_the_file)
{
    CLEANUP(buffer_done) struct buffer file = BUFFER(TZIF_MAX);
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};

    read_berlin(&file);
    for (size_t i = 0; i < file.length * COUNT_OF(values); i++) {
        CLEANUP(arena_done) struct arena arena = {0};
        const size_t at = i / COUNT_OF(values);
        const char before = file.data[at];
        struct zone zone;
        struct error err;

        file.data[at] = (char)values[i % COUNT_OF(values)];
        if (tzif_parse((struct bytes){(unsigned char *)file.data, file.length}, &arena, &zone,
                       &err))
            ck_assert_int_ne(zone_resolve(&zone, 1900000000).first, 0);
        file.data[at] = before;
    }
}
END_TEST

static const struct {
    const char *rule;
    size_t at;
    unsigned char value;
} damages[] = {
    {"no magic", 0, 'X'},
    {"the first version", 4, 0},
    {"more shifts than allowed", 32, 0xff},
};

START_TEST(a_file_of_another_kind_is_refused)
{
    CLEANUP(buffer_done) struct buffer file = BUFFER(TZIF_MAX);

    read_berlin(&file);
    file.data[damages[_i].at] = (char)damages[_i].value;
    ck_assert_msg(!parse(file.data, file.length), "%s", damages[_i].rule);
}
END_TEST

Suite *zone_load_suite(void)
{
    Suite *suite = suite_create("base/zone_load");
    TCase *name = tcase_create("name");
    TCase *file = tcase_create("file");

    tcase_add_loop_test(name, a_name_that_is_no_zone_is_not_found, 0, COUNT_OF(unknown));
    tcase_add_test(name, a_machine_without_zones_says_what_is_missing);
    tcase_add_test(name, the_machine_itself_has_zones);
    suite_add_tcase(suite, name);

    tcase_add_test(file, a_file_that_was_cut_off_is_refused);
    tcase_add_test(file, no_damaged_byte_leads_out_of_the_file);
    tcase_add_loop_test(file, a_file_of_another_kind_is_refused, 0, COUNT_OF(damages));
    suite_add_tcase(suite, file);
    return suite;
}
