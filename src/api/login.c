/*
 * login.c - POST /api/login and /api/logout: a cookie for the page, which cannot keep a token.
 */
#include "api/credentials.h"
#include "api/endpoints.h"
#include "api/inside.h"
#include "api/session.h"
#include "api/visit.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "config/config.h"
#include "config/token_file.h"
#include "process/process.h"

#include <string.h>

#define COOKIE_MAX 512

struct login_wish {
    const char *token;
};

/* clang-format off */
static const struct value_field login_fields[] = {
    VALUE_TEXT(login_wish, token, .is_required = true, .max = TOKEN_MAX,
               .help = "That of token_file or read_token_file"),
    {.name = NULL},
};
/* clang-format on */

/* What the page was fetched by: TLS ends at a proxy, which we do not believe otherwise. */
static bool is_secure(const struct visit *visit)
{
    const char *origin = http_request_header(visit->request, "Origin");

    return origin && text_starts_with(origin, "https://");
}

static void refuse_token(struct visit *visit)
{
    struct http_response response;

    credentials_refuse(visit->api, visit->request->peer, true, &response);
    visit_respond(visit, &response);
}

static void log_in(struct visit *visit, const struct token *token)
{
    CLEANUP(buffer_done) struct buffer cookie = BUFFER(COOKIE_MAX);
    struct http_response response = {.status = 204};

    if (!session_begin(&token->digest, clock_wall(), is_secure(visit), &cookie)) {
        visit_refuse(visit, 503, NULL, "out of memory");
        return;
    }
    http_response_add(&response, "Set-Cookie", buffer_str(&cookie));
    visit_respond(visit, &response);
}

static void answer_login(struct visit *visit)
{
    const struct http_config *config = &visit->api->process->config->http;
    struct login_wish wish = {0};

    if (!visit_read(visit, NULL, &wish))
        return;
    if (!config->token.is_set && !config->read_token.is_set) {
        visit_refuse(visit, 400, "/token", "this server has no token, and asks for none");
        return;
    }
    const struct token *token = credentials_find(
        config, (struct bytes){(const unsigned char *)wish.token, strlen(wish.token)});

    if (token)
        log_in(visit, token);
    else
        refuse_token(visit);
}

/* There is no session to end: the browser forgets its cookies. */
static void answer_logout(struct visit *visit)
{
    const struct http_config *config = &visit->api->process->config->http;
    const struct token *const tokens[] = {&config->token, &config->read_token};
    struct buffer cookies[COUNT_OF(tokens)] = {BUFFER(COOKIE_MAX), BUFFER(COOKIE_MAX)};
    struct http_response response = {.status = 204};

    for (size_t i = 0; i < COUNT_OF(tokens); i++) {
        if (tokens[i]->is_set && session_end(&tokens[i]->digest, is_secure(visit), &cookies[i]))
            http_response_add(&response, "Set-Cookie", buffer_str(&cookies[i]));
    }
    visit_respond(visit, &response);
    for (size_t i = 0; i < COUNT_OF(cookies); i++)
        buffer_done(&cookies[i]);
}

static const struct route routes[] = {
    {"POST", "/api/login", RIGHT_NONE, BODY_SHORT, answer_login, .fields = login_fields,
     .name = "login", .help = "A cookie that stands for the token, for seven days",
     .answers = {{204, NULL, NULL, "Set-Cookie has it"},
                 {401, "Problem", NULL, "The token is wrong"},
                 {429, "Problem", NULL, "Too many were wrong from this address in this second"}}},
    {"POST", "/api/logout", RIGHT_NONE, BODY_NONE, answer_logout, .name = "logout",
     .help = "Makes the browser forget the cookie",
     .answers = {{204, NULL, NULL, "Set-Cookie does"}}},
};

const struct route_table login_routes = {routes, COUNT_OF(routes)};
