/*
 * cleanup.h - release on leaving the scope.
 *
 *     AUTO_FREE char *text = NULL;
 *     AUTO_CLOSE int fd = -1;
 *     CLEANUP(buffer_done) struct buffer line = {0};
 *
 * The function named gets a pointer to the variable. Every such function accepts a zeroed one.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(release) __attribute__((cleanup(release)))

static inline void cleanup_free(void *pointer)
{
    free(*(void **)pointer);
}

static inline void cleanup_close(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

#define AUTO_FREE  CLEANUP(cleanup_free)
#define AUTO_CLOSE CLEANUP(cleanup_close)

#endif
