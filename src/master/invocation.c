/*
 * invocation.c - how this thd was started, so that another one can be started the same way.
 */
#include "master/invocation.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* `folder` ends where its length says; one of length 0 is the current one. */
static bool join(struct buffer *path, const char *folder, size_t length, const char *name,
                 struct error *err)
{
    buffer_clear(path);
    if (length == 0 || folder[0] != '/') {
        AUTO_FREE char *current = getcwd(NULL, 0);

        if (!current)
            return error_errno(err, TH_E_INTERNAL, errno, "find the current folder");
        buffer_printf(path, "%s/", current);
    }
    buffer_add(path, folder, length);
    if (length > 0)
        buffer_char(path, '/');
    buffer_text(path, name);
    return buffer_ok(path, err);
}

static bool hand_out(const char *path, char **path_out, struct error *err)
{
    *path_out = strdup(path);
    return *path_out || error_no_memory(err);
}

static bool search(const char *name, const char *folders, char **path_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer path = BUFFER(PATH_MAX);

    for (const char *folder = folders;; folder++) {
        const size_t length = strcspn(folder, ":");

        if (!join(&path, folder, length, name, err))
            return false;
        if (is_program(buffer_str(&path)))
            return hand_out(buffer_str(&path), path_out, err);
        folder += length;
        if (*folder == '\0')
            return error_set(err, TH_E_NOT_FOUND, "no program '%s' in %s", name, folders);
    }
}

bool invocation_find(const char *name, const char *folders, char **path_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer path = BUFFER(PATH_MAX);

    if (name[0] == '/')
        return hand_out(name, path_out, err);
    if (!strchr(name, '/'))
        return search(name, folders ? folders : "", path_out, err);
    return join(&path, "", 0, name, err) && hand_out(buffer_str(&path), path_out, err);
}

/* Its own argument, or the end of one such as "--backend=". */
static bool has_wiped(const char *argument, const char *wiped)
{
    return wiped && wiped >= argument && wiped <= argument + strlen(argument);
}

static char *put_back(const char *argument, const char *wiped, const char *url)
{
    const size_t before = (size_t)(wiped - argument), size = strlen(url) + 1;
    char *whole = malloc(before + size);

    if (!whole)
        return NULL;
    memcpy(whole, argument, before);
    memcpy(whole + before, url, size);
    return whole;
}

char **invocation_arguments(const struct invocation *invocation, const char *url)
{
    size_t count = 0;

    while (invocation->argv[count])
        count++;
    char **arguments = calloc(count + 1, sizeof *arguments);
    for (size_t i = 0; arguments && i < count; i++) {
        arguments[i] = invocation->argv[i];
        if (!has_wiped(invocation->argv[i], invocation->wiped))
            continue;
        arguments[i] = put_back(invocation->argv[i], invocation->wiped, url);
        if (!arguments[i])
            return NULL;
    }
    return arguments;
}
