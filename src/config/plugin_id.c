/*
 * plugin_id.c - the plugins of a config: a number for each, and a name.
 */
#include "config/plugin_id.h"

#include "base/text.h"
#include "config/config.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "lib"
#define SUFFIX ".so"

bool plugin_id_any(const struct config *config)
{
    for (size_t i = 0; i < config->handler_count; i++) {
        if (config->handlers[i].plugin)
            return true;
    }
    return config->pool.middleware.count > 0;
}

uint32_t plugin_id_of_middleware(size_t index)
{
    return (uint32_t)index + 1;
}

uint32_t plugin_id_of_handler(const struct config *config, const struct handler_config *handler)
{
    return (uint32_t)(config->pool.middleware.count + (size_t)(handler - config->handlers) + 1);
}

const char *plugin_id_path(const struct config *config, uint32_t id)
{
    const size_t index = (size_t)id - 1;
    const size_t first = config->pool.middleware.count;

    if (id == 0 || index >= first + config->handler_count)
        return NULL;
    return index < first ? config->pool.middleware.items[index]
                         : config->handlers[index - first].plugin;
}

const char *plugin_id_name(const char *path, char name[PLUGIN_NAME_SIZE])
{
    const char *slash = strrchr(path, '/');
    const char *start = slash ? slash + 1 : path;

    if (text_starts_with(start, PREFIX))
        start += strlen(PREFIX);
    const char *suffix = strstr(start, SUFFIX);
    const size_t length = suffix && suffix > start ? (size_t)(suffix - start) : strlen(start);
    snprintf(name, PLUGIN_NAME_SIZE, "%.*s", (int)length, start);
    return name;
}
