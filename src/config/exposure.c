/*
 * exposure.c - owners and permissions of what the config names.
 */
#include "config/exposure.h"

#include "config/config.h"

#include <unistd.h>

bool exposure_of(const struct stat *file, uid_t us)
{
    if (file->st_uid != us && file->st_uid != 0)
        return true;
    if ((file->st_mode & S_IWOTH) != 0)
        return true;
    return us == 0 && (file->st_mode & S_IWGRP) != 0 && file->st_gid != 0;
}

static bool is_exposed(const char *path)
{
    struct stat found;

    return path && stat(path, &found) == 0 && exposure_of(&found, geteuid());
}

const char *exposure_find(const struct config *config)
{
    const struct text_list *middleware = &config->pool.middleware;

    for (size_t i = 0; i < middleware->count; i++) {
        if (is_exposed(middleware->items[i]))
            return middleware->items[i];
    }
    for (size_t i = 0; i < config->handler_count; i++) {
        const struct handler_config *handler = &config->handlers[i];

        if (is_exposed(handler->plugin))
            return handler->plugin;
        if (is_exposed(handler->schema))
            return handler->schema;
    }
    return NULL;
}
