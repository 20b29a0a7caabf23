/*
 * title.h - what ps shows of a process.
 */
#ifndef PROCESS_TITLE_H
#define PROCESS_TITLE_H

#include "base/base.h"

/* Once, first thing in main(): the title is written where the arguments and the environment of this
 * process are, so the environment is moved away. argv is not to be used afterwards, but for
 * pointers that were taken out of it before: they are copied, and *argv_out has the copies. False
 * when out of memory; then titles stay as they are. */
bool title_init(int argc, char **argv, char ***argv_out) MUST_CHECK;

/* "thd: dispatcher"; cut where the room ends. Cheap enough for every job. */
void title_set(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
