/*
 * credentials.h - what a client may do, by the token that it shows or the cookie that it got for
 * it.
 */
#ifndef API_CREDENTIALS_H
#define API_CREDENTIALS_H

#include "api/route.h"
#include "base/base.h"

struct api;
struct token;
struct http_config;
struct http_response;
struct sockaddr;

struct credentials {
    enum right right;
    bool is_wrong; /* something was shown, and it opens nothing */
};

/* The headers are NULL where there are none; one with a token counts before a cookie. Without a
 * token in the config everybody may do everything. */
struct credentials credentials_judge(const struct http_config *config, const char *authorization,
                                     const char *cookies, usec_t now);

/* Whose token this is, as it came from a client; NULL: nobody's. */
const struct token *credentials_find(const struct http_config *config, struct bytes token);

/* 401, and 429 for whoever guesses too often. */
void credentials_refuse(struct api *api, const struct sockaddr *peer, bool is_wrong,
                        struct http_response *refusal_out);

#endif
