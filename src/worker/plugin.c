/*
 * plugin.c - a shared object that exports a descriptor: loads it, and looks whether it fits.
 */
#include "worker/plugin.h"

#include "base/error.h"
#include "base/text.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define SYMBOL      "th_plugin"
#define MAJOR(abi)  ((abi) >> 16)
#define MINOR(abi)  ((abi)&0xffffu)
#define EXACT_MATCH INT_MAX

/* What the first ABI version had; members that came later follow it. */
#define SIZE_MIN sizeof(struct th_plugin)

static bool check_handlers(const struct th_plugin *plugin, struct error *err)
{
    if (plugin->handler_count > 0 && !plugin->handlers)
        return error_set(err, TH_E_INVALID, "its descriptor has no handlers where it says so");
    for (size_t i = 0; i < plugin->handler_count; i++) {
        const struct th_handler *handler = &plugin->handlers[i];

        if (text_is_blank(handler->type) || !handler->function)
            return error_set(err, TH_E_INVALID, "handler %zu of %zu has no type or no function",
                             i + 1, plugin->handler_count);
    }
    if (plugin->handler_count == 0 && !plugin->middleware)
        return error_set(err, TH_E_INVALID, "it has neither handlers nor middleware");
    return true;
}

bool plugin_check(const struct th_plugin *plugin, struct error *err)
{
    if (plugin->magic != TH_PLUGIN_MAGIC)
        return error_set(err, TH_E_INVALID, "its %s is not the descriptor of a plugin", SYMBOL);
    if (MAJOR(plugin->abi) != TH_PLUGIN_ABI_MAJOR || MINOR(plugin->abi) > TH_PLUGIN_ABI_MINOR)
        return error_set(
            err, TH_E_INVALID, "built for plugin ABI %u.%u, and this thd has %u.%u: build it again",
            MAJOR(plugin->abi), MINOR(plugin->abi), TH_PLUGIN_ABI_MAJOR, TH_PLUGIN_ABI_MINOR);
    if (plugin->size < SIZE_MIN)
        return error_set(err, TH_E_INVALID, "its descriptor has %zu bytes instead of %zu",
                         plugin->size, SIZE_MIN);
    return check_handlers(plugin, err);
}

bool plugin_load(const char *path, const struct th_plugin **plugin_out, struct error *err)
{
    struct stat status;

    /* dlopen() would wait for somebody to write into a FIFO. */
    if (!stat(path, &status) && !S_ISREG(status.st_mode))
        return error_set(err, TH_E_INVALID, "%s: it is not a regular file", path);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return error_set(err, TH_E_UNAVAILABLE, "%s", dlerror());
    *plugin_out = dlsym(object, SYMBOL);
    if (*plugin_out ? plugin_check(*plugin_out, err)
                    : error_set(err, TH_E_INVALID, "no plugin: it exports no %s", SYMBOL))
        return true;
    dlclose(object);
    return error_prefix(err, "%s", path);
}

/* How well it fits: the length of the prefix, -1 for not at all. */
static int fit(const char *pattern, const char *type)
{
    const size_t length = strlen(pattern);

    if (strcmp(pattern, type) == 0)
        return EXACT_MATCH;
    if (pattern[length - 1] != '*' || strncmp(pattern, type, length - 1) != 0)
        return -1;
    return (int)length - 1;
}

th_function plugin_find(const struct th_plugin *plugin, const char *type)
{
    th_function best = NULL;
    int best_fit = -1;

    for (size_t i = 0; i < plugin->handler_count && best_fit < EXACT_MATCH; i++) {
        const int found = fit(plugin->handlers[i].type, type);

        if (found > best_fit) {
            best_fit = found;
            best = plugin->handlers[i].function;
        }
    }
    return best;
}
