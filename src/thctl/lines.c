/*
 * lines.c - a file read line by line, more than once.
 */
#include "thctl/lines.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_block(struct lines *lines, struct error *err)
{
    ssize_t count;

    do {
        count = read(lines->fd, lines->block, LINES_BLOCK);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
        return error_errno(err, TH_E_INVALID, errno, "read %s", lines->name);
    lines->at = 0;
    lines->filled = (size_t)count;
    return true;
}

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return !folder || folder[0] == '\0' ? "/tmp" : folder;
}

/* A file that nobody else can open, gone when we are. */
static int open_temporary(const char *folder)
{
    char path[4096];

    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    if ((size_t)snprintf(path, sizeof path, "%s/thctl-XXXXXX", folder) >= sizeof path)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* What cannot be read twice moves to a file that can. */
static bool spool(struct lines *lines, struct error *err)
{
    const char *folder = temporary_folder();
    AUTO_CLOSE int copy = open_temporary(folder);

    if (copy < 0)
        return error_errno(err, TH_E_INVALID, errno, "temporary file for %s in %s", lines->name,
                           folder);
    for (;;) {
        if (!read_block(lines, err))
            return false;
        if (lines->filled == 0)
            break;
        if (!io_write_all(copy, lines->block, lines->filled, err)) {
            err->code = TH_E_INVALID;
            return error_prefix(err, "temporary file for %s in %s", lines->name, folder);
        }
    }
    if (dup3(copy, lines->fd, O_CLOEXEC) < 0)
        return error_errno(err, TH_E_INVALID, errno, "temporary file for %s", lines->name);
    return true;
}

static bool take_hold(struct lines *lines, struct error *err)
{
    struct stat *seen = &lines->seen;

    if (fstat(lines->fd, seen) != 0)
        return error_errno(err, TH_E_INVALID, errno, "open %s", lines->name);
    if (S_ISDIR(seen->st_mode))
        return error_set(err, TH_E_INVALID, "open %s: it is a folder", lines->name);
    lines->start = S_ISREG(seen->st_mode) ? lseek(lines->fd, 0, SEEK_CUR) : -1;
    if (lines->start >= 0)
        return true;
    if (!spool(lines, err))
        return false;
    lines->start = 0;
    if (fstat(lines->fd, seen) != 0)
        return error_errno(err, TH_E_INVALID, errno, "temporary file for %s", lines->name);
    return true;
}

bool lines_open(struct lines *lines, const char *path, struct error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;

    *lines = (struct lines){.name = is_stdin ? "stdin" : path, .fd = -1, .end = '\n'};
    lines->block = malloc(LINES_BLOCK);
    if (!lines->block)
        return error_no_memory(err);
    lines->fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                         : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (lines->fd < 0)
        return error_errno(err, TH_E_INVALID, errno, "open %s", lines->name);
    return take_hold(lines, err) && lines_rewind(lines, err);
}

bool lines_rewind(struct lines *lines, struct error *err)
{
    lines->at = lines->filled = 0;
    lines->number = 0;
    lines->read = 0;
    if (lseek(lines->fd, lines->start, SEEK_SET) < 0)
        return error_errno(err, TH_E_INVALID, errno, "rewind %s", lines->name);
    return true;
}

bool lines_next(struct lines *lines, struct buffer *line, bool *found_out, struct error *err)
{
    *found_out = false;
    buffer_clear(line);
    for (;;) {
        if (lines->at == lines->filled && !read_block(lines, err))
            return false;
        if (lines->filled == 0)
            break;
        const unsigned char *rest = lines->block + lines->at;
        const unsigned char *end = memchr(rest, lines->end, lines->filled - lines->at);
        size_t length = end ? (size_t)(end - rest) : lines->filled - lines->at;

        buffer_add(line, rest, length);
        lines->at += length + (end != NULL);
        lines->read += length + (end != NULL);
        *found_out = true;
        if (end)
            break;
    }
    lines->number += *found_out;
    return true;
}

bool lines_check_same(const struct lines *lines, struct error *err)
{
    struct stat now;

    if (fstat(lines->fd, &now) != 0)
        return error_errno(err, TH_E_INVALID, errno, "look at %s", lines->name);
    if (now.st_size != lines->seen.st_size || now.st_mtim.tv_sec != lines->seen.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != lines->seen.st_mtim.tv_nsec)
        return error_set(err, TH_E_INVALID, "%s was changed while it was being read", lines->name);
    return true;
}

uint64_t lines_size(const struct lines *lines)
{
    off_t size = lines->seen.st_size - lines->start;

    return size > 0 ? (uint64_t)size : 0;
}

void lines_done(struct lines *lines)
{
    if (lines->fd >= 0 && lines->block)
        close(lines->fd);
    free(lines->block);
    *lines = (struct lines){.fd = -1};
}
