/*
 * conninfo.h - our URL as libpq wants it.
 *
 * All of postgres://user@host1:5432,host2/db?target_session_attrs=read-write&... belongs to libpq,
 * but for our own option `schema`, which libpq would refuse.
 */
#ifndef POSTGRES_CONNINFO_H
#define POSTGRES_CONNINFO_H

#include "base/base.h"
#include "store/url.h"

struct error;

#define SCHEMA_DEFAULT "taskharbor"

/* The URL without our option. The caller frees it; NULL when out of memory. */
char *pg_conninfo_make(const char *url);

/* The schema that the URL names; it is a plain name, so that it can be shown and typed. */
bool pg_conninfo_schema(const struct store_url *url, const char **schema_out,
                        struct error *err) MUST_CHECK;

/* Whether libpq understands all of it. Its own words are not passed on: they quote what it did not
 * understand, and that may be a password. */
bool pg_conninfo_check(const struct store_url *url, struct error *err) MUST_CHECK;

#endif
