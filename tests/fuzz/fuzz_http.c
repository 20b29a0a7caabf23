/*
 * fuzz_http.c - what comes over HTTP before a handler sees it: heads, paths, queries.
 *
 * The input is a head as it is sent, lines ended by LF: "GET /a?b HTTP/1.1", then "Name: value".
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "fuzz.h"
#include "http/escape.h"
#include "http/head.h"
#include "http/path.h"
#include "http/query.h"
#include "http/request.h"

#include <assert.h>
#include <strings.h>

/* Cuts the next word off, which ends at one of those characters. */
static char *cut(char **text, const char *ends)
{
    char *word = *text;

    *text += strcspn(word, ends);
    if (**text != '\0')
        *(*text)++ = '\0';
    return word;
}

static void read_head(char *text, struct http_head *head)
{
    char *line = cut(&text, "\n");

    head->method = cut(&line, " ");
    head->target = cut(&line, " ");
    head->version = line;
    while (*text != '\0' && head->count < HTTP_HEAD_HEADERS) {
        line = cut(&text, "\n");
        struct http_header *header = &head->headers[head->count++];

        header->name = cut(&line, ":");
        header->value = line + strspn(line, " \t");
    }
}

static size_t count(const struct http_head *head, const char *name)
{
    size_t found = 0;

    for (size_t i = 0; i < head->count; i++)
        found += strcasecmp(head->headers[i].name, name) == 0;
    return found;
}

/* One reading: whoever reads it finds the same body, the same host and the same rights. */
static void check_head(const struct http_head *head)
{
    const bytes_t length = http_head_body_length(head);

    assert(count(head, "Host") <= 1 && count(head, "Authorization") <= 1);
    assert(count(head, "Content-Length") + count(head, "Transfer-Encoding") <= 1);
    assert((length == HTTP_LENGTH_UNKNOWN) == (count(head, "Transfer-Encoding") == 1));
    assert(length == 0 || count(head, "Content-Length") + count(head, "Transfer-Encoding") == 1);
    assert(head->target[0] == '/' && !strpbrk(head->target, " \t\r\n"));
    (void)http_head_expects_continue(head);
}

static void check_path(const char *text)
{
    struct http_path path = {0};

    if (!http_path_split(text, &path))
        return;
    assert(path.count <= HTTP_PATH_SEGMENTS && http_escape_is_whole(text));
    for (size_t i = 0; i < path.count; i++)
        assert(strlen(path.segments[i]) < HTTP_PATH_LENGTH);
}

static void check_query(const char *text)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct http_query query = {0};
    struct error err = {0};

    if (!http_query_parse(text, &arena, &query, &err)) {
        assert(err.code == TH_E_INVALID && err.text[0] != '\0');
        return;
    }
    for (size_t i = 0; i < query.count; i++)
        assert(http_query_value(&query, query.parameters[i].name) == query.parameters[i].value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = fuzz_text(data, size);
    struct http_head head = {0};

    check_query(text);
    check_path(text);
    read_head(text, &head);
    check_path(head.target);
    if (!http_head_defect(&head))
        check_head(&head);
    return 0;
}
