/*
 * confine.h - what a process that reads foreign bytes may still ask of the kernel.
 *
 * Whoever takes such a process over finds the descriptors that it has, memory, and its own end: no
 * file, no new socket but those it accepts, no program, no signal to others, no memory that can be
 * executed. A call that is not in the table ends the process with SIGSYS, and the master starts the
 * next one.
 *
 * Under the sanitizers there is no filter: their reports open files and start programs.
 * tests/confined/ is built without them.
 */
#ifndef PROCESS_CONFINE_H
#define PROCESS_CONFINE_H

#include "base/base.h"

struct error;

/* For good, for this process and all that it could fork. All that it opens comes before. */
bool confine_enter(struct error *err) MUST_CHECK;

#endif
