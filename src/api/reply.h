/*
 * reply.h - answers in JSON, and what is wrong as RFC 9457 has it.
 */
#ifndef API_REPLY_H
#define API_REPLY_H

struct http_request;
struct http_response;

/* The text is copied. */
void reply_json(struct http_request *request, int status, const char *text);
void reply_problem(struct http_request *request, int status, const char *detail);

/* For the server's own refusals. */
void reply_explain(int status, const char *detail, struct http_response *response_out);

#endif
