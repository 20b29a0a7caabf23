/*
 * plugin_id.h - the plugins of a config: a number for each, as processes tell them apart, and a
 * name, as people do.
 *
 * First pool.middleware in its order, then the handlers in theirs. 0 is no plugin.
 */
#ifndef CONFIG_PLUGIN_ID_H
#define CONFIG_PLUGIN_ID_H

#include "base/base.h"

struct config;
struct handler_config;

#define PLUGIN_NAME_SIZE 64

bool plugin_id_any(const struct config *config);
uint32_t plugin_id_of_middleware(size_t index);
uint32_t plugin_id_of_handler(const struct config *config, const struct handler_config *handler);

/* NULL: there is no such plugin. The number may come from a worker. */
const char *plugin_id_path(const struct config *config, uint32_t id);

/* "thumbnail" of "/srv/libthumbnail.so". Returns `name`. */
const char *plugin_id_name(const char *path, char name[PLUGIN_NAME_SIZE]);

#endif
