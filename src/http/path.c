/*
 * path.c - a path, segment by segment.
 */
#include "http/path.h"

#include "http/escape.h"

#include <string.h>

bool http_path_split(const char *path, struct http_path *path_out)
{
    char *room = path_out->text;

    path_out->count = 0;
    if (path[0] != '/' || strlen(path) >= sizeof path_out->text)
        return false;
    if (path[1] == '\0')
        return true;
    /* A segment and its NUL never need more than the segment and its slash did. */
    while (*path == '/') {
        const size_t length = strcspn(path + 1, "/");

        if (path_out->count == HTTP_PATH_SEGMENTS ||
            !http_unescape(path + 1, length, HTTP_PLUS_IS_PLUS, room))
            return false;
        path_out->segments[path_out->count++] = room;
        room += strlen(room) + 1;
        path += 1 + length;
    }
    return true;
}
