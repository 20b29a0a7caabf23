/*
 * secrets.c - what a process that was just forked must not know.
 *
 * Its memory is a copy of the master's: what is wiped here stays where others need it.
 */
#include "master/secrets.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "master/this_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wipe(const char *text)
{
    explicit_bzero((char *)text, strlen(text));
}

static bool is_passed_on(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->handler_count; i++) {
        const struct text_list *passed = &config->handlers[i].pass_env;

        for (size_t k = 0; k < passed->count; k++) {
            if (text_equal(passed->items[k], name))
                return true;
        }
    }
    return false;
}

/* Variables that say where a store is, or open it. */
static bool leads_to_store(const char *variable)
{
    return text_starts_with(variable, "TASKHARBOR_BACKEND=") || text_starts_with(variable, "PG") ||
           text_starts_with(variable, "REDIS");
}

static bool forget_variable(const struct config *config, char *variable, struct error *err)
{
    const size_t length = strcspn(variable, "=");
    AUTO_FREE char *name = strndup(variable, length);

    if (!name)
        return error_no_memory(err);
    if (is_passed_on(config, name))
        return true;
    if (variable[length] == '=')
        wipe(variable + length + 1);
    return unsetenv(name) == 0 || error_errno(err, TH_E_INTERNAL, errno, "forget %s", name);
}

/* A variable that was forgotten leaves its place to another. */
static bool forget_variables(const struct config *config, struct error *err)
{
    for (char **place = environ; place && *place;) {
        const char *before = *place;

        if (leads_to_store(*place) && !forget_variable(config, *place, err))
            return false;
        place += *place == before;
    }
    return true;
}

bool secrets_forget_store(const struct this_pool *pool, struct error *err)
{
    wipe(pool->options->backend);
    return forget_variables(pool->config, err);
}

void secrets_forget_tokens(const struct this_pool *pool)
{
    const struct http_config *http = &pool->config->http;

    explicit_bzero((struct token *)&http->token, sizeof http->token);
    explicit_bzero((struct token *)&http->read_token, sizeof http->read_token);
}

static void wipe_pairs(const struct text_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        wipe(pairs->items[i].value);
}

/* The list of variables stays, and is empty: nothing here is freed. */
void secrets_forget_all(const struct this_pool *pool)
{
    const struct config *config = pool->config;

    wipe(pool->options->backend);
    for (char **variable = environ; variable && *variable; variable++)
        wipe(*variable);
    if (environ)
        environ[0] = NULL;
    wipe_pairs(&config->defaults.env);
    for (size_t i = 0; i < config->handler_count; i++)
        wipe_pairs(&config->handlers[i].env);
}
