/*
 * start_look.c - whether what a handler runs is there.
 *
 * Errs on the side of silence: what cannot be told for certain is left to the start itself.
 */
#include "worker/start_look.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "config/field.h"
#include "worker/program_find.h"
#include "worker/shell_words.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHELL_TEXT     2   /* of /bin/sh -c TEXT */
#define FIRST_LINE_MAX 256 /* as much as the system reads of it */
#define ENV            "env"

/* Programs whose first argument is a file to run. */
static const char *const interpreters[] = {
    "bash", "bun",   "dash",   "ksh",  "lua",     "node", "nodejs", "perl", "php",
    "pypy", "pypy3", "python", "ruby", "Rscript", "sh",   "tclsh",  "zsh",
};

/* With these there is no such file. */
static const char *const texts[] = {"-c", "-e", "-m", "-p", "-r", "-s", "-E", "--eval", "--print"};

/* How the name of such a file may end. */
static const char *const endings[] = {".py", ".rb", ".js",  ".mjs", ".cjs", ".ts",
                                      ".pl", ".sh", ".lua", ".php", ".R",   ".tcl"};

struct look {
    const char *path, *cwd;
    struct error *err;
};

static bool is_among(const char *const *items, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equal(items[i], word))
            return true;
    }
    return false;
}

static const char *name_of(const char *program)
{
    const char *slash = strrchr(program, '/');

    return slash ? slash + 1 : program;
}

/* python3 and python3.11 are python. */
static bool is_interpreter(const char *program)
{
    const char *name = name_of(program);

    if (text_starts_with(name, "python") && strspn(name + 6, "0123456789.") == strlen(name + 6))
        return true;
    return is_among(interpreters, COUNT_OF(interpreters), name);
}

static bool has_ending(const char *word)
{
    const char *dot = strrchr(name_of(word), '.');

    return dot && is_among(endings, COUNT_OF(endings), dot);
}

/* The file that an interpreter is to run; NULL when it cannot be told. What follows an option may
 * be its value. */
static const char *script_of(const char *const *words, size_t count)
{
    if (count < 2 || !is_interpreter(words[0]))
        return NULL;
    if (words[1][0] != '-')
        return words[1];
    for (size_t i = 1; i < count; i++) {
        if (is_among(texts, COUNT_OF(texts), words[i]))
            return NULL;
        if (words[i][0] != '-' && has_ending(words[i]))
            return words[i];
    }
    return NULL;
}

static void add_file(struct buffer *file, const char *name, const char *cwd)
{
    if (name[0] != '/')
        buffer_printf(file, "%s/", cwd);
    while (text_starts_with(name, "./"))
        name += 2;
    buffer_text(file, name);
}

static bool look_at_script(const struct look *look, const char *const *words, size_t count)
{
    CLEANUP(buffer_done) struct buffer file = BUFFER(PATH_MAX);
    const char *script = script_of(words, count);
    struct stat status;

    if (!script)
        return true;
    add_file(&file, script, look->cwd);
    if (file.failed || stat(buffer_str(&file), &status) == 0)
        return true;
    return error_set(look->err, TH_E_INVALID,
                     "there is no %s for %s to run (relative files start at cwd)",
                     buffer_str(&file), name_of(words[0]));
}

/* The words after #!; false when the file does not begin with that. */
static bool read_first_line(const char *file, struct arena *arena, const char **line_out)
{
    char line[FIRST_LINE_MAX];
    AUTO_CLOSE int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof line);

    if (length < 2 || line[0] != '#' || line[1] != '!')
        return false;
    const char *end = memchr(line, '\n', (size_t)length);
    *line_out = arena_text_of(arena, line + 2, end ? (size_t)(end - line - 2) : (size_t)length - 2);
    return true;
}

static bool is_env(const char *interpreter)
{
    return text_equal(name_of(interpreter), ENV);
}

/* `line`: an interpreter, and what it is given. */
static bool look_at_interpreter(const struct look *look, const char *file, const char *line,
                                struct arena *arena)
{
    CLEANUP(buffer_done) struct buffer found = BUFFER(PATH_MAX);
    char shown[EXCERPT_SIZE];

    line += strspn(line, " \t");
    if (strchr(line, '\r'))
        return error_set(
            look->err, TH_E_INVALID,
            "%s: its first line ends in a carriage return: save it with Unix line ends", file);
    const size_t length = strcspn(line, " \t");
    const char *interpreter = arena_text_of(arena, line, length);
    const char *rest = line + length + strspn(line + length, " \t");
    const int problem = program_why_not(interpreter);
    if (problem != 0)
        return error_set(look->err, TH_E_INVALID, "%s: its first line asks for %s: %s", file,
                         excerpt_of(interpreter, shown), program_complaint(problem));
    const char *name = arena_text_of(arena, rest, strcspn(rest, " \t"));
    if (!is_env(interpreter) || name[0] == '-' || name[0] == '\0' || strpbrk(name, "=/"))
        return true;
    return program_find(name, look->path, &found) ||
           error_set(look->err, TH_E_INVALID, "%s: its first line asks for %s, which is not in %s",
                     file, excerpt_of(name, shown), look->path);
}

/* `file` can be executed. */
static bool look_at_file(const struct look *look, const char *file)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const char *line = NULL;

    return !read_first_line(file, &arena, &line) || look_at_interpreter(look, file, line, &arena);
}

/* Where a program is. False: nowhere, for the reason given. */
static bool locate(const struct look *look, const char *program, struct buffer *file)
{
    char shown[EXCERPT_SIZE];

    if (!strchr(program, '/'))
        return program_find(program, look->path, file) ||
               error_set(look->err, TH_E_INVALID, "there is no program '%s' in %s",
                         excerpt_of(program, shown), look->path);
    add_file(file, program, look->cwd);
    const int problem = program_why_not(buffer_str(file));
    return problem == 0 || error_set(look->err, TH_E_INVALID, "%s: %s", buffer_str(file),
                                     program_complaint(problem));
}

static bool look_at_text(const struct look *look, const char *text)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer file = BUFFER(PATH_MAX);
    const struct shell_words words = shell_words_read(text, &arena);

    return words.count == 0 ||
           (locate(look, words.items[0], &file) && look_at_file(look, buffer_str(&file)) &&
            look_at_script(look, words.items, words.count));
}

static bool look_at_list(const struct look *look, const struct command_line *line)
{
    CLEANUP(buffer_done) struct buffer file = BUFFER(PATH_MAX);
    size_t first = 0;

    if (!locate(look, line->argv[0], &file))
        return true;
    if (!look_at_file(look, buffer_str(&file)))
        return false;
    if (is_env(line->argv[0]) && line->count > 1)
        first = 1;
    return look_at_script(look, line->argv + first, line->count - first);
}

bool start_look(const struct command_line *line, const char *path, const char *cwd,
                struct error *err)
{
    const struct look look = {path, cwd, err};

    return line->shell ? look_at_text(&look, line->argv[SHELL_TEXT]) : look_at_list(&look, line);
}
