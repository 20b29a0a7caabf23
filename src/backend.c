/*
 * backend.c - where the jobs of thd are.
 */
#include "backend.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "config/config.h"
#include "store/store.h"
#include "store/url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define URL_MAX ((size_t)64 * 1024)
#define SQLITE  "sqlite:"
#define MEMORY  "memory:"
#define PRIVATE MEMORY "thd-"

/* What a URL would take for something else. */
static void add_encoded(struct buffer *url, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;

        if (byte == '%' || byte == '?' || byte == '#' || byte < 0x20 || byte == 0x7f)
            buffer_printf(url, "%%%02X", byte);
        else
            buffer_char(url, *text);
    }
}

static bool add_folder(struct buffer *url, const char *folder, struct error *err)
{
    AUTO_FREE char *current = folder ? NULL : getcwd(NULL, 0);

    if (!folder && !current)
        return error_errno(err, TH_E_INTERNAL, errno, "find the current folder");
    add_encoded(url, folder ? folder : current);
    buffer_char(url, '/');
    return true;
}

/* A path that names no file is left to the store, which says so. */
static bool add_file(struct buffer *url, const char *path, const char *folder, struct error *err)
{
    buffer_text(url, SQLITE);
    if (path[0] != '/' && path[0] != '\0' && path[0] != '?' && !add_folder(url, folder, err))
        return false;
    while (text_starts_with(path, "./"))
        path += 2;
    buffer_text(url, path);
    return true;
}

/* Without a name each process would have a store of its own. */
static void add_memory(struct buffer *url)
{
    uint64_t random;

    random_bytes(&random, sizeof random);
    buffer_printf(url, PRIVATE "%016" PRIx64, random);
}

/* The same jobs, whatever the current folder is. */
static bool settle(const char *chosen, const char *folder, struct buffer *url, struct error *err)
{
    if (text_starts_with(chosen, SQLITE)) {
        if (!add_file(url, chosen + strlen(SQLITE), folder, err))
            return false;
    } else if (text_equal(chosen, MEMORY)) {
        add_memory(url);
    } else {
        buffer_text(url, chosen);
    }
    return buffer_ok(url, err);
}

static bool describe(const char *url, struct backend *backend, struct error *err)
{
    CLEANUP(url_done) struct store_url parsed = {0};

    if (!store_check_url(url, err) || !url_parse(url, &parsed, err))
        return false;
    backend->url = strdup(url);
    backend->shown = strdup(parsed.shown);
    return (backend->url && backend->shown) || error_no_memory(err);
}

static const char *choose(const char *typed, const struct config *config)
{
    const char *fallback = getenv("TASKHARBOR_BACKEND");

    if (typed)
        return typed;
    return fallback && !text_is_blank(fallback) ? fallback : config->backend;
}

bool backend_choose(const char *typed, const struct config *config, struct backend *backend_out,
                    struct error *err)
{
    CLEANUP(buffer_done) struct buffer url = BUFFER(URL_MAX);
    const char *chosen = choose(typed, config);

    *backend_out = (struct backend){.from_config = chosen == config->backend};
    if (settle(chosen, backend_out->from_config ? config->folder : NULL, &url, err) &&
        describe(buffer_str(&url), backend_out, err))
        return true;
    return backend_out->from_config ? error_prefix(err, "%s", config->path) : false;
}

bool backend_is_same(const struct backend *backend, const struct config *config)
{
    CLEANUP(buffer_done) struct buffer url = BUFFER(URL_MAX);
    struct error err;

    if (backend_is_private(backend))
        return text_equal(config->backend, MEMORY);
    const bool is_same = settle(config->backend, config->folder, &url, &err) &&
                         text_equal(buffer_str(&url), backend->url);
    explicit_bzero(url.data, url.length);
    return is_same;
}

bool backend_is_private(const struct backend *backend)
{
    return text_starts_with(backend->url, PRIVATE);
}

bool backend_guard(const struct backend *backend, struct error *err)
{
    if (text_equal(backend->url, backend->shown) && !getenv("PGPASSWORD"))
        return true;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
        return error_errno(err, TH_E_INTERNAL, errno, "guard the backend's password");
    return true;
}

void backend_done(struct backend *backend)
{
    free(backend->url);
    free(backend->shown);
    *backend = (struct backend){0};
}
