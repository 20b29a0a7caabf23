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

bool io_write_all(int fd, const void *data, size_t length, struct error *err) MUST_CHECK;

#endif
