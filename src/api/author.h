/*
 * author.h - who pauses something, as whoever looks is told.
 */
#ifndef API_AUTHOR_H
#define API_AUTHOR_H

struct http_request;

#define AUTHOR_MAX  200 /* that a client may say */
#define AUTHOR_SIZE 256

/* What the client says, or "http@ADDRESS" if it says nothing. Returns it, or `text`. */
const char *author_of(const struct http_request *request, const char *said, char text[AUTHOR_SIZE]);

#endif
