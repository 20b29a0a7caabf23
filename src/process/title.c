/*
 * title.c - what ps shows of a process.
 *
 * The kernel shows the memory in which it put the arguments of a process; after them it put the
 * environment. Whoever moves both away may write there. A title longer than the arguments were is
 * shown too: the kernel takes a missing NUL at their end for one, and reads on in the environment.
 */
#include "process/title.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* There is one such place in a process, as there is one argv and one environ. */
static struct {
    char *room; /* NULL: titles stay as they are */
    size_t size;
    size_t used;  /* bytes from the start that may not be NUL */
    char *copies; /* the texts that argv and environ point to now; kept until the end */
    char **argv, **environment;
} title;

static size_t count_texts(char *const *texts)
{
    size_t count = 0;

    while (texts && texts[count])
        count++;
    return count;
}

static size_t total_size(char *const *texts, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += strlen(texts[i]) + 1;
    return size;
}

/* Where the texts end that lie one after the other from `end` on. */
static char *end_of_row(char *end, char *const *texts, size_t count)
{
    for (size_t i = 0; i < count && texts[i] == end; i++)
        end += strlen(texts[i]) + 1;
    return end;
}

/* Returns where the next copy goes. */
static char *copy_texts(char *const *texts, size_t count, char **copies_out, char *at)
{
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(texts[i]) + 1;

        copies_out[i] = memcpy(at, texts[i], size);
        at += size;
    }
    return at;
}

/* The C library keeps pointers into argv[0], and shows them when an assert() fails. */
static void move_program_name(const char *name)
{
    char *slash = strrchr(name, '/');

    program_invocation_name = (char *)name;
    program_invocation_short_name = slash ? slash + 1 : (char *)name;
}

static bool allocate_copies(size_t argc, size_t variables, char *const *argv)
{
    title.copies = malloc(total_size(argv, argc) + total_size(environ, variables) + 1);
    title.argv = calloc(argc + 1, sizeof *title.argv);
    title.environment = calloc(variables + 1, sizeof *title.environment);
    if (title.copies && title.argv && title.environment)
        return true;
    free(title.copies);
    free(title.argv);
    free(title.environment);
    return false;
}

bool title_init(int argc, char **argv, char ***argv_out)
{
    const size_t count = (size_t)argc, variables = count_texts(environ);

    if (!allocate_copies(count, variables, argv))
        return false;
    char *at = copy_texts(argv, count, title.argv, title.copies);
    copy_texts(environ, variables, title.environment, at);
    if (count > 0) {
        title.room = argv[0];
        char *end = end_of_row(argv[0], argv, count);
        end = end_of_row(end, environ, variables);
        title.size = (size_t)(end - argv[0]);
        title.used = title.size;
        move_program_name(title.argv[0]);
    }
    environ = title.environment;
    *argv_out = title.argv;
    return true;
}

void title_set(const char *format, ...)
{
    va_list arguments;

    if (!title.room)
        return;
    va_start(arguments, format);
    const int length = vsnprintf(title.room, title.size, format, arguments);
    va_end(arguments);

    const size_t written = length < 0 ? 0 : (size_t)length;
    const size_t used = written < title.size ? written : title.size - 1;
    if (title.used > used)
        memset(title.room + used, 0, title.used - used);
    title.used = used;
}
