/*
 * layout.h - a head as libmicrohttpd left it in its memory.
 *
 * libmicrohttpd 0.9.75 reads a head into one piece of memory and cuts it up there: NULs replace
 * what separates. Where a client sent a NUL itself, a line that is ended by LF alone, or one that
 * goes on with the next, its headers do not lie end to end any more, and what lies between them
 * was not read as we would read it.
 */
#ifndef HTTP_LAYOUT_H
#define HTTP_LAYOUT_H

#include "http/head.h"

struct MHD_Connection;

enum http_layout {
    HTTP_LAYOUT_WHOLE,
    HTTP_LAYOUT_TORN,
    HTTP_LAYOUT_LONG, /* more than HTTP_HEAD_LENGTH bytes or HTTP_HEAD_HEADERS headers */
};

/* Fills in the headers of a head whose first line is filled in: the method and the version as
 * libmicrohttpd gave them, `target` a copy of what lay at `url`. */
enum http_layout http_layout_read(struct MHD_Connection *mhd, const char *url,
                                  struct http_head *head);

#endif
