/*
 * id_prefix.c - ids as people type them: whole, or their first digits, if no other job has these.
 *
 * Ids lie in order, so those that begin alike lie together: the list of all jobs from there on
 * shows whether there is one, and whether there is another.
 */
#include "thctl/id_prefix.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "thctl/pages.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NIL           "00000000-0000-0000-0000-000000000000"
#define TEXT_LENGTH   (UUID_TEXT_SIZE - 1)
#define SHORT_LENGTH  20 /* 17 digits and 3 dashes */
#define MATCHES_SHOWN 3
#define MATCHES_MAX   ((size_t)256)

/* The text with all dashes that belong between its digits; 0: it is not part of an id. */
static size_t complete(const char *typed, char text[UUID_TEXT_SIZE], size_t *digits_out)
{
    size_t length = 0;

    for (*digits_out = 0; *typed != '\0'; typed++) {
        if (length < TEXT_LENGTH && NIL[length] == '-') {
            text[length++] = '-';
            if (*typed == '-')
                continue;
        }
        if (length == TEXT_LENGTH || !isxdigit((unsigned char)*typed))
            return 0;
        text[length++] = (char)tolower((unsigned char)*typed);
        ++*digits_out;
    }
    text[length] = '\0';
    return length;
}

bool id_prefix_parse(const char *text, struct id_prefix *prefix_out, struct error *err)
{
    char lowest[UUID_TEXT_SIZE] = NIL, shown[EXCERPT_SIZE];
    struct id_prefix prefix = {0};
    size_t digits, length = complete(text, prefix.text, &digits);

    memcpy(lowest, prefix.text, length);
    prefix.is_whole = length == TEXT_LENGTH;
    if (length == 0 || digits < ID_DIGITS_MIN || !uuid_parse(lowest, &prefix.lowest) ||
        (prefix.is_whole && uuid_is_nil(&prefix.lowest)))
        return error_set(
            err, TH_E_INVALID,
            "'%s' is not the id of a job: give a UUID, or at least the first %d digits of "
            "one",
            excerpt_of(text, shown), ID_DIGITS_MIN);
    *prefix_out = prefix;
    return true;
}

bool id_prefix_parse_all(const struct words *arguments, struct id_prefix **prefixes_out,
                         struct error *err)
{
    struct id_prefix *prefixes = calloc(arguments->count + 1, sizeof *prefixes);

    if (!prefixes)
        return error_no_memory(err);
    for (size_t i = 0; i < arguments->count; i++) {
        if (id_prefix_parse(arguments->items[i], &prefixes[i], err))
            continue;
        free(prefixes);
        return false;
    }
    *prefixes_out = prefixes;
    return true;
}

/* After all ids that are lower than this one. */
static struct job_cursor cursor_before(struct uuid id)
{
    if (uuid_is_nil(&id))
        return (struct job_cursor){0};
    for (size_t i = sizeof id.bytes; i-- > 0;)
        if (id.bytes[i]-- != 0)
            break;
    return (struct job_cursor){.is_set = true, .id = id};
}

static bool begins_with(const struct uuid *id, const struct id_prefix *prefix)
{
    char text[UUID_TEXT_SIZE];

    return strncmp(uuid_format(id, text), prefix->text, strlen(prefix->text)) == 0;
}

static bool refuse_several(const struct id_prefix *prefix, const struct job_list *jobs,
                           size_t count, struct error *err)
{
    CLEANUP(buffer_done) struct buffer some = BUFFER(MATCHES_MAX);
    char text[UUID_TEXT_SIZE];

    for (size_t i = 0; i < count && i < MATCHES_SHOWN; i++)
        buffer_printf(&some, "%s%s", i > 0 ? ", " : "", uuid_format(&jobs->items[i].id, text));
    return error_set(err, TH_E_CONFLICT,
                     "the ids of several jobs begin with %s: %s%s; give more digits", prefix->text,
                     buffer_str(&some), count > MATCHES_SHOWN ? " and others" : "");
}

bool id_prefix_find(const struct id_prefix *prefix, struct store *store, struct uuid *id_out,
                    struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct pages pages = {.store = store};
    size_t count = 0;
    bool more;

    *id_out = prefix->lowest;
    if (prefix->is_whole)
        return true;
    pages.filter.oldest_first = true;
    pages.filter.brief = true;
    pages.filter.after = cursor_before(prefix->lowest);
    if (!pages_next(&pages, MATCHES_SHOWN + 1, &jobs, &more, err))
        return false;
    while (count < jobs.count && begins_with(&jobs.items[count].id, prefix))
        count++;
    if (count == 0)
        return error_set(err, TH_E_NOT_FOUND, "no job has an id that begins with %s", prefix->text);
    if (count > 1)
        return refuse_several(prefix, &jobs, count, err);
    *id_out = jobs.items[0].id;
    return true;
}

const char *id_prefix_show(const char *id, bool is_wide, char shown[UUID_TEXT_SIZE])
{
    snprintf(shown, UUID_TEXT_SIZE, "%.*s", is_wide ? TEXT_LENGTH : SHORT_LENGTH, id);
    return shown;
}
