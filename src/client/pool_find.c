/*
 * pool_find.c - which pool a person means.
 */
#include "client/pool_find.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "store/store.h"

#include <string.h>

#define NAMES_MAX  ((size_t)4096)
#define NAMED_MOST 10 /* in an error */

static bool begins_with(const char *pool, const char *name)
{
    return strncmp(pool, name, strlen(name)) == 0;
}

/* NAME of NAME.RANDOM. */
static bool is_shown_as(const char *pool, const char *name)
{
    const char *end = strrchr(pool, '.');

    return end && (size_t)(end - pool) == strlen(name) && begins_with(pool, name);
}

/* How many there are that fit; *pool_out is the last of them. */
static size_t count_fits(const struct pool_list *pools, const char *name,
                         bool (*fits)(const char *pool, const char *name),
                         const struct pool **pool_out)
{
    size_t count = 0;

    for (size_t i = 0; i < pools->count; i++) {
        if (!fits(pools->items[i].name, name))
            continue;
        *pool_out = &pools->items[i];
        count++;
    }
    return count;
}

static bool fits_all(const char *pool, const char *name)
{
    (void)pool;
    (void)name;
    return true;
}

static void add_names(const struct pool_list *pools, const char *name,
                      bool (*fits)(const char *pool, const char *name), struct buffer *out)
{
    size_t count = 0;

    for (size_t i = 0; i < pools->count; i++) {
        if (!fits(pools->items[i].name, name))
            continue;
        if (count++ < NAMED_MOST)
            buffer_printf(out, "%s%s", count == 1 ? "" : ", ", pools->items[i].name);
    }
    if (count > NAMED_MOST)
        buffer_printf(out, " and %zu more", count - NAMED_MOST);
}

static bool refuse(const struct pool_list *pools, const char *name, size_t fit_count,
                   struct error *err)
{
    CLEANUP(buffer_done) struct buffer names = BUFFER(NAMES_MAX);

    if (pools->count == 0)
        return error_set(err, TH_E_NOT_FOUND, "pool '%s' is not there: none is", name);
    add_names(pools, name, fit_count > 0 ? begins_with : fits_all, &names);
    if (fit_count > 0)
        return error_set(err, TH_E_CONFLICT, "pool '%s' may be each of: %s", name,
                         buffer_str(&names));
    return error_set(err, TH_E_NOT_FOUND, "pool '%s' is not there; there are: %s", name,
                     buffer_str(&names));
}

bool pool_find(const struct pool_list *pools, const char *name, const struct pool **pool_out,
               struct error *err)
{
    if (count_fits(pools, name, text_equal, pool_out) == 1 ||
        count_fits(pools, name, is_shown_as, pool_out) == 1)
        return true;
    const size_t count = count_fits(pools, name, begins_with, pool_out);
    return count == 1 || refuse(pools, name, count, err);
}
