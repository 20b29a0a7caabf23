/*
 * memory_file.h - a text too long for a message, in a sealed memfd that goes along with it.
 *
 * So a socket's buffer holds many messages whatever their texts are.
 */
#ifndef PROCESS_MEMORY_FILE_H
#define PROCESS_MEMORY_FILE_H

#include "base/base.h"

struct arena;
struct error;

#define MEMORY_FILE_FROM ((size_t)16 * 1024) /* texts that are longer go into one */

/* `what` it has, for the error and for whoever looks at our descriptors: "payload". *fd_out is the
 * caller's, even after an error. */
bool memory_file_make(const char *what, struct bytes text, int *fd_out,
                      struct error *err) MUST_CHECK;

/* What is not sealed, or not exactly this long, is refused: reading it might never end. The text
 * lies in the arena, followed by a NUL. */
bool memory_file_read(const char *what, int fd, uint64_t length, struct arena *arena,
                      struct bytes *text_out, struct error *err) MUST_CHECK;

#endif
