/*
 * neighbour.h - our own files beside the database: PATH-lock and PATH-bell.
 *
 * Whoever may write the database has to be able to open them, whoever made them: they get its
 * permissions, as SQLite does with PATH-wal and PATH-shm.
 */
#ifndef SQLITE_NEIGHBOUR_H
#define SQLITE_NEIGHBOUR_H

#define NEIGHBOUR_SUFFIX_LENGTH 5 /* of -lock and -bell */

/* For reading and writing, made if need be; -1 with errno when that is not possible. */
int neighbour_open(const char *path);

#endif
