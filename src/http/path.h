/*
 * path.h - a path, segment by segment.
 *
 * Split first and unescaped then, so a name may have any character: "/api/queues/a%2Fb" has three
 * segments, and the last is "a/b".
 */
#ifndef HTTP_PATH_H
#define HTTP_PATH_H

#include "base/base.h"

#define HTTP_PATH_SEGMENTS 8
#define HTTP_PATH_LENGTH   1024

struct http_path {
    size_t count;
    const char *segments[HTTP_PATH_SEGMENTS]; /* in `text` */
    char text[HTTP_PATH_LENGTH];
};

/* "/" has no segment, "/a/" has "a" and "". False for what is no path, has a broken escape or a
 * NUL, or is longer than any path that there is. */
bool http_path_split(const char *path, struct http_path *path_out) MUST_CHECK;

#endif
