/*
 * exposure.h - files that say what a pool runs, and that others may write.
 *
 * Whoever can write a config, a plugin or a schema decides what runs here, as whoever we are. That
 * is reported, not refused: in a container the files of another user may be just what is wanted.
 */
#ifndef CONFIG_EXPOSURE_H
#define CONFIG_EXPOSURE_H

#include "base/base.h"

#include <sys/stat.h>

struct config;

/* Whether anybody but root and `us` may write it. A group of one's own is common, so a group
 * counts only for root. */
bool exposure_of(const struct stat *file, uid_t us);

/* A plugin or schema of the config that others may write, or NULL. */
const char *exposure_find(const struct config *config);

#endif
