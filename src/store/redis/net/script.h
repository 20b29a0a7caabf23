/*
 * script.h - the scripts of this binary.
 */
#ifndef REDIS_SCRIPT_H
#define REDIS_SCRIPT_H

#include "base/base.h"

#include "redis_scripts.h"

const char *redis_script_text(enum redis_script script);
const char *redis_script_sha(enum redis_script script);

/* One that only reads can be repeated without a doubt. */
bool redis_script_writes(enum redis_script script);

#endif
