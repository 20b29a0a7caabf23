/*
 * start_look.h - whether what a handler runs is there, as far as it shows without running it.
 *
 *     command: ./hook.sh --all           the program that the shell is to find
 *     command: [./hook.sh]               the interpreter that its first line, #!, asks for
 *     command: [python3, missing.py]     the script that an interpreter is given
 */
#ifndef WORKER_START_LOOK_H
#define WORKER_START_LOOK_H

#include "base/base.h"

struct command_line;
struct error;

/* `path` is the PATH that it gets, `cwd` its folder. False says what is missing. A program in a
 * list that is missing is not looked for here. */
bool start_look(const struct command_line *line, const char *path, const char *cwd,
                struct error *err) MUST_CHECK;

#endif
