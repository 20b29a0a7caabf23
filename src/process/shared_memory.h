/*
 * shared_memory.h - memory that the master maps before it forks, and that the others share.
 */
#ifndef PROCESS_SHARED_MEMORY_H
#define PROCESS_SHARED_MEMORY_H

#include "base/base.h"

struct error;

/* This many bytes in whole pages: what is to be protected by itself lies on pages of its own. */
size_t shared_memory_pages(size_t size);

/* Zeroed; pages that nobody touches take no memory. `what` is for the error: "the scoreboard". */
bool shared_memory_map(size_t size, const char *what, unsigned char **memory_out,
                       struct error *err) MUST_CHECK;

#endif
