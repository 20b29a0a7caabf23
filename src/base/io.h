/*
 * io.h - reading and writing all of it.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "base/base.h"

struct buffer;
struct error;

/* Up to the end of the file, which must fit the buffer's limit. `name` is for messages. */
bool io_read_all(int fd, const char *name, struct buffer *buffer, struct error *err) MUST_CHECK;
bool io_read_file(const char *path, struct buffer *buffer, struct error *err) MUST_CHECK;

/* For files that are named somewhere, not given by somebody who waits for us: only a regular file
 * is opened, because a FIFO or a device could keep us waiting. *fd_out is the caller's to close.
 * The text of a failure to open has no path, that of a failure to read has. */
bool io_open_regular(const char *path, int *fd_out, struct error *err) MUST_CHECK;
bool io_read_regular(const char *path, struct buffer *buffer, struct error *err) MUST_CHECK;

bool io_write_all(int fd, const void *data, size_t length, struct error *err) MUST_CHECK;

#endif
