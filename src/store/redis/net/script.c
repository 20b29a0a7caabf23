/*
 * script.c - their texts, as scripts/embed-lua has put them together.
 */
#define REDIS_SCRIPTS
#include "store/redis/net/script.h"

const char *redis_script_text(enum redis_script script)
{
    return redis_scripts[script].text;
}

const char *redis_script_sha(enum redis_script script)
{
    return redis_scripts[script].sha;
}

bool redis_script_writes(enum redis_script script)
{
    return redis_scripts[script].writes;
}
