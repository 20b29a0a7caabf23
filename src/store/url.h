/*
 * url.h - backend URLs, with their secrets kept out of sight.
 *
 *   sqlite:jobs.db  sqlite:/srv/jobs.db?synchronous=normal  memory:  memory:name
 *   postgres://user:password@host/db?sslmode=require  redis://:password@host:6379/0
 *
 * The part after the scheme belongs to the driver; this file splits off the options, decodes
 * them, and makes the text that logs and errors may show.
 */
#ifndef STORE_URL_H
#define STORE_URL_H

#include "base/arena.h"
#include "base/base.h"

struct error;

struct url_option {
    const char *name, *value; /* decoded */
};

struct store_url {
    struct arena arena;
    const char *scheme;
    const char *text;  /* the whole, secrets included: for the database's library only */
    const char *path;  /* between the scheme and the options, decoded */
    const char *shown; /* for people: passwords are *** */
    struct url_option *options;
    size_t option_count;
};

bool url_parse(const char *text, struct store_url *url_out, struct error *err) MUST_CHECK;

/* NULL when the URL has no such option. */
const char *url_option(const struct store_url *url, const char *name);

/* Refuses options that are not among `known`, with the nearest match. */
bool url_check_options(const struct store_url *url, const char *const *known, size_t known_count,
                       struct error *err) MUST_CHECK;

/* A part of the text itself with its %XX escapes decoded, for drivers that take it apart. */
bool url_decode(const char *text, size_t length, struct arena *arena, const char **text_out,
                struct error *err) MUST_CHECK;

void url_done(struct store_url *url);

#endif
