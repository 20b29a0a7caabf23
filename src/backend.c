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
#include "store/anchor.h"
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

static bool add_folder(struct buffer *url, const char *folder, struct error *err)
{
    AUTO_FREE char *current = folder ? NULL : getcwd(NULL, 0);

    if (!folder && !current)
        return error_errno(err, TH_E_INTERNAL, errno, "find the current folder");
    anchor_add_escaped(url, folder ? folder : current);
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

/* With the certificates that it names. */
static void add_server(struct buffer *url, const char *chosen, const char *folder)
{
    AUTO_FREE char *current = folder ? NULL : getcwd(NULL, 0);

    anchor_url(chosen, folder ? folder : current, url);
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
        add_server(url, chosen, folder);
    }
    return buffer_ok(url, err);
}

static bool describe(const char *url, struct backend *backend, struct error *err)
{
    CLEANUP(url_done) struct store_url parsed = {0};

    if (!store_check_url(url, NULL, err) || !url_parse(url, &parsed, err))
        return false;
    backend->url = strdup(url);
    backend->shown = strdup(parsed.shown);
    return (backend->url && backend->shown) || error_no_memory(err);
}

static bool is_of_config(enum backend_source source)
{
    return source == BACKEND_NAMED || source == BACKEND_FOUND;
}

static bool settle_offer(const struct backend_offers *offers, enum backend_source source,
                         const struct config *config, struct buffer *url, struct error *err)
{
    return settle(offers->urls[source], is_of_config(source) ? config->folder : NULL, url, err);
}

/* Nobody has said the default of a config. */
static bool is_said(const struct backend_offers *offers, enum backend_source source,
                    const struct config *config)
{
    if (source == BACKEND_FOUND)
        return config->has_backend && !offers->urls[BACKEND_NAMED];
    return offers->urls[source] != NULL;
}

static void add_shown(struct buffer *text, const char *url)
{
    CLEANUP(url_done) struct store_url parsed = {0};
    struct error err;

    buffer_text(text, url_parse(url, &parsed, &err) ? parsed.shown : "a wrong URL");
}

/* Adds what one offer says, if it leads elsewhere. */
static bool add_difference(const struct backend *backend, const struct backend_offers *offers,
                           enum backend_source source, const struct config *config,
                           struct buffer *text, struct error *err)
{
    CLEANUP(buffer_done) struct buffer url = BUFFER(URL_MAX);

    if (text_equal(offers->urls[source], offers->urls[backend->source]) &&
        text_equal(offers->urls[source], MEMORY))
        return true;
    if (!settle_offer(offers, source, config, &url, err))
        return false;
    if (!text_equal(buffer_str(&url), backend->url)) {
        buffer_text(text, text->length > 0 ? ", " : "");
        add_shown(text, buffer_str(&url));
        buffer_printf(text, " of %s", backend_source_name(source, config));
    }
    explicit_bzero(url.data, url.length);
    return true;
}

static bool note_differences(struct backend *backend, const struct backend_offers *offers,
                             const struct config *config, struct error *err)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(URL_MAX);

    for (enum backend_source source = backend->source + 1; source < BACKEND_SOURCES; source++) {
        if (is_said(offers, source, config) &&
            !add_difference(backend, offers, source, config, &text, err))
            return false;
    }
    if (!buffer_ok(&text, err))
        return false;
    if (text.length > 0)
        backend->passed_over = strdup(buffer_str(&text));
    return text.length == 0 || backend->passed_over || error_no_memory(err);
}

bool backend_choose(const struct backend_offers *offers, const struct config *config,
                    struct backend *backend_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer url = BUFFER(URL_MAX);

    *backend_out = (struct backend){.source = backend_offers_choose(offers)};
    return settle_offer(offers, backend_out->source, config, &url, err) &&
           describe(buffer_str(&url), backend_out, err) &&
           note_differences(backend_out, offers, config, err);
}

bool backend_is_same(const struct backend *backend, const struct backend_offers *offers,
                     const struct config *config)
{
    CLEANUP(buffer_done) struct buffer url = BUFFER(URL_MAX);
    const enum backend_source source = backend_offers_choose(offers);
    struct error err;

    if (backend->source == BACKEND_TYPED)
        return true;
    if (backend_is_private(backend))
        return text_equal(offers->urls[source], MEMORY);
    const bool is_same = settle_offer(offers, source, config, &url, &err) &&
                         text_equal(buffer_str(&url), backend->url);
    explicit_bzero(url.data, url.length);
    return is_same;
}

bool backend_is_from_config(const struct backend *backend)
{
    return is_of_config(backend->source);
}

const char *backend_source_name(enum backend_source source, const struct config *config)
{
    if (is_of_config(source))
        return config->path;
    return source == BACKEND_TYPED ? "--backend" : "TASKHARBOR_BACKEND";
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
    if (backend->url)
        explicit_bzero(backend->url, strlen(backend->url));
    free(backend->url);
    free(backend->shown);
    free(backend->passed_over);
    *backend = (struct backend){0};
}
