/*
 * neighbour.h - our own files beside the database: PATH-lock and PATH-bell.
 *
 * Whoever may write the database has to be able to open them, whoever made them: they are made
 * with its owner, and for those who may write it. Whoever may only read the database gets nothing:
 * a lock can be held by whoever can open the file. One that is there already is never changed, and
 * is used only if it can be ours: see file.h.
 */
#ifndef SQLITE_NEIGHBOUR_H
#define SQLITE_NEIGHBOUR_H

#include "base/base.h"
#include "base/error.h"

#include <sys/types.h>

#define NEIGHBOUR_SUFFIX_LENGTH 5 /* of -lock and -bell */

/* For reading and writing, made if need be. */
bool sqlite_neighbour_open(const char *path, int *fd_out, struct error *err) MUST_CHECK;

/* The permissions of a neighbour, by those of the database. */
mode_t sqlite_neighbour_mode(mode_t database);

#endif
