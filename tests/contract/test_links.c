/*
 * test_links.c - the SQLite file in a folder that somebody else may write: links that lead to other
 * people's files, files of strangers, and who may read what we make.
 *
 * What root does there is the worst case, so most of it is seen only by root.
 */
#include "contract.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "scene.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERVICE  ((uid_t)65534) /* who the folder and the database belong to */
#define STRANGER ((uid_t)65533)
#define SECRET   "not yours\n"
#define NAME_MAX 128

static const char *const suffixes[] = {"-journal", "-wal", "-shm", "-lock", "-bell"};

struct place {
    char folder[32];
    char precious[NAME_MAX]; /* a file of ours, outside of the database's folder */
    char database[NAME_MAX];
    char url[NAME_MAX + 8];
};

static bool has_file(void)
{
    return scene_backend()->backdoor == &sqlite_backdoor && !scene_backend()->fleeting;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    struct error err = {0};

    ck_assert_int_ge(fd, 0);
    MUST(io_write_all(fd, text, strlen(text), &err));
    close(fd);
}

static struct place place_new(void)
{
    struct place place = {.folder = "/tmp/th-links-XXXXXX"};
    char inside[NAME_MAX];

    ck_assert_ptr_nonnull(mkdtemp(place.folder));
    snprintf(inside, sizeof inside, "%s/service", place.folder);
    ck_assert_int_eq(mkdir(inside, 0755), 0);
    if (geteuid() == 0)
        ck_assert_int_eq(chown(inside, SERVICE, SERVICE), 0);
    snprintf(place.precious, sizeof place.precious, "%s/precious", place.folder);
    write_file(place.precious, SECRET, 0600);
    snprintf(place.database, sizeof place.database, "%s/service/jobs.db", place.folder);
    snprintf(place.url, sizeof place.url, "sqlite:%s", place.database);
    return place;
}

static void place_done(struct place *place)
{
    backend_remove_tree(place->folder);
}

static void beside(const struct place *place, const char *suffix, char path[NAME_MAX + 16])
{
    snprintf(path, NAME_MAX + 16, "%s%s", place->database, suffix);
}

static struct store *open_here(const struct place *place)
{
    const struct store_options options = {.migrate = true};
    struct store *store = NULL;
    struct error err = {0};

    MUST(store_open(place->url, &options, &store, &err));
    return store;
}

static void enqueue_here(struct store *store)
{
    struct job job = job_defaults();
    struct uuid_maker ids = {0};
    struct enqueued enqueued;
    struct error err = {0};

    job.id = uuid_make(&ids, NOW);
    job.type = "work";
    MUST(store_enqueue(store, &job, 1, NOW, &enqueued, &err));
}

/* A database that the service made, and that nobody uses just now. */
static void make_database(const struct place *place)
{
    struct store *store = open_here(place);
    char path[NAME_MAX + 16];

    enqueue_here(store);
    store_close(&store);
    for (size_t i = 0; geteuid() == 0 && i < COUNT_OF(suffixes); i++) {
        beside(place, suffixes[i], path);
        ck_assert(access(path, F_OK) != 0 || chown(path, SERVICE, SERVICE) == 0);
    }
    if (geteuid() == 0)
        ck_assert_int_eq(chown(place->database, SERVICE, SERVICE), 0);
}

static void assert_refused(const struct place *place, const char *says)
{
    const struct store_options options = {.migrate = true};
    struct store *store = NULL;
    struct error err = {0};

    MUST_FAIL(TH_E_UNAVAILABLE, store_open(place->url, &options, &store, &err));
    ck_assert_msg(strstr(err.text, says) != NULL, "'%s' does not say '%s'", err.text, says);
}

static void assert_untouched(const struct place *place)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(NAME_MAX);
    struct error err = {0};
    struct stat found;

    MUST(io_read_file(place->precious, &text, &err));
    ck_assert_str_eq(buffer_str(&text), SECRET);
    ck_assert_int_eq(stat(place->precious, &found), 0);
    ck_assert_uint_eq(found.st_uid, geteuid());
    ck_assert_uint_eq(found.st_mode & 0777, 0600);
}

/* ---- links ---- */

START_TEST(a_link_beside_the_file_does_not_give_another_file_away)
{
    if (!has_file())
        return;
    CLEANUP(place_done) struct place place = place_new();
    char path[NAME_MAX + 16];

    make_database(&place);
    beside(&place, suffixes[_i], path);
    (void)unlink(path);
    ck_assert_int_eq(symlink(place.precious, path), 0);
    assert_refused(&place, "is a symbolic link");
    assert_untouched(&place);

    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(link(place.precious, path), 0);
    assert_refused(&place, "has a second name");
    assert_untouched(&place);

    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    assert_refused(&place, "is no regular file");
}
END_TEST

/* The file is looked at when it is opened, which for the bell is after the first commit. */
START_TEST(a_link_that_is_made_after_the_look_is_not_followed)
{
    if (!has_file())
        return;
    CLEANUP(place_done) struct place place = place_new();
    char path[NAME_MAX + 16];

    make_database(&place);
    for (int hard = 0; hard < 2; hard++) {
        struct store *store = open_here(&place);

        beside(&place, "-bell", path);
        (void)unlink(path);
        ck_assert_int_eq((hard ? link : symlink)(place.precious, path), 0);
        enqueue_here(store);
        store_close(&store);
        assert_untouched(&place);
        ck_assert_int_eq(unlink(path), 0);
    }
}
END_TEST

START_TEST(a_lock_that_is_a_link_is_not_taken)
{
    if (!has_file())
        return;
    CLEANUP(place_done) struct place place = place_new();
    struct job job = job_defaults();
    char path[NAME_MAX + 16];
    struct enqueued enqueued;
    struct error err = {0};

    make_database(&place);
    struct store *store = open_here(&place);
    beside(&place, "-lock", path);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink(place.precious, path), 0);
    job.id = uuid_make(&(struct uuid_maker){0}, NOW);
    job.type = "work";
    MUST_FAIL(TH_E_UNAVAILABLE, store_enqueue(store, &job, 1, NOW, &enqueued, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "is a symbolic link"));
    assert_untouched(&place);
    store_close(&store);
}
END_TEST

START_TEST(a_link_in_place_of_the_file_does_not_lead_to_another_users_file)
{
    if (!has_file() || geteuid() != 0)
        return;
    CLEANUP(place_done) struct place place = place_new();

    ck_assert_int_eq(symlink(place.precious, place.database), 0);
    ck_assert_int_eq(lchown(place.database, SERVICE, SERVICE), 0);
    assert_refused(&place, "the symbolic link of one user to the file of another");
    assert_untouched(&place);

    ck_assert_int_eq(unlink(place.precious), 0);
    assert_refused(&place, "a link to a file that is not there");
    ck_assert_int_ne(access(place.precious, F_OK), 0);
}
END_TEST

START_TEST(a_file_with_a_second_name_is_not_used)
{
    if (!has_file())
        return;
    CLEANUP(place_done) struct place place = place_new();
    char second[NAME_MAX + 16];

    make_database(&place);
    beside(&place, "-second", second);
    ck_assert_int_eq(link(place.database, second), 0);
    assert_refused(&place, "has a second name");
    ck_assert_int_eq(unlink(second), 0);
    struct store *store = open_here(&place);
    store_close(&store);
}
END_TEST

/* ---- owners and permissions ---- */

START_TEST(a_file_of_a_stranger_beside_ours_is_not_used)
{
    if (!has_file() || geteuid() != 0)
        return;
    CLEANUP(place_done) struct place place = place_new();
    char path[NAME_MAX + 16];

    make_database(&place);
    beside(&place, "-lock", path);
    ck_assert_int_eq(chown(path, STRANGER, STRANGER), 0);
    assert_refused(&place, "belongs to a user who may not write the database");
    /* One who may write the database may have been the first to need it. */
    ck_assert_int_eq(chmod(place.database, 0660), 0);
    struct store *store = open_here(&place);
    enqueue_here(store);
    store_close(&store);
}
END_TEST

static struct stat stat_beside(const struct place *place, const char *suffix)
{
    char path[NAME_MAX + 16];
    struct stat found;

    beside(place, suffix, path);
    ck_assert_msg(stat(path, &found) == 0, "there is no %s", path);
    return found;
}

START_TEST(what_we_make_is_read_by_its_owner_alone)
{
    static const char *const made[] = {"", "-wal", "-shm", "-lock", "-bell"};
    if (!has_file())
        return;
    CLEANUP(place_done) struct place place = place_new();
    mode_t before = umask(0);
    struct store *store = open_here(&place);

    enqueue_here(store);
    for (size_t i = 0; i < COUNT_OF(made); i++)
        ck_assert_uint_eq(stat_beside(&place, made[i]).st_mode & 0777, 0600);
    store_close(&store);
    umask(before);
}
END_TEST

/* Otherwise a group that may write the database still could not take its turn, and a reader could
 * hold the turn for ever. */
static const struct {
    mode_t database, neighbour;
} modes[] = {{0600, 0600}, {0644, 0600}, {0660, 0660}, {0664, 0660}, {0666, 0666}, {0640, 0600}};

START_TEST(whoever_may_write_the_file_and_nobody_else_may_open_its_lock_and_its_bell)
{
    static const char *const made[] = {"-lock", "-bell"};
    if (!has_file())
        return;
    CLEANUP(place_done) struct place place = place_new();
    char path[NAME_MAX + 16];

    make_database(&place);
    ck_assert_int_eq(chmod(place.database, modes[_i].database), 0);
    for (size_t i = 0; i < COUNT_OF(made); i++) {
        beside(&place, made[i], path);
        ck_assert_int_eq(unlink(path), 0);
    }
    struct store *store = open_here(&place);
    enqueue_here(store);
    store_close(&store);
    for (size_t i = 0; i < COUNT_OF(made); i++) {
        struct stat found = stat_beside(&place, made[i]);

        ck_assert_uint_eq(found.st_mode & 0777, modes[_i].neighbour);
        ck_assert_uint_eq(found.st_uid, geteuid() == 0 ? SERVICE : geteuid());
    }
}
END_TEST

START_TEST(what_is_there_keeps_its_owner_and_its_permissions)
{
    if (!has_file())
        return;
    CLEANUP(place_done) struct place place = place_new();
    char path[NAME_MAX + 16];

    make_database(&place);
    ck_assert_int_eq(chmod(place.database, 0660), 0);
    beside(&place, "-bell", path);
    if (geteuid() == 0)
        ck_assert_int_eq(chown(path, STRANGER, STRANGER), 0);
    const struct stat before = stat_beside(&place, "-bell");
    struct store *store = open_here(&place);
    enqueue_here(store);
    store_close(&store);
    const struct stat after = stat_beside(&place, "-bell");
    ck_assert_uint_eq(after.st_mode, before.st_mode);
    ck_assert_uint_eq(after.st_uid, before.st_uid);
}
END_TEST

START_TEST(a_folder_that_everybody_may_write_is_told)
{
    static const struct {
        mode_t mode;
        bool told;
    } folders[] = {{0700, false}, {0775, false}, {01777, false}, {0777, true}};
    if (!has_file())
        return;
    CLEANUP(place_done) struct place place = place_new();
    char folder[NAME_MAX], text[STORE_DURABILITY_SIZE];
    struct store *store = open_here(&place);
    struct error err = {0};
    bool is_safe;

    snprintf(folder, sizeof folder, "%s/service", place.folder);
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        ck_assert_int_eq(chmod(folder, folders[i].mode), 0);
        MUST(store_durability(store, text, &is_safe, &err));
        ck_assert_int_eq(!is_safe, folders[i].told);
        ck_assert_int_eq(strstr(text, "everybody may write the folder") != NULL, folders[i].told);
    }
    store_close(&store);
}
END_TEST

Suite *links_suite(void)
{
    Suite *suite = suite_create("links");
    TCase *links = contract_group(suite, "links");
    TCase *owners = contract_group(suite, "owners");

    tcase_add_loop_test(links, a_link_beside_the_file_does_not_give_another_file_away, 0,
                        COUNT_OF(suffixes));
    tcase_add_test(links, a_link_that_is_made_after_the_look_is_not_followed);
    tcase_add_test(links, a_lock_that_is_a_link_is_not_taken);
    tcase_add_test(links, a_link_in_place_of_the_file_does_not_lead_to_another_users_file);
    tcase_add_test(links, a_file_with_a_second_name_is_not_used);
    tcase_add_test(owners, a_file_of_a_stranger_beside_ours_is_not_used);
    tcase_add_test(owners, what_we_make_is_read_by_its_owner_alone);
    tcase_add_loop_test(owners,
                        whoever_may_write_the_file_and_nobody_else_may_open_its_lock_and_its_bell,
                        0, COUNT_OF(modes));
    tcase_add_test(owners, what_is_there_keeps_its_owner_and_its_permissions);
    tcase_add_test(owners, a_folder_that_everybody_may_write_is_told);
    return suite;
}
