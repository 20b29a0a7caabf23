/*
 * credentials.c - what a client may do, by the token that it shows or the cookie that it got for
 * it.
 */
#include "api/credentials.h"

#include "api/inside.h"
#include "api/problem.h"
#include "api/session.h"
#include "base/clock.h"
#include "config/config.h"
#include "http/response.h"

#include <string.h>
#include <strings.h>

#define SCHEME "Bearer"
#define BEARER SCHEME " "

/* Both are compared whichever it is: the time that takes tells nothing. */
const struct token *credentials_find(const struct http_config *config, struct bytes token)
{
    struct digest digest;

    if (!digest_of(token, &digest))
        return NULL;
    const bool is_full = digest_equal(&digest, &config->token.digest) && config->token.is_set;
    const bool is_reader =
        digest_equal(&digest, &config->read_token.digest) && config->read_token.is_set;

    if (is_full)
        return &config->token;
    return is_reader ? &config->read_token : NULL;
}

static enum right right_of(const struct http_config *config, const struct token *token)
{
    if (!token)
        return RIGHT_NONE;
    return token == &config->token ? RIGHT_WRITE : RIGHT_READ;
}

/* Whatever is there instead of a token is a wrong one. */
static struct bytes token_of(const char *header)
{
    const bool is_bearer = strncasecmp(header, BEARER, strlen(BEARER)) == 0;
    const char *token = is_bearer ? header + strlen(SCHEME) : "";

    token += strspn(token, " ");
    return (struct bytes){(const unsigned char *)token, strlen(token)};
}

static struct credentials judge_header(const struct http_config *config, const char *header)
{
    const struct token *found = credentials_find(config, token_of(header));

    return (struct credentials){.right = right_of(config, found), .is_wrong = !found};
}

static struct credentials judge_cookies(const struct http_config *config, const char *cookies,
                                        usec_t now)
{
    const struct token *const tokens[] = {&config->token, &config->read_token};
    struct credentials judged = {.right = RIGHT_NONE};

    for (size_t i = 0; i < COUNT_OF(tokens); i++) {
        if (!tokens[i]->is_set)
            continue;
        const enum session_state state = session_check(&tokens[i]->digest, cookies, now);

        if (state == SESSION_OPEN)
            return (struct credentials){.right = right_of(config, tokens[i])};
        judged.is_wrong = judged.is_wrong || state == SESSION_FORGED;
    }
    return judged;
}

struct credentials credentials_judge(const struct http_config *config, const char *authorization,
                                     const char *cookies, usec_t now)
{
    if (!config->token.is_set && !config->read_token.is_set)
        return (struct credentials){.right = RIGHT_WRITE};
    return authorization ? judge_header(config, authorization)
                         : judge_cookies(config, cookies, now);
}

void credentials_refuse(struct api *api, const struct sockaddr *peer, bool is_wrong,
                        struct http_response *refusal_out)
{
    struct problem problem = {.status = 401,
                              .message = "this needs a token: send the header "
                                         "'Authorization: Bearer TOKEN'"};

    if (is_wrong)
        problem.message = "this is not a token of this server";
    if (is_wrong && guesses_add(&api->guesses, peer, clock_boot())) {
        problem.status = 429;
        problem.message = "there were too many wrong tokens from this address: wait a second";
    }
    problem_respond(&problem, refusal_out);
    if (problem.status == 401)
        http_response_add(refusal_out, "WWW-Authenticate", SCHEME);
}
