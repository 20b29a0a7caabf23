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
#include "client/pool_find.h"
#include "store/store.h"
#include "thctl/session.h"
#include "thctl/whoami.h"

#define LINE_MAX ((size_t)1024)

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

    if (!store_pools(session->store, &pools, err) || !pool_find(&pools, name, &pool, err) ||
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
