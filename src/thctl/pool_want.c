/*
 * pool_want.c - `thctl pools quiet`, `terminate` and `resume`: what somebody wants a pool to do.
 *
 * It is kept in the store with the pool, which hears of it with its next heartbeat, wherever it is.
 */
#include "thctl/pool_want.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "thctl/session.h"
#include "thctl/whoami.h"

#include <string.h>

#define LINE_MAX   ((size_t)1024)
#define NAMES_MAX  ((size_t)4096)
#define NAMED_MOST 10 /* in an error */

const char *const pool_want_words[] = {"quiet", "terminate", "resume", NULL};

static const struct wish {
    const char *word;
    enum pool_want want;
    const char *told; /* what it is asked to do */
} wishes[] = {
    {"quiet", POOL_WANT_QUIET, "take no more jobs"},
    {"terminate", POOL_WANT_TERMINATE, "end once its jobs have ended"},
    {"resume", POOL_WANT_NOTHING, "go on"},
};

static const struct wish *find_wish(const char *word)
{
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        if (text_equal(wishes[i].word, word))
            return &wishes[i];
    return NULL;
}

/* ---- which pool ---- */

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

bool pool_want_find(const struct pool_list *pools, const char *name, const struct pool **pool_out,
                    struct error *err)
{
    if (count_fits(pools, name, text_equal, pool_out) == 1 ||
        count_fits(pools, name, is_shown_as, pool_out) == 1)
        return true;
    const size_t count = count_fits(pools, name, begins_with, pool_out);
    return count == 1 || refuse(pools, name, count, err);
}

/* ---- the command ---- */

static void print(struct session *session, const char *pool, const struct wish *wish)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    if (session->json) {
        json_write_open(&json, NULL, '{');
        json_write_text(&json, "name", pool);
        json_write_text(&json, "want", pool_want_name(wish->want));
        json_write_close(&json, '}');
    } else {
        buffer_printf(&line, "%s is asked to %s", pool, wish->told);
    }
    output_json(&session->out, &line);
}

static bool ask(struct session *session, const char *name, const struct wish *wish,
                struct error *err)
{
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    const struct pool *pool = NULL;
    char by[STORE_BY_SIZE];

    if (!store_pools(session->store, &pools, err) || !pool_want_find(&pools, name, &pool, err) ||
        !store_pool_want(session->store, pool->name, wish->want, whoami(by),
                         store_now(session->store), err))
        return false;
    print(session, pool->name, wish);
    return true;
}

enum status pool_want_run(struct session *session, const char *word, const char *name)
{
    const struct wish *wish = find_wish(word);
    struct error err;

    if (!wish || !name) {
        output_complain("pools takes nothing, or quiet, terminate or resume and a NAME (see "
                        "'thctl pools --help')");
        return STATUS_USAGE;
    }
    enum status status = session_open(session, SESSION_LOOK);
    if (status != STATUS_OK)
        return status;
    return ask(session, name, wish, &err) ? STATUS_OK : session_fail(&err);
}
