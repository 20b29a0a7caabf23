#include "store/sqlite/file/scratch.h"

#include "base/cleanup.h"
#include "suites.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of this test alone, whatever else runs on the machine. */
static const char *own_name(char name[64], const char *what)
{
    snprintf(name, 64, "test-%d-%s", getpid(), what);
    return name;
}

static void enter(const char *name, struct sqlite_scratch *scratch_out)
{
    struct error err;

    ck_assert_msg(sqlite_scratch_enter(name, scratch_out, &err), "%s", err.text);
}

static bool exists(const char *folder)
{
    return access(folder, F_OK) == 0;
}

START_TEST(a_folder_lives_as_long_as_its_last_user)
{
    struct sqlite_scratch first, second;
    char name[64];

    enter(own_name(name, "shared"), &first);
    enter(name, &second);
    AUTO_FREE char *folder = strdup(first.folder);
    ck_assert_str_eq(first.folder, second.folder);
    sqlite_scratch_leave(&first);
    ck_assert(exists(folder));
    sqlite_scratch_leave(&second);
    ck_assert(!exists(folder));
}
END_TEST

START_TEST(leaving_twice_is_fine)
{
    struct sqlite_scratch scratch;
    char name[64];

    enter(own_name(name, "twice"), &scratch);
    sqlite_scratch_leave(&scratch);
    sqlite_scratch_leave(&scratch);
}
END_TEST

/* Enters and stays until it is killed. */
static pid_t start_user(const char *name)
{
    int ready[2];
    char byte;

    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct sqlite_scratch scratch;
        struct error err;
        bool entered = sqlite_scratch_enter(name, &scratch, &err);
        (void)!write(ready[1], entered ? "y" : "n", 1);
        pause();
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 'y');
    close(ready[0]);
    close(ready[1]);
    return child;
}

/* The folder of this name, which nobody uses any more when this returns. */
static char *folder_of(const char *name)
{
    struct sqlite_scratch scratch;

    enter(name, &scratch);
    char *folder = strdup(scratch.folder);
    sqlite_scratch_leave(&scratch);
    return folder;
}

START_TEST(the_folder_of_a_killed_user_is_swept)
{
    struct sqlite_scratch other;
    char name[64], other_name[64];
    AUTO_FREE char *folder = folder_of(own_name(name, "killed"));
    pid_t child = start_user(name);

    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(exists(folder));
    enter(own_name(other_name, "other"), &other);
    sqlite_scratch_leave(&other);
    ck_assert(!exists(folder));
}
END_TEST

START_TEST(a_folder_left_empty_by_a_user_killed_while_entering_is_swept)
{
    struct sqlite_scratch other;
    char name[64], other_name[64];
    AUTO_FREE char *folder = folder_of(own_name(name, "empty"));

    ck_assert_int_eq(mkdir(folder, 0700), 0);
    enter(own_name(other_name, "other"), &other);
    sqlite_scratch_leave(&other);
    ck_assert(!exists(folder));
}
END_TEST

Suite *scratch_suite(void)
{
    Suite *suite = suite_create("store/scratch");
    TCase *life = tcase_create("life");

    tcase_add_test(life, a_folder_lives_as_long_as_its_last_user);
    tcase_add_test(life, leaving_twice_is_fine);
    tcase_add_test(life, the_folder_of_a_killed_user_is_swept);
    tcase_add_test(life, a_folder_left_empty_by_a_user_killed_while_entering_is_swept);
    suite_add_tcase(suite, life);
    return suite;
}
