/*
 * program_find.h - whether a program is there, and where.
 */
#ifndef WORKER_PROGRAM_FIND_H
#define WORKER_PROGRAM_FIND_H

#include "base/base.h"

struct buffer;

/* 0, or errno for why this file cannot be run. */
int program_why_not(const char *file);

/* The same in words. */
const char *program_complaint(int problem);

/* The file that a name without a slash stands for in `path`, as in PATH. */
bool program_find(const char *name, const char *path, struct buffer *file_out);

#endif
