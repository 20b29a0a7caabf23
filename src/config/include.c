/*
 * include.c - a config file and all it includes, as one tree.
 *
 * Files are told apart by device and inode, so that a link cannot hide a circle. Every node keeps
 * its own file: relative paths inside it start there.
 */
#include "config/include.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/io.h"
#include "base/text.h"
#include "config/environment.h"
#include "config/exposure.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const included_keys[] = {"queues", "handlers", "cron"};

struct reading {
    struct diagnostics *diagnostics;
    struct node *root; /* of the main file: all others are put into it */
    const struct source *sources[INCLUDE_FILES_MAX];
    size_t count;
};

static bool read_into(struct reading *reading, const struct source *source);

/* The name up to its last slash, the slash included; "" when it has none. */
static size_t folder_length(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? (size_t)(slash + 1 - name) : 0;
}

static const char *find_folder(const char *name, struct arena *arena)
{
    const size_t length = folder_length(name);
    AUTO_FREE char *folder = realpath(length == 0 ? "." : arena_text_of(arena, name, length), NULL);

    return folder ? arena_text(arena, folder) : NULL;
}

/* Some editors put one before UTF-8. */
static struct bytes without_mark(struct bytes text)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t length = sizeof mark - 1;

    if (text.length < length || memcmp(text.data, mark, length) != 0)
        return text;
    return (struct bytes){text.data + length, text.length - length};
}

static bool read_text(int fd, struct source *source, struct arena *arena, struct error *err)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(YAML_SIZE_MAX);

    if (!io_read_all(fd, "the file", &text, err))
        return false;
    const struct bytes read = {(const unsigned char *)buffer_str(&text), text.length};
    source->text = arena_bytes(arena, without_mark(read));
    return !arena->failed || error_no_memory(err);
}

static bool read_source(struct source *source, struct arena *arena, struct error *err)
{
    AUTO_CLOSE int fd = -1;
    struct stat status;

    if (!io_open_regular(source->name, &fd, err))
        return false;
    if (fstat(fd, &status) != 0)
        return error_errno(err, TH_E_INVALID, errno, "cannot be looked at");
    source->device = status.st_dev;
    source->inode = status.st_ino;
    source->exposed = exposure_of(&status, geteuid());
    source->folder = find_folder(source->name, arena);
    if (!source->folder)
        return error_errno(err, TH_E_INVALID, errno, "its folder cannot be found");
    return read_text(fd, source, arena, err);
}

static struct source *new_source(struct reading *reading, const char *name,
                                 const struct source *includer)
{
    struct arena *arena = &reading->diagnostics->arena;
    struct source *source = arena_alloc(arena, sizeof *source);

    if (!source) {
        reading->diagnostics->failed = true;
        return NULL;
    }
    *source = (struct source){
        .name = arena_text(arena, name), .order = reading->count, .includer = includer};
    return source;
}

static bool is_same_file(const struct source *a, const struct source *b)
{
    return a->device == b->device && a->inode == b->inode;
}

static size_t depth_of(const struct source *source)
{
    size_t depth = 0;

    while ((source = source->includer) != NULL)
        depth++;
    return depth;
}

/* A file that includes itself, by however many steps, or one that was read before. */
static bool check_is_new(const struct reading *reading, const struct source *source,
                         struct place place)
{
    for (const struct source *above = source->includer; above; above = above->includer) {
        if (is_same_file(above, source))
            return diagnostics_add(reading->diagnostics, place, "'%s' includes itself",
                                   source->name);
    }
    for (size_t i = 0; i < reading->count; i++) {
        if (is_same_file(reading->sources[i], source))
            return diagnostics_add(reading->diagnostics, place, "'%s' is included twice",
                                   source->name);
    }
    return true;
}

static bool check_room(const struct reading *reading, const struct source *source,
                       struct place place)
{
    if (depth_of(source) > INCLUDE_DEPTH_MAX)
        return diagnostics_add(reading->diagnostics, place,
                               "files include each other more than %d levels deep",
                               INCLUDE_DEPTH_MAX);
    if (reading->count == INCLUDE_FILES_MAX)
        return diagnostics_add(reading->diagnostics, place, "more than %d files are included",
                               INCLUDE_FILES_MAX);
    return true;
}

static void note_source(struct reading *reading, const struct source *source)
{
    reading->sources[reading->count++] = source;
    if (source->exposed && !reading->diagnostics->exposed)
        reading->diagnostics->exposed = source->name;
}

static void include_file(struct reading *reading, const char *name, const struct node *pattern)
{
    struct source *source = new_source(reading, name, pattern->place.source);
    struct error err;

    if (!source || !check_room(reading, source, pattern->place))
        return;
    if (!read_source(source, &reading->diagnostics->arena, &err)) {
        diagnostics_add(reading->diagnostics, pattern->place, "'%s': %s", source->name, err.text);
        return;
    }
    if (!check_is_new(reading, source, pattern->place))
        return;
    note_source(reading, source);
    /* What is wrong inside has been added; the other files may have faults of their own. */
    if (!read_into(reading, source))
        return;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool has_wildcard(const char *pattern)
{
    return strpbrk(pattern, "*?[") != NULL;
}

/* Relative to the file that has it, and shown like that. */
static void add_pattern(struct buffer *out, const struct node *pattern)
{
    const char *includer = pattern->place.source->name;

    if (pattern->text[0] != '/')
        buffer_add(out, includer, folder_length(includer));
    buffer_text(out, pattern->text);
}

static void include_pattern(struct reading *reading, const struct node *pattern)
{
    CLEANUP(buffer_done) struct buffer path = BUFFER(PATH_MAX);
    char shown[EXCERPT_SIZE];
    glob_t found = {0};

    add_pattern(&path, pattern);
    const int result =
        path.failed ? GLOB_NOMATCH : glob(buffer_str(&path), GLOB_NOSORT, NULL, &found);
    if (result == 0) {
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_names);
        for (size_t i = 0; i < found.gl_pathc; i++)
            include_file(reading, found.gl_pathv[i], pattern);
    } else if (result != GLOB_NOMATCH || !has_wildcard(pattern->text)) {
        diagnostics_add(reading->diagnostics, pattern->place, "include: there is no file '%s'",
                        excerpt_of(pattern->text, shown));
    }
    globfree(&found);
}

static void include_one(struct reading *reading, struct node *pattern)
{
    if (pattern->broken)
        return;
    if (pattern->kind == NODE_SCALAR && !text_is_blank(pattern->text)) {
        include_pattern(reading, pattern);
        return;
    }
    pattern->broken = true;
    diagnostics_add(reading->diagnostics, pattern->place,
                    "include: expected the name of a file, such as conf.d/*.yaml");
}

static void follow(struct reading *reading, struct node *include)
{
    if (!include || node_is_null(include))
        return;
    if (include->kind != NODE_LIST)
        include_one(reading, include);
    else
        for (struct node *item = include->first; item; item = item->next)
            include_one(reading, item);
}

static bool is_included_key(const char *key)
{
    for (size_t i = 0; i < COUNT_OF(included_keys); i++) {
        if (text_equal(included_keys[i], key))
            return true;
    }
    return false;
}

/* Puts the members of `from` after those of `into`. */
static void join(struct node *into, const struct node *from)
{
    if (!from->first)
        return;
    if (!into->first)
        into->first = from->first;
    else
        into->last->next = from->first;
    into->last = from->last;
}

static void append(struct node *map, struct node *member)
{
    const struct node one = {.first = member, .last = member};

    member->next = NULL;
    join(map, &one);
}

static void merge_member(struct reading *reading, struct node *member)
{
    struct node *into = node_find(reading->root, member->key->text);
    char shown[EXCERPT_SIZE];

    if (text_equal(member->key->text, "include"))
        return;
    if (!is_included_key(member->key->text))
        diagnostics_add(reading->diagnostics, member->key->place,
                        "an included file may have queues, handlers, cron and include, not '%s'",
                        excerpt_of(member->key->text, shown));
    else if (node_is_null(member))
        return;
    else if (!into)
        append(reading->root, member);
    else if (member->kind != NODE_MAP)
        diagnostics_add(reading->diagnostics, member->place, "%s: expected a map, not %s",
                        member->key->text, node_kind_name(member));
    else {
        if (node_is_null(into))
            into->kind = NODE_MAP;
        if (into->kind == NODE_MAP)
            join(into, member);
    }
}

static void merge(struct reading *reading, const struct node *root)
{
    struct node *next = NULL;

    for (struct node *member = root->first; member; member = next) {
        next = member->next;
        merge_member(reading, member);
    }
}

static bool read_into(struct reading *reading, const struct source *source)
{
    struct node *root = NULL;

    if (!yaml_tree_parse(source, reading->diagnostics, &root))
        return false;
    environment_expand(root, reading->diagnostics);
    struct node *include = node_find(root, "include"); /* merging takes the root apart */
    if (!reading->root)
        reading->root = root;
    else
        merge(reading, root);
    follow(reading, include);
    return true;
}

static void check_files(const struct reading *reading)
{
    for (size_t i = 0; i < COUNT_OF(included_keys); i++) {
        const struct node *map = node_find(reading->root, included_keys[i]);

        if (map && map->kind == NODE_MAP)
            yaml_tree_check_files(map, reading->diagnostics);
    }
}

bool include_read(const char *path, struct diagnostics *diagnostics, struct node **root_out)
{
    struct reading reading = {.diagnostics = diagnostics};
    struct source *source = new_source(&reading, path, NULL);
    struct error err;

    if (!source)
        return false;
    if (!read_source(source, &diagnostics->arena, &err))
        return diagnostics_add(diagnostics, (struct place){source, 0, 0}, "%s", err.text);
    note_source(&reading, source);
    if (!read_into(&reading, source))
        return false;
    check_files(&reading);
    *root_out = reading.root;
    return true;
}
